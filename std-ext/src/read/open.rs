//! Opening files. Errors name the path. Neither opening nor waiting for bytes holds a program that is to stop.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::base::error::{Result, TensogramError};
use crate::base::source_name::SourceName;

/// Opens a file for reading at positions.
///
/// # Errors
/// [`TensogramError::Io`] naming the path: the errors of [`open_positioned`].
pub(crate) fn open_for_reading(path: &Path) -> Result<File> {
    open_positioned(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            TensogramError::Io(io::Error::new(error.kind(), format!("file not found: {}", SourceName::of(path))))
        }
        _ => TensogramError::io(path, &error),
    })
}

/// Opens a file for reading at positions.
///
/// # Errors
/// The errors of opening. A pipe is refused: it has no positions, and opening one would wait until a writer comes.
pub(crate) fn open_positioned(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    if is_pipe(&file) {
        let text = "a pipe has no positions to read at: read it as a stream";
        return Err(io::Error::new(io::ErrorKind::NotSeekable, text));
    }
    Ok(file)
}

/// The bytes of a file at a path, if `check` allows as many. A pipe is refused.
///
/// # Errors
/// [`TensogramError::Io`] naming the path; the errors of `check`.
pub fn read_file(path: &Path, check: impl FnOnce(u64) -> Result<()>) -> Result<Vec<u8>> {
    let failed = |error: io::Error| TensogramError::io(path, &error);
    let file = open_positioned(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    check(len)?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Opens a file for reading. Does not wait for the writer of a pipe.
///
/// # Errors
/// The errors of opening.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}

#[cfg(unix)]
fn is_pipe(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt;
    file.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &File) -> bool {
    false
}
