//! A temporary file, invisible until it is complete.
//!
//! On Linux, on most local file systems, the file has no name while it is written. Nothing stays behind then, even
//! after `kill -9` or a loss of power. Elsewhere it has a hidden random name, and [`InFlight`] removes it on a signal.
//! Only an end without a signal leaves it behind.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::read::pipes;
use crate::write::interrupt::InFlight;

/// Random names that are tried. A collision is unlikely.
const ATTEMPTS: usize = 8;

/// The temporary file. Dropping it before [`Self::put_at`] removes it.
pub(crate) struct Temporary {
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
    pub(crate) fn new(directory: &Path, existing: Option<&Metadata>) -> io::Result<Self> {
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
    pub(crate) fn with_name(directory: &Path) -> io::Result<Self> {
        Self::create(directory, PRIVATE)
    }

    /// The name of the file, if it has one.
    pub(crate) fn name(&self) -> Option<&Path> {
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

    /// A file with all that comes from a pipe or from an address, for what opens names, or reads in any order.
    ///
    /// # Errors
    /// The errors of reading, and of making and writing a file.
    pub(crate) fn holding(path: &Path) -> io::Result<Self> {
        let temporary = Self::with_name(&std::env::temp_dir())?;
        io::copy(&mut pipes::open(path)?, &mut temporary.file())?;
        Ok(temporary)
    }

    /// The file to write to.
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Puts the complete file at `path`. Afterwards it survives a loss of power. This costs a write of the whole file
    /// to the disk, and one of the directory.
    ///
    /// # Errors
    /// Errors of writing to the disk and of renaming. The old file at `path` stays, unless only the last write of the
    /// directory failed.
    pub(crate) fn put_at(self, path: &Path) -> io::Result<()> {
        self.put_at_by(&OnDisk, path)
    }

    /// [`Self::put_at`] by these steps. The file is on disk before its name is, so a crash leaves the old file or the new one.
    fn put_at_by(mut self, steps: &impl Steps, path: &Path) -> io::Result<()> {
        steps.sync(&self.file)?;
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
        // The lock covers both steps: a signal between them would leave the name behind.
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
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            InFlight::lock().remove(name);
        }
    }
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

/// A temporary folder with a hidden random name. Dropping it before [`Self::put_at`] removes it, and so does [`InFlight`] on
/// a signal.
#[cfg(any(feature = "parquet", feature = "zarr"))]
pub(crate) struct TemporaryFolder {
    path: PathBuf,
    is_in_place: bool,
}

#[cfg(any(feature = "parquet", feature = "zarr"))]
impl TemporaryFolder {
    /// A name in `directory` that nothing has, for a folder that `make` makes there.
    ///
    /// # Errors
    /// The errors of `make`, which must not take a folder that exists.
    pub(crate) fn new<T, E>(directory: &Path, make: impl FnOnce(&Path) -> Result<T, E>) -> Result<(Self, T), E>
    where
        E: From<io::Error>,
    {
        let path = directory.join(random_name()?);
        let mut in_flight = InFlight::lock();
        // A name that something has is not ours to remove.
        if path.symlink_metadata().is_ok() {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
        }
        in_flight.add(&path);
        match make(&path) {
            Ok(folder) => Ok((Self { path, is_in_place: false }, folder)),
            Err(error) => {
                in_flight.forget(&path);
                Err(error)
            }
        }
    }

    /// Puts the complete folder at `path`, where nothing may be.
    ///
    /// # Errors
    /// The errors of renaming.
    pub(crate) fn put_at(mut self, path: &Path) -> io::Result<()> {
        let mut in_flight = InFlight::lock();
        fs::rename(&self.path, path)?;
        in_flight.forget(&self.path);
        self.is_in_place = true;
        Ok(())
    }
}

#[cfg(any(feature = "parquet", feature = "zarr"))]
impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if !self.is_in_place {
            InFlight::lock().remove(&self.path);
        }
    }
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

/// A hidden random name, which no other run on this or another machine has taken.
fn random_name() -> io::Result<String> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!(".tgm.{}.tmp", crate::show::text::hex(&random)))
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
#[cfg(all(test, unix))]
mod tests {
    use std::env;
    use std::fs::{create_dir, read_dir};
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// The environment variable that tells the child process of the test below where to create its files.
    const PLACE: &str = "TGM_TEST_OF_SIGNALS";

    #[test]
    fn makes_a_named_file_and_waits() {
        let Some(place) = env::var_os(PLACE) else { return };
        let _first = Temporary::named(place.as_ref(), None).unwrap();
        let _second = Temporary::named(place.as_ref(), None).unwrap();
        #[cfg(any(feature = "parquet", feature = "zarr"))]
        let _folder = TemporaryFolder::new(place.as_ref(), |path| {
            create_dir(path)?;
            fs::write(path.join("chunk"), "1")
        })
        .unwrap();
        println!("\nready");
        std::thread::sleep(std::time::Duration::from_mins(1));
    }

    /// Whether this process ignores a signal: `nohup` and shells arrange that for what runs in the background. Its children
    /// ignore the signal as well.
    fn is_ignored(signal: i32) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
        mask >> (signal - 1) & 1 == 1
    }

    #[test]
    fn signals_remove_files_that_have_a_name() {
        let place = env::temp_dir().join(random_name().unwrap());
        create_dir(&place).unwrap();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGXCPU] {
            if is_ignored(signal) {
                continue;
            }
            let mut child = Command::new(env::current_exe().unwrap())
                .args(["--exact", "write::temporary::tests::makes_a_named_file_and_waits", "--nocapture"])
                .env(PLACE, &place)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(lines.map_while(Result::ok).any(|line| line == "ready"));
            assert_eq!(
                read_dir(&place).unwrap().count(),
                if cfg!(any(feature = "parquet", feature = "zarr")) { 3 } else { 2 }
            );
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal));
            assert_eq!(read_dir(&place).unwrap().count(), 0, "signal {signal}");
        }
        fs::remove_dir(place).unwrap();
    }

    #[cfg(any(feature = "parquet", feature = "zarr"))]
    #[test]
    fn folders_are_removed_unless_they_are_put_somewhere() {
        let place = env::temp_dir().join(random_name().unwrap());
        create_dir(&place).unwrap();
        let make = || TemporaryFolder::new(&place, |path| create_dir(path)).unwrap().0;
        let (dropped, kept) = (make(), make());
        fs::write(dropped.path.join("file"), "1").unwrap();
        drop(dropped);
        kept.put_at(&place.join("x.zarr")).unwrap();
        let names: Vec<_> = read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["x.zarr"]);
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn files_with_and_without_a_name_take_the_place_of_others() {
        let place = env::temp_dir().join(random_name().unwrap());
        create_dir(&place).unwrap();
        let path = place.join("file");
        for text in ["one", "two", "three"] {
            for is_named in [false, true] {
                let create = if is_named { Temporary::named } else { Temporary::new };
                let dropped = create(&place, None).unwrap();
                drop(dropped);
                let made = create(&place, None).unwrap();
                io::Write::write_all(&mut made.file(), text.as_bytes()).unwrap();
                made.put_at(&path).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
                // The fallback where /proc is not mounted.
                let made = create(&place, None).unwrap();
                io::Write::write_all(&mut made.file(), text.as_bytes()).unwrap();
                made.copy(&OnDisk).unwrap().put_at(&path).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
                if !is_named {
                    assert_eq!(read_dir(&place).unwrap().count(), 1);
                }
            }
        }
        fs::remove_dir_all(place).unwrap();
    }
}
