//! Advice in error texts, in the tool's words. The library's errors name options of the library.

use std::fmt::Display;

use tgm_std::Hint;

use crate::show::foreign::with_ways;

/// `text` with the tool's flags in place of the library's options and features, and with what helps with a file of another kind.
pub(crate) fn in_our_words(text: impl Display) -> String {
    let text = all().fold(
        text.to_string(),
        |text, (theirs, ours)| {
            if text.contains(theirs) { text.replace(theirs, ours) } else { text }
        },
    );
    with_ways(text)
}

/// All advice of the library and its converters, each with ours in its place.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let converters = tgm_convert::Hint::ALL.iter().map(|hint| (hint.text(), ours_of_converters(*hint)));
    Hint::ALL.iter().map(|hint| (hint.text(), ours(*hint))).chain(converters)
}

/// The tool's advice for a hint of the library.
const fn ours(hint: Hint) -> &'static str {
    match hint {
        Hint::AllowNan => "--allow-nan stores NaN as a mask",
        Hint::AllowInf => "--allow-inf stores infinities as masks",
        Hint::PackFinite => "only finite values can be packed",
        Hint::StreamedHashes => "digests can stand at the end",
        Hint::SetProvenance => "the tool needs one",
        Hint::MaxDecodedBytes => "the limit for one object (validate, digest: --max-object-bytes)",
        Hint::MaxMessageBytes => "the limit that --max-message-bytes sets",
        Hint::MaxFileBytes => "the limit that --max-file-bytes sets",
        Hint::MaxExpansion => "the limit for what a byte may become",
        Hint::MaxMetadataBytes => "the limit for the memory of metadata",
        Hint::MaxObjects => "the limit for one message",
        Hint::ValueOrder => "bytes must be in the order that is declared",
        Hint::Blosc2 | Hint::Sz3 => "build tgm with `--features full`",
        Hint::Blosc2Decode | Hint::Lz4 | Hint::Roaring | Hint::Sz3Decode | Hint::Zstd => {
            "build tgm with `--features codecs`"
        }
        // A new hint stays as it is until it has words here; a test finds it.
        _ => hint.text(),
    }
}

/// The tool's advice for a hint of the converters.
const fn ours_of_converters(hint: tgm_convert::Hint) -> &'static str {
    match hint {
        tgm_convert::Hint::GribJpeg2000 => "build tgm with `--features grib-jpeg2000`",
        tgm_convert::Hint::GribPng => "build tgm with `--features grib`",
        // As above.
        _ => hint.text(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_hint_is_said_in_our_words() {
        for (hint, ours) in all() {
            let said = in_our_words(format!("before {hint}, after"));
            assert_eq!(said, format!("before {ours}, after"));
            assert_ne!(ours, hint, "no words of the tool's own");
            for theirs in ["=true", "enable feature", "max_", "Policy", "option"] {
                assert!(!said.contains(theirs), "{said}");
            }
        }
    }

    #[test]
    fn flags_that_are_advised_exist() {
        let tool = crate::cli::Cli::command();
        let flags: Vec<_> =
            tool.get_subcommands().flat_map(clap::Command::get_arguments).filter_map(clap::Arg::get_long).collect();
        let mut advised = 0;
        for (_, ours) in all() {
            for flag in
                ours.split(|c: char| c != '-' && !c.is_alphanumeric()).filter_map(|word| word.strip_prefix("--"))
            {
                // `--features` is a flag of cargo.
                advised += usize::from(flag != "features");
                assert!(flag == "features" || flags.contains(&flag), "{flag}: {flags:?}");
            }
        }
        assert!(advised > 3);
    }

    #[test]
    fn features_that_are_advised_exist() {
        let manifest = include_str!("../../Cargo.toml");
        let advised: Vec<_> = Hint::ALL.iter().filter_map(|hint| ours(*hint).split_once("--features ")).collect();
        for (_, feature) in &advised {
            let feature = feature.trim_end_matches('`');
            assert!(manifest.contains(&format!("\n{feature} = [")), "{feature}");
        }
        assert!(advised.len() > 5);
    }

    /// Only a few places turn errors into text. Each of them uses [`in_our_words`].
    #[test]
    fn errors_become_text_in_our_words_only() {
        let mut places = 0;
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                if path.ends_with("tests.rs") || path.extension().is_none_or(|extension| extension != "rs") {
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                for line in text.lines().filter(|line| line.contains("error.to_string()")) {
                    // These errors come from clap, serde_json and parsers of flags, which have no hints.
                    let is_of_flags = path.ends_with("metadata_flags.rs") || path.ends_with("pipeline_flags.rs");
                    places += 1;
                    assert!(is_of_flags || path.ends_with("advice.rs"), "{}: {line}", path.display());
                }
            }
        }
        assert!(places > 0);
    }
}
