//! Searching for one of the format's two magics of eight bytes.

/// The first place where `magic` stands in `bytes`: O(bytes), usually one byte of eight is looked at (Horspool).
///
/// The byte under the magic's last position decides how far the window may move; with a pattern of eight bytes the worst
/// case is eight comparisons a byte. Where that byte lies outside of the range of the magic's bytes, which takes one
/// comparison to see, the window moves by all of its length.
pub fn find(bytes: &[u8], magic: &[u8; 8]) -> Option<usize> {
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
        at = at.saturating_add(shift_for(last, magic));
    }
}

/// How far the window may move when `last` stands under the magic's last byte: to the nearest place where the magic has
/// that byte.
#[inline]
fn shift_for(last: u8, magic: &[u8; 8]) -> usize {
    let [m0, m1, m2, m3, m4, m5, m6, _] = *magic;
    [m6, m5, m4, m3, m2, m1, m0].iter().position(|&m| m == last).map_or(8, |at| at.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::find;

    proptest! {
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
