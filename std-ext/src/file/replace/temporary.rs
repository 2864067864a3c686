//! A temporary file, invisible until it is complete.
//!
//! On Linux, on most local file systems, the file has no name while it is written. Nothing stays behind then, even
//! after `kill -9` or a loss of power. Elsewhere it has a hidden random name, and programs that watch [`InFlight`] remove
//! it on a signal. Only an end without a signal leaves it behind.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use tgm_core::wire::MAGIC;

use super::in_flight::InFlight;
use super::random_name;
#[cfg(unix)]
use crate::file::append::writer::Writer;

/// Random names that are tried. A collision is unlikely.
const ATTEMPTS: usize = 8;

/// The temporary file. Dropping it before [`Self::put_at`] removes it.
#[derive(Debug)]
pub struct Temporary {
    file: File,
    /// Its name. `None` for an unnamed file.
    name: Option<PathBuf>,
    directory: PathBuf,
}

impl Temporary {
    /// Creates an empty file in `directory` that will replace `existing`, if there is one.
    ///
    /// From the start only users who may read the result can read it. Mode, and where possible owner and group, are
    /// taken from `existing`; without one, the umask decides.
    ///
    /// # Errors
    /// The errors of making a file.
    pub fn new(directory: &Path, existing: Option<&Metadata>) -> io::Result<Self> {
        let temporary = match unnamed(directory, existing) {
            Some(file) => Self { file, name: None, directory: directory.into() },
            None => Self::named(directory, existing)?,
        };
        if let Some(existing) = existing {
            resemble(&temporary.file, existing)?;
        }
        Ok(temporary)
    }

    /// Creates an empty file with a hidden name, for libraries that write to names. Only its owner may read it.
    ///
    /// # Errors
    /// The errors of making a file.
    pub fn with_name(directory: &Path) -> io::Result<Self> {
        Self::create(directory, PRIVATE)
    }

    /// The name of the file, if it has one.
    pub fn name(&self) -> Option<&Path> {
        self.name.as_deref()
    }

    fn named(directory: &Path, existing: Option<&Metadata>) -> io::Result<Self> {
        Self::create(directory, mode(existing))
    }

    fn create(directory: &Path, mode: u32) -> io::Result<Self> {
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let path = directory.join(random_name()?);
            let mut in_flight = InFlight::lock();
            in_flight.add(&path);
            match options(mode).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { file, name: Some(path), directory: directory.into() }),
                Err(error) => {
                    in_flight.forget(&path);
                    if error.kind() != io::ErrorKind::AlreadyExists {
                        return Err(error);
                    }
                    taken = error;
                }
            }
        }
        Err(taken)
    }

    /// The file to write to.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Puts the complete file at `path`. Afterwards it survives a loss of power. This costs a write of the whole file
    /// to the disk, and one of the directory.
    ///
    /// # Errors
    /// Errors of writing to the disk and of renaming. The old file at `path` stays, unless only the last write of the
    /// directory failed.
    pub fn put_at(self, path: &Path) -> io::Result<()> {
        self.put_at_by(&OnDisk, path)
    }

    /// [`Self::put_at`], if nothing is at `path` by now.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if there is something. Otherwise as [`Self::put_at`].
    pub fn put_new_at(mut self, path: &Path) -> io::Result<()> {
        OnDisk.sync(&self.file)?;
        if self.name.is_none() && !self.link_new(path)? {
            self = self.copy(&OnDisk)?;
        }
        if let Some(name) = &self.name {
            // The drop removes the other name.
            fs::hard_link(name, path)?;
        }
        OnDisk.sync_directory(&self.directory)
    }

    /// [`Self::put_at`] by these steps. The file is on disk before its name is, so a crash leaves the old file or the new one.
    fn put_at_by(mut self, steps: &impl Steps, path: &Path) -> io::Result<()> {
        steps.sync(&self.file)?;
        // Whoever appends to the old file ends before. So what was appended by then was replaced, and did not vanish.
        let _alone = wait_for_writers(path)?;
        if self.name.is_none() && !self.link_at(steps, path)? {
            self = self.copy(steps)?;
        }
        if let Some(name) = &self.name {
            let mut in_flight = InFlight::lock();
            steps.rename(&self.file, name, path)?;
            in_flight.forget(name);
            drop(in_flight);
            self.name = None;
        }
        steps.sync_directory(&self.directory)
    }

    /// Puts an unnamed file at `path`. Returns whether the system can do that.
    #[cfg(target_os = "linux")]
    fn link_at(&self, steps: &impl Steps, path: &Path) -> io::Result<bool> {
        // The lock covers both steps: a signal between them would leave the name after.
        let _in_flight = InFlight::lock();
        if steps.link(&self.file, path).is_ok() {
            return Ok(true);
        }
        // A link cannot replace a file. A rename can.
        let name = self.directory.join(random_name()?);
        if steps.link(&self.file, &name).is_err() {
            return Ok(false);
        }
        let renamed = steps.rename(&self.file, &name, path);
        if renamed.is_err() {
            // The error of the rename is the one to report.
            let _ = fs::remove_file(&name);
        }
        renamed.map(|()| true)
    }

    /// Puts an unnamed file at `path`, where nothing may be. Returns whether the system can do that.
    #[cfg(target_os = "linux")]
    fn link_new(&self, path: &Path) -> io::Result<bool> {
        match OnDisk.link(&self.file, path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) => Ok(false),
        }
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "files have names here")]
    fn link_new(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "files have names here")]
    fn link_at(&self, _: &impl Steps, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// A named copy of the file. Without /proc an unnamed file cannot get a name.
    fn copy(mut self, steps: &impl Steps) -> io::Result<Self> {
        use std::io::Seek as _;
        let existing = self.file.metadata()?;
        let mut named = Self::named(&self.directory, Some(&existing))?;
        resemble(&named.file, &existing)?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut named.file)?;
        steps.sync(&named.file)?;
        // The first file is removed by its drop.
        Ok(named)
    }

    /// [`Self::copy`], for tests.
    #[cfg(test)]
    pub(super) fn copied(self) -> io::Result<Self> {
        self.copy(&OnDisk)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            InFlight::lock().remove(name);
        }
    }
}

/// Waits until nobody appends to the file at `path`, and keeps others waiting. `None` if there is no file of messages that this program
/// may write. Files of other formats have locks of other programs: HDF5 has one for as long as it reads a file.
///
/// # Errors
/// [`io::ErrorKind::Interrupted`] by a signal.
#[cfg(unix)]
fn wait_for_writers(path: &Path) -> io::Result<Option<Writer>> {
    if !may_have_messages(path) {
        return Ok(None);
    }
    match Writer::lock(None, path) {
        Ok((writer, _)) => Ok(Some(writer)),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
        // A file that cannot be opened for writing can be replaced, if its directory can be written.
        Err(_) => Ok(None),
    }
}

/// Whether the file at `path` begins with a message, or ends before that is known.
#[cfg(unix)]
fn may_have_messages(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = Vec::new();
    // To open a pipe may wait.
    let file = fs::metadata(path).is_ok_and(|it| it.is_file()).then(|| File::open(path));
    let is_read = |file: File| file.take(MAGIC.len() as u64).read_to_end(&mut start).is_ok();
    file.is_some_and(|file| file.is_ok_and(is_read)) && MAGIC.starts_with(&start)
}

/// Elsewhere a file that is open cannot be replaced.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "unix has errors")]
const fn wait_for_writers(_: &Path) -> io::Result<Option<()>> {
    Ok(None)
}

/// An unnamed file, if the file system has such files.
#[cfg(target_os = "linux")]
fn unnamed(directory: &Path, existing: Option<&Metadata>) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    options(mode(existing)).custom_flags(libc::O_TMPFILE).open(directory).ok()
}

#[cfg(not(target_os = "linux"))]
const fn unnamed(_: &Path, _: Option<&Metadata>) -> Option<File> {
    None
}

/// The mode of a file that only its owner may read.
const PRIVATE: u32 = 0o600;

/// The mode of a new file, from which the umask takes. If it replaces another file, only its owner may read it until
/// [`resemble`] sets the mode.
const fn mode(existing: Option<&Metadata>) -> u32 {
    if existing.is_some() { PRIVATE } else { 0o666 }
}

/// The options to create the file.
fn options(mode: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options
}

/// Gives the file the owner, group and mode of the file that it replaces. If the group cannot be set, the group's
/// rights are removed, because they would go to another group.
#[cfg(unix)]
fn resemble(file: &File, existing: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
    let own = file.metadata()?;
    let (user, group) = (existing.uid(), existing.gid());
    let mut mode = existing.mode() & 0o777;
    if (own.uid(), own.gid()) != (user, group)
        && fchown(file, Some(user), Some(group)).is_err()
        && own.gid() != group
        && fchown(file, None, Some(group)).is_err()
    {
        mode &= 0o707;
    }
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn resemble(file: &File, existing: &Metadata) -> io::Result<()> {
    file.set_permissions(existing.permissions())
}

/// The steps by which a complete file gets its name. Tests keep a record of them.
trait Steps {
    /// Writes a file to the disk.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Gives a name to a file that has none. The name must be free.
    #[cfg(target_os = "linux")]
    fn link(&self, file: &File, name: &Path) -> io::Result<()>;

    /// Gives `file`, whose name is `from`, the name `to`.
    fn rename(&self, file: &File, from: &Path, to: &Path) -> io::Result<()>;

    /// Writes the names in a directory to the disk.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// The steps of the system.
struct OnDisk;

impl Steps for OnDisk {
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    #[cfg(target_os = "linux")]
    fn link(&self, file: &File, name: &Path) -> io::Result<()> {
        use std::os::fd::AsRawFd as _;

        use rustix::fs::{AtFlags, CWD, linkat};
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn rename(&self, _: &File, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(unix)]
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        match File::open(directory).and_then(|directory| directory.sync_all()) {
            // Some directories may be written but not read, and some file systems cannot sync a directory.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                ) =>
            {
                Ok(())
            }
            done => done,
        }
    }

    #[cfg(not(unix))]
    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod crash_tests;
