//! Bytes and digests as hexadecimal digits.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The SHA-256 digest in lower-case hexadecimal digits, as the sidecars hold it.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The bytes in lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
