//! The sequences away from the ends of both slices.

#![allow(unsafe_code, reason = "copies of fixed size, of which the room is checked once for a sequence")]

use super::copy::{PIECE, copy_between, copy_match};
use super::{Decoder, LONG, MIN_MATCH, Result, add_length, too_far};

/// Bytes of the block that a sequence of less than 15 literals may read: token, a piece for the literals, distance.
const INPUT_ROOM: usize = 1 + PIECE + 2;
/// Bytes of the output that it may write: 14 literals at most, and a match of up to 18 bytes in two pieces.
const OUTPUT_ROOM: usize = 14 + 2 * PIECE;

impl Decoder<'_, '_> {
    /// Decodes sequences as long as there is room after them for copies of more bytes than they have.
    ///
    /// Leaves off before a sequence that is not so far from the ends, and before a match of a short pattern that begins
    /// within the first eight bytes.
    pub(super) fn sequences(&mut self) -> Result<()> {
        let (block, out_len) = (self.block, self.out.len());
        let Some(last_read) = block.len().checked_sub(INPUT_ROOM) else { return Ok(()) };
        let Some(last_written) = out_len.checked_sub(OUTPUT_ROOM) else { return Ok(()) };
        let (input, out) = (block.as_ptr(), self.out.as_mut_ptr());
        let (mut read, mut written) = (self.read, self.written);
        while read <= last_read && written <= last_written {
            // SAFETY: `read` is INPUT_ROOM bytes or more before the end of the block.
            let token = usize::from(unsafe { *input.add(read) });
            let (mut literals, mut from) = (token >> 4, read + 1);
            if literals == LONG {
                (literals, from) = add_length(literals, block, from)?;
                let has_room = |len: usize, at: usize, room: usize| len.saturating_sub(at + room) > literals;
                if !has_room(block.len(), from, INPUT_ROOM) || !has_room(out_len, written, OUTPUT_ROOM + PIECE) {
                    break;
                }
                for at in (PIECE..literals).step_by(PIECE) {
                    // SAFETY: the piece begins before the end of the literals, after which there is more than a piece.
                    unsafe { copy_between(input.add(from + at), out.add(written + at)) };
                }
            }
            // SAFETY: there are 16 bytes and a distance after the token if literals are less than 15, and after the
            // literals otherwise. `written` is OUTPUT_ROOM bytes before the end of the output.
            let distance = unsafe {
                copy_between(input.add(from), out.add(written));
                u16::from_le_bytes(input.add(from + literals).cast::<[u8; 2]>().read_unaligned())
            };
            let (start, distance) = (written + literals, usize::from(distance));
            if distance == 0 || distance > start {
                return Err(too_far());
            }
            if distance < 8 && start < 8 {
                break;
            }
            let mut behind = from + literals + 2;
            let mut matched = token & LONG;
            if matched == LONG {
                (matched, behind) = add_length(matched, block, behind)?;
                if matched > out_len.saturating_sub(start + MIN_MATCH + PIECE) {
                    break;
                }
            }
            matched += MIN_MATCH;
            // SAFETY: after `start` there are 32 bytes, which is what a match of up to 18 bytes may write; after the
            // end of a longer one there is a piece. `distance` is neither 0 nor more than `start`, and below 8 only if
            // 8 bytes are before `start`.
            unsafe { copy_match(out, start, distance, matched) };
            (read, written) = (behind, start + matched);
        }
        (self.read, self.written) = (read, written);
        Ok(())
    }
}
