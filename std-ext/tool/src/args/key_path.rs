//! Keys that the command line sets, and where their values go.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_std::metadata::{PathOwner, path_owner, remove_path, segments, set_path};
use tgm_std::{RESERVED_KEY, Result};

/// The map that a key belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyOwner {
    /// The metadata of objects.
    Base,
    /// The message's annotations.
    Extra,
    /// The descriptor of one object.
    Descriptor(usize),
}

/// A key from the command line.
#[derive(Clone, Debug)]
pub(crate) struct KeyPath {
    text: String,
    place: KeyOwner,
    /// Length of the prefix of the text that names the map; the path follows it.
    prefix: usize,
}

impl KeyPath {
    /// Reads a key: `KEY`, `extra.KEY` or `objects.N.KEY`. `one_object` words the advice for a key of one numbered
    /// object.
    ///
    /// # Errors
    /// A sentence, for a key without a name, and for a key that no reader would look up.
    pub(crate) fn parse(text: &str, one_object: impl Fn(&str, &str) -> String) -> Result<Self, String> {
        if segments(text).any(str::is_empty) {
            return Err(format!("{text:?} is not a key: a segment is empty"));
        }
        let (first, rest) = text.split_once('.').map_or((text, None), |(first, rest)| (first, Some(rest)));
        let place = match (first, rest) {
            (RESERVED_KEY, _) => KeyOwner::Base,
            ("objects", rest) => {
                let number = rest.and_then(|rest| rest.split_once('.')).and_then(|(number, _)| number.parse().ok());
                KeyOwner::Descriptor(number.ok_or_else(|| format!("{text}: expected objects.NUMBER.KEY"))?)
            }
            _ => match path_owner(text) {
                PathOwner::Message(Some(_)) => KeyOwner::Extra,
                PathOwner::Message(None) => {
                    return Err(format!("{text} names no key of its own: write {text}.KEY"));
                }
                PathOwner::Numbered { number, key } => {
                    let key = if key.is_empty() { "KEY" } else { key };
                    let instead = one_object(number, key);
                    return Err(format!("{text} would be a key named {first:?} in every object: {instead}"));
                }
                _ => KeyOwner::Base,
            },
        };
        let path = match (place, rest) {
            (KeyOwner::Extra, Some(rest)) => rest,
            (KeyOwner::Descriptor(_), Some(rest)) => rest.split_once('.').map_or(rest, |(_, path)| path),
            _ => text,
        };
        Ok(Self { text: text.to_string(), place, prefix: text.len() - path.len() })
    }

    /// The key as the user gave it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The map that a key belongs to.
    pub(crate) const fn place(&self) -> KeyOwner {
        self.place
    }

    /// The dotted path within that map.
    pub(crate) fn path(&self) -> &str {
        self.text.get(self.prefix..).unwrap_or_default()
    }

    /// Sets the value at the key's path in `entries`, the map that the key belongs to.
    ///
    /// # Errors
    /// The errors of [`set_path`].
    pub(crate) fn set(&self, entries: &mut BTreeMap<String, Value>, value: &Value) -> Result<()> {
        set_path(entries, self.path(), value.clone())
    }

    /// Removes the value at the key's path from `entries`, if there is one. The maps above it stay.
    pub(crate) fn remove(&self, entries: &mut BTreeMap<String, Value>) {
        remove_path(entries, self.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(KeyOwner, String), String> {
        let key = KeyPath::parse(text, |number, key| format!("{number} {key}"))?;
        Ok((key.place(), key.path().to_string()))
    }

    #[test]
    fn the_first_segment_says_whose_a_key_is() {
        for (text, place, path) in [
            ("a", KeyOwner::Base, "a"),
            ("a.b", KeyOwner::Base, "a.b"),
            ("base", KeyOwner::Base, "base"),
            ("base.time", KeyOwner::Base, "base.time"),
            ("extra.a.b", KeyOwner::Extra, "a.b"),
            ("_extra_.extra", KeyOwner::Extra, "extra"),
            ("objects.7.a.b", KeyOwner::Descriptor(7), "a.b"),
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
