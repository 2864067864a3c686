//! Replacing files: the new content appears whole, or the old content stays. Every program of this project that writes a
//! whole file, or a folder, writes it here.

mod folder;
mod in_flight;
mod temporary;
mod writeback;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

pub use self::folder::TemporaryFolder;
pub use self::in_flight::{InFlight, make_folders};
pub use self::temporary::Temporary;
use self::writeback::Writeback;
use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::buffered::prepare_stored;
use crate::encode::{PartError, encode};
use crate::file::append::medium::{Medium as _, OnDisk};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// The most links that are followed to a file that does not exist yet.
const MAX_LINKS: usize = 40;

/// New content of a file, which is being written. Dropping it before [`Self::finish`] leaves the file as it was.
#[derive(Debug)]
pub struct Replacement(Place);

/// Where the content goes.
#[derive(Debug)]
enum Place {
    /// A device or a pipe is written directly.
    Direct(File),
    /// A temporary file, and the path at which it is put in the end. That path is not a link.
    Aside { temporary: Temporary, path: PathBuf },
}

impl Replacement {
    /// Begins to replace the file at `path`.
    ///
    /// What is written goes to a temporary file in the same directory, which has the mode and, where possible, the owner of the file
    /// that it replaces. Devices and pipes are written directly. If `path` is a symbolic link, the link stays, and its target is
    /// replaced or created.
    ///
    /// # Errors
    /// The errors of asking for the file, and of making another one in its directory.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let (path, existing) = match fs::metadata(path) {
            Ok(existing) if existing.is_file() => (fs::canonicalize(path)?, Some(existing)),
            Ok(_) => return Ok(Self(Place::Direct(OpenOptions::new().write(true).open(path)?))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (end_of_links(path)?, None),
            Err(error) => return Err(error),
        };
        if path.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
        }
        let temporary = Temporary::new(directory_of(&path), existing.as_ref())?;
        Ok(Self(Place::Aside { temporary, path }))
    }

    /// The file to write to.
    pub const fn file(&self) -> &File {
        match &self.0 {
            Place::Direct(file) => file,
            Place::Aside { temporary, .. } => temporary.file(),
        }
    }

    /// Encodes a message as the whole content. A long one whose values are stored as they are is written piece by piece, and is
    /// nowhere whole in memory.
    ///
    /// # Errors
    /// The errors of [`encode`]; [`TensogramError::Io`].
    pub fn write_message(
        &self,
        metadata: &GlobalMetadata,
        objects: &[(&DataObjectDescriptor, &[u8])],
        options: &EncodeOptions,
    ) -> Result<()> {
        let Place::Aside { temporary, path } = &self.0 else {
            return Ok(self.file().write_all(&encode(metadata, objects, options)?)?);
        };
        let disk = OnDisk { file: temporary.file(), path };
        if let Some(message) = prepare_stored(metadata, objects, options)? {
            match message.write_behind_front(|at, bytes| disk.write_at(at, bytes)) {
                Ok(front) => return Ok(disk.write_at(0, &front)?),
                Err(PartError { error: error @ TensogramError::Io(_), .. }) => return Err(error),
                // Values that are not finite: the message gets masks.
                Err(_) => disk.cut(0)?,
            }
        }
        Ok(disk.write_at(0, &encode(metadata, objects, options)?)?)
    }

    /// Puts the complete content into its place. Writers that append to the old file end before, as [`crate::TensogramFile`] makes
    /// them wait for each other.
    ///
    /// # Errors
    /// As [`Temporary::put_at`].
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Place::Direct(_) => Ok(()),
            Place::Aside { temporary, path } => temporary.put_at(&path),
        }
    }

    /// [`Self::finish`], if no file is there by now.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] for a file that is there: it stays as it is. Otherwise as [`Temporary::put_at`].
    pub fn finish_new(self) -> io::Result<()> {
        match self.0 {
            Place::Direct(_) => Ok(()),
            Place::Aside { temporary, path } => temporary.put_new_at(&path),
        }
    }
}

/// Writes the file at `path`, as [`Replacement`] does. `write` writes to it through a buffer. After an error the old file is
/// unchanged.
///
/// # Errors
/// The errors of `write`, and of a [`Replacement`].
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write_whole_file(path, |file| fill(file, write))
}

/// [`write_whole`], but `write` gets the file itself, without a buffer.
///
/// # Errors
/// As [`write_whole`].
pub fn write_whole_file(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let replacement = Replacement::begin(path)?;
    write(replacement.file())?;
    replacement.finish()
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

/// The directory that holds the name of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| ".".as_ref())
}

/// A hidden random name, which no other run on this or another machine has taken.
fn random_name() -> io::Result<String> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!(".tgm.{:016x}.tmp", u64::from_ne_bytes(random)))
}

#[cfg(test)]
mod tests;
