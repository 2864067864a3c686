//! What scans read from: slices searched by SIMD, and files by way of a window.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;

use memchr::memmem;
use tgm_core::scan::{Source, find_in_chunks};
use tgm_core::wire::{POSTAMBLE_SIZE, PREAMBLE_SIZE};

use crate::memory::prefetch;

/// Bytes read together while looking for a magic, and where messages are small.
const WINDOW: usize = 64 << 10;
/// Bytes read together where they are not: the end of a message and the preamble behind it.
const GLANCE: usize = 256;

/// The first place where `magic` stands.
fn find(bytes: &[u8], magic: &[u8; 8]) -> Option<usize> {
    memmem::find(bytes, magic)
}

/// What a scan may tell a source of what it will read.
pub(crate) trait Foresight: Source {
    /// Steps from one end before it is the other one's turn.
    const STEPS: usize;

    /// The end of a message and the preamble behind it are likely to be read before long, and meet at `offset`.
    fn expect(&self, offset: u64);
}

/// A slice.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

/// What a scan waits for is memory: each message says where the next one is. From both ends at once it waits half as
/// often, and where messages are of one length, for nothing.
impl Foresight for Bytes<'_> {
    const STEPS: usize = 1;

    #[inline]
    fn expect(&self, offset: u64) {
        let start = usize::try_from(offset.saturating_sub(POSTAMBLE_SIZE as u64)).unwrap_or(usize::MAX);
        let bytes = self.0.get(start..).and_then(|rest| rest.get(..POSTAMBLE_SIZE + PREAMBLE_SIZE));
        prefetch(bytes.unwrap_or_default());
    }
}

impl Source for Bytes<'_> {
    type Error = Infallible;

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, Infallible> {
        self.0.read_at(offset, out)
    }

    fn read<const N: usize>(&self, offset: u64) -> Result<[u8; N], Infallible> {
        self.0.read(offset)
    }

    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> Result<Option<u64>, Infallible> {
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(self.0.len());
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        let region = self.0.get(start..end).unwrap_or_default();
        Ok(find(region, magic).map(|at| from.saturating_add(at as u64)))
    }
}

/// A file: `read_at` fills a buffer from a position on, fewer bytes coming only from the end.
///
/// A few bytes here and a few there are what a scan reads. Where they are close together they come from one read.
pub(crate) struct Windowed<F> {
    read_at: F,
    len: u64,
    window: RefCell<Window>,
}

/// Bytes of a file, and where they begin.
#[derive(Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Copies the bytes at `offset`, if all of them are here.
    fn copy(&self, offset: u64, out: &mut [u8]) -> Option<()> {
        let start = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        out.copy_from_slice(self.bytes.get(start..start.checked_add(out.len())?)?);
        Some(())
    }
}

impl<F: Fn(u64, &mut [u8]) -> io::Result<usize>> Windowed<F> {
    /// A file of `len` bytes.
    pub(crate) fn new(len: u64, read_at: F) -> Self {
        Self { read_at, len, window: RefCell::default() }
    }

    /// Moves the window to the `wanted` bytes at `offset`: large if it moves a little, with more bytes on the side that it
    /// moves to.
    fn move_to(&self, window: &mut Window, offset: u64, wanted: usize) -> io::Result<()> {
        let is_near = offset.abs_diff(window.start) < 2 * WINDOW as u64;
        let size = if is_near { WINDOW } else { GLANCE };
        let end = offset.saturating_add(wanted as u64);
        let start = if offset < window.start { end.saturating_sub(size as u64) } else { offset };
        window.bytes.clear();
        window.bytes.resize(size, 0);
        let read = (self.read_at)(start, &mut window.bytes)?;
        window.bytes.truncate(read);
        window.start = start;
        Ok(())
    }
}

impl<F: Fn(u64, &mut [u8]) -> io::Result<usize>> Foresight for Windowed<F> {
    /// As many as keep the window in use.
    const STEPS: usize = 64;

    fn expect(&self, _offset: u64) {}
}

impl<F: Fn(u64, &mut [u8]) -> io::Result<usize>> Source for Windowed<F> {
    type Error = io::Error;

    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        let mut window = self.window.borrow_mut();
        if out.len() > GLANCE {
            return (self.read_at)(offset, out);
        }
        if window.copy(offset, out).is_none() {
            self.move_to(&mut window, offset, out.len())?;
            if window.copy(offset, out).is_none() {
                // The file ends before.
                return (self.read_at)(offset, out);
            }
        }
        Ok(out.len())
    }

    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> io::Result<Option<u64>> {
        find_in_chunks(self, magic, from, end, &mut vec![0; WINDOW], find)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    /// A file of bytes that counts how often it is read.
    fn file<'a>(bytes: &'a [u8], reads: &'a Cell<usize>) -> Windowed<impl Fn(u64, &mut [u8]) -> io::Result<usize>> {
        Windowed::new(bytes.len() as u64, move |offset, out: &mut [u8]| {
            reads.set(reads.get() + 1);
            let Ok(read) = bytes.read_at(offset, out);
            Ok(read)
        })
    }

    proptest! {
        #[test]
        fn a_window_shows_what_is_there(len in 0..300_000_usize, reads in proptest::collection::vec((any::<u32>(), 0..400_usize), 1..50)) {
            let bytes: Vec<u8> = (0..len).map(|i| (i.wrapping_mul(31) >> 3).to_le_bytes()[0]).collect();
            let count = Cell::new(0);
            let file = file(&bytes, &count);
            for (offset, wanted) in reads {
                let offset = u64::from(offset) % (len as u64 + 10);
                let (mut found, mut expected) = (vec![0; wanted], vec![0; wanted]);
                let Ok(read) = (&bytes[..]).read_at(offset, &mut expected);
                prop_assert_eq!(file.read_at(offset, &mut found).unwrap(), read);
                prop_assert_eq!(&found[..read], &expected[..read]);
            }
        }
    }

    #[test]
    fn small_messages_share_reads_from_either_end() {
        let message = std::fs::read("../tests/data/dtypes/float32-big.tgm").unwrap();
        let bytes = message.repeat(2000);
        for bidirectional in [false, true] {
            let count = Cell::new(0);
            let options = crate::ScanOptions { bidirectional, ..crate::ScanOptions::default() };
            let table = crate::scan::Table::scan(file(&bytes, &count), &options).unwrap();
            assert_eq!(table.messages.len(), 2000);
            assert!(count.get() * 10 < 2000, "{} reads", count.get());
        }
    }
}
