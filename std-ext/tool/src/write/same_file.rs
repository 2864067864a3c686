//! Whether two names lead to one file.

use std::fs::{self, Metadata};
use std::path::Path;

/// Whether `path` stands for a standard stream.
pub(crate) fn is_stdio(path: &Path) -> bool {
    path == Path::new("-")
}

/// The identity of a file: device and inode number, or the path without links where the system has no such numbers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    #[cfg(unix)]
    place: (u64, u64),
    #[cfg(not(unix))]
    place: std::path::PathBuf,
}

impl Identity {
    /// The file at `path`; "-" is standard input. `None` for a missing file, and for a pipe or terminal, which keeps
    /// nothing.
    pub(crate) fn of_input(path: &Path) -> Option<Self> {
        if path == Path::new("-") { Self::of_stdin() } else { Self::of(path) }
    }

    /// The file at `path`, by the same rules.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Self::new(path, &fs::metadata(path).ok()?)
    }

    #[cfg(unix)]
    fn of_stdin() -> Option<Self> {
        Self::of_open(&std::io::stdin())
    }

    /// The file that standard output was led to.
    #[cfg(unix)]
    pub(crate) fn of_stdout() -> Option<Self> {
        Self::of_open(&std::io::stdout())
    }

    #[cfg(unix)]
    fn of_open(stream: &impl std::os::fd::AsFd) -> Option<Self> {
        let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
        Self::new(Path::new(""), &file.metadata().ok()?)
    }

    #[cfg(not(unix))]
    const fn of_stdin() -> Option<Self> {
        None
    }

    /// The file after standard output: unknown on this system.
    #[cfg(not(unix))]
    pub(crate) const fn of_stdout() -> Option<Self> {
        None
    }

    #[cfg(unix)]
    fn new(_: &Path, metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
        let keeps = metadata.is_file() || metadata.file_type().is_block_device();
        keeps.then(|| Self { place: (metadata.dev(), metadata.ino()) })
    }

    #[cfg(not(unix))]
    fn new(path: &Path, _: &Metadata) -> Option<Self> {
        Some(Self { place: path.canonicalize().ok()? })
    }
}
