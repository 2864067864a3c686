//! Something that has a position, as a source of ranges of bytes.

use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use crate::base::limits::reserve;
use crate::base::span::span_len;
use crate::read::{FetchError, FetchErrorKind, Fetched, RangeFetch, Tag, Want};
use crate::scan::fill;

/// Something with a position. Threads wait for each other, because they share it.
pub(super) struct SeekFetch<R>(Mutex<R>);

impl<R> SeekFetch<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self(Mutex::new(reader))
    }
}

impl<R: Read + Seek + Send> RangeFetch for SeekFetch<R> {
    fn fetch(&self, want: &Want, _unchanged: Option<&Tag>) -> Result<Fetched, FetchError> {
        let io = |error: std::io::Error| {
            FetchError::new(FetchErrorKind::Io(error.kind()), format!("{}: {error}", self.name()))
        };
        let too_large =
            |text: String| FetchError::new(FetchErrorKind::TooLarge, format!("{}: {want:?}: {text}", self.name()));
        // A panic between two calls leaves the position anywhere, and each call sets it.
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let size = reader.seek(SeekFrom::End(0)).map_err(io)?;
        let range = want.within(size);
        let len = usize::try_from(span_len(&range)).map_err(|error| too_large(error.to_string()))?;
        let mut bytes = reserve(len).map_err(|error| too_large(error.to_string()))?;
        reader.seek(SeekFrom::Start(range.start)).map_err(io)?;
        let read = fill(&mut bytes, |rest, _| reader.read(rest)).map_err(io)?;
        bytes.truncate(read);
        Ok(Fetched { offset: range.start, bytes, size: Some(size), tag: None })
    }

    fn name(&self) -> String {
        "a reader".into()
    }
}
