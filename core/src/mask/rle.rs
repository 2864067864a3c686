//! Run-length bitmaps: the value of the first run (0 or 1), then the length of each run as unsigned LEB128.
//!
//! ```text
//! 01 02 04 03      two set, four unset, three set
//! ```

use core::ops::Range;

use crate::error::{ErrorKind, Result};

/// The runs of set elements.
#[derive(Clone, Debug)]
pub(super) struct Rle<'a> {
    /// The bytes not yet read.
    rest: &'a [u8],
    /// The number of bytes before `rest`.
    offset: u64,
    /// The number of elements before the next run.
    position: u64,
    count: u64,
    /// Whether the next run is one of set elements.
    is_set: bool,
}

impl<'a> Rle<'a> {
    /// Checks the first byte.
    pub(super) fn new(blob: &'a [u8], count: u64) -> Result<Self> {
        let (is_set, rest, offset) = match blob.split_first() {
            None => (false, blob, 0),
            Some((_, _)) if count == 0 => return Err(ErrorKind::MaskLength.at(0)),
            Some((value @ 0..=1, rest)) => (*value == 1, rest, 1),
            Some((&other, _)) => return Err(ErrorKind::RleStart(other).at(0)),
        };
        Ok(Self { rest, offset, position: 0, count, is_set })
    }

    /// The next run of set elements. `None` after the last one.
    #[inline]
    pub(super) fn step(&mut self) -> Result<Option<Range<u64>>> {
        while !self.rest.is_empty() {
            let at = self.offset;
            let length = self.take_varint().filter(|&length| length > 0).ok_or(ErrorKind::RleRun.at(at))?;
            let end = self.position.checked_add(length).filter(|&end| end <= self.count);
            let end = end.ok_or(ErrorKind::MaskLength.at(at))?;
            let run = self.position..end;
            let was_set = self.is_set;
            self.position = end;
            self.is_set = !was_set;
            if was_set {
                return Ok(Some(run));
            }
        }
        if self.position == self.count { Ok(None) } else { Err(ErrorKind::MaskLength.at(self.offset)) }
    }

    /// Takes an unsigned LEB128 integer. `None` if it does not end, or if it exceeds `u64`.
    #[inline]
    fn take_varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            self.offset = self.offset.wrapping_add(1);
            let bits = u64::from(byte & 0x7f);
            let placed = bits.wrapping_shl(shift);
            if placed.wrapping_shr(shift) != bits {
                return None;
            }
            value |= placed;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}
