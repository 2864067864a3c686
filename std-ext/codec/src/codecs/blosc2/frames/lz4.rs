//! LZ4 blocks, or the beginnings of them.
//!
//! ```text
//! block = (token, more of length*, literals, distance, more of length*)*     the last one ends with its literals
//! token   four bits: the number of literals; four bits: the length of the match, less 4; 15 means that more follows
//!
//! for each sequence: copy the literals from the block
//!                    copy the match, byte by byte, from `distance` bytes before where it goes
//! ```
//!
//! Most sequences of shuffled numbers are a few bytes long, so branches are the limit: what counts is how few of them a
//! sequence takes. The trick: away from the ends of both slices, copy pieces of 8 and 16 bytes, whatever the length
//! (`fast`). The bytes that are too many are overwritten by the next sequence, which is why there must be room after.
//! A match that reaches into itself repeats a short pattern, which is made once and stored over and over (`copy`).
//!
//! Near the ends, every length is checked, and no byte is written that does not belong there. That walk is here,
//! without unsafe code.

mod copy;
mod fast;
#[cfg(test)]
mod tests;

use super::{CodecError, Result};

/// A length that goes on in the bytes after it.
const LONG: usize = 15;
/// The shortest match.
const MIN_MATCH: usize = 4;

/// Decodes the beginning of a block that holds `len` bytes, into all of `out`. If `out` is `len` bytes long, the block
/// must end there. Otherwise bytes of the block after that beginning are not looked at.
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

/// How it goes on after a sequence.
enum Step {
    More,
    /// The output is full, and the block goes on.
    Full,
    /// The block has ended.
    End,
}

/// A block, how much of it is read, and how much of the output is written.
struct Decoder<'a, 'o> {
    block: &'a [u8],
    read: usize,
    out: &'o mut [u8],
    written: usize,
}

impl Decoder<'_, '_> {
    /// Decodes one sequence, wherever it is. `is_part` says that the block goes on where the output ends.
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
}

/// Adds the bytes of `block` from `at` on to a length, up to the first that is not 255. Returns the length and the
/// place after them. The length may be greater than any that can be right: the caller checks it.
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
