//! Arrays of texts, which messages have as metadata: for the formats that have texts as variables.
//!
//! Two forms are read. [`TEXTS`] of a message has variables of texts, with their dimensions and attributes, by their paths. An object
//! without elements has the texts under [`TEXT`], as
//! [`Array::of_texts`](super::arrays::Array::of_texts) makes it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ciborium::Value;
use tgm_std::GlobalMetadata;

use crate::maps::get;

/// The key of an object's metadata that holds its texts.
pub(super) const TEXT: &str = "text";
/// The key of the shape of these texts, if they are not a list.
pub(super) const TEXT_SHAPE: &str = "text_shape";
/// The key of a message's metadata that holds variables of texts.
pub(super) const TEXTS: &str = "texts";
/// The attribute that says how characters encode texts. It would be wrong beside the texts.
const ENCODING_OF_FILE: &str = "_Encoding";
/// The type of texts that a file has as characters, and the key of what it says of these: the path of the dimension that is the
/// length of each text, its length, and how bytes are characters, if that is not UTF-8.
const CHAR: &str = "char";
pub(super) const CHARACTERS: &str = "characters";
pub(super) const DIMENSION: &str = "dimension";
pub(super) const LENGTH: &str = "length";
pub(super) const ENCODING: &str = "encoding";
pub(super) const LATIN: &str = "latin1";

/// An array of texts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Texts<'m> {
    pub(super) values: Vec<&'m str>,
    pub(super) shape: Vec<u64>,
    /// The paths of dimensions, `None` for one without a name.
    pub(super) dimensions: Vec<Option<&'m str>>,
    attributes: &'m [(Value, Value)],
    /// How a file has them, if it has characters.
    pub(super) characters: Option<Characters<'m>>,
}

/// How a file has texts as characters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Characters<'m> {
    /// The path of the dimension that is the length of each text, `None` for one without a name, and the length. `None` for texts
    /// of one character.
    pub(super) length: Option<(Option<&'m str>, u64)>,
    /// Whether each character is a byte of Latin-1.
    is_latin: bool,
}

impl<'m> Texts<'m> {
    /// The variables of texts of a message by their paths: `None` in place of a path that is not text, and of texts that do not
    /// fit their shape.
    pub(super) fn of_message(global: &'m GlobalMetadata) -> impl Iterator<Item = (Option<&'m str>, Option<Self>)> {
        let all = global.extra.get(TEXTS).and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
        all.iter().map(|(name, map)| (name.as_text(), map.as_map().and_then(|map| Self::read(map))))
    }

    fn read(map: &'m [(Value, Value)]) -> Option<Self> {
        let get = |wanted: &str| get(map, wanted);
        let found = Self::of_parts(get("values")?, get("shape"), get("dimensions"), get("attributes"))?;
        let is_char = get("type").and_then(Value::as_text) == Some(CHAR);
        let characters = is_char.then(|| Characters::of(get(CHARACTERS).and_then(Value::as_map), &found.values));
        Some(Self { characters, ..found })
    }

    /// The texts of an object of this shape, if it holds texts. The metadata of the object have them.
    pub(super) fn of_object(entry: &'m BTreeMap<String, Value>, shape: &[u64]) -> Option<Self> {
        let values = entry.get(TEXT).filter(|_| shape == [0])?;
        Self::of_parts(values, entry.get(TEXT_SHAPE), entry.get("dimensions"), entry.get("attributes"))
    }

    /// The labels of a coordinate.
    pub(super) fn of_labels(values: &'m [String], shape: &[u64], attributes: &'m [(Value, Value)]) -> Self {
        let (values, dimensions) = (values.iter().map(String::as_str).collect(), vec![None; shape.len()]);
        Self { values, shape: shape.to_vec(), dimensions, attributes, characters: None }
    }

    fn of_parts(
        values: &'m Value,
        shape: Option<&Value>,
        dimensions: Option<&'m Value>,
        attributes: Option<&'m Value>,
    ) -> Option<Self> {
        let values: Vec<&str> = values.as_array()?.iter().map(Value::as_text).collect::<Option<_>>()?;
        let number = |value: &Value| value.as_integer().and_then(|len| u64::try_from(len).ok());
        let shape: Vec<u64> = match shape.and_then(Value::as_array) {
            Some(shape) => shape.iter().map(number).collect::<Option<_>>()?,
            None => vec![values.len() as u64],
        };
        let count = shape.iter().try_fold(1_u64, |product, len| product.checked_mul(*len))?;
        let dimensions = dimensions.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut dimensions: Vec<Option<&str>> = dimensions.iter().map(Value::as_text).collect();
        dimensions.resize(shape.len(), None);
        let attributes = attributes.and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
        (count == values.len() as u64).then_some(Self { values, shape, dimensions, attributes, characters: None })
    }

    /// The characters of all texts, each filled up with NUL to its length. `None` if the file has none, and if a text is longer by now.
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        let Characters { length, is_latin } = self.characters?;
        let len = usize::try_from(length.map_or(1, |(_, len)| len)).ok()?;
        let mut bytes = Vec::new();
        for text in &self.values {
            let end = bytes.len().checked_add(len)?;
            if is_latin {
                for character in text.chars() {
                    bytes.push(u8::try_from(character).ok()?);
                }
            } else {
                bytes.extend_from_slice(text.as_bytes());
            }
            if bytes.len() > end {
                return None;
            }
            bytes.resize(end, 0);
        }
        Some(bytes)
    }

    /// What is said about the characters.
    pub(super) const fn attributes_of_characters(&self) -> &'m [(Value, Value)] {
        self.attributes
    }

    /// What is said about the texts, but for how a file encoded them.
    pub(super) fn attributes(&self) -> impl Iterator<Item = &'m (Value, Value)> {
        self.attributes.iter().filter(|(key, _)| key.as_text() != Some(ENCODING_OF_FILE))
    }
}

impl<'m> Characters<'m> {
    fn of(map: Option<&'m Vec<(Value, Value)>>, texts: &[&str]) -> Self {
        let Some(map) = map else {
            // Bytes of programs have the length of the longest, as xarray writes them.
            let longest = texts.iter().map(|text| text.len()).max().unwrap_or(0);
            return Self { length: Some((None, longest.max(1) as u64)), is_latin: false };
        };
        let get = |wanted: &str| get(map, wanted);
        let len = get(LENGTH).and_then(Value::as_integer).and_then(|len| u64::try_from(len).ok());
        let length = len.map(|len| (get(DIMENSION).and_then(Value::as_text), len));
        Self { length, is_latin: get(ENCODING).and_then(Value::as_text) == Some(LATIN) }
    }
}

/// The variables of texts that a writer has written. Each message of a file repeats them.
#[derive(Debug, Default)]
pub(super) struct Written(BTreeMap<(String, u64), Vec<Vec<Option<u64>>>>);

impl Written {
    /// Whether these texts are not written yet under this name. They count as written from now on. `labels` are digests of those along
    /// their dimensions: equal texts beside other labels are others. They are not known for some messages.
    pub(super) fn is_new(&mut self, name: &str, texts: &Texts<'_>, labels: &[Option<u64>]) -> bool {
        let mut hasher = DefaultHasher::new();
        (&texts.values, &texts.shape).hash(&mut hasher);
        let written = self.0.entry((name.to_string(), hasher.finish())).or_default();
        let is_same = |known: &Vec<Option<u64>>| {
            known.iter().zip(labels).all(|(known, labels)| known == labels || known.is_none() || labels.is_none())
        };
        let is_new = !written.iter().any(is_same);
        if is_new {
            written.push(labels.to_vec());
        }
        is_new
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_texts_are_read() {
        let list = |texts: &[&str]| Value::Array(texts.iter().map(|text| (*text).into()).collect());
        let of_file = Value::Map(vec![
            ("values".into(), list(&["a", "b"])),
            ("shape".into(), Value::Array(vec![1.into(), 2.into()])),
            ("dimensions".into(), list(&["y", "g/x"])),
            (
                "attributes".into(),
                Value::Map(vec![(ENCODING_OF_FILE.into(), "utf-8".into()), ("long".into(), "n".into())]),
            ),
        ]);
        let short = Value::Map(vec![("values".into(), list(&["a"])), ("shape".into(), Value::Array(vec![2.into()]))]);
        let texts = Value::Map(vec![("t".into(), of_file), ("short".into(), short)]);
        let global = GlobalMetadata { extra: [(TEXTS.to_string(), texts)].into(), ..GlobalMetadata::default() };
        let found: Vec<_> = Texts::of_message(&global).collect();
        let (name, texts) = found.first().unwrap();
        let texts = texts.as_ref().unwrap();
        assert_eq!((*name, &texts.values[..], &texts.shape[..]), (Some("t"), &["a", "b"][..], &[1, 2][..]));
        assert_eq!(texts.dimensions, [Some("y"), Some("g/x")]);
        assert_eq!(texts.attributes().count(), 1, "how characters encoded texts is left out");
        assert_eq!(found.get(1), Some(&(Some("short"), None)));
        // An object with these texts says the same, but for dimensions and attributes.
        let shape = Value::Array(vec![1.into(), 2.into()]);
        let entry = BTreeMap::from([(TEXT.to_string(), list(&["a", "b"])), (TEXT_SHAPE.to_string(), shape)]);
        let again = Texts::of_object(&entry, &[0]).unwrap();
        assert_eq!((&again.values, &again.shape), (&texts.values, &texts.shape));
        assert_eq!(Texts::of_object(&entry, &[1]), None, "an object with elements holds no texts");
        let mut written = Written::default();
        assert!(written.is_new("t", texts, &[Some(1), None]) && !written.is_new("t", &again, &[None, Some(7)]));
        assert!(written.is_new("t", &again, &[Some(2), None]) && !written.is_new("t", &again, &[Some(2), None]));
        assert!(written.is_new("u", &again, &[None, None]));
    }
}
