//! Files that appear whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes the file at `path` by way of a temporary one beside it, which takes its place when `write` has succeeded. What
/// was there before stays if anything fails. Devices and pipes are written to directly.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A link keeps pointing where it does.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&path) {
        Ok(existing) if existing.is_file() => replace(&path, Some(existing.permissions()), write),
        Ok(_) => fill(OpenOptions::new().write(true).open(&path)?, write).map(drop),
        Err(_) => replace(&path, None, write),
    }
}

fn replace(
    path: &Path,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = temporary_beside(path)?;
    let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
    let done = fill(file, write).and_then(|file| {
        permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
        drop(file);
        fs::rename(&temporary, path)
    });
    if done.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    }
    done
}

fn fill(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut buffered = BufWriter::new(file);
    write(&mut buffered)?;
    buffered.into_inner().map_err(io::IntoInnerError::into_error)
}

fn temporary_beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(temporary))
}
