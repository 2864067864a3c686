//! Section 2 of ECMWF: class, type, stream and version of an experiment, by which its archive keeps a field.
//!
//! | octets, after [the numbers of a data set](super::data_sets) | content |
//! |---|---|
//! | 6, 7 | number of the local definition; 0 for none |
//! | 8, 9 | class |
//! | 10, 11 | type |
//! | 12, 13 | stream |
//! | 14 to 17 | version of the experiment, four letters |
//!
//! More octets follow for some definitions: see [`super::archive`].

use ciborium::Value;

use super::data_sets::{DataSet, Prefix};
use super::entries::Entries;
use super::error::GribError;
use super::names::{ECMWF, Origin};
use super::sections::{HEAD_LEN, Section};
use super::tables::{self, Group};

/// What section 2 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Labels {
    /// The number of the local definition.
    pub(super) definition: u16,
    pub(super) class: u16,
    pub(super) kind: u16,
    pub(super) stream: u16,
    /// The version of the experiment.
    pub(super) version: [u8; 4],
    /// The octet after them.
    pub(super) end: usize,
}

impl Labels {
    /// Reads section 2, after what a data set has there. `None` if there is none, or if it has another form.
    ///
    /// # Errors
    /// [`super::GribErrorKind::ShortSection`].
    pub(super) fn of(
        section: Option<Section<'_>>,
        origin: &Origin,
        prefix: Option<&Prefix>,
    ) -> Result<Option<Self>, GribError> {
        let Some(section) = section else { return Ok(None) };
        let is_ours = origin.centre == ECMWF || origin.sub_centre == ECMWF;
        // Without the numbers of a data set, what follows them has no place.
        let is_known = prefix.is_some() || DataSet::of(origin.status).is_none();
        let start = prefix.map_or(HEAD_LEN + 1, |prefix| prefix.end);
        if !is_ours || !is_known || section.as_bytes().len() <= HEAD_LEN || section.u16(start)? == 0 {
            return Ok(None);
        }
        Ok(Some(Self {
            definition: section.u16(start)?,
            class: section.u16(start + 2)?,
            kind: section.u16(start + 4)?,
            stream: section.u16(start + 6)?,
            version: section.array(start + 8)?,
            end: start + 12,
        }))
    }

    /// Adds its entries, in edition 1: old versions are numbers, and short ones end with zeros.
    pub(super) fn add_of_edition_1(self, mars: &mut Entries) {
        let number = u32::from_be_bytes(self.version);
        let end = self.version.iter().rposition(|letter| *letter != 0).map_or(0, |last| last + 1);
        let letters = self.version.get(..end).unwrap_or_default();
        let is_text = letters.iter().all(|letter| (b' '..=b'~').contains(letter));
        let text = if is_text { String::from_utf8_lossy(letters).into_owned() } else { format!("{number:04}") };
        self.add_codes(mars);
        mars.push(("expver".into(), text.into()));
    }

    /// Adds its entries.
    pub(super) fn add(self, mars: &mut Entries) {
        self.add_codes(mars);
        // Versions in other letters than ASCII are not handed out.
        if self.version.is_ascii() && !self.version.iter().any(u8::is_ascii_control) {
            mars.push(("expver".into(), String::from_utf8_lossy(&self.version).into_owned().into()));
        }
    }

    /// Class, type and stream.
    fn add_codes(self, mars: &mut Entries) {
        let codes = [
            ("class", Group::CLASS, self.class),
            ("type", Group::TYPE, self.kind),
            ("stream", Group::STREAM, self.stream),
        ];
        for (key, concept, code) in codes {
            // A code without a name stays a number.
            mars.push((key.into(), tables::text(concept, code).map_or_else(|| code.into(), Value::from)));
        }
    }
}
