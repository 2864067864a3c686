//! Whether to decode parts of a payload, or all of it.
//!
//! ```text
//! blocks      │▒▒▒▒│    │▒▒▒▒│▒▒▒▒│    │    │▒▒▒▒│        ▒ hold wanted elements
//! parts    =    4 blocks + passing over 1, over 2, …
//! whole    =    8 blocks
//! ```
//!
//! Costs are counted in bytes whose decoding takes as long. Parts are read by one thread with some work between them,
//! so all is decoded where they cost 0.7 of it or more. All stored bytes then lie in memory at once: that is allowed where
//! they are few, or not many more than the wanted values.

use std::ops::Range;

use tgm_core::descriptor::Descriptor;
use tgm_core::stored::window_of;

use crate::codec::{CodecError, PartReader};

/// Stored bytes that may lie in memory at once, however few values are wanted.
const FREE_BYTES: u64 = 64 << 20;
/// Otherwise, how many stored bytes may lie in memory for each byte of wanted values.
const PER_OUTPUT_BYTE: u64 = 4;

/// Whether decoding all `total` stored bytes costs less than the parts that hold the wanted elements. `out_len` is the
/// number of bytes of the wanted values.
///
/// `wanted` is told how many elements a block has, and gives ranges of elements in ascending order. Elements between
/// them count as wanted if no more than a block of them lies between two. The ranges are read until the answer is
/// known.
///
/// # Errors
/// The errors of [`PartReader::end_of_block`]; [`CodecError`] for elements that the object does not have.
pub(super) fn is_whole_cheaper<I: Iterator<Item = Range<u64>>>(
    parts: &mut dyn PartReader,
    descriptor: &Descriptor<'_>,
    wanted: impl FnOnce(u64) -> I,
    total: u64,
    out_len: u64,
) -> Result<bool, CodecError> {
    if total > FREE_BYTES.max(out_len.saturating_mul(PER_OUTPUT_BYTE)) {
        return Ok(false);
    }
    let block = parts.end_of_block(&(0..1.min(total)))?.max(1);
    let elements = u64::try_from(u128::from(block) * u128::from(descriptor.element_count()) / u128::from(total.max(1)));
    let elements = elements.unwrap_or(u64::MAX).max(1);
    let too_much = total / 10 * 7;
    let (mut cost, mut passed) = (0_u64, 0_u64);
    for range in wanted(elements) {
        let bytes = window_of(descriptor, &range).map_err(|error| CodecError::new(error.to_string()))?;
        let blocks = blocks_of(&bytes, block);
        let start = blocks.start.max(passed);
        cost = cost.saturating_add(parts.cost_of_passing(start.saturating_sub(passed)));
        passed = blocks.end.max(passed);
        cost = cost.saturating_add(passed.saturating_sub(start));
        if cost >= too_much {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The bytes of all blocks that hold some of `bytes`.
fn blocks_of(bytes: &Range<u64>, block: u64) -> Range<u64> {
    let end = bytes.end.checked_next_multiple_of(block).unwrap_or(bytes.end);
    bytes.start / block * block..end
}
