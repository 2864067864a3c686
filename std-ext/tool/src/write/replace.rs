//! Replacing files: the new content appears whole, or the old content stays.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::write::temporary::Temporary;
use crate::write::writeback::Writeback;

/// The most links that are followed to a file that does not exist yet.
const MAX_LINKS: usize = 40;

/// Writes the file at `path`.
///
/// `write` writes to a temporary file in the same directory. When it has succeeded, that file takes the place of `path`.
/// After an error the old file is unchanged. Devices and pipes are written directly. If `path` is a symbolic link, the
/// link stays, and its target is replaced or created.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write_whole_file(path, |file| fill(file, write))
}

/// [`write_whole`], but `write` gets the file itself, without a buffer.
pub(crate) fn write_whole_file(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let (path, existing) = match fs::metadata(path) {
        Ok(existing) if existing.is_file() => (fs::canonicalize(path)?, Some(existing)),
        Ok(_) => return write(&OpenOptions::new().write(true).open(path)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (end_of_links(path)?, None),
        Err(error) => return Err(error),
    };
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| ".".as_ref());
    let temporary = Temporary::new(directory, existing.as_ref())?;
    write(temporary.file())?;
    temporary.put_at(&path)
}

/// Writes through a buffer, and reports an error of its last write.
fn fill(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::new(Writeback::new(file));
    write(&mut buffered)?;
    buffered.into_inner().map_err(io::IntoInnerError::into_error).map(drop)
}

/// Follows symbolic links from `path` to the name that is not a link. That may be `path` itself. No file exists there.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&end) else { return Ok(end) };
        end = end.parent().unwrap_or_else(|| Path::new("")).join(target);
    }
    Err(io::Error::other("too many links lead on to each other"))
}
