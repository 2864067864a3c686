//! Searching for one of the format's two magics of eight bytes.
//!
//! # Plain way
//!
//! ```text
//! for each place:  compare eight bytes
//! ```
//!
//! # Trick: look at every fourth place
//!
//! Any eight bytes in a row contain a whole aligned word of four bytes. So a magic at any place has one of its words at a
//! place that is a multiple of four. The search looks only at these words:
//!
//! ```text
//! for each chunk of 128 bytes:
//!     passes = any word of the chunk passes the filter       no branch inside: compilers make vector code of it
//!     if passes: compare eight bytes at each place around the chunk
//! ```
//!
//! The filter asks whether all four bytes of a word are like bytes of the magic. The bytes of each magic are within sixteen
//! of each other, so after adding a constant they have their upper four bits in common. One addition, one mask and one
//! comparison test a word. A magic's own words always pass, so no magic is missed. One in 65,536 other words passes, if
//! bytes are random.
//!
//! Small machines have no vectors. They look at one byte of eight, and jump: [`find_by_jumps`].

use crate::target::IS_SMALL;

/// Bytes that are tested before the search branches: a few vectors of any machine.
const CHUNK: usize = 128;

/// Bytes of a word.
const WORD: usize = 4;

/// The first place where `magic` is in `bytes`: O(bytes), and nearly as fast as memory if few bytes are like the magic's.
///
/// ```
/// use tgm_core::scan::find;
/// use tgm_core::wire::MAGIC;
///
/// assert_eq!(find(b"junk TENSOGRM", MAGIC), Some(5));
/// assert_eq!(find(b"TENSOGR", MAGIC), None);
/// ```
#[inline]
pub fn find(bytes: &[u8], magic: &[u8; 8]) -> Option<usize> {
    if IS_SMALL {
        return find_by_jumps(bytes, magic);
    }
    // The format's magics are constants, so the compiler computes the filter.
    find_filtered(bytes, magic, Filter::new(magic))
}

/// [`find`] for small machines, by Horspool's method. It usually looks at one byte of eight.
///
/// ```text
/// look at the byte under the magic's last position
/// if it is outside of the range of the magic's bytes:  move the window by eight; one comparison finds that
/// otherwise compare the window; move it so that this byte is under the nearest equal byte of the magic
/// ```
///
/// In the worst case the window moves by one each time, so this is O(8 · bytes).
fn find_by_jumps(bytes: &[u8], magic: &[u8; 8]) -> Option<usize> {
    let (low, high) = magic.iter().fold((u8::MAX, 0), |(low, high), &m| (low.min(m), high.max(m)));
    let span = high.wrapping_sub(low);
    let mut at = 0_usize;
    loop {
        let (windows, _) = bytes.get(at..)?.as_chunks::<8>();
        // After the last whole window there are too few bytes for a magic.
        let passed = windows.iter().position(|&[.., last]| last.wrapping_sub(low) <= span)?;
        let window = windows.get(passed)?;
        at = at.saturating_add(passed.saturating_mul(8));
        if window == magic {
            return Some(at);
        }
        let [.., last] = *window;
        at = at.saturating_add(jump_for(last, magic));
    }
}

/// How far the window may move if `last` is under the magic's last byte: to the nearest place where the magic has that
/// byte.
#[inline]
fn jump_for(last: u8, magic: &[u8; 8]) -> usize {
    let [m0, m1, m2, m3, m4, m5, m6, _] = *magic;
    [m6, m5, m4, m3, m2, m1, m0].iter().position(|&m| m == last).map_or(8, |at| at.saturating_add(1))
}

fn find_filtered(bytes: &[u8], magic: &[u8; 8], filter: Filter) -> Option<usize> {
    let (chunks, tail) = bytes.as_chunks::<CHUNK>();
    let mut at = 0_usize;
    for chunk in chunks {
        let after = at.saturating_add(CHUNK);
        if filter.passes_any(chunk)
            && let Some(found) = find_around(bytes, at, after, magic)
        {
            return Some(found);
        }
        at = after;
    }
    // The last 128 bytes contain the tail. Testing them is quicker than testing the tail, because their number is constant.
    let passes = bytes.last_chunk::<CHUNK>().map_or_else(|| filter.passes_any(tail), |last| filter.passes_any(last));
    if passes { find_around(bytes, at, bytes.len(), magic) } else { None }
}

/// The first magic that has a word in `from..to`, found by comparing place by place.
#[cold]
fn find_around(bytes: &[u8], from: usize, to: usize, magic: &[u8; 8]) -> Option<usize> {
    let from = from.saturating_sub(WORD.saturating_sub(1));
    let around = bytes.get(from..to.saturating_add(WORD).min(bytes.len()))?;
    let magic = u64::from_ne_bytes(*magic);
    let at =
        around.windows(8).position(|window| window.first_chunk().is_some_and(|w| u64::from_ne_bytes(*w) == magic))?;
    Some(from.saturating_add(at))
}

/// A test for words whose four bytes are like bytes of a magic: `(word + add) & mask == common`.
#[derive(Clone, Copy)]
struct Filter {
    /// Added to each byte, so that the smallest byte of the magic has zeros in its lower four bits.
    add: u32,
    /// The bits that all bytes of the magic then have in common.
    mask: u32,
    /// The values of those bits.
    common: u32,
}

impl Filter {
    #[inline]
    fn new(magic: &[u8; 8]) -> Self {
        let (low, high) = magic.iter().fold((u8::MAX, 0), |(low, high), &byte| (low.min(byte), high.max(byte)));
        let up = low.wrapping_neg() & 0x0f;
        // The addition must not carry from one byte of the magic into the next. In other words it may carry: such a word
        // may pass or not, and either is right, because a word that passes is compared.
        let add = if high.checked_add(up).is_some() { up } else { 0 };
        let [first, rest @ ..] = magic.map(|byte| byte.wrapping_add(add));
        let mask = rest.iter().fold(u8::MAX, |mask, byte| mask & !(byte ^ first));
        let [add, mask, common] = [add, mask, first & mask].map(|byte| u32::from_ne_bytes([byte; WORD]));
        Self { add, mask, common }
    }

    /// Whether a magic may have one of its words in `bytes`.
    #[inline]
    fn passes_any(self, bytes: &[u8]) -> bool {
        let (words, _) = bytes.as_chunks();
        words.iter().fold(false, |any, word| any | self.passes(u32::from_ne_bytes(*word)))
    }

    #[inline]
    const fn passes(self, word: u32) -> bool {
        word.wrapping_add(self.add) & self.mask == self.common
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::{Filter, find_by_jumps, find_filtered};
    use crate::wire::{END_MAGIC, MAGIC};

    /// The result of every way to search. They must agree.
    fn find(bytes: &[u8], magic: &[u8; 8]) -> Option<usize> {
        let found = super::find(bytes, magic);
        assert_eq!(find_by_jumps(bytes, magic), found);
        assert_eq!(find_filtered(bytes, magic, Filter::new(magic)), found);
        found
    }

    proptest! {
        #[test]
        fn finds_a_magic_anywhere_among_any_bytes(
            bytes in proptest::collection::vec(any::<u8>(), 0..600),
            at in 0_usize..600,
            magic in prop_oneof![Just(MAGIC), Just(END_MAGIC), Just(&[0, 255, 1, 2, 250, 3, 4, 0])],
        ) {
            let mut bytes: Vec<u8> = bytes;
            let at = at.min(bytes.len());
            bytes.splice(at..at, *magic);
            let plain = bytes.windows(8).position(|window| window == magic);
            prop_assert_eq!(find(&bytes, magic), plain);
            prop_assert_eq!(find(&bytes[..at + 7], magic), plain.filter(|found| *found < at));
        }

        #[test]
        fn finds_what_a_window_by_window_search_finds(
            bytes in proptest::collection::vec(prop_oneof![Just(b'7'), Just(b'3'), Just(b'9'), Just(b'2')], 0..200),
            at in 0_usize..200,
        ) {
            let mut bytes: Vec<u8> = bytes;
            let at = at.min(bytes.len());
            bytes.splice(at..at, *b"39277777");
            let plain = bytes.windows(8).position(|window| window == b"39277777");
            prop_assert_eq!(find(&bytes, b"39277777"), plain);
            prop_assert_eq!(find(&bytes, b"TENSOGRM"), None);
        }
    }
}
