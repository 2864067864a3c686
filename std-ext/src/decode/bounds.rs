//! What callers ask for, held against what an object has: ranges of elements, and lengths of buffers.

use std::ops::Range;

use tgm_core::ErrorKind;
use tgm_core::descriptor::Descriptor;
use tgm_core::tensor::Element;

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;

/// Bytes of the values of all ranges together.
///
/// # Errors
/// [`TensogramError::Encoding`] for a range that the object does not have, and for more bytes than the limits allow.
pub(super) fn check_ranges(descriptor: &Descriptor<'_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<u64> {
    // An end beyond 64 bits is reported first, wherever it stands in the list.
    ranges.iter().try_for_each(|&range| elements(range).map(drop))?;
    let add = |sum: u64, &range| {
        let sum = sum.checked_add(range_len(descriptor, range)?);
        sum.ok_or_else(|| TensogramError::encoding("ranges with more than 2^64 bytes of values"))
    };
    let total = ranges.iter().try_fold(0, add)?;
    options.limits.check_bytes(u64::MAX, total)?;
    Ok(total)
}

/// The elements of a range, which the object must have.
///
/// # Errors
/// [`TensogramError::Encoding`] if it has not.
pub(super) fn range_of(descriptor: &Descriptor<'_>, range: (u64, u64)) -> Result<Range<u64>> {
    let elements = elements(range)?;
    if elements.end <= descriptor.element_count() { Ok(elements) } else { Err(beyond(range)) }
}

/// Bytes of the values of a range, which the object must have.
///
/// # Errors
/// As [`range_of`].
pub(super) fn range_len(descriptor: &Descriptor<'_>, range: (u64, u64)) -> Result<u64> {
    range_of(descriptor, range)?;
    descriptor.dtype().byte_len(range.1).ok_or_else(|| beyond(range))
}

/// How many values the ranges have together.
///
/// # Errors
/// [`TensogramError::Encoding`] if the number has more than 64 bits.
pub(super) fn count_of(ranges: &[(u64, u64)]) -> Result<u64> {
    let count = ranges.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
    count.ok_or_else(|| TensogramError::encoding("ranges with more than 2^64 values"))
}

/// Bytes of `count` values.
///
/// # Errors
/// [`TensogramError::Encoding`] if the number has more than 64 bits.
pub(super) fn values_len(descriptor: &Descriptor<'_>, count: u64) -> Result<u64> {
    let len = descriptor.dtype().byte_len(count);
    len.ok_or_else(|| TensogramError::encoding(format!("{count} values have more than 2^64 bytes")))
}

/// Checks that the caller's buffer has `expected` bytes, as many as will be written to it.
///
/// # Errors
/// [`TensogramError::Encoding`] if it is shorter or longer.
pub(super) fn check_output(expected: u64, out: &[u8]) -> Result<()> {
    let len = out.len();
    if len as u64 == expected {
        return Ok(());
    }
    Err(TensogramError::encoding(format!("output has {len} bytes, the values have {expected}")))
}

/// The elements of a range given as start and count.
fn elements((start, count): (u64, u64)) -> Result<Range<u64>> {
    let end = start.checked_add(count);
    let end = end.ok_or_else(|| {
        TensogramError::encoding(format!("range (offset={start}, count={count}): range error: end overflows u64"))
    })?;
    Ok(start..end)
}

fn beyond((start, count): (u64, u64)) -> TensogramError {
    TensogramError::encoding(format!(
        "range (offset={start}, count={count}): range error: range ({start}, {count}) exceeds payload size"
    ))
}

/// Checks that elements are of type `T`.
///
/// # Errors
/// [`TensogramError::Encoding`] with [`ErrorKind::DtypeMismatch`] if they are not.
pub(super) fn check_dtype<T: Element>(descriptor: &Descriptor<'_>) -> Result<()> {
    if T::DTYPE == descriptor.dtype() {
        return Ok(());
    }
    let mismatch = ErrorKind::DtypeMismatch { expected: T::DTYPE, found: descriptor.dtype() };
    Err(TensogramError::from(mismatch.at(descriptor.offset())))
}
