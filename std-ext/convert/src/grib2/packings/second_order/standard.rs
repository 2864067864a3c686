//! The manual's form, of edition 1 alone.
//!
//! ```text
//! octet of section 4
//! 11           width of first-order values
//! 12 to 13     N1: the octet where first-order values begin
//! 14           flags: 32 there is a secondary bitmap, 16 groups have widths of their own
//! 15 to 16     N2: the octet where integers begin
//! 17 to 18     how many groups
//! 19 to 20     how many values
//! 22 on        widths in an octet each, or one for all groups; secondary bitmap; first-order values; integers
//! ```
//!
//! A bit of the secondary bitmap is 1 where a group begins. Without one, a group is the values of a row. Three names are in use: row by row, constant
//! width (a bitmap, one width) and general (a bitmap, many widths).

use tgm_std::{DecodeLimits, Result, TensogramError};

use super::super::super::bitmap;
use super::super::super::codes::Reader;
use super::super::super::error::{GribError, GribErrorKind};
use super::super::super::sections::Section;
use super::groups::{Decoded, Group, bytes, integers};

/// Octets in front of the data, which are what section 4 has from octet 22 on.
pub(super) const HEAD_LEN: usize = 21;
/// Flags of octet 14.
const BITMAP: u8 = 32;
const WIDTHS: u8 = 16;
const WIDEST: u8 = 32;

/// What the head of section 4 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standard {
    first_bits: u32,
    groups: usize,
    has_bitmap: bool,
    has_widths: bool,
    /// Where first-order values and integers begin in the data.
    firsts_at: usize,
    integers_at: usize,
    at: usize,
}

/// The parts of the data's head.
#[derive(Clone, Copy)]
struct Parts<'a> {
    widths: &'a [u8],
    /// Empty without one.
    bitmap: &'a [u8],
    firsts: &'a [u8],
}

impl Standard {
    /// # Errors
    /// [`GribErrorKind::ShortSection`], [`GribErrorKind::Bits`], and [`GribErrorKind::GroupPlaces`] for parts of the data that lie in one another.
    pub(super) fn parse(section: Section<'_>) -> std::result::Result<Self, GribError> {
        let at = section.offset();
        let (first_bits, flags) = (section.u8(11)?, section.u8(14)?);
        if first_bits > WIDEST {
            return Err(GribErrorKind::Bits(first_bits).at(at));
        }
        let place = |octet| usize::from(section.u16(octet).unwrap_or(0)).checked_sub(HEAD_LEN + 1);
        let groups: usize = section.u16(17)?.into();
        let (has_bitmap, has_widths) = (flags & BITMAP != 0, flags & WIDTHS != 0);
        let widths = if has_widths { groups } else { 1 };
        let places = place(12).zip(place(15)).filter(|(firsts, integers)| widths <= *firsts && firsts <= integers);
        let (firsts_at, integers_at) = places.ok_or(GribErrorKind::GroupPlaces.at(at))?;
        Ok(Self { first_bits: first_bits.into(), groups, has_bitmap, has_widths, firsts_at, integers_at, at })
    }

    /// Whether groups are rows.
    pub(super) const fn is_by_row(&self) -> bool {
        !self.has_bitmap
    }

    fn parts<'a>(&self, data: &'a [u8]) -> Result<Parts<'a>> {
        let error = |kind: GribErrorKind| TensogramError::from(kind.at(self.at));
        let short = |needed: usize| error(GribErrorKind::ShortData { needed: needed as u64, found: data.len() as u64 });
        let head = data.get(..self.integers_at).ok_or_else(|| short(self.integers_at))?;
        let (front, firsts) = head.split_at_checked(self.firsts_at).ok_or_else(|| short(self.firsts_at))?;
        let (widths, bitmap) =
            front.split_at_checked(if self.has_widths { self.groups } else { 1 }).unwrap_or_default();
        // Both have 16 bits at most.
        if firsts.len() * 8 < self.groups * self.first_bits as usize {
            return Err(error(GribErrorKind::GroupPlaces));
        }
        Ok(Parts { widths, bitmap: if self.has_bitmap { bitmap } else { &[] }, firsts })
    }

    /// The groups, of which the first `count` bits of the bitmap, or `rows`, have the lengths.
    fn groups<'a>(
        &self,
        parts: Parts<'a>,
        count: u64,
        rows: &'a [u64],
    ) -> impl Iterator<Item = Group> + Clone + use<'a> {
        let (bits, one) = (self.first_bits, parts.widths.first().copied().unwrap_or(0));
        let many = if self.has_widths { parts.widths } else { &[] };
        let mut widths =
            many.iter().copied().chain(std::iter::repeat_n(one, if self.has_widths { 0 } else { self.groups }));
        let mut firsts = Reader::new(parts.firsts);
        let lengths = Lengths::new(parts.bitmap, count).chain(rows.iter().copied());
        lengths.map_while(move |length| {
            let width = widths.next()?.into();
            Some(Group { first: firsts.take(bits), width, length })
        })
    }

    /// The integers of `count` values. `rows` are the values of each row that has some, for groups that are rows.
    ///
    /// # Errors
    /// [`Framing`](TensogramError::Framing) for groups that contradict their number, their lengths or the data; an error beyond the limits.
    pub(super) fn decode<'a>(
        &self,
        data: &'a [u8],
        count: u64,
        rows: &[u64],
        limits: &DecodeLimits,
    ) -> Result<Decoded<'a>> {
        let parts = self.parts(data)?;
        let (head, rest) = data.split_at_checked(self.integers_at).unwrap_or_default();
        let rows = if self.has_bitmap { &[] } else { rows };
        Ok(Decoded { integers: integers(self.groups(parts, count, rows), rest, count, limits, self.at)?, head })
    }

    /// The data of integers that were decoded. `None` if the groups of `head` have no place for them.
    ///
    /// # Errors
    /// The errors of the head.
    pub(super) fn encode(&self, integers: &[i64], rows: &[u64], head: &[u8]) -> Result<Option<Vec<u8>>> {
        let parts = self.parts(head)?;
        if head.len() != self.integers_at {
            return Ok(None);
        }
        let rows = if self.has_bitmap { &[] } else { rows };
        Ok(bytes(self.groups(parts, integers.len() as u64, rows), integers, head.to_vec()))
    }
}

/// The lengths of groups by the bits that begin them, the first of which is 1.
#[derive(Clone)]
struct Lengths<I> {
    bits: I,
    /// Values of the group that is being counted. 0 before the first.
    length: u64,
}

impl<'a> Lengths<()> {
    fn new(bits: &'a [u8], count: u64) -> Lengths<impl Iterator<Item = bool> + Clone + use<'a>> {
        Lengths { bits: bitmap::iter(bits, count), length: 0 }
    }
}

impl<I: Iterator<Item = bool>> Iterator for Lengths<I> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        for begins in self.bits.by_ref() {
            let length = self.length;
            self.length = if begins { 1 } else { length.wrapping_add(1) };
            if begins && length > 0 {
                return Some(length);
            }
        }
        Some(std::mem::take(&mut self.length)).filter(|length| *length > 0)
    }
}
