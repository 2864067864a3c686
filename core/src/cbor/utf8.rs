//! Whether text is UTF-8.

use core::str::Utf8Error;

use crate::error::{Error, ErrorKind, Result};

/// Whether text still has to be checked to be UTF-8.
///
/// A view is made only of an item that was walked with [`Check::Utf8`]. Walking the same item again uses
/// [`Check::Done`], which steps over text without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Read the text and check it.
    Utf8,
    /// The text was checked before.
    Done,
}

/// Texts of fewer bytes are looked at byte by byte first.
const SHORT: usize = 32;

/// Checks that `bytes`, which start at `offset`, are UTF-8.
#[inline]
pub(super) fn check_utf8(bytes: &[u8], offset: u64) -> Result<()> {
    // Most texts are keys and names in ASCII. For those this loop ends before the library's check gets going.
    if bytes.len() < SHORT && bytes.iter().fold(0, |all, byte| all | byte) < 0x80 {
        return Ok(());
    }
    as_utf8(bytes, offset).map(|_| ())
}

/// `bytes`, which start at `offset`, as text.
#[inline]
pub(super) fn as_utf8(bytes: &[u8], offset: u64) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|error| not_utf8(error, offset))
}

#[cold]
fn not_utf8(error: Utf8Error, offset: u64) -> Error {
    ErrorKind::CborUtf8.at(offset.saturating_add(error.valid_up_to() as u64))
}
