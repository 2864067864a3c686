//! A file in the making, which nobody sees before it is complete.
//!
//! Where the system can do it (Linux, most local file systems) the file has no name while it is written: whatever ends the
//! program, `kill -9` and a loss of power too, leaves nothing behind. Elsewhere it has a hidden name that cannot be guessed,
//! and [`InFlight`] removes it when the program is interrupted; only what gives no warning leaves it behind then.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::write::interrupt::InFlight;

/// Names that are tried until one is free. They are random: two would be a wonder.
const ATTEMPTS: usize = 8;

/// The file. Dropped without having been put in its place, it is gone.
pub(crate) struct Temporary {
    file: File,
    /// Its name; files without one need none.
    name: Option<PathBuf>,
    directory: PathBuf,
}

impl Temporary {
    /// Makes an empty file that will take the place of `existing`, or of nothing, in `directory`.
    ///
    /// From the start nobody may read it who must not read the result: its mode and, where that is allowed, owner and group are
    /// those of `existing`, or what the umask says.
    ///
    /// # Errors
    /// Those of making a file.
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

    fn named(directory: &Path, existing: Option<&Metadata>) -> io::Result<Self> {
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let path = directory.join(random_name()?);
            let mut in_flight = InFlight::lock();
            in_flight.add(&path);
            match options(existing).create_new(true).open(&path) {
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
    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file, which is complete, its name. Afterwards it is there also if power is lost: that costs a write of
    /// everything to the disk, and one of the directory.
    ///
    /// # Errors
    /// Those of writing to the disk and of renaming. What was at `path` is there still, unless it is the directory that could
    /// not be written.
    pub(crate) fn put_at(mut self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        if self.name.is_none() && !self.link_at(path)? {
            self = self.copy()?;
        }
        if let Some(name) = &self.name {
            let mut in_flight = InFlight::lock();
            fs::rename(name, path)?;
            in_flight.forget(name);
            drop(in_flight);
            self.name = None;
        }
        sync(&self.directory)
    }

    /// Gives a file without name its place; returns whether that is possible.
    #[cfg(target_os = "linux")]
    fn link_at(&self, path: &Path) -> io::Result<bool> {
        // The lock stands for the whole of it: a signal between the two steps would leave the name behind.
        let _in_flight = InFlight::lock();
        if self.link(path).is_ok() {
            return Ok(true);
        }
        // No link takes the place of a file, but a rename does.
        let name = self.directory.join(random_name()?);
        if self.link(&name).is_err() {
            return Ok(false);
        }
        let renamed = fs::rename(&name, path);
        if renamed.is_err() {
            // The first error is the one to tell.
            let _ = fs::remove_file(&name);
        }
        renamed.map(|()| true)
    }

    #[cfg(target_os = "linux")]
    fn link(&self, path: &Path) -> io::Result<()> {
        use std::os::fd::AsRawFd as _;

        use rustix::fs::{AtFlags, CWD, linkat};
        let open = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "files have names here")]
    fn link_at(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// The same file with a name: where /proc is not mounted, files without one cannot get any.
    fn copy(mut self) -> io::Result<Self> {
        use std::io::Seek as _;
        let existing = self.file.metadata()?;
        let mut named = Self::named(&self.directory, Some(&existing))?;
        resemble(&named.file, &existing)?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut named.file)?;
        named.file.sync_all()?;
        // The first one is dropped, and with it its name, if it had one.
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

/// A file without name, where there are such.
#[cfg(target_os = "linux")]
fn unnamed(directory: &Path, existing: Option<&Metadata>) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    options(existing).custom_flags(libc::O_TMPFILE).open(directory).ok()
}

#[cfg(not(target_os = "linux"))]
const fn unnamed(_: &Path, _: Option<&Metadata>) -> Option<File> {
    None
}

/// How the file is opened: for its owner alone if it is to resemble another one, which it does at once.
fn options(existing: Option<&Metadata>) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if existing.is_some() { 0o600 } else { 0o666 });
    #[cfg(not(unix))]
    let _ = existing;
    options
}

/// Gives the file owner, group and mode of the one that it will replace. A group that it cannot have must not lend its rights
/// to another.
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

/// A hidden name that nobody can guess or have taken: not another run, nor one on another machine.
fn random_name() -> io::Result<String> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!(".tgm.{}.tmp", crate::show::text::hex(&random)))
}

/// Makes sure that the names in a directory are on the disk.
#[cfg(unix)]
fn sync(directory: &Path) -> io::Result<()> {
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // Directories that may be written but not read, and file systems that keep names in their own way.
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
#[expect(clippy::unnecessary_wraps, reason = "as where there is something to do")]
const fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::env;
    use std::fs::{create_dir, read_dir};
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// Where the process of the test below makes its files.
    const PLACE: &str = "TGM_TEST_OF_SIGNALS";

    #[test]
    fn makes_a_named_file_and_waits() {
        let Some(place) = env::var_os(PLACE) else { return };
        let _first = Temporary::named(place.as_ref(), None).unwrap();
        let _second = Temporary::named(place.as_ref(), None).unwrap();
        println!("\nready");
        std::thread::sleep(std::time::Duration::from_mins(1));
    }

    #[test]
    fn signals_remove_files_that_have_a_name() {
        let place = env::temp_dir().join(random_name().unwrap());
        create_dir(&place).unwrap();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGXCPU] {
            let mut child = Command::new(env::current_exe().unwrap())
                .args(["--exact", "write::temporary::tests::makes_a_named_file_and_waits", "--nocapture"])
                .env(PLACE, &place)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(lines.map_while(Result::ok).any(|line| line == "ready"));
            assert_eq!(read_dir(&place).unwrap().count(), 2);
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal));
            assert_eq!(read_dir(&place).unwrap().count(), 0, "signal {signal}");
        }
        fs::remove_dir(place).unwrap();
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
                // The way that is left where /proc is not mounted.
                let made = create(&place, None).unwrap();
                io::Write::write_all(&mut made.file(), text.as_bytes()).unwrap();
                made.copy().unwrap().put_at(&path).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
                if !is_named {
                    assert_eq!(read_dir(&place).unwrap().count(), 1);
                }
            }
        }
        fs::remove_dir_all(place).unwrap();
    }
}
