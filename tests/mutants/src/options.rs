//! What the command line asks for.

use std::time::Duration;

use crate::Result;
use crate::subject::Subject;

/// Which changes are tried, and when the run fails.
pub struct Options {
    /// What is changed.
    pub subject: &'static Subject,
    /// Beginnings of paths below the package's `src`. Without any, all files are tried.
    files: Vec<String>,
    /// The part that is tried, and the number of parts.
    part: Option<(u64, u64)>,
    /// How many changes may be neither noticed nor explained.
    pub allowed: usize,
    /// Whether what the last run noticed counts. The rest is tried again.
    pub is_resumed: bool,
    /// Whether only tests of the package itself are run.
    pub only_own: bool,
    /// Whether explained changes are tried too, to find those that tests notice by now.
    pub tries_explained: bool,
    /// Tests that take longer are not run.
    pub slowest: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            subject: Subject::DEFAULT,
            files: Vec::new(),
            part: None,
            allowed: 0,
            is_resumed: false,
            only_own: false,
            tries_explained: false,
            slowest: Duration::from_secs(5),
        }
    }
}

impl Options {
    /// Reads the arguments.
    ///
    /// # Errors
    /// An argument is unknown, or has no meaning for the package.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--package" => options.subject = Subject::named(&value()?)?,
                "--allow" => options.allowed = value()?.parse()?,
                "--part" => {
                    let value = value()?;
                    let (part, parts) = value.split_once('/').ok_or("--part 1/10")?;
                    options.part = Some((part.parse()?, parts.parse()?));
                }
                "--slowest" => options.slowest = Duration::try_from_secs_f64(value()?.parse()?)?,
                "--resume" => options.is_resumed = true,
                "--core" => options.only_own = true,
                "--explained" => options.tries_explained = true,
                _ if argument.starts_with('-') => return Err(format!("unknown option {argument}").into()),
                _ => options.files.push(argument),
            }
        }
        if options.only_own && options.subject.name != Subject::DEFAULT.name {
            return Err("--core: only where core is changed".into());
        }
        if options.part.is_some_and(|(part, parts)| part == 0 || part > parts) {
            return Err("--part: from 1/10 to 10/10".into());
        }
        Ok(options)
    }

    /// Whether a change with this key is among those that are tried.
    pub fn has(&self, key: &str) -> bool {
        let path = self.subject.within(key);
        let is_in_files = self.files.is_empty() || self.files.iter().any(|file| path.starts_with(file.as_str()));
        is_in_files && self.part.is_none_or(|(part, parts)| hash(key) % parts + 1 == part)
    }

    /// Whether all changes are tried.
    pub fn is_everything(&self) -> bool {
        self.files.is_empty() && self.part.is_none()
    }
}

/// FNV-1a: changes of one function come into different parts.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options> {
        Options::parse(arguments.iter().map(|argument| (*argument).to_owned()))
    }

    #[test]
    fn files_are_chosen_by_their_beginning() {
        let options = parse(&["cbor", "szip/bits"]).expect("files");
        assert!(options.has("core/src/cbor/head.rs f: a → b") && options.has("core/src/cbor.rs f: a → b"));
        assert!(options.has("core/src/szip/bits.rs f: a → b") && !options.has("core/src/szip.rs f: a → b"));
    }

    #[test]
    fn every_change_is_in_one_part() {
        let parts: Vec<_> = (1..=3).map(|part| parse(&["--part", &format!("{part}/3")]).expect("a part")).collect();
        for key in ["a", "b", "c", "d", "e", "f"] {
            assert_eq!(parts.iter().filter(|part| part.has(key)).count(), 1);
        }
        assert!(parse(&["--part", "4/3"]).is_err() && parse(&["--part"]).is_err() && parse(&["--other"]).is_err());
    }
    #[test]
    fn only_core_can_be_tried_with_its_own_tests_alone() {
        assert!(parse(&["--core", "wire"]).is_ok_and(|options| options.only_own));
        assert!(parse(&["--package", "core", "--core"]).is_ok());
        assert!(parse(&["--package", "std"]).is_ok_and(|options| options.subject.name == "std"));
        assert!(parse(&["--package", "std", "--core"]).is_err() && parse(&["--package", "other"]).is_err());
    }
}
