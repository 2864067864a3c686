//! The operations on a file that appending is made of. Tests run the same code on a simulated disk.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::file::positioned::read_at;

/// A file that is appended to.
pub(in crate::file) trait Medium {
    /// Fills `out` with the bytes from `offset` on, as far as there are some.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Says that `len` bytes at `offset` will be written at once. The file's length stays.
    fn reserve(&self, _offset: u64, _len: usize) {}

    /// Shortens the file.
    fn cut(&self, len: u64) -> io::Result<()>;

    /// Waits until all that was done to the file before is on disk: its bytes, and its length.
    fn sync(&self) -> io::Result<()>;

    /// Waits until the name of the file is on disk.
    fn sync_name(&self) -> io::Result<()>;
}

/// An open file and its path.
pub(in crate::file) struct OnDisk<'f> {
    pub(in crate::file) file: &'f File,
    pub(in crate::file) path: &'f Path,
}

impl Medium for OnDisk<'_> {
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        read_at(self.file, offset, out)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self.file, bytes, offset)
    }

    #[cfg(not(unix))]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        use std::io::{Seek as _, SeekFrom, Write as _};
        let mut file = self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    /// File systems that choose places late, such as ext4, write to the disk at once what was truncated and then closed, unless it
    /// has its places.
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code, reason = "a call of the system's C library")]
    fn reserve(&self, offset: u64, len: usize) {
        use std::os::fd::AsRawFd as _;
        let (Ok(offset), Ok(len)) = (offset.try_into(), len.try_into()) else { return };
        // SAFETY: The descriptor is open as long as the file. The call has no pointers. Where it fails, a write tells the same.
        unsafe { libc::fallocate(self.file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, offset, len) };
    }

    fn cut(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    /// `fdatasync`: it covers the length of the file, but not its times.
    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn sync_name(&self) -> io::Result<()> {
        sync_directory(directory_of(self.path))
    }
}

/// The directory that holds the name of a file.
pub(in crate::file) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Waits until the names in a directory are on disk.
#[cfg(unix)]
pub(in crate::file) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

#[cfg(not(unix))]
pub(in crate::file) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
