//! Digests, and what comparing them finds.

use core::fmt;

use xxhash_rust::xxh3::xxh3_64;

/// The XXH3-64 of `body`, which is the digest of a frame with this body.
pub fn digest(body: &[u8]) -> u64 {
    xxh3_64(body)
}

/// A digest that differs from the one in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashMismatch {
    /// The digest in the frame's slot.
    pub expected: u64,
    /// The digest of the frame's body.
    pub computed: u64,
}

impl fmt::Display for HashMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hash mismatch: expected {:016x}, got {:016x}", self.expected, self.computed)
    }
}

impl core::error::Error for HashMismatch {}

/// The result of checking a frame's digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The digest is right.
    Good,
    /// The frame holds no digest.
    Missing,
    /// The digest is wrong: the body is not the one that was hashed.
    Mismatch(HashMismatch),
}
