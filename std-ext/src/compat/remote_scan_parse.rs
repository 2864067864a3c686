//! The decisions of a scan of an object store about the bytes it fetched, as pure functions (FORMAT §5.6, §5.7).
//!
//! The scan walks from both ends. Preambles state the length of a message, postambles the length of the message before.
//! A message found from the end counts only if both agree. Nothing here fetches bytes; the caller does.

use serde::Serialize;
use tgm_core::wire::{END_MAGIC, MAGIC, MIN_MESSAGE_SIZE, POSTAMBLE_SIZE, PREAMBLE_SIZE};

use super::wire::{Postamble, Preamble};
use crate::base::span::span_len;
pub use crate::file::is_remote_url;

/// Fewer bytes than a preamble came, walking from the start.
pub const REASON_SHORT_FETCH_FWD: &str = "short-fetch-fwd";
/// No preamble begins here.
pub const REASON_BAD_MAGIC_FWD: &str = "bad-magic-fwd";
/// A preamble of another version.
pub const REASON_PREAMBLE_PARSE_ERROR_FWD: &str = "preamble-parse-error-fwd";
/// The length is less than any message has, or reaches beyond the file.
pub const REASON_LENGTH_OUT_OF_RANGE_FWD: &str = "length-out-of-range-fwd";
/// Fewer bytes than a postamble or preamble came, walking from the end.
pub const REASON_SHORT_FETCH_BWD: &str = "short-fetch-bwd";
/// No postamble ends here.
pub const REASON_BAD_END_MAGIC_BWD: &str = "bad-end-magic-bwd";
/// A postamble that cannot be read.
pub const REASON_POSTAMBLE_PARSE_ERROR: &str = "postamble-parse-error";
/// The length is less than any message has.
pub const REASON_LENGTH_BELOW_MINIMUM_BWD: &str = "length-below-minimum-bwd";
/// The message would begin before the file.
pub const REASON_BACKWARD_ARITH_UNDERFLOW: &str = "backward-arith-underflow";
/// The message would begin within what was found from the start.
pub const REASON_BACKWARD_OVERLAPS_FORWARD: &str = "backward-overlaps-forward";
/// No preamble begins where the postamble's length leads.
pub const REASON_BAD_MAGIC_BWD: &str = "bad-magic-bwd";
/// A preamble of another version there.
pub const REASON_PREAMBLE_PARSE_ERROR_BWD: &str = "preamble-parse-error-bwd";
/// The preamble there does not state the message's length.
pub const REASON_STREAMING_PREAMBLE_NON_TAIL: &str = "streaming-preamble-non-tail";
/// Preamble and postamble disagree on the length.
pub const REASON_PREAMBLE_POSTAMBLE_LENGTH_MISMATCH: &str = "preamble-postamble-length-mismatch";

/// The result of reading a preamble, walking from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum ForwardOutcome {
    /// A message.
    Hit {
        /// Where it begins.
        offset: u64,
        /// Its bytes.
        length: u64,
        /// Where it ends.
        msg_end: u64,
    },
    /// A message that reaches into the part found from the end, which was wrong.
    HitBeyondBound {
        /// Where it begins.
        offset: u64,
        /// Its bytes.
        length: u64,
        /// Where it ends.
        msg_end: u64,
    },
    /// A message that does not state its length.
    Streaming {
        /// Bytes from here to the end of the file.
        remaining: u64,
    },
    /// Nothing more can be found this way.
    Terminate {
        /// One of the `REASON_*_FWD`.
        reason: &'static str,
    },
}

/// The result of reading a postamble, walking from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum BackwardOutcome {
    /// Nothing found from the end can be believed.
    Format {
        /// Why.
        reason: &'static str,
    },
    /// The message does not state its length.
    Streaming,
    /// A message, if its preamble agrees: see [`validate_backward_preamble`].
    NeedPreambleValidation {
        /// Where it begins.
        msg_start: u64,
        /// Its bytes.
        length: u64,
        /// Bytes from its start to its footer: see [`footer_region_present`].
        first_footer_offset: u64,
    },
}

/// The result of checking the preamble that a postamble led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all_fields = "camelCase")]
pub enum BackwardCommit {
    /// Nothing found from the end can be believed.
    Format {
        /// Why.
        reason: &'static str,
    },
    /// A message.
    Layout {
        /// Where it begins.
        offset: u64,
        /// Its bytes.
        length: u64,
    },
}

/// Reads the preamble fetched from `pos` of a file of `file_size` bytes. Messages from `bound` on are already found
/// from the end.
///
/// ```
/// use tgm_std::{ForwardOutcome, parse_forward_preamble};
///
/// let outcome = parse_forward_preamble(b"TENSOGRM\0\x03\0\x01\0\0\0\0\0\0\0\0\0\0\0\x64", 8, 1000, 1000);
/// assert_eq!(outcome, ForwardOutcome::Hit { offset: 8, length: 100, msg_end: 108 });
/// ```
pub fn parse_forward_preamble(preamble_bytes: &[u8], pos: u64, file_size: u64, bound: u64) -> ForwardOutcome {
    let terminate = |reason| ForwardOutcome::Terminate { reason };
    if preamble_bytes.len() < PREAMBLE_SIZE {
        return terminate(REASON_SHORT_FETCH_FWD);
    }
    if !preamble_bytes.starts_with(MAGIC) {
        return terminate(REASON_BAD_MAGIC_FWD);
    }
    let Ok(Preamble { total_length: length, .. }) = Preamble::read_from(preamble_bytes) else {
        return terminate(REASON_PREAMBLE_PARSE_ERROR_FWD);
    };
    if length == 0 {
        return ForwardOutcome::Streaming { remaining: span_len(&(pos..file_size)) };
    }
    match pos.checked_add(length).filter(|end| length >= MIN_MESSAGE_SIZE as u64 && *end <= file_size) {
        None => terminate(REASON_LENGTH_OUT_OF_RANGE_FWD),
        Some(msg_end) if msg_end > bound => ForwardOutcome::HitBeyondBound { offset: pos, length, msg_end },
        Some(msg_end) => ForwardOutcome::Hit { offset: pos, length, msg_end },
    }
}

/// Reads the postamble fetched from before `snap_prev`. Messages up to `snap_next` are already found from the start.
pub fn parse_backward_postamble(pa_bytes: &[u8], snap_next: u64, snap_prev: u64) -> BackwardOutcome {
    let format = |reason| BackwardOutcome::Format { reason };
    let Some(postamble) = pa_bytes.get(..POSTAMBLE_SIZE) else { return format(REASON_SHORT_FETCH_BWD) };
    if !postamble.ends_with(END_MAGIC) {
        return format(REASON_BAD_END_MAGIC_BWD);
    }
    let Ok(Postamble { total_length: length, first_footer_offset }) = Postamble::read_from(postamble) else {
        return format(REASON_POSTAMBLE_PARSE_ERROR);
    };
    if length == 0 {
        return BackwardOutcome::Streaming;
    }
    if length < MIN_MESSAGE_SIZE as u64 {
        return format(REASON_LENGTH_BELOW_MINIMUM_BWD);
    }
    match snap_prev.checked_sub(length) {
        None => format(REASON_BACKWARD_ARITH_UNDERFLOW),
        Some(msg_start) if msg_start < snap_next => format(REASON_BACKWARD_OVERLAPS_FORWARD),
        Some(msg_start) => BackwardOutcome::NeedPreambleValidation { msg_start, length, first_footer_offset },
    }
}

/// Compares the preamble fetched from `msg_start` with the `length` that the postamble states.
pub fn validate_backward_preamble(preamble_bytes: &[u8], msg_start: u64, length: u64) -> BackwardCommit {
    let format = |reason| BackwardCommit::Format { reason };
    if preamble_bytes.len() < PREAMBLE_SIZE {
        return format(REASON_SHORT_FETCH_BWD);
    }
    if !preamble_bytes.starts_with(MAGIC) {
        return format(REASON_BAD_MAGIC_BWD);
    }
    match Preamble::read_from(preamble_bytes) {
        Err(_) => format(REASON_PREAMBLE_PARSE_ERROR_BWD),
        Ok(Preamble { total_length: 0, .. }) => format(REASON_STREAMING_PREAMBLE_NON_TAIL),
        Ok(Preamble { total_length, .. }) if total_length != length => {
            format(REASON_PREAMBLE_POSTAMBLE_LENGTH_MISMATCH)
        }
        Ok(_) => BackwardCommit::Layout { offset: msg_start, length },
    }
}

/// Whether a message found from the start and one found from the end are the same.
pub const fn same_message_check(fwd_offset: u64, fwd_length: u64, layout_offset: u64, layout_length: u64) -> bool {
    fwd_offset == layout_offset && fwd_length == layout_length
}

/// Whether a message of `length` bytes has anything between `first_footer_offset` and its postamble.
pub const fn footer_region_present(first_footer_offset: u64, length: u64) -> bool {
    match length.checked_sub(POSTAMBLE_SIZE as u64) {
        Some(postamble) => first_footer_offset >= PREAMBLE_SIZE as u64 && first_footer_offset < postamble,
        None => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use super::*;
    use crate::compat::wire::MessageFlags;

    fn preamble(total_length: u64) -> Vec<u8> {
        let mut out = Vec::new();
        Preamble { version: 3, flags: MessageFlags::new(1), reserved: 0, total_length }.write_to(&mut out);
        out
    }

    fn postamble(total_length: u64) -> Vec<u8> {
        let mut out = Vec::new();
        Postamble { first_footer_offset: 24, total_length }.write_to(&mut out);
        out
    }

    fn reason<T: Serialize>(outcome: &T) -> String {
        let json = serde_json::to_value(outcome).unwrap();
        json["reason"].as_str().unwrap_or_else(|| json["kind"].as_str().unwrap()).to_string()
    }

    #[test]
    fn preambles_from_the_start_are_what_the_bounds_make_of_them() {
        let at = |length, pos, bound| reason(&parse_forward_preamble(&preamble(length), pos, 1000, bound));
        assert_eq!([at(100, 900, 1000), at(100, 900, 999), at(48, 952, 1000)], ["Hit", "HitBeyondBound", "Hit"]);
        for (length, pos) in [(47, 0), (100, 901), (u64::MAX, 1), (48, u64::MAX)] {
            assert_eq!(at(length, pos, 1000), REASON_LENGTH_OUT_OF_RANGE_FWD, "{length} {pos}");
        }
        assert_eq!(parse_forward_preamble(&preamble(0), 900, 1000, 0), ForwardOutcome::Streaming { remaining: 100 });
        assert_eq!(parse_forward_preamble(&preamble(0), 1001, 1000, 0), ForwardOutcome::Streaming { remaining: 0 });
        let mut other = preamble(100);
        other[9] = 2;
        assert_eq!(reason(&parse_forward_preamble(&other, 0, 1000, 1000)), REASON_PREAMBLE_PARSE_ERROR_FWD);
        assert_eq!(reason(&parse_forward_preamble(&other[1..], 0, 1000, 1000)), REASON_SHORT_FETCH_FWD);
        assert_eq!(reason(&parse_forward_preamble(&[0; 24], 0, 1000, 1000)), REASON_BAD_MAGIC_FWD);
    }

    #[test]
    fn postambles_lead_to_a_start_between_what_is_known() {
        let at = |length, next, prev| reason(&parse_backward_postamble(&postamble(length), next, prev));
        assert_eq!(at(100, 100, 200), "NeedPreambleValidation");
        assert_eq!(at(100, 101, 200), REASON_BACKWARD_OVERLAPS_FORWARD);
        assert_eq!(at(100, 0, 99), REASON_BACKWARD_ARITH_UNDERFLOW);
        assert_eq!(at(47, 0, 0), REASON_LENGTH_BELOW_MINIMUM_BWD);
        assert_eq!(at(0, 0, 0), "Streaming");
        assert_eq!(reason(&parse_backward_postamble(&[0; 24], 0, 100)), REASON_BAD_END_MAGIC_BWD);
        assert_eq!(reason(&parse_backward_postamble(&[0; 23], 0, 100)), REASON_SHORT_FETCH_BWD);
    }

    #[test]
    fn both_ends_must_agree() {
        let commit = BackwardCommit::Layout { offset: 7, length: 100 };
        assert_eq!(validate_backward_preamble(&preamble(100), 7, 100), commit);
        let at = |bytes: &[u8]| reason(&validate_backward_preamble(bytes, 7, 100));
        assert_eq!(at(&preamble(101)), REASON_PREAMBLE_POSTAMBLE_LENGTH_MISMATCH);
        assert_eq!(at(&preamble(0)), REASON_STREAMING_PREAMBLE_NON_TAIL);
        assert_eq!([at(&[0; 24]), at(&[0; 23])], [REASON_BAD_MAGIC_BWD, REASON_SHORT_FETCH_BWD]);
        assert!(same_message_check(7, 100, 7, 100) && !same_message_check(7, 100, 7, 101));
    }

    #[test]
    fn a_footer_lies_between_the_preamble_and_the_postamble() {
        let present = [(24, 49), (24, 72), (75, 100), (99, u64::MAX)];
        let absent = [(24, 48), (23, 100), (76, 100), (0, 0), (24, 23), (u64::MAX, u64::MAX)];
        assert!(present.iter().all(|&(offset, length)| footer_region_present(offset, length)));
        assert!(!absent.iter().any(|&(offset, length)| footer_region_present(offset, length)));
    }

    #[test]
    fn addresses_have_a_scheme_of_an_object_store() {
        for address in ["s3://a", "S3A://a", "gs://", "az://x", "Azure://x", "http://x", "https://x/y?z://"] {
            assert!(is_remote_url(address), "{address}");
        }
        for path in ["", "a.tgm", "s3:/a", "ftp://a", "file:///a", " s3://a", "a/http://b"] {
            assert!(!is_remote_url(path), "{path}");
        }
    }

    #[test]
    fn outcomes_are_copied_like_numbers() {
        const fn is_copy<T: Copy>() {}
        is_copy::<ForwardOutcome>();
        is_copy::<BackwardOutcome>();
        is_copy::<BackwardCommit>();
    }

    #[test]
    fn outcomes_are_tagged_objects_in_json() {
        let json = serde_json::to_value(parse_backward_postamble(&postamble(100), 0, 1000)).unwrap();
        let expected = serde_json::json!(
            {"kind": "NeedPreambleValidation", "msgStart": 900, "length": 100, "firstFooterOffset": 24}
        );
        assert_eq!(json, expected);
    }
}
