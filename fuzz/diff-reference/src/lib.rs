//! The same bytes to both libraries: they give the same, or differ for a reason that is listed in [`known`].

mod known;
#[path = "../../../tests/interop/src/library.rs"]
#[allow(unused_imports, unused_macros, reason = "what writes is not needed here")]
mod library;
#[path = "../../../tests/interop/src/plain.rs"]
mod plain;

/// What `plain` takes from the package that it stands in.
mod case {
    pub type Entries = std::collections::BTreeMap<String, ciborium::Value>;
}

mod ours {
    crate::library::readers!(tgm_std);
}

mod reference {
    crate::library::readers!(tensogram);
}

use std::fmt::Debug;

use plain::Answer;
use tgm_std::core::descriptor::Compression;
use tgm_std::core::frame::Frames;
use tgm_std::core::object::DataObject;
use tgm_std::core::wire::PREAMBLE_SIZE;

/// Bytes that values may have: neither side is to spend its time on bombs, and the reference has no limits.
const MOST: u64 = 1 << 20;

/// Gives `bytes` to both.
///
/// # Panics
/// If they disagree and no known reason says why.
pub fn check(bytes: &[u8]) {
    if is_bomb(bytes) {
        return;
    }
    let native = tgm_std::DecodeOptions { native_byte_order: false, ..Default::default() };
    let theirs = tensogram::DecodeOptions { native_byte_order: false, ..Default::default() };
    compare("decode", bytes, &ours::decode(bytes, &native), &reference::decode(bytes, &theirs));
    compare("descriptors", bytes, &ours::decode_descriptors(bytes), &reference::decode_descriptors(bytes));
    // For metadata alone the reference looks at no end of the message (FORMAT §1.11).
    let metadata = (ours::decode_metadata(bytes), reference::decode_metadata(bytes));
    if metadata.0.is_ok() {
        compare("metadata", bytes, &metadata.0, &metadata.1);
    }
    let masks = (ours::decode_with_masks(bytes, &native), reference::decode_with_masks(bytes, &theirs));
    compare("masks", bytes, &masks.0, &masks.1);
    let verified = tgm_std::DecodeOptions { verify_hash: true, strict_hash_presence: true, ..native };
    let theirs = tensogram::DecodeOptions { verify_hash: true, ..theirs };
    compare("verified", bytes, &ours::decode(bytes, &verified), &reference::decode(bytes, &theirs));
}

fn compare<T: PartialEq + Debug>(what: &str, bytes: &[u8], ours: &Answer<T>, theirs: &Answer<T>) {
    let reason = match (ours, theirs) {
        (Ok(ours), Ok(theirs)) if ours == theirs => return,
        (Err(_), Err(_)) => return,
        (Ok(_), Ok(_)) => None,
        (Err(refusal), Ok(_)) => known::refused_by_us(bytes, refusal),
        (Ok(_), Err(refusal)) => known::refused_by_the_reference(bytes, refusal),
    };
    assert!(reason.is_some(), "{what}:\n   ours {ours:?}\n theirs {theirs:?}");
}

/// Whether an object promises more values than [`MOST`], or begins with a length or count above it: the reference takes as much
/// memory as stands there.
fn is_bomb(bytes: &[u8]) -> bool {
    let frames = Frames::open_ended(bytes.get(PREAMBLE_SIZE..).unwrap_or_default(), PREAMBLE_SIZE as u64);
    let objects = frames.map_while(Result::ok).filter_map(|frame| DataObject::parse(frame).ok());
    let mut lens = objects.map(|object| {
        let promised = object.descriptor().decoded_len().unwrap_or(u64::MAX);
        let payload = object.payload();
        let prefix = match object.descriptor().compression().known() {
            Some(Compression::Lz4) => payload.first_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes))),
            Some(Compression::Rle | Compression::Roaring) => {
                payload.first_chunk().map(|bytes| u64::from(u32::from_be_bytes(*bytes)))
            }
            _ => None,
        };
        promised.max(prefix.unwrap_or_default())
    });
    lens.any(|len| len > MOST)
}
