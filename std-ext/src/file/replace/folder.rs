//! A temporary folder, which nobody else can look into until it is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::in_flight::InFlight;
use super::{directory_of, random_name};

/// A folder that is being filled. Dropping it before [`Self::put_at`] removes it, and so does a program that removes its
/// [`InFlight`] files on a signal.
///
/// It lies in another folder, with a hidden random name, which only its owner may enter. So its own mode is the usual one from the
/// beginning, and nobody reads it before it is complete.
#[derive(Debug)]
pub struct TemporaryFolder {
    around: PathBuf,
    is_in_place: bool,
}

/// The name of the folder in the one around it.
const NAME: &str = "content";

impl TemporaryFolder {
    /// A path beside the folder at `path`, which will be there in the end. `make` makes a folder at the path that it gets.
    ///
    /// # Errors
    /// The errors of making a folder, and of `make`.
    pub fn new<T, E>(path: &Path, make: impl FnOnce(&Path) -> Result<T, E>) -> Result<(Self, T), E>
    where
        E: From<io::Error>,
    {
        let around = directory_of(path).join(random_name()?);
        let mut in_flight = InFlight::lock();
        // A name that something has is not ours to remove, so it is made before it is listed. The lock covers both.
        private(&around)?;
        in_flight.add(&around);
        drop(in_flight);
        let folder = Self { around, is_in_place: false };
        let inside = make(&folder.around.join(NAME))?;
        Ok((folder, inside))
    }

    /// Puts the complete folder at `path`, where nothing may be.
    ///
    /// # Errors
    /// The errors of renaming.
    pub fn put_at(mut self, path: &Path) -> io::Result<()> {
        let mut in_flight = InFlight::lock();
        fs::rename(self.around.join(NAME), path)?;
        self.is_in_place = true;
        in_flight.remove(&self.around);
        Ok(())
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if !self.is_in_place {
            InFlight::lock().remove(&self.around);
        }
    }
}

/// Makes a folder that only its owner may enter.
fn private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        fs::DirBuilder::new().mode(0o700).create(path)
    }
    #[cfg(not(unix))]
    fs::create_dir(path)
}
