//! Texts that quote the command line: addresses in them lose what may be secret.
//!
//! Names of files are shown as [`SourceName`]s. This is for what others quote: the parser of the command line, and errors
//! about an address where another argument belongs.

use std::ffi::OsString;

use tgm_std::file::SourceName;

use crate::show::arguments;

/// `text` with addresses of the command line as [`SourceName`] shows them.
pub(crate) fn without_secrets(text: String) -> String {
    without_secrets_of(text, arguments::all())
}

fn without_secrets_of(text: String, arguments: impl IntoIterator<Item = OsString>) -> String {
    let mut secrets = Vec::new();
    for argument in arguments {
        let argument = argument.to_string_lossy();
        // Lists are quoted item by item.
        let items = argument.split(',').skip(1);
        for place in std::iter::once(&*argument).chain(items).filter_map(address) {
            secrets.extend([place, place.split(',').next().unwrap_or_default()].map(str::to_string));
        }
    }
    // The longest come first, as a part of one may be another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.into_iter().fold(text, |text, secret| {
        let shown = SourceName::of(&secret).to_string();
        if shown == secret {
            return text;
        }
        // Some texts quote by Rust's rules.
        let escaped = format!("{secret:?}");
        let escaped = escaped.trim_matches('"');
        text.replace(&secret, &shown).replace(escaped, &shown)
    })
}

/// Letters at which an address may begin in a word, after a flag say.
const STARTS: usize = 64;

/// The address in an argument, which may stand after a flag or a key.
fn address(argument: &str) -> Option<&str> {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    argument.match_indices(':').find_map(|(colon, _)| {
        let word = argument.get(..colon)?.trim_end_matches(is_of_scheme).len();
        let letters = argument.get(word..colon)?.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()).take(STARTS);
        let mut places = letters.filter_map(|(letter, _)| argument.get(word + letter..));
        places.find(|place| SourceName::of(place).is_address())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_command_line_lose_what_may_be_secret() {
        let arguments = [
            "ls",
            "--catalog=http://u:SECRET@host/x?SECRET",
            "-phttp://u:SEC\"RET@host/y",
            "a,s3://SECRET@b/c?SECRET,d",
            "k=http:/u:SECRET@h/x",
            "--http://SECRET@h",
            "http:u:SECRET@no-slash/x",
            "-oHTTPS:u:SECRET@no-slash?SECRET",
            "--output=s3:SECRET@no-slash",
            "mars.time=00:00,k=gs:SECRET@no-slash",
        ];
        for text in [
            "unexpected 'http://u:SECRET@host/x?SECRET' found",
            "\"-phttp://u:SEC\\\"RET@host/y\"",
            "'s3://SECRET@b/c?SECRET'",
            "no key k=http:/u:SECRET@h/x",
            "unexpected argument '--http://SECRET@h' found",
            "a,s3://SECRET@b/c?SECRET,d",
            "invalid value 'http:u:SECRET@no-slash/x' for 'OUT'",
            "invalid value 'HTTPS:u:SECRET@no-slash?SECRET' for '--output'",
            "'--output=s3:SECRET@no-slash', \"-oHTTPS:u:SECRET@no-slash?SECRET\"",
            "no key k=gs:SECRET@no-slash",
        ] {
            let shown = without_secrets_of(text.into(), arguments.map(OsString::from));
            assert!(!shown.contains("SECRET") && !shown.contains("RET@"), "{shown}");
        }
        let text = "a?b #c http://host/x of a file";
        assert_eq!(without_secrets_of(text.into(), arguments.map(OsString::from)), text);
    }
}
