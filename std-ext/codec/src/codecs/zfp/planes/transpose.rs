//! From bit planes to integers and back: a transposition of bits.
//!
//! A word of planes has bit c of nibble p where its integers want bit 15 - p of lane c. Written in binary, the number
//! of a bit is p3 p2 p1 p0 c1 c0 in the planes; in the integers it is c1 c0 and the complements of p3 to p0. So the
//! transposition permutes the six digits of bit numbers. Exchanging the bits of a mask with those a fixed distance
//! higher swaps two digits; at other distances it swaps and complements them. Four exchanges do all of it:
//!
//! ```text
//! distance 30, 15   swap two digits
//! distance 10, 5    swap two digits and complement both
//! ```

use super::Planes;

/// Exchanges the bits of `MASK` with those `SHIFT` higher.
const fn exchange<const SHIFT: u32, const MASK: u64>(word: u64) -> u64 {
    let differ = (word >> SHIFT ^ word) & MASK;
    word ^ differ ^ differ << SHIFT
}

/// The four integers whose planes these are. Words after the first `words` are taken to be zero.
#[inline]
pub(super) fn to_integers(planes: &Planes, words: u32) -> [u64; 4] {
    let mut integers = [0; 4];
    for (word, shift) in planes.iter().zip([48, 32, 16, 0]).take(words as usize) {
        let word = exchange::<30, 0x0000_0000_cccc_cccc>(*word);
        let word = exchange::<15, 0x0000_aaaa_0000_aaaa>(word);
        let word = exchange::<10, 0x0033_0033_0033_0033>(word);
        let word = exchange::<5, 0x0505_0505_0505_0505>(word);
        for (integer, lane) in integers.iter_mut().zip([0, 16, 32, 48]) {
            *integer |= (word >> lane & 0xffff) << shift;
        }
    }
    integers
}

/// The planes of four integers.
#[inline]
pub(super) fn from_integers(integers: &[u64; 4]) -> Planes {
    let mut planes = [0; 5];
    for (word, shift) in planes.iter_mut().zip([48, 32, 16, 0]) {
        for (integer, lane) in integers.iter().zip([0, 16, 32, 48]) {
            *word |= (integer >> shift & 0xffff) << lane;
        }
        *word = exchange::<5, 0x0505_0505_0505_0505>(*word);
        *word = exchange::<10, 0x0033_0033_0033_0033>(*word);
        *word = exchange::<15, 0x0000_aaaa_0000_aaaa>(*word);
        *word = exchange::<30, 0x0000_0000_cccc_cccc>(*word);
    }
    planes
}
