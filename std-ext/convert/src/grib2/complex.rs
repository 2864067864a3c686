//! Complex packing: groups of integers, each with its own reference and width, and differences between neighbours.
//!
//! ```text
//! section 7    [first values, least difference]   5.3 only, octets each as section 5 says
//!              references of groups               one after the other, up to a whole octet, and so below
//!              widths of groups
//!              lengths of groups
//!              integers                           each group in its width, without its reference
//! ```
//!
//! From an integer of the data to one of simple packing: add the reference of its group; with differences of order 1,
//! add the least difference and the integer before; with order 2, add the least difference and twice the integer before,
//! and subtract the one before that. Missing values are left out of this.
//!
//! Everything in front of the integers is the head. Head and integers determine section 7, so an object keeps the head
//! alone, and [`encode`](Complex::encode) gives the same bytes. A missing value of the second kind looks like one of the
//! first kind by then: such data are kept whole.
//!
//! Manual: templates 5.2, 5.3, 7.2 and 7.3.

mod derive;
mod encode;

pub(super) use derive::Lengths;
use tgm_core::packing::Packing;
use tgm_std::{DecodeLimits, Result, TensogramError};

use super::codes::{NONE, Reader};
use super::error::{GribError, GribErrorKind};
use super::sections::Section;
use crate::error::encoding;

/// The most bits of a reference, a width, a length and an integer of a group.
const MAX_BITS: u32 = 32;
/// Integers beyond this are not exact as `f64`.
const GREATEST: i64 = 1 << 53;
/// The most octets of a first value.
const MAX_OCTETS: u8 = 8;

/// The parameters of templates 5.2 and 5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Complex {
    /// Bits of a group's reference.
    reference_bits: u32,
    /// How many integers of a group stand for missing values (code table 5.5).
    missing: u8,
    groups: u32,
    width_base: u32,
    width_bits: u32,
    length_base: u32,
    length_step: u32,
    last_length: u32,
    length_bits: u32,
    /// The order of differences: 0, 1 or 2.
    order: u8,
    /// Octets of each first value and of the least difference.
    octets: u8,
    /// Where section 5 begins, and section 7 in errors.
    at: usize,
}

/// Integers of simple packing, and what gives section 7 back from them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded<'a> {
    /// One for each value: within 2^53, or [`NONE`]. Sums of differences can be negative.
    pub(super) integers: Vec<i64>,
    pub(super) groups: Groups<'a>,
}

/// What section 7 holds beside the integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Groups<'a> {
    /// The bytes in front of the integers.
    pub(super) head: &'a [u8],
    /// What the data have for the first values, which the head holds: nothing depends on it.
    pub(super) unused: [u64; 2],
}

/// One group.
struct Group {
    reference: u64,
    width: u32,
    length: u64,
}

impl Group {
    /// The integers without the reference that mean something: those from here on are missing.
    const fn end(&self, missing: u8) -> u64 {
        (1_u64 << self.width).saturating_sub(missing as u64)
    }
}

/// The parts of the head. Each begins at a whole octet.
struct Head<'a> {
    /// First values and the least difference.
    firsts: &'a [u8],
    references: &'a [u8],
    widths: &'a [u8],
    lengths: &'a [u8],
    /// Its length.
    len: usize,
}

impl Complex {
    /// Reads section 5. `has_order` is true for template 5.3.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`], and those that name a code that is not supported.
    pub(super) fn parse(section: Section<'_>, has_order: bool) -> std::result::Result<Self, GribError> {
        let at = section.offset();
        let (order, octets) = if has_order { (section.u8(48)?, section.u8(49)?) } else { (0, 0) };
        if has_order && !matches!(order, 1 | 2) {
            return Err(GribErrorKind::DifferenceOrder(order).at(at));
        }
        if octets > MAX_OCTETS {
            return Err(GribErrorKind::Bits(octets.saturating_mul(8)).at(at));
        }
        let missing = section.u8(23)?;
        if missing > 2 {
            return Err(GribErrorKind::MissingManagement(missing).at(at));
        }
        let bits = |octet| match section.u8(octet)? {
            bits if u32::from(bits) <= MAX_BITS => Ok(u32::from(bits)),
            bits => Err(GribErrorKind::Bits(bits).at(at)),
        };
        Ok(Self {
            reference_bits: bits(20)?,
            missing,
            groups: section.u32(32)?,
            width_base: section.u8(36)?.into(),
            width_bits: bits(37)?,
            length_base: section.u32(38)?,
            length_step: section.u8(42)?.into(),
            last_length: section.u32(43)?,
            length_bits: bits(47)?,
            order,
            octets,
            at,
        })
    }

    /// Whether values can be missing without a bitmap.
    pub(super) const fn has_missing(&self) -> bool {
        self.missing > 0
    }

    /// How many first values there are.
    fn order(&self) -> usize {
        self.order.into()
    }

    fn error(&self, kind: GribErrorKind) -> TensogramError {
        kind.at(self.at).into()
    }

    /// Bytes of the first values and the least difference.
    fn firsts_len(&self) -> usize {
        if self.order > 0 { (self.order() + 1) * usize::from(self.octets) } else { 0 }
    }

    /// The length of group `number`, from 1, whose bits are `scaled`. `None` if it is too long for all data.
    fn length(&self, scaled: u64, number: u32) -> Option<u64> {
        if number == self.groups {
            return Some(self.last_length.into());
        }
        scaled.checked_mul(self.length_step.into())?.checked_add(self.length_base.into())
    }

    fn head<'a>(&self, data: &'a [u8]) -> Result<Head<'a>> {
        let mut rest = data;
        let mut take = |bits: u64| {
            let len = bits.div_ceil(8);
            let (part, after) =
                usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len)).ok_or_else(|| {
                    let needed = (data.len() - rest.len()) as u64 + len;
                    self.error(GribErrorKind::ShortData { needed, found: data.len() as u64 })
                })?;
            rest = after;
            Ok::<_, TensogramError>(part)
        };
        let groups = u64::from(self.groups);
        let firsts = take(self.firsts_len() as u64 * 8)?;
        let references = take(groups * u64::from(self.reference_bits))?;
        let widths = take(groups * u64::from(self.width_bits))?;
        let lengths = take(groups * u64::from(self.length_bits))?;
        Ok(Head { firsts, references, widths, lengths, len: data.len() - rest.len() })
    }

    /// The groups of a head, each checked.
    fn groups<'a>(self, head: &Head<'a>) -> impl Iterator<Item = Result<Group>> + use<'a> {
        let mut references = Reader::new(head.references);
        let (mut widths, mut lengths) = (Reader::new(head.widths), Reader::new(head.lengths));
        (1..=self.groups).map(move |number| {
            let width = u64::from(self.width_base) + widths.take(self.width_bits);
            // A length beyond all numbers does not add up to the number of values, which is compared.
            let length = self.length(lengths.take(self.length_bits), number).unwrap_or(u64::MAX);
            let width = u32::try_from(width).ok().filter(|width| *width <= MAX_BITS);
            let width = width.ok_or_else(|| self.error(GribErrorKind::GroupWidth))?;
            Ok(Group { reference: references.take(self.reference_bits), width, length })
        })
    }

    /// Whether all values of a group without width are missing.
    fn is_missing(&self, group: &Group) -> bool {
        let end = (1_u64 << self.reference_bits).saturating_sub(self.missing.into());
        group.width == 0 && group.reference >= end
    }

    /// The first values, and the least difference.
    fn firsts(&self, head: &Head<'_>) -> Result<([i64; 2], i64)> {
        let mut reader = Reader::new(head.firsts);
        let bits = u32::from(self.octets) * 8;
        let mut firsts = [0; 2];
        for first in firsts.iter_mut().take(self.order()) {
            *first = i64::try_from(reader.take(bits)).map_err(|_| self.error(GribErrorKind::GroupInteger))?;
        }
        let least = reader.take(bits);
        // The first bit is the sign.
        let sign = if bits == 0 { 0 } else { 1 << (bits - 1) };
        let amount = (least & !sign).cast_signed();
        Ok((firsts, if least & sign == 0 { amount } else { -amount }))
    }

    /// The integers of `count` values.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] for groups that contradict their number, their lengths or the data;
    /// [`TensogramError::Encoding`] beyond the limits.
    pub(super) fn decode<'a>(&self, data: &'a [u8], count: u64, limits: &DecodeLimits) -> Result<Decoded<'a>> {
        if count == 0 {
            // Encoders write the parameters of one group and no bits of it.
            return Ok(Decoded { integers: vec![], groups: Groups::default() });
        }
        // A group without values means nothing, and more groups than values would take time for nothing.
        if u64::from(self.groups) > count {
            return Err(self.error(GribErrorKind::Groups { groups: self.groups, values: count }));
        }
        let head = self.head(data)?;
        self.check_groups(&head, data, count)?;
        let mut integers = reserve_numbers(data.len(), count, limits)?;
        let bytes = data.get(head.len..).unwrap_or_default();
        let mut reader = Reader::new(bytes);
        for group in self.groups(&head) {
            let group = group?;
            let end =
                if self.is_missing(&group) { 0 } else { group.end(if group.width == 0 { 0 } else { self.missing }) };
            integers.extend((0..group.length).map(|_| {
                // Both have 32 bits at most.
                let integer = reader.take(group.width);
                if integer < end { (group.reference + integer).cast_signed() } else { NONE }
            }));
        }
        let unused = self.sum(&head, &mut integers)?;
        Ok(Decoded { integers, groups: Groups { head: data.get(..head.len).unwrap_or_default(), unused } })
    }

    /// Checks that groups have `count` values in all, and that the data have their bits.
    fn check_groups(&self, head: &Head<'_>, data: &[u8], count: u64) -> Result<()> {
        let (mut sum, mut bits) = (0_u64, 0_u64);
        for group in self.groups(head) {
            let group = group?;
            sum = sum.saturating_add(group.length);
            bits = bits.saturating_add(group.length.saturating_mul(group.width.into()));
            if sum > count {
                break;
            }
        }
        if sum != count {
            return Err(self.error(GribErrorKind::GroupLengths { stated: count, sum }));
        }
        let (needed, found) = ((head.len as u64).saturating_add(bits.div_ceil(8)), data.len() as u64);
        if needed > found { Err(self.error(GribErrorKind::ShortData { needed, found })) } else { Ok(()) }
    }

    /// Makes differences integers. Returns what they had for the first values.
    fn sum(&self, head: &Head<'_>, integers: &mut [i64]) -> Result<[u64; 2]> {
        let wrong = || self.error(GribErrorKind::GroupInteger);
        let (firsts, least) = self.firsts(head)?;
        let (mut before, mut unused, mut firsts) = (Before::default(), [0; 2], firsts.iter().take(self.order()));
        let mut slots = unused.iter_mut();
        for integer in integers.iter_mut().filter(|integer| **integer != NONE) {
            let found = *integer;
            *integer = match firsts.next() {
                Some(first) => {
                    if let Some(slot) = slots.next() {
                        *slot = found.cast_unsigned();
                    }
                    *first
                }
                None if self.order == 0 => found,
                None => before
                    .predict(self.order)
                    .and_then(|next| next.checked_add(least)?.checked_add(found))
                    .ok_or_else(wrong)?,
            };
            if !(-GREATEST..=GREATEST).contains(integer) {
                return Err(wrong());
            }
            before.push(*integer);
        }
        Ok(unused)
    }
}

/// The last two integers.
#[derive(Default)]
struct Before {
    last: i64,
    second: i64,
}

impl Before {
    fn push(&mut self, integer: i64) {
        self.second = self.last;
        self.last = integer;
    }

    /// The integer that follows if the difference of this order is 0.
    fn predict(&self, order: u8) -> Option<i64> {
        if order == 1 { Some(self.last) } else { self.last.checked_mul(2)?.checked_sub(self.second) }
    }
}

/// Room for the numbers of `count` values, which `encoded` bytes become.
///
/// # Errors
/// [`TensogramError::Encoding`] beyond the limits.
pub(super) fn reserve_numbers<T>(encoded: usize, count: u64, limits: &DecodeLimits) -> Result<Vec<T>> {
    let len = limits.check_bytes(encoded as u64, count.saturating_mul(size_of::<T>() as u64))?;
    let (mut numbers, count) = (Vec::new(), len / size_of::<T>());
    let reserved = numbers.try_reserve_exact(count);
    reserved.map_err(|_| encoding(format!("cannot allocate {count} numbers")))?;
    Ok(numbers)
}

/// Whether a value has a negative integer, which packings of the format do not have.
pub(super) fn has_negative(integers: &[i64]) -> bool {
    integers.iter().any(|integer| *integer < 0 && *integer != NONE)
}

/// The packing of integers, with as many bits as the greatest takes. With a decimal scale that is one bit at least, because
/// a field of no bits has the value R, without the scale.
pub(super) fn with_bits(packing: Packing, integers: &[i64]) -> Packing {
    let all = integers.iter().filter(|integer| **integer != NONE).fold(0, |all, integer| all | integer);
    let least = u32::from(packing.decimal_scale_factor != 0);
    Packing { bits_per_value: (i64::BITS - all.leading_zeros()).max(least), ..packing }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may panic, with small numbers")]
mod tests;
