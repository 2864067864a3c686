//! The bytes of one message of a file: all of them, or the wanted parts with zeros between them.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::base::memory::untouched_zeros;
use crate::file::parts::{self, Wanted};
use crate::file::positioned::read_at;
use crate::scan::MessageLayout;

/// Reads the wanted parts of a message. `None` wants all of it, and so does a small message.
///
/// # Errors
/// [`TensogramError::Io`] if the message cannot be read; [`TensogramError::Encoding`] if there is no memory.
pub(super) fn read_parts(
    file: &File,
    path: &Path,
    layout: MessageLayout,
    wanted: Option<Wanted<'_>>,
) -> Result<Vec<u8>> {
    let Some(wanted) = wanted.filter(|_| layout.length > parts::AT_ONCE) else {
        return read_whole(file, path, layout);
    };
    let mut bytes = untouched_zeros(len_of(layout)?)?;
    parts::read(file, layout.offset, &mut bytes, wanted).map_err(|error| TensogramError::io(path, &error))?;
    Ok(bytes)
}

/// Reads a whole message.
///
/// # Errors
/// As [`read_parts`].
pub(super) fn read_whole(file: &File, path: &Path, layout: MessageLayout) -> Result<Vec<u8>> {
    let len = len_of(layout)?;
    let mut bytes = reserve(len)?;
    match read_at(file, layout.offset, &mut bytes).map_err(|error| TensogramError::io(path, &error))? {
        read if read == len => Ok(bytes),
        _ => Err(TensogramError::io(path, &io::ErrorKind::UnexpectedEof.into())),
    }
}

fn len_of(layout: MessageLayout) -> Result<usize> {
    let len = layout.length;
    usize::try_from(len).map_err(|_| {
        TensogramError::encoding(format!("message of {len} bytes: this machine addresses at most {}", usize::MAX))
    })
}
