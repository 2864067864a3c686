//! Finds the messages of a buffer or file (FORMAT §5.6).

mod source;
mod table;
mod window;

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};

use crate::base::error::Result;
use crate::base::interrupt;
pub use source::Windowed;
pub(crate) use source::{Bytes, Foresight};
pub use table::{MessageLayout, Segments};
pub(crate) use table::{Table, TableScan};
pub use window::Window;

/// Options of scanning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// Whether to scan from both ends. Steps from the end use postambles that state the message's length.
    pub bidirectional: bool,
    /// The longest message that a step from the end accepts; 4 GiB by default. Longer ones are found from the start.
    pub max_message_size: u64,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self { bidirectional: true, max_message_size: 4 << 30 }
    }
}

/// Offset and length of each message in `bytes`, in ascending order. Bytes that belong to no message are skipped.
///
/// [`tgm_core::scan::scan`] reports these bytes too, and does not allocate.
pub fn scan(bytes: &[u8]) -> Vec<(usize, usize)> {
    scan_with_options(bytes, &ScanOptions::default())
}

/// [`scan`] with options.
pub fn scan_with_options(bytes: &[u8], options: &ScanOptions) -> Vec<(usize, usize)> {
    let Ok(table) = Table::scan(Bytes(bytes), options);
    extents(table)
}

/// Offset and length of each message in a file, in ascending order. This reads preambles, postambles, the frame headers
/// of streamed messages, and the bytes between messages.
///
/// # Errors
/// [`TensogramError::Io`](crate::TensogramError::Io).
pub fn scan_file(file: &mut (impl Read + Seek)) -> Result<Vec<(usize, usize)>> {
    scan_file_with_options(file, &ScanOptions::default())
}

/// [`scan_file`] with options.
///
/// # Errors
/// [`TensogramError::Io`](crate::TensogramError::Io).
pub fn scan_file_with_options(file: &mut (impl Read + Seek), options: &ScanOptions) -> Result<Vec<(usize, usize)>> {
    let len = file.seek(SeekFrom::End(0))?;
    let file = RefCell::new(file);
    let source = Windowed::new(len, |offset, out: &mut [u8]| {
        let mut file = file.borrow_mut();
        file.seek(SeekFrom::Start(offset))?;
        fill(out, |rest, _| file.read(rest))
    });
    Ok(extents(Table::scan(source, options)?))
}

/// The offsets and lengths of a table's messages. Messages beyond `usize` are left out.
fn extents(table: Table) -> Vec<(usize, usize)> {
    let extent = |m: MessageLayout| Some((usize::try_from(m.offset).ok()?, usize::try_from(m.length).ok()?));
    table.messages.into_iter().filter_map(extent).collect()
}

/// Fills `out` by repeated calls of `read`. Each call gets the unfilled rest of `out`, and the number of bytes before it.
/// Returns the number of filled bytes. It is less than the length of `out` only at the end of the source.
pub(crate) fn fill(out: &mut [u8], mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = out.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let room = rest.len();
        match read(rest, filled) {
            Ok(0) => break,
            // A reader that claims more than it was given room for has filled the room at most.
            Ok(count) => filled += count.min(room),
            Err(error) if error.kind() == io::ErrorKind::Interrupted && interrupt::check().is_ok() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// A reader of the program's own may claim anything.
    #[test]
    fn a_reader_that_claims_more_than_it_was_given_room_for_fills_the_room() {
        for claim in [5, usize::MAX] {
            assert_eq!(fill(&mut [0; 4], |_, _| Ok(claim)).unwrap(), 4);
        }
    }
}
