//! One frame: its parts add up, its digest covers its body, and it is the same frame in any surroundings.

use tgm_core::frame::{Frame, Frames};
use tgm_core::hash::digest;
use tgm_core::object::DataObject;
use tgm_std::{decode_object_from_frame, decode_range_from_frame};

use crate::options;

/// Checks the frame at the start of `bytes`, and the walk over all frames.
pub fn check(bytes: &[u8]) {
    let mut position = 0;
    for frame in Frames::open_ended(bytes, 0).map_while(Result::ok) {
        assert!(frame.offset() >= position && frame.total_length() >= 28);
        position = frame.end_offset();
        let start = usize::try_from(frame.offset()).expect("in memory");
        let (alone, _) = Frame::parse(&bytes[start..]).expect("the walk parsed it");
        assert_eq!(
            (alone.body(), alone.hash_slot(), alone.cbor_offset()),
            (frame.body(), frame.hash_slot(), frame.cbor_offset())
        );
    }
    assert!(position <= bytes.len() as u64);
    if let Ok((frame, rest)) = Frame::parse(bytes) {
        one(&frame, &bytes[..bytes.len() - rest.len()]);
    }
}

fn one(frame: &Frame<'_>, bytes: &[u8]) {
    assert_eq!(frame.total_length(), bytes.len() as u64);
    let body_start = usize::try_from(frame.body_offset()).expect("in memory");
    assert_eq!(bytes[body_start..][..frame.body().len()], *frame.body());
    assert!(bytes.ends_with(b"ENDF") && bytes.starts_with(b"FR"));
    assert_eq!(frame.verify_slot().is_ok(), digest(frame.body()) == frame.hash_slot());
    let again = Frame::parse(bytes).map(|(frame, rest)| (frame.body(), rest.len()));
    assert_eq!(again, Ok((frame.body(), 0)));
    assert!(Frame::parse(&bytes[..bytes.len() - 1]).is_err(), "a frame without its last byte");
    let Ok((_, values)) = decode_object_from_frame(bytes, &options()) else { return };
    let object = DataObject::parse(*frame).expect("decoded before");
    assert_eq!(Ok(values.len() as u64), object.descriptor().decoded_len());
    let all = (0, object.descriptor().element_count());
    let (_, parts) = decode_range_from_frame(bytes, &[all], &options()).expect("decoded before");
    assert_eq!(parts, [values]);
}
