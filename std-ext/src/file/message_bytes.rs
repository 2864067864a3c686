//! Messages of a file that is read at positions.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::base::source_name::SourceName;
use crate::base::span::span_len;
use crate::read::positioned::read_at;
use crate::read::question::{Needs, Question};
use crate::read::{FetchError, FetchErrorKind, Fetched, RangeFetch, ReadOptions, Reader, Tag, Want};
use crate::scan::MessageLayout;

/// Messages up to this many bytes are read whole: to look for their parts takes about as long.
pub(super) const AT_ONCE: u64 = ReadOptions::local().whole_message;

/// Reads a whole message.
///
/// # Errors
/// [`TensogramError::Io`] if the message cannot be read; [`TensogramError::Encoding`] if there is no memory.
pub(super) fn read_whole(file: &File, path: &Path, layout: MessageLayout) -> Result<Vec<u8>> {
    let len = layout.length;
    let len = usize::try_from(len).map_err(|_| {
        TensogramError::encoding(format!("message of {len} bytes: this machine addresses at most {}", usize::MAX))
    })?;
    let mut bytes = reserve(len)?;
    match read_at(file, layout.offset, &mut bytes).map_err(|error| TensogramError::io(path, &error))? {
        read if read == len => Ok(bytes),
        _ => Err(TensogramError::io(path, &io::ErrorKind::UnexpectedEof.into())),
    }
}

/// The answer to a question to the message at `layout`. If the message is long, only the parts that the answer needs are
/// read.
///
/// # Errors
/// [`TensogramError::Io`] if the message cannot be read; the errors of the question.
pub(super) fn ask<Q: Question>(file: &File, path: &Path, layout: MessageLayout, question: &Q) -> Result<Q::Answer> {
    if layout.length <= AT_ONCE || matches!(question.wanted(), Needs::Message) {
        return question.in_own_memory(read_whole(file, path, layout)?);
    }
    // Nothing is kept from call to call but the list of messages, so that a file may grow.
    Reader::of_size(Bytes { file, path }, ReadOptions::local(), layout.end()).ask_at(layout, question)
}

/// The bytes of a file, as long as they are there.
struct Bytes<'f> {
    file: &'f File,
    path: &'f Path,
}

impl RangeFetch for Bytes<'_> {
    fn fetch(&self, want: &Want, _: Option<&Tag>) -> Result<Fetched, FetchError> {
        let failed = |kind, text: String| FetchError::new(kind, format!("{}: {text}", SourceName::of(self.path)));
        let io = |error: io::Error| failed(FetchErrorKind::Io(error.kind()), error.to_string());
        let Want::At(range) = want else {
            return Err(failed(FetchErrorKind::NoRanges, "the end of a message is asked for by its place".into()));
        };
        let too_large = |text: String| failed(FetchErrorKind::TooLarge, text);
        let len = usize::try_from(span_len(range)).map_err(|error| too_large(error.to_string()))?;
        let mut bytes = reserve(len).map_err(|error| too_large(error.to_string()))?;
        let read = read_at(self.file, range.start, &mut bytes).map_err(io)?;
        if read < len {
            return Err(io(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(Fetched { offset: range.start, bytes, size: None, tag: None })
    }

    fn name(&self) -> String {
        SourceName::of(self.path).to_string()
    }
}

#[cfg(test)]
mod tests;
