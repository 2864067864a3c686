//! The temporary files and folders that have a name while they are written.
//!
//! Creating, renaming and removing them happens under one lock. A program that removes them when a signal ends it takes that lock
//! and never releases it, so that no file is created afterwards.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

static IN_FLIGHT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static WATCH: OnceLock<fn()> = OnceLock::new();

/// The lock, and the list of what has a name.
#[derive(Debug)]
pub struct InFlight(MutexGuard<'static, Vec<PathBuf>>);

impl InFlight {
    /// Calls `watch` before each time the lock is taken for a file. A program begins to wait for signals there. The first call counts.
    pub fn watched_by(watch: fn()) {
        // A second watcher would remove what the first one removes.
        let _ = WATCH.set(watch);
    }

    /// Deletes all, for a program that ends. While the result is kept, nothing is created.
    pub fn remove_all() -> Self {
        let mut in_flight = Self::take();
        for path in in_flight.0.drain(..) {
            delete(&path);
        }
        in_flight
    }

    /// Takes the lock. While it is held, no signal ends a program that removes its files before.
    pub(super) fn lock() -> Self {
        if let Some(watch) = WATCH.get() {
            watch();
        }
        Self::take()
    }

    fn take() -> Self {
        // A panic in another thread cannot leave the list of paths invalid.
        Self(IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a temporary file or folder, before it is created.
    pub(super) fn add(&mut self, path: &Path) {
        self.0.push(path.to_path_buf());
    }

    /// Removes a path from the list, because what was there is in its place or was never created.
    pub(super) fn forget(&mut self, path: &Path) {
        self.0.retain(|known| known != path);
    }

    /// Deletes a temporary file or folder.
    pub(super) fn remove(&mut self, path: &Path) {
        delete(path);
        self.forget(path);
    }
}

/// Deletes a file, or a folder and all in it. A missing one is fine, and there is no second chance.
fn delete(path: &Path) {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        delete_folder(path);
    } else {
        let _ = fs::remove_file(path);
    }
}

/// Deletes a folder into which other threads may still write.
///
/// The folder gets another name first, so that writing under its old name fails. No thread makes it anew: `make_folders` waits for the
/// lock, which is held here. A file that was being created at that moment may still appear in it, so deletion is tried again.
fn delete_folder(path: &Path) {
    let mut aside = OsString::from(path);
    aside.push(".gone");
    let place = if fs::rename(path, &aside).is_ok() { Path::new(&aside) } else { path };
    for _ in 0..ATTEMPTS {
        if fs::remove_dir_all(place).is_ok() {
            return;
        }
    }
}

/// How often a folder is deleted that is not empty again.
const ATTEMPTS: u32 = 100;

/// Makes a folder and those that lead to it, within a [`super::TemporaryFolder`]. A program that removed its temporary files because it
/// ends waits here for its end, so that none of them comes back.
///
/// # Errors
/// The errors of making folders.
pub fn make_folders(path: &Path) -> io::Result<()> {
    let _in_flight = InFlight::lock();
    fs::create_dir_all(path)
}
