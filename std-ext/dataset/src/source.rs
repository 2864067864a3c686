//! One source of messages, and how parts of its objects are read.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use tgm_core::selection::Pick;
use tgm_std::decode::Selected;
use tgm_std::file::{Data, TensogramFile};
use tgm_std::read::{FetchError, FetchErrorKind, FetchTraits, Fetched, RangeFetch, ReadOptions, Reader, Tag, Want};
use tgm_std::{DataObjectDescriptor, DecodeOptions, Result, TensogramError};

/// An open source.
pub(crate) struct Source {
    file: Arc<TensogramFile>,
    /// What reads parts of long objects. It keeps the structure of messages from call to call: a message can have very many
    /// objects.
    reader: OnceLock<Reader<Ranges>>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("name", &self.file.name().to_string()).finish_non_exhaustive()
    }
}

impl Source {
    pub(crate) fn new(file: TensogramFile) -> Self {
        Self { file: Arc::new(file), reader: OnceLock::new() }
    }

    pub(crate) fn file(&self) -> &TensogramFile {
        &self.file
    }

    /// What `picks` take of an object. Only the parts are read that hold it.
    ///
    /// # Errors
    /// The errors of reading and decoding.
    pub(crate) fn select(
        &self,
        (message, object): (usize, usize),
        picks: &[Pick],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Selected<'static>)> {
        if self.file.is_remote() {
            return self.file.select(message, object, picks, options);
        }
        let reader = self.reader.get_or_init(|| Reader::new(Ranges(Arc::clone(&self.file)), ReadOptions::local()));
        reader.select(message, object, picks, options)
    }
}

/// Ranges of bytes of an open file.
struct Ranges(Arc<TensogramFile>);

impl Ranges {
    fn failed(&self, error: &TensogramError) -> FetchError {
        let kind = match error {
            TensogramError::Io(error) => FetchErrorKind::Io(error.kind()),
            _ => FetchErrorKind::Io(io::ErrorKind::Other),
        };
        FetchError::new(kind, format!("{}: {error}", self.0.name()))
    }

    fn read(&self, want: &Want) -> Result<Fetched> {
        let size = Data::from(&*self.0).length()?;
        let range = want.within(size);
        let len = range.end.checked_sub(range.start).and_then(|len| usize::try_from(len).ok());
        let mut bytes =
            tgm_std::internal::reserve(len.ok_or_else(|| TensogramError::Metadata("a frame is too long".into()))?)?;
        let read = self.0.read_at(range.start, &mut bytes)?;
        bytes.truncate(read);
        Ok(Fetched { offset: range.start, bytes, size: Some(size), tag: None })
    }
}

impl RangeFetch for Ranges {
    fn fetch(&self, want: &Want, _: Option<&Tag>) -> std::result::Result<Fetched, FetchError> {
        self.read(want).map_err(|error| self.failed(&error))
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { size: Data::from(&*self.0).length().ok(), ..FetchTraits::default() }
    }

    fn name(&self) -> String {
        self.0.name().to_string()
    }
}
