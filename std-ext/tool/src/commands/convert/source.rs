//! The bytes of an input of any kind: a file, standard input, a pipe, an address.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

use tgm_std::file::is_remote_url;
use tgm_std::{Archive, TensogramFile};

use crate::read::pipes;
use crate::show::progress::meter::Share;

/// Bytes at the start of a file that are searched for the sign of a format.
const SEARCHED: usize = 64 << 10;
/// Files of more bytes are mapped, so that they need no memory for a copy.
const MAPPED: u64 = 16 << 20;

/// All bytes of an input.
pub(super) enum Bytes {
    Memory(Vec<u8>),
    Mapped(TensogramFile),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::Mapped(file) => file.mapped().map_or(&[], |mapped| mapped.as_bytes()),
        }
    }
}

fn is_regular(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// The start of an input, which is read again. A directory has none.
///
/// # Errors
/// The errors of opening and reading.
pub(super) fn start(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    if pipes::is_once(path) {
        return pipes::peek(path, SEARCHED as u64);
    }
    if path.to_str().is_some_and(is_remote_url) {
        start.resize(SEARCHED, 0);
        let archive = Archive::open_unread(path).map_err(io::Error::other)?;
        let read = archive.read_at(0, &mut start).map_err(io::Error::other)?;
        start.truncate(read);
        return Ok(start);
    }
    if !path.is_dir() {
        File::open(path)?.take(SEARCHED as u64).read_to_end(&mut start)?;
    }
    Ok(start)
}

/// An input as a stream.
///
/// # Errors
/// The errors of opening.
pub(super) fn stream(path: &Path) -> io::Result<impl Read + Send> {
    let length = fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len());
    Ok(Counted { source: pipes::open(path)?, progress: Share::new(length) })
}

/// All bytes of an input. `check` gets the start of a regular file and its length, and may refuse it before it is read.
///
/// # Errors
/// The errors of opening and reading, and of `check`.
pub(super) fn bytes(path: &Path, check: impl FnOnce(&[u8], u64) -> io::Result<()>) -> io::Result<Bytes> {
    if is_regular(path) {
        let length = fs::metadata(path)?.len();
        check(&start(path)?, length)?;
        if length > MAPPED {
            Share::new(Some(length)).advance(length);
            return Ok(Bytes::Mapped(TensogramFile::open_mmap(path).map_err(io::Error::other)?));
        }
    }
    let mut bytes = Vec::new();
    stream(path)?.read_to_end(&mut bytes)?;
    Ok(Bytes::Memory(bytes))
}

/// A stream that tells the progress what was read.
struct Counted {
    source: Box<dyn Read + Send>,
    progress: Share,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(out)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
