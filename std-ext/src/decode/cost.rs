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

use crate::base::span::span_len;
use tgm_codec::{CodecError, PartReader};

/// Stored bytes that may lie in memory at once, however few values are wanted.
const FREE_BYTES: u64 = 64 << 20;
/// Otherwise, how many stored bytes may lie in memory for each byte of wanted values.
const PER_OUTPUT_BYTE: u64 = 4;

/// Whether decoding all `total` stored bytes costs less than the parts that hold the wanted elements. `out_len` is the
/// number of bytes of the wanted values.
///
/// `wanted` gets how many elements a block has, and gives ranges of elements in ascending order. Elements between
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
    // All sums here are weighed against `total`: one beyond 64 bits outweighs it.
    if total > FREE_BYTES.max(out_len.saturating_mul(PER_OUTPUT_BYTE)) {
        return Ok(false);
    }
    let block = parts.end_of_block(&(0..1.min(total)))?.max(1);
    let elements = u64::try_from(u128::from(block) * u128::from(descriptor.element_count()) / u128::from(total.max(1)));
    let elements = elements.unwrap_or(u64::MAX).max(1);
    let too_much = total / 10 * 7;
    let (mut cost, mut passed) = (0_u64, 0_u64);
    for range in wanted(elements) {
        let bytes = window_of(descriptor, &range).map_err(CodecError::of_descriptor)?;
        let blocks = blocks_of(&bytes, block);
        let start = blocks.start.max(passed);
        cost = cost.saturating_add(parts.cost_of_passing(start - passed));
        passed = blocks.end.max(passed);
        cost = cost.saturating_add(span_len(&(start..passed)));
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

#[cfg(test)]
mod tests {

    use tgm_core::Message;

    use super::*;
    use crate::encode::{MessageBuilder, ObjectBuilder};

    /// Blocks of 100 bytes, of which nothing is ever read.
    struct Blocks;

    impl PartReader for Blocks {
        fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64, CodecError> {
            Ok(part.end.next_multiple_of(100))
        }

        fn cost_of_passing(&self, distance: u64) -> u64 {
            distance / 2
        }

        fn read_into(&mut self, _: u64, _: &mut [u8]) -> Result<(), CodecError> {
            Err(CodecError::new("nothing is read"))
        }
    }

    /// Whether all of `total` bytes are to be decoded for these elements, of two bytes each.
    fn is_whole(wanted: &[Range<u64>], total: u64, out_len: u64) -> bool {
        let message =
            MessageBuilder::new().object(ObjectBuilder::new(&[1000], &[0_u16; 1000]).unwrap()).encode().unwrap();
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let wanted = |elements| {
            // In each of `total` bytes are half as many elements, or a share of the thousand.
            assert_eq!(elements, (100 * 1000 / total).max(1));
            wanted.iter().cloned()
        };
        is_whole_cheaper(&mut Blocks, object.descriptor(), wanted, total, out_len).unwrap()
    }

    /// One range.
    fn just(range: Range<u64>) -> Vec<Range<u64>> {
        vec![range]
    }

    #[test]
    fn all_is_decoded_where_seven_of_ten_blocks_are_wanted() {
        // 350 elements are seven blocks, 300 are six.
        assert!(is_whole(&just(0..350), 1000, 700));
        assert!(!is_whole(&just(0..300), 1000, 600));
        assert!(is_whole(&just(0..301), 1000, 602), "of the seventh block one element");
        // Three blocks, over two, three blocks: seven.
        assert!(is_whole(&[0..150, 250..400], 1000, 600));
        assert!(!is_whole(&[0..150, 200..350], 1000, 600), "over one: six and a half");
        // A block that several ranges touch counts once.
        assert!(!is_whole(&[0..10, 20..30, 30..40, 45..300], 1000, 600));
        assert!(!is_whole(&[], 2000, 0));
    }

    /// All of a payload is one block.
    struct All(u64);

    impl PartReader for All {
        fn end_of_block(&mut self, _: &Range<u64>) -> Result<u64, CodecError> {
            Ok(self.0)
        }

        fn read_into(&mut self, _: u64, _: &mut [u8]) -> Result<(), CodecError> {
            Err(CodecError::new("nothing is read"))
        }
    }

    #[test]
    fn memory_for_all_is_taken_if_it_is_little_or_in_proportion_to_what_is_wanted() {
        let all = || just(0..1000);
        // The block is most of it, and so are the elements: only the memory decides.
        let is_allowed = |total: u64, out_len| {
            let message = MessageBuilder::new().object(ObjectBuilder::new(&[1000], &[0_u8; 1000]).unwrap());
            let message = message.encode().unwrap();
            let object = Message::parse(&message).unwrap().object(0).unwrap();
            is_whole_cheaper(&mut All(total), object.descriptor(), |_| all().into_iter(), total, out_len).unwrap()
        };
        assert!(is_allowed(FREE_BYTES, 1));
        assert!(!is_allowed(FREE_BYTES + 1, 1));
        assert!(!is_allowed(2 * FREE_BYTES, 1));
        assert!(is_allowed(FREE_BYTES + 4, FREE_BYTES / 4 + 1));
        assert!(!is_allowed(FREE_BYTES + 5, FREE_BYTES / 4 + 1));
    }
}
