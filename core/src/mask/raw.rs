//! Raw bitmaps: one bit for each element, most significant first, read as 64-bit words.

use super::piece::Word;
use crate::error::{ErrorKind, Result};

/// The words with set bits.
#[derive(Clone, Debug)]
pub(super) struct Raw<'a> {
    /// The bytes of the next words.
    rest: &'a [u8],
    /// The number of their elements.
    left: u64,
    /// The first of those elements.
    position: u64,
}

impl<'a> Raw<'a> {
    /// Checks the length.
    pub(super) fn new(blob: &'a [u8], count: u64) -> Result<Self> {
        if u64::try_from(blob.len()) != Ok(count.div_ceil(8)) {
            return Err(ErrorKind::MaskLength.at(0));
        }
        Ok(Self { rest: blob, left: count, position: 0 })
    }

    /// The next word that has set bits. `None` at the end.
    #[inline]
    pub(super) fn step(&mut self) -> Option<Word> {
        loop {
            let word = self.next_word()?;
            if word.bits != 0 {
                return Some(word);
            }
        }
    }

    /// The next word, with zeros in place of bits after the last element.
    #[inline]
    fn next_word(&mut self) -> Option<Word> {
        let (bits, rest) = match self.rest.split_first_chunk() {
            Some((bytes, rest)) => (u64::from_be_bytes(*bytes), rest),
            None if self.rest.is_empty() => return None,
            None => (padded(self.rest), [].as_slice()),
        };
        // There was a byte, so at least one element is left, and the shift is 63 at most.
        let elements = u32::try_from(self.left).unwrap_or(u64::BITS);
        let pad = u64::BITS.saturating_sub(elements);
        let word = Word { bits: bits & u64::MAX.wrapping_shl(pad), position: self.position };
        self.rest = rest;
        self.left = self.left.saturating_sub(64);
        self.position = self.position.wrapping_add(64);
        Some(word)
    }
}

/// Fewer than eight bytes and zeros after them, as a word.
#[cold]
fn padded(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (slot, &byte) in word.iter_mut().zip(bytes) {
        *slot = byte;
    }
    u64::from_be_bytes(word)
}
