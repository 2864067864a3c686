//! What the cross-crate tests share: the corpus, one builder of messages, one naive decoder, and a counting allocator.
//!
//! | module | holds |
//! |---|---|
//! | [`corpus`] | `tests/data`, and the full corpus where `TGM_CORPUS` names it, with the sidecars |
//! | [`builder`] | messages written field by field, each field with a caption by which a test finds or breaks it |
//! | [`naive`] | a plain, slow decoder straight from FORMAT.md, which knows nothing of `tgm_core` |
//! | [`alloc`] | an allocator that counts, for each thread by itself |

pub mod alloc;
pub mod builder;
pub mod corpus;
pub mod naive;

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 in lower-case hexadecimal digits, as the sidecars write it.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A small generator of numbers for tests that need many and not proptest's shrinking (splitmix64).
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.next() % end }
    }
}
