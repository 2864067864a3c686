//! What frames, chunks and streams share: reading fields, ranges over units, repetition.

use std::mem;
use std::num::NonZeroU64;

use super::{CodecError, Result};

/// Reads fields from the front, one after the other. It holds the bytes that are left.
pub(super) struct FieldReader<'a>(pub &'a [u8]);

impl FieldReader<'_> {
    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk().ok_or_else(|| CodecError::new("a header is cut short"))?;
        self.0 = rest;
        Ok(*array)
    }

    /// The next four bytes as a length: chunks have it as a signed little-endian integer.
    pub(super) fn length(&mut self) -> Result<usize> {
        let length = i32::from_le_bytes(self.array()?);
        usize::try_from(length).map_err(|_| CodecError::new(format!("a chunk has a length of {length}")))
    }
}

/// A range of bytes, cut where units of one size meet.
pub(super) struct Pieces<'o> {
    unit: NonZeroU64,
    index: u64,
    skip: u64,
    rest: &'o mut [u8],
}

/// The part of a range that lies in one unit.
pub(super) struct Piece<'o> {
    /// The number of the unit.
    pub index: u64,
    /// Bytes of the unit before the piece.
    pub skip: usize,
    /// The place for the piece.
    pub out: &'o mut [u8],
}

impl<'o> Pieces<'o> {
    /// The pieces of the `out.len()` bytes from byte `start` on.
    pub(super) fn new(unit: NonZeroU64, start: u64, out: &'o mut [u8]) -> Self {
        Self { unit, index: start / unit, skip: start % unit, rest: out }
    }
}

impl<'o> Iterator for Pieces<'o> {
    type Item = Piece<'o>;

    fn next(&mut self) -> Option<Piece<'o>> {
        let wanted = usize::try_from(self.unit.get() - self.skip).unwrap_or(usize::MAX).min(self.rest.len());
        if wanted == 0 {
            return None;
        }
        let (out, rest) = mem::take(&mut self.rest).split_at_mut_checked(wanted)?;
        let piece = Piece { index: self.index, skip: usize::try_from(self.skip).ok()?, out };
        *self = Self { unit: self.unit, index: self.index + 1, skip: 0, rest };
        Some(piece)
    }
}

/// Makes the `len` bytes from `at` on repeat the `period` bytes before them. `None` if `out` has fewer bytes.
///
/// Each copy doubles the bytes that the next one can take, so there are few of them.
pub(super) fn repeat(out: &mut [u8], at: usize, period: usize, len: usize) -> Option<()> {
    let (from, end) = (at.checked_sub(period)?, at.checked_add(len)?);
    if period == 0 || end > out.len() {
        return None;
    }
    if period == 1 {
        let value = *out.get(from)?;
        out.get_mut(at..end)?.fill(value);
        return Some(());
    }
    let (mut done, mut copy) = (at, period);
    while done < end {
        copy = copy.min(end - done);
        out.copy_within(from..from + copy, done);
        done += copy;
        copy = done - from;
    }
    Some(())
}
