//! Sources of messages, and the objects in them.

use std::num::NonZeroU64;
use std::ops::Range;

use tgm_core::descriptor::Dtype;
use tgm_core::frame::Frame;
use tgm_core::object::DataObject;
use tgm_std::{Result, TensogramError};

pub(crate) use crate::source::Entry;
use crate::source::{Source, digest_of};

/// Which variables of files have the numbers that their file stored, with the attributes that say what these mean, and not values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Raw {
    /// None of them.
    #[default]
    Nothing,
    /// All of them.
    Everything,
    /// The variables of these names.
    Named(Vec<String>),
}

impl Raw {
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Named(names) => names.iter().any(|known| known == name),
        }
    }
}

/// Sources, and all of their objects in order.
#[derive(Debug)]
pub(crate) struct Archive {
    pub(crate) sources: Vec<Source>,
    pub(crate) entries: Vec<Entry>,
    /// What errors call a source. `None` is its own name.
    pub(crate) called: Option<String>,
    /// Bytes of sources that belong to no message, in words.
    pub(crate) lost: Vec<String>,
    /// The variables that have stored numbers.
    pub(crate) raw: Raw,
}

impl Archive {
    /// The object with a number.
    pub(crate) fn entry(&self, number: u32) -> Result<(&Source, &Entry)> {
        let entry = usize::try_from(number).ok().and_then(|number| self.entries.get(number));
        let entry = entry.ok_or_else(|| bad(format!("object {number} of the dataset is not there")))?;
        let source = usize::try_from(entry.source).ok().and_then(|source| self.sources.get(source));
        Ok((source.ok_or_else(|| bad(format!("source {} of the dataset is not there", entry.source)))?, entry))
    }

    /// Whether a source is at an address.
    pub(crate) fn is_distant(&self) -> bool {
        self.sources.iter().any(|source| source.archive().is_distant())
    }

    /// The digest of an object's frame. `None` if it has none.
    ///
    /// # Errors
    /// The errors of reading.
    pub(crate) fn digest(&self, number: u32) -> Result<Option<NonZeroU64>> {
        let (source, entry) = self.entry(number)?;
        if entry.digest.is_some() { Ok(entry.digest) } else { source.digest(entry) }
    }

    /// The place of an object, in words.
    pub(crate) fn place(&self, number: u32) -> String {
        match self.entry(number) {
            Ok((_, entry)) => {
                let name = self.source_name(entry.source);
                format!("{name} message {} object {}", entry.message, entry.object)
            }
            Err(error) => error.to_string(),
        }
    }

    /// What errors call a source.
    pub(crate) fn source_name(&self, number: u32) -> String {
        let source = usize::try_from(number).ok().and_then(|number| self.sources.get(number));
        let own = || source.map_or_else(|| format!("source {number}"), |source| source.archive().name());
        self.called.clone().unwrap_or_else(own)
    }
}

/// An error of a dataset.
#[cold]
pub(crate) fn bad(what: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(what.into().into())
}

/// Bytes of a source that are kept, so that neighbouring frames are read at once.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    source: Option<u32>,
    start: u64,
    bytes: Vec<u8>,
    /// Whether the source had been written to since it was opened when they were read.
    is_changed: bool,
}

impl Kept {
    /// The frame of an object. If it has to be read, `ahead` says where the bytes end that will be wanted next. They are read
    /// together with it.
    ///
    /// # Errors
    /// The errors of reading; [`TensogramError::Metadata`] if the file ends before the frame does, or was changed since it was opened.
    pub(crate) fn frame(&mut self, archive: &Archive, number: u32, ahead: impl FnOnce() -> u64) -> Result<&[u8]> {
        let (source, entry) = archive.entry(number)?;
        let wanted = entry.offset..entry.end();
        if self.source != Some(entry.source) || self.part(&wanted).is_none() {
            let end = ahead().max(wanted.end);
            let len = usize::try_from(end - wanted.start).map_err(|_| bad("a frame is too long"))?;
            self.source = None;
            if self.bytes.len() < len {
                self.bytes = tgm_std::internal::reserve(len)?;
            } else {
                self.bytes.truncate(len);
            }
            let read = source.archive().read_at(wanted.start, &mut self.bytes)?;
            self.bytes.truncate(read);
            self.start = wanted.start;
            self.source = Some(entry.source);
            self.is_changed = source.is_changed();
        }
        let frame = self.part(&wanted);
        if self.is_changed {
            source.check_digest(entry, frame.and_then(digest_of))?;
        }
        // The text of an error of reading has no room for a place.
        frame.ok_or_else(|| bad(format!("{} ends before the object", source.archive().name())))
    }

    fn part(&self, range: &Range<u64>) -> Option<&[u8]> {
        let start = usize::try_from(range.start.checked_sub(self.start)?).ok()?;
        let end = usize::try_from(range.end.checked_sub(self.start)?).ok()?;
        self.bytes.get(start..end)
    }
}

/// The object of a frame, which must have the type and the number of dimensions that the dataset knows.
///
/// # Errors
/// The errors of the frame; [`TensogramError::Metadata`] if it is another object: the file was changed.
pub(crate) fn object_of(frame: &[u8], dtype: Dtype) -> Result<DataObject<'_>> {
    let object = DataObject::parse(Frame::parse(frame)?.0)?;
    check(object.descriptor().dtype(), dtype)?;
    Ok(object)
}

/// # Errors
/// [`TensogramError::Metadata`] if an object has another type than it had when the dataset was opened.
pub(crate) fn check(found: Dtype, dtype: Dtype) -> Result<()> {
    if found == dtype {
        return Ok(());
    }
    let (found, dtype) = (found.name(), dtype.name());
    Err(bad(format!("the object is of type {found} and was of type {dtype}: the file was changed")))
}
