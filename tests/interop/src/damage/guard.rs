//! Bytes that the reference is not given, because it would not return: it has no limits, and some of its codecs end the
//! process.
//!
//! The reference walks messages in another way, and may find frames where we see none. So frames are looked for
//! everywhere, and their content is read with ciborium despite other faults.

use ciborium::Value;
use tgm_std::core::frame::Frame;
use tgm_std::core::wire::{FRAME_HEADER_SIZE, FRAME_MAGIC, FrameFlags, FrameType};

/// The most bytes of values: neither library should spend time on bombs.
const MOST: u64 = 1 << 20;

/// Names of codecs, encoded in CBOR.
const FRAGILE: &[&[u8]] = &[b"\x63sz3", b"\x63zfp", b"\x66blosc2"];

/// The reason to keep `bytes` from the reference, if there is one.
pub(super) fn kept_back(bytes: &[u8]) -> Option<&'static str> {
    let frames = (0..bytes.len()).map(|at| &bytes[at..]).filter(|rest| rest.starts_with(FRAME_MAGIC));
    if frames.clone().any(has_no_length) {
        return Some("kept back: the reference reads a frame of length 0 for ever");
    }
    if FRAGILE.iter().any(|name| bytes.windows(name.len()).any(|window| window == *name)) {
        return Some("kept back: sz3, zfp and blosc2 in C end the process on damaged bytes");
    }
    let is_large = shapes(bytes).any(|elements| elements > MOST / 16)
        || frames.filter_map(|frame| Frame::parse(frame).ok()).any(|(frame, _)| is_large(&frame));
    is_large.then_some("kept back: the reference takes as much memory as the bytes claim")
}

/// Whether the frame's length is 0: the reference then goes on to the same frame again.
fn has_no_length(frame: &[u8]) -> bool {
    frame.get(8..FRAME_HEADER_SIZE) == Some(&[0; 8])
}

/// The number of elements of each shape found anywhere in `bytes`.
fn shapes(bytes: &[u8]) -> impl Iterator<Item = u64> {
    const KEY: &[u8] = b"\x65shape";
    let after_keys = (0..bytes.len()).filter_map(|at| bytes[at..].strip_prefix(KEY));
    after_keys.filter_map(|rest| ciborium::from_reader::<Value, _>(rest).ok()).map(|shape| {
        let dims = shape.as_array().map(Vec::as_slice).unwrap_or_default();
        dims.iter().map(number).fold(1, u64::saturating_mul)
    })
}

/// Whether a payload or a mask begins with a length or count above [`MOST`].
fn is_large(frame: &Frame<'_>) -> bool {
    let start = usize::try_from(frame.cbor_offset()).ok().and_then(|offset| offset.checked_sub(FRAME_HEADER_SIZE));
    let parts = start.and_then(|start| frame.body().split_at_checked(start));
    let (FrameType::NTensorFrame, Some((before, mut rest))) = (frame.frame_type(), parts) else { return false };
    let Ok(descriptor) = ciborium::from_reader::<Value, _>(&mut rest) else { return false };
    let region = if frame.flags().has(FrameFlags::CBOR_AFTER_PAYLOAD) { before } else { rest };
    let masks = get(&descriptor, "masks").and_then(Value::as_map).map(Vec::as_slice).unwrap_or_default();
    let mut blobs = masks.iter().map(|(_, mask)| {
        let start = get(mask, "offset").map(number).and_then(|offset| usize::try_from(offset).ok());
        (get(mask, "method"), start.and_then(|start| region.get(start..)).unwrap_or_default())
    });
    claimed(get(&descriptor, "compression"), region) > MOST
        || blobs.any(|(method, blob)| method.and_then(Value::as_text) == Some("lz4") && claimed(method, blob) > MOST)
}

/// The length or count at the start of a codec's bytes.
fn claimed(codec: Option<&Value>, stored: &[u8]) -> u64 {
    let Some(first) = stored.first_chunk() else { return 0 };
    match codec.and_then(Value::as_text) {
        Some("lz4") => u32::from_le_bytes(*first).into(),
        Some("rle" | "roaring") => u32::from_be_bytes(*first).into(),
        _ => 0,
    }
}

/// The last value of that name, which is the one that a reader keeps when it fills a map.
fn get<'v>(map: &'v Value, name: &str) -> Option<&'v Value> {
    map.as_map()?.iter().rev().find(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value)
}

fn number(value: &Value) -> u64 {
    value.as_integer().and_then(|integer| u64::try_from(integer).ok()).unwrap_or(u64::MAX)
}
