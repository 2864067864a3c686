//! Where indexes are looked for, and objects that are not there.

use std::vec::Vec;

use super::*;
#[cfg(feature = "hash")]
use crate::wire::FrameFlags;
use crate::wire::{END_MAGIC, FRAME_END, FRAME_MAGIC, MAGIC, WIRE_VERSION};

/// A frame of this type, padded to a multiple of eight bytes.
fn frame(frame_type: FrameType, body: &[u8]) -> Vec<u8> {
    let length = (16 + body.len() + 12) as u64;
    let head = [FRAME_MAGIC, &frame_type.as_u16().to_be_bytes()[..], &[0, 1, 0, 0], &length.to_be_bytes()].concat();
    let mut bytes = [&head, body, &[0; 8], FRAME_END].concat();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// A message of these frames, whose postamble says that the footer begins with the first of them.
fn message(frames: &[Vec<u8>]) -> Vec<u8> {
    let frames = frames.concat();
    let length = ((PREAMBLE_SIZE + frames.len() + POSTAMBLE_SIZE) as u64).to_be_bytes();
    let preamble = [&MAGIC[..], &WIRE_VERSION.to_be_bytes(), &[0; 6], &length].concat();
    let postamble = [&(PREAMBLE_SIZE as u64).to_be_bytes()[..], &length, END_MAGIC].concat();
    [preamble, frames, postamble].concat()
}

/// An index of no objects.
const INDEX: &[u8] = b"\xa2\x67offsets\x80\x67lengths\x80";
/// Metadata without entries.
const METADATA: &[u8] = b"\xa0";

#[test]
fn an_index_may_be_in_a_footer_that_is_all_of_the_message() {
    let bytes = message(&[frame(FrameType::FooterMetadata, METADATA), frame(FrameType::FooterIndex, INDEX)]);
    assert!(Message::parse(&bytes).unwrap().find_index().unwrap().is_some());
}

#[test]
fn an_index_in_the_header_is_found_whatever_comes_behind_the_header() {
    let header = [frame(FrameType::HeaderMetadata, METADATA), frame(FrameType::HeaderIndex, INDEX)];
    let mut behind = frame(FrameType::FooterIndex, INDEX);
    behind[3] = 0xff;
    let bytes = message(&[&header[..], &[frame(FrameType::FooterMetadata, METADATA), behind]].concat());
    let message = Message::parse(&bytes).unwrap();
    assert!(message.frames().any(|frame| frame.is_err()));
    assert!(message.find_index().unwrap().is_some());
}

#[test]
fn there_is_no_metadata_of_objects_that_are_not_there() {
    let message = Message::parse(include_bytes!("../../samples/float32-little.tgm")).unwrap();
    let metadata = message.metadata().unwrap();
    let is_there = |index| metadata.object(index).unwrap().is_some();
    assert_eq!([0, 1, 2, usize::MAX].map(is_there), [true, false, false, false]);
}

#[cfg(feature = "hash")]
#[test]
fn a_flagged_frame_is_known_as_such_if_an_index_leads_to_it() {
    fn frame(bytes: &[u8]) -> Frame<'_> {
        *Message::parse(bytes).unwrap().object(0).unwrap().frame()
    }
    let mut bytes = include_bytes!("../../samples/float32-little.tgm").to_vec();
    assert_eq!(frame(&bytes).hash_presence(), HashPresence::All);
    // The flags are the two bytes before the length, and the length is the eight bytes before the body.
    let body = usize::try_from(frame(&bytes).body_offset()).unwrap();
    bytes[body - 9] |= u8::try_from(FrameFlags::HASH_PRESENT).unwrap();
    assert_eq!(frame(&bytes).hash_presence(), HashPresence::Flagged);
}
