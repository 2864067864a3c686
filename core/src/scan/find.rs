//! Searching for one of the format's two magics of eight bytes.

use crate::target::IS_SMALL;

/// Bytes that are looked at before it is asked whether a magic may lie among them: a few vectors of any machine.
const CHUNK: usize = 128;

/// Bytes of a word.
const WORD: usize = 4;

/// The first place where `magic` stands in `bytes`: O(bytes), and at the speed of memory as long as bytes are not like the magic's.
///
/// Of four places in a row where a word can be, one lies within any eight bytes. So every fourth place is looked at, whether
/// all four bytes there are close to those of the magic (`Filter`): a loop without branches, which compilers make
/// vectors of. Only where one is, places are compared one by one.
///
/// Small machines have no vectors, and better use for the code's bytes: they look at one byte of eight.
#[inline]
pub fn find(bytes: &[u8], magic: &[u8; 8]) -> Option<usize> {
    if IS_SMALL {
        return find_by_jumps(bytes, magic);
    }
    // Of the format's magics the filter is a constant.
    find_filtered(bytes, magic, Filter::new(magic))
}

/// [`find`], usually by one byte of eight (Horspool): for small machines.
///
/// The byte under the magic's last position decides how far the window may move; with a pattern of eight bytes the worst
/// case is eight comparisons a byte. Where that byte lies outside of the range of the magic's bytes, which takes one
/// comparison to see, the window moves by all of its length.
fn find_by_jumps(bytes: &[u8], magic: &[u8; 8]) -> Option<usize> {
    let (low, high) = magic.iter().fold((u8::MAX, 0), |(low, high), &m| (low.min(m), high.max(m)));
    let span = high.wrapping_sub(low);
    let mut at = 0_usize;
    loop {
        let (windows, _) = bytes.get(at..)?.as_chunks::<8>();
        // Behind the last whole window there are too few bytes for a magic.
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

/// How far the window may move when `last` stands under the magic's last byte: to the nearest place where the magic has
/// that byte.
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
    // A chunk that ends with the bytes takes less time than the tail, whose length nobody knows.
    let passes = bytes.last_chunk::<CHUNK>().map_or_else(|| filter.passes_any(tail), |last| filter.passes_any(last));
    if passes { find_around(bytes, at, bytes.len(), magic) } else { None }
}

/// The first place of those magics that have a word in `from..to`, compared one by one.
#[cold]
fn find_around(bytes: &[u8], from: usize, to: usize, magic: &[u8; 8]) -> Option<usize> {
    let from = from.saturating_sub(WORD.saturating_sub(1));
    let around = bytes.get(from..to.saturating_add(WORD).min(bytes.len()))?;
    let magic = u64::from_ne_bytes(*magic);
    let at =
        around.windows(8).position(|window| window.first_chunk().is_some_and(|w| u64::from_ne_bytes(*w) == magic))?;
    Some(from.saturating_add(at))
}

/// What all bytes of a magic have in common, once something is added so that the smallest one has no lower half.
///
/// Those of the format's magics lie within sixteen of each other, so that this is the upper half at least: of words that are
/// not like the magic, one of 65,536 passes.
#[derive(Clone, Copy)]
struct Filter {
    add: u32,
    mask: u32,
    common: u32,
}

impl Filter {
    #[inline]
    fn new(magic: &[u8; 8]) -> Self {
        let (low, high) = magic.iter().fold((u8::MAX, 0), |(low, high), &byte| (low.min(byte), high.max(byte)));
        let up = low.wrapping_neg() & 0x0f;
        // A sum of the magic's bytes must not reach into its neighbour. One of other bytes may: then the word passes, or not.
        let add = if high.checked_add(up).is_some() { up } else { 0 };
        let [first, rest @ ..] = magic.map(|byte| byte.wrapping_add(add));
        let mask = rest.iter().fold(u8::MAX, |mask, byte| mask & !(byte ^ first));
        let [add, mask, common] = [add, mask, first & mask].map(|byte| u32::from_ne_bytes([byte; WORD]));
        Self { add, mask, common }
    }

    /// Whether a magic may have a word among these.
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

    /// By each of the ways there are, which say the same.
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
