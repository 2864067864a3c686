//! Digests, and what comparing them finds.

use core::fmt;

use xxhash_rust::xxh3::xxh3_64;

/// The XXH3-64 of `body`: what a frame's slot holds for it.
pub fn digest(body: &[u8]) -> u64 {
    xxh3_64(body)
}

/// A digest that is not the one written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashMismatch {
    /// What the slot holds.
    pub expected: u64,
    /// What the body gives.
    pub computed: u64,
}

impl fmt::Display for HashMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hash mismatch: expected {:016x}, got {:016x}", self.expected, self.computed)
    }
}

impl core::error::Error for HashMismatch {}

/// What checking a frame's digest found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The digest is right.
    Good,
    /// The frame holds none.
    Missing,
    /// The body is not the one that was hashed.
    Mismatch(HashMismatch),
}
