//! Gives any bytes to both libraries: the results are the same, or differ for a reason that is listed in [`known`].
//!
//! `fuzz/diff-reference` compiles this file too. It is a `mod.rs`, so that its modules are found from there.

mod guard;
mod known;
pub mod mutate;

use std::fmt::Debug;

use crate::plain::Answer;
use crate::{ours, reference};

/// Gives `bytes` to both libraries and returns the reasons for all differences. Bytes that are kept from the reference
/// are not compared, and the reason for that is returned.
///
/// # Errors
/// Both results, if no known reason explains the difference.
pub fn compare(bytes: &[u8]) -> Result<Vec<&'static str>, String> {
    if let Some(reason) = guard::kept_back(bytes) {
        return Ok(vec![reason]);
    }
    let mut reasons = Reasons { bytes, found: Vec::new() };
    let native = tgm_std::DecodeOptions { native_byte_order: false, ..Default::default() };
    let theirs = tensogram::DecodeOptions { native_byte_order: false, ..Default::default() };
    reasons.of("decode", &ours::decode(bytes, &native), &reference::decode(bytes, &theirs))?;
    reasons.of("descriptors", &ours::decode_descriptors(bytes), &reference::decode_descriptors(bytes))?;
    // To read metadata alone, the reference does not look at the end of the message (FORMAT §1.11).
    let metadata = (ours::decode_metadata(bytes), reference::decode_metadata(bytes));
    if metadata.0.is_ok() {
        reasons.of("metadata", &metadata.0, &metadata.1)?;
    }
    let masks = (ours::decode_with_masks(bytes, &native), reference::decode_with_masks(bytes, &theirs));
    reasons.of("masks", &masks.0, &masks.1)?;
    let verified = tgm_std::DecodeOptions { verify_hash: true, strict_hash_presence: true, ..native };
    let theirs = tensogram::DecodeOptions { verify_hash: true, ..theirs };
    reasons.of("verified", &ours::decode(bytes, &verified), &reference::decode(bytes, &theirs))?;
    Ok(reasons.found)
}

/// The reasons why results for some bytes differ.
struct Reasons<'a> {
    bytes: &'a [u8],
    found: Vec<&'static str>,
}

impl Reasons<'_> {
    fn of<T: PartialEq + Debug>(&mut self, what: &str, ours: &Answer<T>, theirs: &Answer<T>) -> Result<(), String> {
        let reason = match (ours, theirs) {
            (Ok(ours), Ok(theirs)) if ours == theirs => return Ok(()),
            (Err(_), Err(_)) => return Ok(()),
            (Ok(_), Ok(_)) => known::other_values(self.bytes),
            (Err(refusal), Ok(_)) => known::refused_by_us(self.bytes, refusal),
            (Ok(_), Err(refusal)) => known::refused_by_the_reference(self.bytes, refusal),
        };
        self.found.push(reason.ok_or_else(|| format!("{what}:\n   ours {ours:?}\n theirs {theirs:?}"))?);
        Ok(())
    }
}
