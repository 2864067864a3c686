//! The way back: what an object remembers of its message, beside the payload.
//!
//! ```text
//! first object    sections 0, 1, [2], 3, 4, 5, 6   without the bits of the bitmap, which the mask holds
//! later objects   sections [2], [3], 4, 5, 6       as far as the message repeats them
//! ```
//!
//! A section that is shorter than the length that it states gets its bits from the object's mask. Section 7 comes from the
//! payload, and for data in groups from the payload and what the recipe has of the groups: their lengths alone, where all else follows from the
//! integers. Where mask or payload would not give the same bytes, the recipe has the bytes themselves. So it has where the values could not be read,
//! and says why.

use ciborium::Value;
use tgm_std::{Result, TensogramError};

use super::complex::{Groups, Lengths};
use super::entries::Entries;
use crate::error::{encoding, metadata};

/// The map in an object's metadata.
pub(super) const GRIB: &str = "grib";
/// The map of names that archives use.
pub(super) const MARS: &str = "mars";
/// Keys in [`GRIB`].
const FIELD: &str = "field";
const FIELDS: &str = "fields";
pub(super) const SECTIONS: &str = "sections";
const GROUPS: &str = "groups";
const LENGTHS: &str = "lengths";
const ROOMY: &str = "roomy";
const UNUSED: &str = "unused";
const DATA: &str = "data";
const UNREAD: &str = "unread";

/// The keys of [`GRIB`] that are of the way back.
pub(super) const KEYS: [&str; 9] = [FIELD, FIELDS, SECTIONS, GROUPS, LENGTHS, ROOMY, UNUSED, DATA, UNREAD];

/// What an object remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipe<'a> {
    /// Which field of its message it is, and how many fields the message has.
    pub(super) field: u64,
    pub(super) fields: u64,
    /// The sections in front of section 7 that the field does not share with the one before it.
    pub(super) sections: Vec<&'a [u8]>,
    /// What section 7 holds beside the payload's integers, if they are in groups.
    pub(super) groups: Option<Kept<'a>>,
    /// Section 7 from octet 6 on, if the payload does not give it.
    pub(super) data: Option<&'a [u8]>,
    /// Why the values could not be read. The object has none then.
    pub(super) unread: Option<String>,
}

/// What is kept of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept<'a> {
    /// Their head.
    Head(Groups<'a>),
    /// What the head follows from.
    Lengths(Lengths),
}

impl<'a> Kept<'a> {
    /// A head that has nothing beside its bytes.
    pub(super) const fn head(head: &'a [u8]) -> Self {
        Self::Head(Groups { head, unused: [0; 2] })
    }

    /// Lengths from which all else follows.
    pub(super) fn lengths(lengths: &[u8]) -> Self {
        Self::Lengths(Lengths { bytes: lengths.to_vec(), is_roomy: false, unused: [0; 2] })
    }
}

impl<'a> Recipe<'a> {
    /// Its entries in [`GRIB`].
    pub(super) fn to_entries(&self) -> Entries {
        let sections = self.sections.iter().map(|section| Value::Bytes(section.to_vec())).collect();
        let mut entries = vec![
            (FIELD.into(), self.field.into()),
            (FIELDS.into(), self.fields.into()),
            (SECTIONS.into(), Value::Array(sections)),
        ];
        let unused = match &self.groups {
            None => [0; 2],
            Some(Kept::Head(Groups { head, unused })) => {
                entries.push((GROUPS.into(), Value::Bytes(head.to_vec())));
                *unused
            }
            Some(Kept::Lengths(Lengths { bytes, is_roomy, unused })) => {
                entries.push((LENGTHS.into(), Value::Bytes(bytes.clone())));
                entries.extend(is_roomy.then(|| (ROOMY.into(), true.into())));
                *unused
            }
        };
        // Most encoders write 0 there.
        let unused = Some(unused).filter(|unused| *unused != [0, 0]);
        entries.extend(unused.map(|unused| (UNUSED.into(), Value::Array(unused.map(Value::from).into()))));
        entries.extend(self.data.map(|data| (DATA.into(), Value::Bytes(data.to_vec()))));
        entries.extend(self.unread.clone().map(|unread| (UNREAD.into(), unread.into())));
        entries
    }

    /// Reads it from the metadata of object `index`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] if the object was not made from GRIB, or its entries were edited.
    pub(super) fn of(grib: Option<&'a Value>, index: usize) -> Result<Self> {
        let wrong = |text: &str| metadata(format!("object {index}: {text}"));
        let grib =
            grib.and_then(Value::as_map).ok_or_else(|| wrong("it has no GRIB sections: it was not made from GRIB"))?;
        let find = |key: &str| grib.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value);
        let number = |key: &str| find(key).and_then(Value::as_integer).and_then(|number| u64::try_from(number).ok());
        let sections = find(SECTIONS).and_then(Value::as_array).into_iter().flatten();
        let sections: Option<Vec<_>> = sections.map(|section| section.as_bytes().map(Vec::as_slice)).collect();
        let sections = sections.filter(|sections| !sections.is_empty());
        let (Some(field), Some(fields), Some(sections)) = (number(FIELD), number(FIELDS), sections) else {
            return Err(wrong("it has no GRIB sections, or they were edited"));
        };
        let bytes = |key: &str| find(key).and_then(Value::as_bytes).map(Vec::as_slice);
        let unused = match find(UNUSED) {
            None => Some([0; 2]),
            Some(list) => list.as_array().and_then(|list| {
                let numbers = list.iter().map(|number| u64::try_from(number.as_integer()?).ok());
                numbers.collect::<Option<Vec<_>>>()?.try_into().ok()
            }),
        };
        let unused = unused.ok_or_else(|| wrong("the GRIB entry `unused` was edited: it is not two numbers"))?;
        let is_roomy = find(ROOMY).and_then(Value::as_bool).unwrap_or(false);
        let lengths = bytes(LENGTHS).map(|bytes| Lengths { bytes: bytes.to_vec(), is_roomy, unused });
        let head = bytes(GROUPS).map(|head| Kept::Head(Groups { head, unused }));
        let groups = lengths.map(Kept::Lengths).or(head);
        let unread = find(UNREAD).map(|unread| unread.as_text().unwrap_or_default().to_string());
        Ok(Self { field, fields, sections, groups, data: bytes(DATA), unread })
    }
}

/// An error about an object that cannot become GRIB.
pub(super) fn refused(index: usize, text: impl std::fmt::Display) -> TensogramError {
    encoding(format!("object {index}: {text}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_edited_numbers_are_refused() {
        let groups = Some(Kept::Head(Groups { head: &[1, 2], unused: [3, 4] }));
        let recipe = Recipe { field: 0, fields: 1, sections: vec![&[5]], groups, data: None, unread: None };
        let entries = recipe.to_entries();
        assert_eq!(Recipe::of(Some(&Value::Map(entries.clone())), 0).unwrap(), recipe);
        for edited in [vec![3.into()], vec![3.into(), Value::from(-1)], vec![3.into(), "4".into()], vec![1.into(); 3]] {
            let mut entries = entries.clone();
            let unused = entries.iter_mut().find(|(key, _)| key.as_text() == Some(UNUSED)).unwrap();
            unused.1 = Value::Array(edited);
            let error = Recipe::of(Some(&Value::Map(entries)), 7).unwrap_err().to_string();
            assert!(error.contains("object 7") && error.contains("unused"), "{error}");
        }
    }
}
