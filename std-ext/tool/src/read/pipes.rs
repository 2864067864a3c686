//! Inputs that are read from start to end: standard input, pipes, FIFOs, what a shell puts for `<(…)`, and sources at addresses
//! of which all is wanted.
//!
//! To find the format of an input that can be read once, its start is looked at. It is kept, and whoever opens the input then gets it
//! in front of the rest.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use tgm_std::Archive;
use tgm_std::file::is_remote_url;
use tgm_std::file::replace::Temporary;

use crate::show::foreign;

/// What is read from start to end.
pub(crate) type Source = Box<dyn Read + Send>;

thread_local! {
    /// Inputs whose start was looked at: that start, and the rest.
    static LOOKED_AT: RefCell<HashMap<PathBuf, (Vec<u8>, Source)>> = RefCell::default();
}

/// Whether an input can be read once. "-" is standard input.
pub(crate) fn is_once(path: &Path) -> bool {
    path == Path::new("-") || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Refuses a path of this machine that is not a regular file, without opening it. A path that is missing is left to whoever opens it.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`], with what it is.
pub(crate) fn check_regular(path: &Path) -> io::Result<()> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
    if metadata.is_file() {
        return Ok(());
    }
    let text = format!("a regular file is expected here, and this is {}", kind(metadata.file_type()));
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// What a path is that is not a regular file.
fn kind(file_type: fs::FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if file_type.is_fifo() {
            return "a pipe";
        }
        if file_type.is_socket() {
            return "a socket";
        }
    }
    if file_type.is_dir() { "a folder" } else { "a device" }
}

/// The first bytes of an input that can be read once: `len` of them, or fewer if there are no more.
///
/// # Errors
/// The errors of opening and reading.
pub(crate) fn peek(path: &Path, len: u64) -> io::Result<Vec<u8>> {
    if let Some(start) = LOOKED_AT.with_borrow(|inputs| inputs.get(path).map(|(start, _)| start.clone())) {
        return Ok(start);
    }
    let (mut source, mut start) = (open(path)?, Vec::new());
    source.by_ref().take(len).read_to_end(&mut start)?;
    LOOKED_AT.with_borrow_mut(|inputs| inputs.insert(path.to_path_buf(), (start.clone(), source)));
    Ok(start)
}

/// Opens an input, a file, or a source at an address, to read it from start to end.
///
/// # Errors
/// The errors of opening.
pub(crate) fn open(path: &Path) -> io::Result<Source> {
    if let Some((start, rest)) = LOOKED_AT.with_borrow_mut(|inputs| inputs.remove(path)) {
        return Ok(Box::new(Cursor::new(start).chain(rest)));
    }
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    if path.to_str().is_some_and(is_remote_url) {
        return Ok(Box::new(Archive::open_unread(path).map_err(io::Error::other)?.into_reader()));
    }
    Ok(Box::new(file(path)?))
}

/// A file with all that comes from a pipe or from an address, for what opens names, or reads in any order.
///
/// # Errors
/// The errors of reading, and of making and writing a file.
pub(crate) fn held(path: &Path) -> io::Result<Temporary> {
    let temporary = Temporary::with_name(&std::env::temp_dir())?;
    io::copy(&mut open(path)?, &mut temporary.file())?;
    Ok(temporary)
}

/// Opens a file to read it.
///
/// # Errors
/// The errors of opening, and what helps with a folder that is data of another format.
pub(crate) fn file(path: &Path) -> io::Result<File> {
    let about = foreign::of_folder(path);
    if about.is_empty() { File::open(path) } else { Err(io::Error::other(about)) }
}
