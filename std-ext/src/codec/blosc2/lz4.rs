//! LZ4 blocks, or the beginnings of them.
//!
//! ```text
//! block = (token, more of length*, literals, distance, more of length*)*     the last one ends with its literals
//! ```
//!
//! Most sequences of shuffled numbers are a few bytes long: what counts is how few branches each of them takes. Away from
//! the ends of both slices, sequences are copied in pieces of 8 and 16 bytes, and what is too much is written over by the
//! next one. A match that reaches into itself is a short pattern, which is made once and written over and over.

use super::{CodecError, Result};

/// Bytes that are copied together where there is room for it.
const PIECE: usize = 16;
/// Bytes of the block that a sequence of less than 15 literals may look at: token, literals, distance.
const INPUT_ROOM: usize = 1 + PIECE + 2;
/// Bytes of the output that it may write: 14 literals at most, and a match of up to 18 bytes in two pieces.
const OUTPUT_ROOM: usize = 14 + 2 * PIECE;
/// A length that goes on in the bytes behind it.
const LONG: usize = 15;
/// The shortest match.
const MIN_MATCH: usize = 4;

/// For each distance below 8: the product with a number of so many bytes that repeats it to 8 bytes, and the largest
/// multiple of it in 8 bytes.
const PATTERNS: [(u64, usize); 8] = {
    let mut patterns = [(1, 8); 8];
    let mut distance = 1;
    while distance < 8 {
        let (mut product, mut at) = (0, 0);
        while at < 8 {
            product |= 1 << (8 * at);
            at += distance;
        }
        patterns[distance] = (product, 8 - 8 % distance);
        distance += 1;
    }
    patterns
};

/// Decodes the beginning of a block that holds `len` bytes, into all of `out`. If that is the whole, the block must end
/// there, and otherwise what comes later is not looked at.
///
/// O(`out.len()` + `block.len()`), no allocation.
pub(super) fn decompress(block: &[u8], len: usize, out: &mut [u8]) -> Result<()> {
    if out.len() > len {
        return Err(CodecError::new("a stream of lz4 is shorter than what is wanted of it"));
    }
    let is_part = out.len() < len;
    let mut decoder = Decoder { block, read: 0, out, written: 0 };
    loop {
        decoder.sequences()?;
        match decoder.sequence(is_part)? {
            Step::More => {}
            Step::Full => return Ok(()),
            Step::End if decoder.written == decoder.out.len() => return Ok(()),
            Step::End => {
                let written = decoder.written;
                return Err(CodecError::new(format!("a stream of lz4 has {written} bytes, expected {len}")));
            }
        }
    }
}

/// Where a sequence leads.
enum Step {
    More,
    /// The output is full, and more was to come.
    Full,
    /// The block has ended.
    End,
}

/// A block on the way to its bytes.
struct Decoder<'a, 'o> {
    block: &'a [u8],
    read: usize,
    out: &'o mut [u8],
    written: usize,
}

impl Decoder<'_, '_> {
    /// One sequence, wherever it stands. `is_part` says that the block goes on where the output ends.
    fn sequence(&mut self, is_part: bool) -> Result<Step> {
        let token = usize::from(self.byte()?);
        let literals = self.length(token >> 4)?;
        let end = self.read.checked_add(literals).filter(|end| *end <= self.block.len()).ok_or_else(cut_short)?;
        let from = self.block.get(self.read..end).unwrap_or_default();
        let room = self.out.get_mut(self.written..).unwrap_or_default();
        let copied = literals.min(room.len());
        let (to, from) = (room.get_mut(..copied).unwrap_or_default(), from.get(..copied).unwrap_or_default());
        to.copy_from_slice(from);
        (self.read, self.written) = (end, self.written + copied);
        if copied < literals {
            return if is_part { Ok(Step::Full) } else { Err(too_long()) };
        }
        if self.read == self.block.len() {
            return Ok(Step::End);
        }
        if is_part && self.written == self.out.len() {
            return Ok(Step::Full);
        }
        let distance = usize::from(u16::from_le_bytes([self.byte()?, self.byte()?]));
        let matched = self.length(token & LONG)?.saturating_add(MIN_MATCH);
        let from = self.written.checked_sub(distance).filter(|_| distance > 0).ok_or_else(too_far)?;
        let copied = matched.min(self.out.len() - self.written);
        repeat(self.out.get_mut(from..self.written + copied).unwrap_or_default(), distance);
        self.written += copied;
        if copied < matched {
            return if is_part { Ok(Step::Full) } else { Err(too_long()) };
        }
        Ok(Step::More)
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.block.get(self.read).ok_or_else(cut_short)?;
        self.read += 1;
        Ok(byte)
    }

    /// A length that begins with the four bits of `nibble`.
    fn length(&mut self, nibble: usize) -> Result<usize> {
        if nibble < LONG {
            return Ok(nibble);
        }
        let (length, behind) = add_length(nibble, self.block, self.read)?;
        self.read = behind;
        Ok(length)
    }

    /// Sequences, as long as there is room behind them for copies of more bytes than they have.
    #[allow(unsafe_code, reason = "copies of fixed size, of which the room is checked once for a sequence")]
    fn sequences(&mut self) -> Result<()> {
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
                    // SAFETY: the piece begins before the end of the literals, behind which there is more than a piece.
                    unsafe { copy_between(input.add(from + at), out.add(written + at)) };
                }
            }
            // SAFETY: there are 16 bytes and a distance behind the token if literals are less than 15, and behind the
            // literals otherwise. Of the output, `written` is OUTPUT_ROOM bytes before the end.
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
            // SAFETY: behind `start` there are 32 bytes, which is what a match of up to 18 bytes may write; behind the end
            // of a longer one there is a piece. `distance` is neither 0 nor more than `start`, and below 8 only if 8 bytes
            // are before `start`.
            unsafe { copy_match(out, start, distance, matched) };
            (read, written) = (behind, start + matched);
        }
        (self.read, self.written) = (read, written);
        Ok(())
    }
}

/// Adds the bytes of `block` from `at` on to a length, and returns it with the place behind them. It may be more than there
/// can be.
#[inline]
fn add_length(mut length: usize, block: &[u8], mut at: usize) -> Result<(usize, usize)> {
    loop {
        let more = *block.get(at).ok_or_else(cut_short)?;
        length = length.saturating_add(more.into());
        at += 1;
        if more != u8::MAX {
            return Ok((length, at));
        }
    }
}

/// Copies a piece from one buffer to another.
///
/// # Safety
/// There are so many bytes at both places.
#[allow(unsafe_code, reason = "a copy between places of which the room has been checked")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
unsafe fn copy_between(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[u8; PIECE]>().write_unaligned(from.cast::<[u8; PIECE]>().read_unaligned()) }
}

/// Copies `len` bytes from `distance` bytes before `start` to there, in pieces: up to 18 bytes are written as 32 at most,
/// more as up to a piece too many.
///
/// # Safety
/// That many bytes from `out` on can be written. Those before `start` have been, and they are `distance` at least, or 8 if
/// that is more.
#[allow(unsafe_code, reason = "copies of fixed size between places that may overlap")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "the loop around it is what counts")]
unsafe fn copy_match(out: *mut u8, start: usize, distance: usize, len: usize) {
    let end = start + len;
    if distance >= PIECE {
        // SAFETY: the caller's promise: each piece is read from at least 16 bytes before where it goes.
        unsafe {
            copy_piece::<PIECE>(out, start - distance, start);
            copy_piece::<PIECE>(out, start - distance + PIECE, start + PIECE);
            let mut at = start + 2 * PIECE;
            while at < end {
                copy_piece::<PIECE>(out, at - distance, at);
                at += PIECE;
            }
        }
        return;
    }
    // SAFETY: the caller's promise. Patterns are of 5 bytes at least, so that three pieces are 18 bytes or more, and 24
    // at most; the loops begin pieces of 8 before the end only.
    unsafe {
        if distance >= 8 {
            copy_piece::<8>(out, start - distance, start);
            copy_piece::<8>(out, start - distance + 8, start + 8);
            copy_piece::<8>(out, start - distance + 16, start + 16);
            let mut at = start + 24;
            while at < end {
                copy_piece::<8>(out, at - distance, at);
                at += 8;
            }
            return;
        }
        let before = u64::from_le_bytes(out.add(start - 8).cast::<[u8; 8]>().read_unaligned());
        let (product, step) = PATTERNS[distance & 7];
        let pattern = (before >> (64 - 8 * distance)).wrapping_mul(product).to_le_bytes();
        let write = |at: usize| out.add(at).cast::<[u8; 8]>().write_unaligned(pattern);
        write(start);
        write(start + step);
        write(start + 2 * step);
        let mut at = start + 3 * step;
        while at < end {
            write(at);
            at += step;
        }
    }
}

/// Copies `N` bytes.
///
/// # Safety
/// Both places are within what `out` points to.
#[allow(unsafe_code, reason = "a copy between places that may overlap")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
unsafe fn copy_piece<const N: usize>(out: *mut u8, from: usize, to: usize) {
    // SAFETY: the caller's promise.
    unsafe { out.add(to).cast::<[u8; N]>().write_unaligned(out.add(from).cast::<[u8; N]>().read_unaligned()) }
}

/// Makes all of `bytes` repeat the first `period` of them.
fn repeat(bytes: &mut [u8], period: usize) {
    let mut done = period;
    while done < bytes.len() {
        let len = done.min(bytes.len() - done);
        let (from, to) = bytes.split_at_mut(done);
        to.iter_mut().zip(from.iter()).take(len).for_each(|(to, from)| *to = *from);
        done += len;
    }
}

fn cut_short() -> CodecError {
    CodecError::new("a stream of lz4 is cut short")
}

fn too_long() -> CodecError {
    CodecError::new("a stream of lz4 has more bytes than expected")
}

fn too_far() -> CodecError {
    CodecError::new("a match of lz4 begins before the output")
}

#[cfg(test)]
mod tests {
    use lz4_flex::block::{compress, decompress_into};
    use proptest::prelude::*;

    use super::*;

    /// What a block decodes to by the crate that knows how, which says so only if it is `len` bytes.
    fn expected(block: &[u8], len: usize) -> Option<Vec<u8>> {
        let mut out = vec![0; len];
        (decompress_into(block, &mut out).ok()? == len).then_some(out)
    }

    fn check(block: &[u8], len: usize, fronts: &[usize]) {
        let expected = expected(block, len);
        let mut out = vec![0xaa; len];
        assert_eq!(decompress(block, len, &mut out).is_ok(), expected.is_some());
        let Some(expected) = expected else { return };
        assert!(out == expected);
        for front in fronts.iter().map(|front| front % (len + 1)) {
            let mut out = vec![0xaa; front];
            decompress(block, len, &mut out).unwrap();
            assert!(out == expected[..front], "{front} of {len}");
        }
    }

    /// Bytes that repeat what is some bytes before them for a while, or do not.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = (1_usize..40, 0_usize..80, any::<[u8; 8]>(), 0_usize..9);
        prop::collection::vec(part, 0..60).prop_map(|parts| {
            let mut bytes: Vec<u8> = Vec::new();
            for (distance, len, new, count) in parts {
                bytes.extend(new.iter().take(count));
                for _ in 0..len {
                    let at = bytes.len().checked_sub(distance);
                    bytes.push(at.map_or(7, |at| bytes[at]));
                }
            }
            bytes
        })
    }

    proptest! {
        #[test]
        fn blocks_and_their_fronts_decode(bytes in bytes(), fronts in prop::collection::vec(any::<usize>(), 8)) {
            check(&compress(&bytes), bytes.len(), &fronts);
        }

        #[test]
        fn damaged_blocks_are_what_they_are_to_others(
            bytes in bytes(),
            damage in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4),
            cut in 0_usize..4,
            fronts in prop::collection::vec(any::<usize>(), 8),
        ) {
            let mut block = compress(&bytes);
            let len = block.len();
            for (at, byte) in damage {
                block[at % len] = byte;
            }
            block.truncate((len - cut.min(len)).max(1));
            check(&block, bytes.len(), &fronts);
            for front in fronts {
                let _ = decompress(&block, bytes.len(), &mut vec![0; front % (bytes.len() + 1)]);
            }
        }

        #[test]
        fn blocks_of_any_bytes_do_no_harm(block in prop::collection::vec(any::<u8>(), 1..600), len in 0_usize..2000) {
            check(&block, len, &[]);
        }
    }

    #[test]
    fn all_distances_and_lengths_are_copied() {
        for distance in 1..50_usize {
            for len in 4..90_u8 {
                // Literals that differ, a match, and literals.
                let first: Vec<u8> = (0..distance.try_into().unwrap()).collect();
                let lengths = |len: u8| (len.min(15), if len < 15 { vec![] } else { vec![len - 15] });
                let ((literals, more), (matched, rest)) = (lengths(first.len().try_into().unwrap()), lengths(len - 4));
                let mut block = [&[literals << 4 | matched], &more[..], &first].concat();
                block.extend(u16::try_from(distance).unwrap().to_le_bytes());
                block.extend(rest);
                block.extend([0xf0, 45]);
                block.extend([0xbb; 60]);
                check(&block, distance + usize::from(len) + 60, &[distance, distance + 1, distance + usize::from(len)]);
            }
        }
    }
}
