//! Keys that are set from the command line: whose they are, and where they lead.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_std::metadata::set_path;
use tgm_std::{RESERVED_KEY, Result};

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The metadata of objects.
    Base,
    /// The message's annotations.
    Extra,
    /// The descriptor of one object.
    Descriptor(usize),
}

/// A key as it was given.
#[derive(Clone, Debug)]
pub(crate) struct KeyPath {
    text: String,
    place: Place,
    /// Bytes of the text before the path, which begins behind what says whose key it is.
    prefix: usize,
}

impl KeyPath {
    /// Reads a key: `KEY`, `extra.KEY` or `objects.N.KEY`. `one_object` says what is to be written for the key of the
    /// object of a number.
    ///
    /// # Errors
    /// In words, for a key without a name, and for one that would be set where nobody looks for it.
    pub(crate) fn parse(text: &str, one_object: impl Fn(&str, &str) -> String) -> Result<Self, String> {
        if text.split('.').any(str::is_empty) {
            return Err(format!("{text:?} is no key: a segment is empty"));
        }
        let (first, rest) = text.split_once('.').map_or((text, None), |(first, rest)| (first, Some(rest)));
        let place = match (first, rest) {
            (RESERVED_KEY, _) => Place::Base,
            ("extra" | "_extra_", Some(_)) => Place::Extra,
            ("extra" | "_extra_", None) => return Err(format!("{text} names no key of its own: write {text}.KEY")),
            ("objects", rest) => {
                let number = rest.and_then(|rest| rest.split_once('.')).and_then(|(number, _)| number.parse().ok());
                Place::Descriptor(number.ok_or_else(|| format!("{text}: expected objects.NUMBER.KEY"))?)
            }
            _ => {
                if let Some((number, key)) = numbered(first, rest) {
                    let key = if key.is_empty() { "KEY" } else { key };
                    let instead = one_object(number, key);
                    return Err(format!("{text} would be a key named {first:?} in every object: {instead}"));
                }
                Place::Base
            }
        };
        let path = match (place, rest) {
            (Place::Extra, Some(rest)) => rest,
            (Place::Descriptor(_), Some(rest)) => rest.split_once('.').map_or(rest, |(_, path)| path),
            _ => text,
        };
        Ok(Self { text: text.to_string(), place, prefix: text.len() - path.len() })
    }

    /// The key as it was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whose key it is.
    pub(crate) const fn place(&self) -> Place {
        self.place
    }

    /// Where it leads from there.
    pub(crate) fn path(&self) -> &str {
        self.text.get(self.prefix..).unwrap_or_default()
    }

    /// Sets the value where the key leads in `entries`, which are those that the key is of.
    ///
    /// # Errors
    /// Those of [`set_path`].
    pub(crate) fn set(&self, entries: &mut BTreeMap<String, Value>, value: &Value) -> Result<()> {
        set_path(entries, self.path(), value.clone())
    }
}

/// The number and the key of `base.NUMBER.KEY` and `base[NUMBER].KEY`.
fn numbered<'k>(first: &'k str, rest: Option<&'k str>) -> Option<(&'k str, &'k str)> {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = rest.unwrap_or_default();
    if let Some(number) = first.strip_prefix("base[").and_then(|number| number.strip_suffix(']')) {
        return Some((number, rest));
    }
    let (number, key) = rest.split_once('.').unwrap_or((rest, ""));
    (first == "base" && !number.is_empty() && is_number(number)).then_some((number, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Place, String), String> {
        let key = KeyPath::parse(text, |number, key| format!("{number} {key}"))?;
        Ok((key.place(), key.path().to_string()))
    }

    #[test]
    fn the_first_segment_says_whose_a_key_is() {
        for (text, place, path) in [
            ("a", Place::Base, "a"),
            ("a.b", Place::Base, "a.b"),
            ("base", Place::Base, "base"),
            ("base.time", Place::Base, "base.time"),
            ("extra.a.b", Place::Extra, "a.b"),
            ("_extra_.extra", Place::Extra, "extra"),
            ("objects.7.a.b", Place::Descriptor(7), "a.b"),
        ] {
            assert_eq!(parse(text), Ok((place, path.to_string())), "{text}");
        }
    }

    #[test]
    fn keys_that_nobody_would_find_say_what_to_write() {
        for (text, instead) in
            [("base.1.x.y", "1 x.y"), ("base.12", "12 KEY"), ("base[3].x", "3 x"), ("base[3]", "3 KEY")]
        {
            let error = parse(text).unwrap_err();
            assert!(error.ends_with(&format!("in every object: {instead}")), "{error}");
        }
        for text in ["", "a.", ".a", "extra", "_extra_", "objects", "objects.1", "objects.x.y", "extra."] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
