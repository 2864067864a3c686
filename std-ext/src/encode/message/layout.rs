//! Where the objects' frames begin, which depends on the length of the index before them.

use tgm_core::wire::FrameType;

use crate::encode::frame::{frame_len, padded};
use crate::model::cbor::head_len;
use crate::model::metadata::index_len_without_numbers;

/// Bytes of the index frame and its padding, 0 if there are no objects. The objects' frames are `lens` long. `start` is
/// where the first of them would begin without an index.
///
/// The index moves the objects, and greater offsets can take more bytes in the index. So the length is computed again
/// until nothing moves any more. It only grows, so this ends.
pub(super) fn index_frame_len(lens: &(impl ExactSizeIterator<Item = u64> + Clone), start: u64) -> u64 {
    if lens.len() == 0 {
        return 0;
    }
    let mut frame = 0;
    loop {
        let offsets = offsets(lens.clone(), start + frame);
        let numbers = lens.clone().zip(offsets).map(|(len, offset)| head_len(len) + head_len(offset)).sum::<u64>();
        let len = padded(frame_len(FrameType::HeaderIndex, index_len_without_numbers(lens.len()) + numbers));
        if len <= frame {
            return frame;
        }
        frame = len;
    }
}

/// The offsets of frames that are `lens` long. The first one begins at `start`.
pub(super) fn offsets(lens: impl ExactSizeIterator<Item = u64>, start: u64) -> impl ExactSizeIterator<Item = u64> {
    let mut next = start;
    lens.map(move |len| {
        let offset = next;
        next += padded(len);
        offset
    })
}
