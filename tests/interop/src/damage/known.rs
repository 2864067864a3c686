//! Where the two libraries may disagree, and why.

use std::collections::BTreeSet;

use ciborium::Value;
use tgm_std::core::Message;
use tgm_std::core::frame::Frame;
use tgm_std::core::wire::{END_MAGIC, FRAME_ALIGNMENT, FrameType, POSTAMBLE_SIZE, PREAMBLE_SIZE};
use tgm_std::metadata::{cbor_to_global_metadata, cbor_to_hash_frame, cbor_to_index};

use crate::plain::{Refusal, show};

/// A reason why we refuse what the reference reads.
pub(super) fn refused_by_us(bytes: &[u8], refusal: &Refusal) -> Option<&'static str> {
    const REASONS: &[(&str, &str)] = &[
        ("not compiled in", "the reference reports a codec that neither has only if there is something to decode"),
        ("length prefix says", LENGTHS),
        ("zstd compression: Destination buffer is too small", LENGTHS),
        (" compression: decompressed to", LENGTHS),
        ("byte(s) but frame payload is", LENGTHS),
        ("invalid code in szip stream", "codes without a sample are refused, where libaec drops bits of them"),
        ("non-text top-level key", "keys of descriptors are text; the reference takes bytes too"),
        (
            "szip compression: the bytes end too early",
            "the last block of szip must be complete, except for its padding",
        ),
        ("got tag", "what must be text, a number or a map in a descriptor must not be tagged"),
        ("only 8, 16, 24 and 32 bits are whole samples", "packed values in szip that are not whole samples"),
        ("ndim", "`ndim` must agree with `shape`"),
        ("strides", "`strides` must agree with `shape`"),
        ("limit max_", "the reference has no limits"),
    ];
    if fails_in_padding(bytes) {
        return Some("frames are looked for where the one before ends, not after its padding");
    }
    if refusal.kind == "framing error" && has_no_end(bytes) {
        return Some("a streamed message without a postamble is an error");
    }
    if ["hash", "framing"].iter().any(|kind| refusal.kind.starts_with(kind)) && has_frames_elsewhere(bytes) {
        return Some(ELSEWHERE);
    }
    if refusal.kind == "hash mismatch" && !refusal.text.contains("object") {
        return Some("digests of metadata frames are compared too");
    }
    REASONS.iter().find(|(text, _)| refusal.text.contains(text)).map(|(_, reason)| *reason)
}

const LENGTHS: &str = "decoded lengths are compared with the shape";
const ELSEWHERE: &str = "frames that are not at a multiple of 8 are found, verified, and have their place in the order";

/// A reason why the reference refuses what we read.
pub(super) fn refused_by_the_reference(bytes: &[u8], refusal: &Refusal) -> Option<&'static str> {
    const REASONS: &[(&str, &str)] = &[
        ("sp_", "parameters of simple_packing are also read under the names they had before 0.19"),
        ("integer too large", "integers beyond 128 bits are read"),
        ("128, expected any value", "integers beyond 64 bits are read in descriptors"),
        ("duplicate field", "of repeated keys in a descriptor the last one counts"),
        ("byte array, expected str", "keys of masks that are not text are ignored"),
        ("zstd_level", "parameters that only encoders need are not read"),
        ("Frame requires too much memory", "zstd into a whole buffer needs no window"),
        ("tagged enums do not support enum input", "tagged values in descriptors are read"),
    ];
    if has_frames_elsewhere(bytes) {
        return Some(ELSEWHERE);
    }
    if has_unread_flaw(bytes) {
        return Some("what decoding does not need is not read: indexes, lists of digests, overridden metadata");
    }
    if is_followed(bytes) {
        return Some("what follows a streamed message is not part of it");
    }
    REASONS.iter().find(|(text, _)| refusal.text.contains(text)).map(|(_, reason)| *reason)
}

/// A reason why the two read different values.
pub(super) fn other_values(bytes: &[u8]) -> Option<&'static str> {
    const LEAST: &[u8] = b"sp_decimal_scale_factor\x3a\x7f\xff\xff\xff";
    if has_frames_elsewhere(bytes) {
        return Some(ELSEWHERE);
    }
    let is_least = bytes.windows(LEAST.len()).any(|window| window == LEAST);
    is_least.then_some("10 to the power of 2^31 is infinite; the reference negates -2^31 to itself")
}

/// Whether a message that does not state its length has no postamble where `bytes` end.
fn has_no_end(bytes: &[u8]) -> bool {
    bytes.get(16..PREAMBLE_SIZE) == Some(&[0; 8]) && !bytes.ends_with(END_MAGIC)
}

/// Whether the walk fails inside the padding of a frame.
fn fails_in_padding(bytes: &[u8]) -> bool {
    let Ok(message) = Message::parse(bytes) else { return false };
    let mut frames = message.frames();
    let mut padded_end = 0;
    while let Some(frame) = frames.next() {
        match frame {
            Ok(frame) => padded_end = frame.offset() + frame.total_length().next_multiple_of(8),
            Err(_) => return frames.position() < padded_end,
        }
    }
    false
}

/// Whether a frame begins elsewhere than at the next multiple of 8.
fn has_frames_elsewhere(bytes: &[u8]) -> bool {
    let mut padded_end = 0;
    frames(bytes).any(|frame| {
        let is_elsewhere = frame.offset() < padded_end || !frame.offset().is_multiple_of(FRAME_ALIGNMENT as u64);
        padded_end = frame.offset() + frame.total_length().next_multiple_of(8);
        is_elsewhere
    })
}

/// Whether a frame that decoding skips has a fault.
fn has_unread_flaw(bytes: &[u8]) -> bool {
    frames(bytes).any(|frame| {
        has_repeats(frame.body())
            || match frame.frame_type() {
                FrameType::HeaderMetadata | FrameType::FooterMetadata => cbor_to_global_metadata(frame.body()).is_err(),
                FrameType::HeaderIndex | FrameType::FooterIndex => cbor_to_index(frame.body()).is_err(),
                FrameType::HeaderHash | FrameType::FooterHash => cbor_to_hash_frame(frame.body()).is_err(),
                FrameType::PrecederMetadata | FrameType::NTensorFrame => false,
            }
    })
}

/// Whether the map repeats a key: the last one counts, but the reference reads them all.
fn has_repeats(map: &[u8]) -> bool {
    let Ok(Value::Map(pairs)) = ciborium::from_reader(map) else { return false };
    let keys: BTreeSet<_> = pairs.iter().map(|(key, _)| show(key)).collect();
    keys.len() < pairs.len()
}

/// Whether a message that does not state its length ends before `bytes` do.
fn is_followed(bytes: &[u8]) -> bool {
    let Ok(message) = Message::parse(bytes) else { return false };
    let mut frames = message.frames();
    let is_whole = frames.by_ref().all(|frame| frame.is_ok());
    let end = frames.position() + POSTAMBLE_SIZE as u64;
    is_whole && message.total_length().is_none() && end < bytes.len() as u64
}

/// The frames up to the first error of the walk.
fn frames(bytes: &[u8]) -> impl Iterator<Item = Frame<'_>> {
    Message::parse(bytes).into_iter().flat_map(|message| message.frames().map_while(Result::ok))
}
