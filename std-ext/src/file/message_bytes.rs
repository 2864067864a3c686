//! Messages of a file that is read at positions.

use std::io;

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::read::positioned::read_at;
use crate::read::question::{Needs, Question, Subject};
use crate::read::{LocalFile, ReadOptions, Reader};
use crate::scan::MessageLayout;

/// Messages up to this many bytes are read whole: to look for their parts takes about as long.
pub(super) const AT_ONCE: u64 = ReadOptions::local().whole_message;

/// Reads a whole message.
///
/// # Errors
/// [`TensogramError::Io`] if the message cannot be read; [`TensogramError::Encoding`] if there is no memory.
pub(super) fn read_whole(file: &LocalFile, layout: MessageLayout) -> Result<Vec<u8>> {
    let len = layout.length;
    let len = usize::try_from(len).map_err(|_| {
        TensogramError::encoding(format!("message of {len} bytes: this machine addresses at most {}", usize::MAX))
    })?;
    let mut bytes = reserve(len)?;
    match read_at(file.file(), layout.offset, &mut bytes).map_err(|error| TensogramError::io(file.path(), &error))? {
        read if read == len => Ok(bytes),
        _ => Err(TensogramError::io(file.path(), &io::ErrorKind::UnexpectedEof.into())),
    }
}

/// The answer to a question to the message at `layout`. If the message is long, only the parts that the answer needs are
/// read.
///
/// # Errors
/// [`TensogramError::Io`] if the message cannot be read; the errors of the question.
pub(super) fn ask<Q: Question>(file: &LocalFile, layout: MessageLayout, question: Q) -> Result<Q::Answer> {
    if layout.length <= AT_ONCE || matches!(question.wanted(), Needs::Message) {
        return question.in_own_memory(read_whole(file, layout)?);
    }
    ask_parts(file, Subject::Message(layout), layout.end(), question)
}

/// The answer to a question to what ends at byte `end` of the file.
///
/// # Errors
/// The errors of [`ask`].
pub(super) fn ask_parts<Q: Question>(file: &LocalFile, of: Subject, end: u64, question: Q) -> Result<Q::Answer> {
    // Nothing is kept from call to call but the list of messages, so that a file may grow.
    Reader::of_size(file.up_to(end), ReadOptions::local(), end).ask(of, question)
}

#[cfg(test)]
mod tests;
