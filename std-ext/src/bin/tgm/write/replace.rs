//! Replacement of files: the new content appears whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::write::temporary::Temporary;

/// Limit on links that are followed to a file that does not exist yet.
const MAX_LINKS: usize = 40;

/// Writes the file at `path`. The content goes to a temporary file in the same directory, which takes the place of
/// `path` after `write` has succeeded. On an error the old file stays. Devices and pipes are written directly. A link
/// stays, and its target is replaced or created.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write_whole_file(path, |file| fill(file, write))
}

/// [`write_whole`], without a buffer.
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

fn fill(file: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.into_inner().map_err(io::IntoInnerError::into_error).map(drop)
}

/// The end of a chain of links, which does not exist. A path that is no link is its own end.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&end) else { return Ok(end) };
        end = end.parent().unwrap_or_else(|| Path::new("")).join(target);
    }
    Err(io::Error::other("too many links lead on to each other"))
}
