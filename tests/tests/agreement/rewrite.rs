//! Every frame that a release wrote is read into its owned form and written again: its CBOR is the same to the byte.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::collections::BTreeMap;

use tgm_core::Message;
use tgm_core::frame::Frame;
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;
use tgm_std::metadata::{
    cbor_to_global_metadata, cbor_to_hash_frame, cbor_to_index, cbor_to_object_descriptor, global_metadata_to_cbor,
    hash_frame_to_cbor, index_to_cbor, object_descriptor_to_cbor,
};
use tgm_std::{Result, scan, verify_canonical_cbor};
use tgm_tests::corpus::{self, Sample};

/// The least number of frames of each kind that must be compared, so that the test cannot pass by skipping.
const LEAST_FRAMES: usize = 380;

/// Whether the file is of a release that writes metadata as today: 0.17 and 0.18 put a version beside the sections.
fn is_comparable(sample: &Sample) -> bool {
    let text = |key: &str| sample.json["producer"][key].as_str().unwrap_or_default();
    let is_old = ["0.17.", "0.18."].iter().any(|release| text("version").starts_with(release));
    sample.class == "valid" && text("package").starts_with("tensogram ") && !is_old
}

/// The CBOR of a frame as stored, and written again.
fn rewrite(frame: Frame<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let body = frame.body();
    let rewritten = match frame.frame_type() {
        FrameType::HeaderIndex | FrameType::FooterIndex => index_to_cbor(&cbor_to_index(body)?)?,
        FrameType::HeaderHash | FrameType::FooterHash => hash_frame_to_cbor(&cbor_to_hash_frame(body)?)?,
        FrameType::HeaderMetadata | FrameType::FooterMetadata | FrameType::PrecederMetadata => {
            global_metadata_to_cbor(&cbor_to_global_metadata(body)?)?
        }
        FrameType::NTensorFrame => {
            let object = DataObject::parse(frame)?;
            let encoded = object.descriptor().as_encoded();
            return Ok((encoded.to_vec(), object_descriptor_to_cbor(&cbor_to_object_descriptor(encoded)?)?));
        }
    };
    Ok((body.to_vec(), rewritten))
}

#[test]
fn owned_forms_are_written_as_the_releases_wrote_them() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in corpus::samples_where(false).into_iter().filter(is_comparable) {
        for (offset, length) in scan(&sample.bytes) {
            let message = Message::parse(&sample.bytes[offset..offset + length]).unwrap();
            for frame in message.frames() {
                let frame = frame.unwrap();
                let at = format!("{}: {} at {}", sample.name, frame.frame_type(), frame.offset());
                let (stored, rewritten) = rewrite(frame).unwrap_or_else(|error| panic!("{at}: {error}"));
                assert_eq!(rewritten, stored, "{at}");
                assert!(verify_canonical_cbor(&stored).is_ok(), "{at}");
                *counts.entry(frame.frame_type().name()).or_default() += 1;
            }
        }
    }
    println!("{counts:?}");
    for frame_type in ["HeaderMetadata", "HeaderIndex", "HeaderHash", "NTensorFrame"] {
        assert!(counts[frame_type] >= LEAST_FRAMES, "{counts:?}");
    }
    for frame_type in FrameType::ALL {
        assert!(counts.contains_key(frame_type.name()), "no {frame_type}: {counts:?}");
    }
}
