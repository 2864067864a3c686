//! A file that goes to the disk while it is written, so that little is left to wait for at its end.

use std::fs::File;
use std::io::{self, Write};

/// Bytes whose way to the disk is begun together.
const BEGUN: u64 = 8 << 20;

/// Writes to a file from its start on.
pub(crate) struct Writeback<'f> {
    file: &'f File,
    written: u64,
    /// Where the bytes begin whose way to the disk has not begun.
    resting: u64,
}

impl<'f> Writeback<'f> {
    /// Begins at the start of an empty file, or of a device.
    pub(crate) const fn new(file: &'f File) -> Self {
        Self { file, written: 0, resting: 0 }
    }

    /// Sends the bytes that are in the system's cache alone on their way to the disk, and does not wait for them. `DontNeed` has
    /// this effect on Linux; the bytes stay in the cache. Pipes refuse the call, which changes nothing.
    #[cfg(target_os = "linux")]
    fn begin(&mut self) {
        use rustix::fs::{Advice, fadvise};
        let len = std::num::NonZero::new(self.written - self.resting);
        let _ = fadvise(self.file, self.resting, len, Advice::DontNeed);
        self.resting = self.written;
    }

    #[cfg(not(target_os = "linux"))]
    fn begin(&mut self) {
        self.resting = self.written;
    }
}

impl Write for Writeback<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        if self.written - self.resting >= BEGUN {
            self.begin();
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn bytes_of_all_pieces_are_in_the_file_and_few_rest() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        let file = File::create(&path).unwrap();
        let bytes: Vec<u8> = (0..=250).cycle().take(20 << 20).collect();
        let mut writer = Writeback::new(&file);
        for piece in bytes.chunks(3 << 20) {
            writer.write_all(piece).unwrap();
            assert!(writer.written - writer.resting < BEGUN);
        }
        assert!(fs::read(&path).unwrap() == bytes && writer.resting == 18 << 20);
    }
}
