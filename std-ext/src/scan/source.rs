//! The sources of scans: slices, which are searched with SIMD, and files, which are read in windows.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;

use memchr::memmem;
use tgm_core::scan::Source;
use tgm_core::wire::{MAGIC, POSTAMBLE_SIZE, PREAMBLE_SIZE};

use tgm_codec::memory::prefetch;

use crate::base::span::{head, index, span, span_before, span_len, tail};
use crate::scan::window::Window;

/// Bytes of a large read: for a search, and where messages are small.
const WINDOW: usize = 64 << 10;
/// Bytes of a small read: the end of a message and the preamble after it.
const GLANCE: usize = 512;
/// The number of windows that are kept: one each for a search, a walk over frames and a step from the end, and one
/// spare.
const KEPT: usize = 4;
/// The budget of large reads, as a multiple of the file's length.
///
/// A file of messages in a row is read at most once, so it stays within the budget. Damaged files can make a scan jump back
/// and forth. When such a scan has used up the budget, it reads small pieces. After one more length of the file, it reads
/// the smallest pieces.
const LARGE_READS: u64 = 2;
/// The smallest pieces are this many times smaller than the small ones.
const SMALLEST: usize = 8;

/// The first place of `magic`.
fn find(bytes: &[u8], magic: &[u8; 8]) -> Option<usize> {
    memmem::find(bytes, magic)
}

/// A source that can prepare for the next reads of a scan.
pub(crate) trait Foresight: Source {
    /// A scan from both ends takes this many steps from one end, then as many from the other.
    const STEPS: usize;

    /// Announces that the scan will soon read the end of a message and the preamble after it. The message ends at `offset`.
    fn expect(&self, offset: u64);
}

/// A slice.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

/// A scan of a slice waits for memory, because only a message's preamble says where the next message is. A scan that
/// alternates between both ends waits half as often. If all messages have the same length, prefetching removes all waits.
impl Foresight for Bytes<'_> {
    const STEPS: usize = 1;

    #[inline]
    fn expect(&self, offset: u64) {
        let around = tail(self.0, span_before(offset, POSTAMBLE_SIZE as u64).start);
        if let Some(around) = around.get(..POSTAMBLE_SIZE + PREAMBLE_SIZE) {
            prefetch(around);
        }
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
        let region = head(tail(self.0, from), span_len(&(from..end)));
        Ok(find(region, magic).map(|at| from + at as u64))
    }
}

/// A file. `read_at` fills a buffer from a position on. It gives fewer bytes only at the end of the file.
///
/// A scan reads a few bytes at many places. If these are close together, one read serves several of them. A search keeps
/// the bytes that it has read for the next search. So bytes are not read again, even if searches find something every few
/// bytes.
#[derive(Debug)]
pub struct Windowed<F> {
    read_at: F,
    len: u64,
    windows: RefCell<Windows>,
}

/// The parts of a file that are kept in memory.
#[derive(Debug, Default)]
struct Windows {
    /// The windows. The last used one comes first.
    kept: [Window; KEPT],
    /// The number of bytes that were read into windows so far.
    spent: u64,
}

impl<F: Fn(u64, &mut [u8]) -> io::Result<usize>> Windowed<F> {
    /// A file of `len` bytes.
    pub fn new(len: u64, read_at: F) -> Self {
        Self { read_at, len, windows: RefCell::default() }
    }

    /// The bytes from `offset` on: at least `wanted`, unless the file ends before. If no window has them, a window is read,
    /// normally of `size` bytes.
    fn look<'w>(&self, windows: &'w mut Windows, offset: u64, wanted: usize, size: usize) -> io::Result<&'w [u8]> {
        // The window that is used moves to the front, so the one at the back is the one unused for longest.
        if let Some(found) = windows.kept.iter().position(|window| window.at(offset, wanted).is_some()) {
            if let Some(upto) = windows.kept.get_mut(..=found) {
                upto.rotate_right(1);
            }
        } else {
            self.read_window(windows, offset, wanted, size)?;
        }
        // A window that was read for bytes after the file's end has none.
        Ok(windows.kept.first().and_then(|window| window.at(offset, 0)).unwrap_or(&[]))
    }

    /// Reads a window with the `wanted` bytes at `offset`, in place of the one unused for longest. If two kept windows are near,
    /// the scan is probably reading in one direction: the new window is large, and reaches away from the kept ones. One alone is
    /// near at each message that is read from its end.
    fn read_window(&self, windows: &mut Windows, offset: u64, wanted: usize, size: usize) -> io::Result<()> {
        let near = |window: &&Window| offset.abs_diff(window.start()) < 2 * WINDOW as u64;
        let neighbour = windows.kept.iter().find(near).map(Window::start);
        let are_near = windows.kept.iter().filter(near).count() > 1;
        let size = match windows.spent / self.len.max(1) {
            ..LARGE_READS if are_near => WINDOW,
            ..=LARGE_READS => size,
            _ => size / SMALLEST,
        };
        let size = size.max(wanted);
        let end = span(offset, wanted as u64).end;
        let is_backward = neighbour.is_some_and(|start| offset < start);
        let start = if is_backward { span_before(end, size as u64).start } else { offset };
        // The window ends at the end of the file, or before it.
        let size = index(span_len(&(start..self.len))).min(size);
        windows.kept.rotate_right(1);
        let [window, ..] = &mut windows.kept;
        window.move_to(start, size, &self.read_at)?;
        windows.spent += window.at(start, 0).map_or(0, <[u8]>::len) as u64;
        Ok(())
    }
}

impl<F: Fn(u64, &mut [u8]) -> io::Result<usize>> Foresight for Windowed<F> {
    /// Enough steps for one end to use up a window before the other end reads its own.
    const STEPS: usize = 64;

    fn expect(&self, _offset: u64) {}
}

impl<F: Fn(u64, &mut [u8]) -> io::Result<usize>> Source for Windowed<F> {
    type Error = io::Error;

    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<usize> {
        if out.len() > GLANCE {
            return (self.read_at)(offset, out);
        }
        let mut windows = self.windows.borrow_mut();
        let bytes = self.look(&mut windows, offset, out.len(), GLANCE)?;
        let read = bytes.len().min(out.len());
        out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        Ok(read)
    }

    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> io::Result<Option<u64>> {
        let mut windows = self.windows.borrow_mut();
        let (mut from, mut size) = (from, GLANCE);
        loop {
            let room = span_len(&(from..end));
            if room < MAGIC.len() as u64 {
                return Ok(None);
            }
            let bytes = self.look(&mut windows, from, MAGIC.len(), size)?;
            let bytes = head(bytes, room);
            if let Some(at) = find(bytes, magic) {
                return Ok(Some(from + at as u64));
            }
            // The last seven bytes may be the beginning of a magic. If fewer than eight bytes came, the file is shorter than
            // it was when the scan began.
            let done = bytes.len().saturating_sub(MAGIC.len() - 1);
            if done == 0 {
                return Ok(None);
            }
            from += done as u64;
            // Each read is twice as large as the last one, so a search reads at most about twice the bytes that it needs.
            size = (size * 2).min(WINDOW);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    /// A file of `bytes` that counts reads.
    fn file<'a>(bytes: &'a [u8], reads: &'a Cell<usize>) -> Windowed<impl Fn(u64, &mut [u8]) -> io::Result<usize>> {
        Windowed::new(bytes.len() as u64, move |offset, out: &mut [u8]| {
            reads.set(reads.get() + 1);
            let Ok(read) = bytes.read_at(offset, out);
            Ok(read)
        })
    }

    proptest! {
        #[test]
        fn reads_through_windows_give_the_bytes_of_the_file(
            len in 0..300_000_usize,
            reads in proptest::collection::vec((any::<u32>(), 0..400_usize), 1..50),
        ) {
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
