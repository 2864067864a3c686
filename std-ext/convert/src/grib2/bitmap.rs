//! Section 6: which points of the grid have a value.

use super::error::{GribError, GribErrorKind};
use super::sections::Section;

/// The octet of section 6 that says where the bitmap is (code table 6.0).
const INDICATOR: usize = 6;
/// The code that says that the field has the bitmap of an earlier one.
pub(super) const EARLIER: u8 = 254;
/// Bytes of section 6 in front of the bitmap.
pub(super) const BITMAP_HEAD_LEN: usize = INDICATOR;

/// The number of a bitmap of the originating centre's, from the octet that says where the bitmap is. The message does not hold
/// such a bitmap: it can be read if it has a value for each point.
pub(super) fn predefined(code: u8) -> Option<u8> {
    (1..EARLIER).contains(&code).then_some(code)
}

/// Which points have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bitmap<'a> {
    /// All of them: there is no bitmap, or one of the originating centre's that the data do not need.
    None,
    /// Those whose bit is 1. The first point is the highest bit of the first byte.
    Bits(&'a [u8]),
}

impl<'a> Bitmap<'a> {
    /// Reads section 6. `earlier` is the last bitmap that the message held before.
    pub(super) fn parse(section: Section<'a>, earlier: Option<&'a [u8]>) -> Result<Self, GribError> {
        let at = section.offset();
        match section.u8(INDICATOR)? {
            0 => Ok(Self::Bits(section.from_octet(INDICATOR + 1))),
            EARLIER => earlier.map(Self::Bits).ok_or(GribErrorKind::NoEarlierBitmap.at(at)),
            _ => Ok(Self::None),
        }
    }

    /// The bits of `points` points, without the bytes that follow them. `None` if there is no bitmap.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortBitmap`], for a section that begins at `at`.
    pub(super) fn of_points(self, points: u64, at: usize) -> Result<Option<&'a [u8]>, GribError> {
        let Self::Bits(bits) = self else { return Ok(None) };
        let len = usize::try_from(points.div_ceil(8)).ok();
        let found = len.and_then(|len| bits.get(..len));
        found.map(Some).ok_or(GribErrorKind::ShortBitmap { bits: bits.len() as u64 * 8, points }.at(at))
    }
}

/// The bits of the first `points` points of a bitmap, in order.
pub(super) fn iter(bits: &[u8], points: u64) -> impl Iterator<Item = bool> + Clone + '_ {
    let each = bits.iter().flat_map(|byte| (0..8).rev().map(move |shift| byte >> shift & 1 == 1));
    // More points than addresses are more than the bits in memory, which end first.
    each.take(usize::try_from(points).unwrap_or(usize::MAX))
}

/// How many of the first `points` bits are 1. `bits` end with the byte of the last point.
pub(super) fn count_ones(bits: &[u8], points: u64) -> u64 {
    let all: u64 = bits.iter().map(|byte| u64::from(byte.count_ones())).sum();
    let beyond = bits.last().map_or(0, |last| last & !(u8::MAX << spare(points)));
    all - u64::from(beyond.count_ones())
}

/// The opposite of each of the first `points` bits; the bits after them are 0.
pub(super) fn inverted(bits: &[u8], points: u64) -> Vec<u8> {
    let mut inverted: Vec<u8> = bits.iter().map(|byte| !byte).collect();
    let spare = spare(points);
    if let Some(last) = inverted.last_mut() {
        *last &= u8::MAX << spare;
    }
    inverted
}

/// Bits of the last byte that belong to no point: 0 to 7.
fn spare(points: u64) -> u32 {
    u32::try_from(points.wrapping_neg() % 8).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_points_do_not_count() {
        for points in 9..=16 {
            let ones = iter(&[0xa5, 0xff], points).filter(|bit| *bit).count() as u64;
            assert_eq!((count_ones(&[0xa5, 0xff], points), ones), (4 + points - 8, 4 + points - 8));
            let zeros = inverted(&[0xa5, 0], points);
            assert_eq!(count_ones(&zeros, 16), 4 + points - 8, "{points}");
        }
        assert_eq!((count_ones(&[], 0), inverted(&[], 0)), (0, vec![]));
    }
}
