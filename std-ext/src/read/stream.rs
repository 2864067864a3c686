//! Files that are read from start to end: pipes and devices.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

#[cfg(unix)]
use crate::base::interrupt;
use crate::read::open::open;

/// Opens a pipe, a device or a file to read it from start to end. Waiting for a writer and for its bytes ends when the work is
/// [interrupted](crate::interrupt).
///
/// # Errors
/// The errors of opening.
pub(crate) fn open_stream(path: &Path) -> io::Result<impl Read> {
    open(path).map(Stream)
}

struct Stream(File);

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            #[cfg(unix)]
            wait(&self.0)?;
            match self.0.read(out) {
                // Another reader took the bytes.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// Waits until there are bytes, or the last writer has closed the pipe. A pipe that no writer has opened yet is waited for.
///
/// # Errors
/// The kind [`io::ErrorKind::Interrupted`] if the work is to stop; the errors of the system call.
#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library cannot wait for a file")]
fn wait(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    /// Milliseconds between two questions whether to stop.
    const PAUSE: libc::c_int = 100;
    let mut asked = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    loop {
        if interrupt::check().is_err() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // SAFETY: the pointer is to one `pollfd`, which lives during the call. Its descriptor is open as long as `file` is.
        let ready = unsafe { libc::poll(&raw mut asked, 1, PAUSE) };
        let error = io::Error::last_os_error();
        match ready {
            0 => {}
            1.. => return Ok(()),
            // A signal came, such as that of Ctrl-C.
            _ if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return Err(error),
        }
    }
}
