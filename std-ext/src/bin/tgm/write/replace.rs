//! Files that appear whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::write::temporary::Temporary;

/// Links that are followed to a file that is not there yet.
const MAX_LINKS: usize = 40;

/// Writes the file at `path` by way of a temporary one in its directory, which takes its place when `write` has succeeded. What
/// was there before stays if anything fails. Devices and pipes are written to directly. A link keeps pointing where it does,
/// and the file is replaced, or made, there.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let (path, existing) = match fs::metadata(path) {
        Ok(existing) if existing.is_file() => (fs::canonicalize(path)?, Some(existing)),
        Ok(_) => return fill(&OpenOptions::new().write(true).open(path)?, write),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (end_of_links(path)?, None),
        Err(error) => return Err(error),
    };
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| ".".as_ref());
    let temporary = Temporary::new(directory, existing.as_ref())?;
    fill(temporary.file(), write)?;
    temporary.put_at(&path)
}

fn fill(file: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.into_inner().map_err(io::IntoInnerError::into_error).map(drop)
}

/// Where a link leads that leads to nothing; a path that is no link is its own end.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&end) else { return Ok(end) };
        end = end.parent().unwrap_or_else(|| Path::new("")).join(target);
    }
    Err(io::Error::other("too many links lead on to each other"))
}
