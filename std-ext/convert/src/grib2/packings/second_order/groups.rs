//! Groups to integers and back, whatever says which groups there are.

use tgm_std::{DecodeLimits, Result, TensogramError};

use super::super::super::codes::{Reader, Writer};
use super::super::super::complex::reserve_numbers;
use super::super::super::error::GribErrorKind;

/// The most bits of an integer of a group.
const MAX_BITS: u32 = 32;

/// One group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) first: u64,
    pub(super) width: u32,
    pub(super) length: u64,
}

/// Integers of simple packing, and what gives the section back from them.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super::super) struct Decoded<'a> {
    pub(in super::super::super) integers: Vec<i64>,
    /// The bytes in front of the integers of groups.
    pub(in super::super::super) head: &'a [u8],
}

/// The integers of groups, which must have `count` values. `bytes` begin with the first group's integers. Groups are walked twice, to check them
/// before memory is reserved.
///
/// # Errors
/// [`GribErrorKind::GroupWidth`], [`GribErrorKind::GroupLengths`], [`GribErrorKind::ShortData`] for a section at `at`; an error beyond the
/// limits.
pub(super) fn integers(
    groups: impl Iterator<Item = Group> + Clone,
    bytes: &[u8],
    count: u64,
    limits: &DecodeLimits,
    at: usize,
) -> Result<Vec<i64>> {
    let error = |kind: GribErrorKind| TensogramError::from(kind.at(at));
    let (mut sum, mut bits) = (0_u64, 0_u64);
    for group in groups.clone() {
        if group.width > MAX_BITS {
            return Err(error(GribErrorKind::GroupWidth));
        }
        // Each is within 2^32, and more than `count` are not walked.
        sum = sum.wrapping_add(group.length);
        if sum > count {
            break;
        }
        // Both are within 2^32.
        bits = bits.wrapping_add(group.length.wrapping_mul(group.width.into()));
    }
    if sum != count {
        return Err(error(GribErrorKind::GroupLengths { stated: count, sum }));
    }
    let (needed, found) = (bits.div_ceil(8), bytes.len() as u64);
    if needed > found {
        return Err(error(GribErrorKind::ShortData { needed, found }));
    }
    let mut integers = reserve_numbers(bytes.len(), count, limits)?;
    let mut reader = Reader::new(bytes);
    for group in groups {
        // Both have 32 bits at most.
        integers.extend((0..group.length).map(|_| (group.first + reader.take(group.width)).cast_signed()));
    }
    Ok(integers)
}

/// The bytes of groups' integers, after `head`. `None` if the groups have no place for them.
pub(super) fn bytes(groups: impl Iterator<Item = Group>, integers: &[i64], head: Vec<u8>) -> Option<Vec<u8>> {
    let (mut writer, mut left) = (Writer::behind(head), integers);
    for group in groups {
        let (part, rest) = left.split_at_checked(usize::try_from(group.length).ok()?)?;
        left = rest;
        for integer in part {
            let above = u64::try_from(*integer).ok()?.checked_sub(group.first)?;
            if group.width > MAX_BITS || above >> group.width != 0 {
                return None;
            }
            writer.put(above, group.width);
        }
    }
    left.is_empty().then(|| writer.finish())
}

/// The group of these integers with the greatest reference and the least width.
pub(super) fn tightest(integers: &[i64]) -> Option<Group> {
    let least = integers.iter().min().map_or(Some(0), |least| u64::try_from(*least).ok())?;
    let greatest = integers.iter().max().map_or(Some(0), |greatest| u64::try_from(*greatest).ok())?;
    let width = u64::BITS - (greatest - least).leading_zeros();
    Some(Group { first: least, width, length: integers.len() as u64 })
}
