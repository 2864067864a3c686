//! Messages that several tests need: a valid one, and some with one fault each.

use crate::builder::{Built, Frame, IndexChange, Message, Object, array, frame_type, map};

/// A valid message of one object with three values, which is frame 3: metadata, index and digests come before it.
pub fn plain() -> Built {
    with(Object::f32(&[3], &[1.0, 2.0, 3.0]))
}

/// A message with this one object, which is frame 3.
pub fn with(object: Object) -> Built {
    Message::buffered([object]).build()
}

/// The message with these bytes written over the beginning of a field.
///
/// # Panics
/// If no field has that caption, or `bytes` is longer than the field.
pub fn broken(mut built: Built, caption: &str, bytes: &[u8]) -> Built {
    built.set(caption, bytes);
    built
}

/// A message of frames of these types with an empty map each.
pub fn of_frame_types(types: &[u16]) -> Built {
    let frames = types.iter().map(|&frame_type| Frame::metadata(frame_type, &map([])));
    frames.fold(Message::empty(), Message::with).build()
}

/// A message with a preceder, frame 1, that has two `base` entries instead of one.
pub fn with_two_entries_in_a_preceder() -> Built {
    let two = map([("base", array([map([]), map([])]))]);
    Message::empty()
        .with(Frame::metadata(frame_type::HEADER_METADATA, &map([])))
        .with(Frame::metadata(frame_type::PRECEDER, &two))
        .with(Frame::object(Object::bytes(&[1])))
        .build()
}

/// A message with a `base` entry and no object.
pub fn with_base_but_no_object() -> Built {
    Message::buffered_with(&map([("base", array([map([])]))]), []).build()
}

/// A message whose object has a mask that is stated one byte longer than the payload region.
pub fn with_a_mask_beyond_its_region() -> Built {
    let mut built = with(Object::f32(&[3], &[0.0; 3]).masked("nan", "none", &[true, false, false]));
    built.replace("frame 3.descriptor", b"\x66length\x01", b"\x66length\x02");
    built
}

/// Changes that make the index of five objects wrong.
pub const INDEX_CHANGES: &[IndexChange] = &[
    |entries| entries.swap(0, 1),
    |entries| entries.iter_mut().for_each(|entry| entry.0 += 8),
    |entries| entries.iter_mut().for_each(|entry| entry.1 += 1),
    |entries| entries.truncate(2),
    |entries| entries.iter_mut().for_each(|entry| entry.0 = u64::MAX),
    |entries| entries.iter_mut().for_each(|entry| entry.0 = 24),
    Vec::clear,
];
