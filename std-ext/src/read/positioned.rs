//! Reads at positions of a file. They do not move its cursor, so threads can share the file.

use std::fs::File;
use std::io;

use crate::scan::fill;

#[cfg(not(any(unix, windows)))]
fn seek_and_read(mut file: &File, out: &mut [u8], position: u64) -> io::Result<usize> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    file.seek(SeekFrom::Start(position))?;
    file.read(out)
}

/// Fills `out` with the bytes from `offset` on. Returns how many they are: fewer only at the end of the file.
///
/// # Errors
/// The errors of the file.
pub(crate) fn read_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<usize> {
    #[cfg(unix)]
    use std::os::unix::fs::FileExt;
    #[cfg(windows)]
    use std::os::windows::fs::FileExt;

    fill(out, |rest, filled| {
        // The bytes before it were read, so the file has such a position.
        let position = offset + filled as u64;
        #[cfg(unix)]
        return file.read_at(rest, position);
        #[cfg(windows)]
        return file.seek_read(rest, position);
        // Other systems have no positioned reads: all readers move the same cursor.
        #[cfg(not(any(unix, windows)))]
        return seek_and_read(file, rest, position);
    })
}
