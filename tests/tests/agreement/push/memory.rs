//! Memory that is too small for the message: the message passes all the same.

use tgm_core::frame::Frame;
use tgm_core::hash::Verdict;
use tgm_core::message::Message;
use tgm_core::push::{Event, Link, PushDecoder, TooLarge};

use super::{FIRST, Numbers, STREAM, THREE};

/// The bytes of a frame's body that came, and in which form.
#[derive(Default)]
struct Body {
    /// Chunks and CBOR joined.
    bytes: Vec<u8>,
    too_large: Option<TooLarge>,
    object: Option<(u64, u64)>,
}

/// Checks that `message` passes through a memory of `N` bytes. Returns the number of CBOR items that were too large.
fn pass<const N: usize>(message: &[u8], longest: usize) -> usize {
    let frames: Vec<Frame<'_>> = Message::parse(message).unwrap().frames().map(|frame| frame.unwrap()).collect();
    let mut decoder = PushDecoder::<N>::new(Link::Lossy);
    let (mut body, mut ended, mut too_large) = (Body::default(), 0, 0);
    for piece in Numbers(N as u64).cut(message, longest) {
        let mut rest = piece;
        while let Some(event) = decoder.next_event(&mut rest).unwrap() {
            match event {
                Event::Cbor(cbor) => body.bytes.extend_from_slice(cbor.as_bytes()),
                Event::Chunk(chunk) => body.bytes.extend_from_slice(chunk.bytes),
                Event::Descriptor(object) => {
                    body.bytes.extend_from_slice(object.descriptor.as_encoded());
                    body.object = Some((object.region_len, object.payload_len));
                }
                Event::TooLarge(event) => {
                    too_large += 1;
                    body.too_large = Some(event);
                }
                Event::FrameEnd(end) => {
                    assert_eq!(end.verdict, Verdict::Good);
                    check_body::<N>(&frames[ended], &std::mem::take(&mut body));
                    ended += 1;
                }
                Event::MessageEnd(end) => assert_eq!(end.length, message.len() as u64),
                _ => {}
            }
        }
    }
    assert_eq!(ended, frames.len());
    assert_eq!(decoder.finish(), Ok(()));
    too_large
}

fn check_body<const N: usize>(frame: &Frame<'_>, body: &Body) {
    let is_last = frame.flags().has(tgm_core::wire::FrameFlags::CBOR_AFTER_PAYLOAD);
    let cbor_start = frame.cbor_offset().saturating_sub(16);
    match body.too_large {
        None => assert_eq!(body.bytes, frame.body()),
        Some(event) => {
            assert_eq!(event.frame_type, frame.frame_type());
            assert_eq!(body.object, None);
            let cbor_len = frame.body().len() as u64 - cbor_start;
            if !frame.frame_type().is_data_object() {
                assert_eq!((event.length, event.region_len), (Some(cbor_len), None));
                assert_eq!(body.bytes, frame.body());
            } else if is_last {
                // The last N bytes were kept, because they might have been the descriptor.
                assert_eq!((event.length, event.region_len), (Some(cbor_len), Some(cbor_start)));
                assert_eq!(body.bytes, frame.body()[..frame.body().len() - N]);
            } else {
                assert_eq!((event.length, event.region_len), (None, None));
                assert_eq!(body.bytes, frame.body());
            }
            assert!(cbor_len > N as u64);
        }
    }
}

#[test]
fn cbor_larger_than_the_memory_passes() {
    for message in [THREE, FIRST, STREAM] {
        for longest in [1, 2, 30, 200] {
            assert!(pass::<0>(message, longest) > 3);
            assert!(pass::<17>(message, longest) > 0);
            assert!(pass::<100>(message, longest) > 0);
            assert_eq!(pass::<1024>(message, longest), 0);
        }
    }
}

#[test]
fn memory_for_the_largest_item_is_enough_and_one_byte_less_is_not() {
    const LARGEST: usize = 322;
    let body_len = |frame: &Frame<'_>| match frame.cbor_offset() {
        0 => frame.body().len(),
        offset => frame.body().len() + 16 - usize::try_from(offset).unwrap(),
    };
    let largest = Message::parse(THREE).unwrap().frames().map(|frame| body_len(&frame.unwrap())).max().unwrap();
    assert_eq!(largest, LARGEST);
    assert_eq!((pass::<LARGEST>(THREE, 1), pass::<{ LARGEST - 1 }>(THREE, 1)), (0, 1));
}

#[test]
fn a_frame_in_one_piece_needs_no_memory() {
    assert_eq!(pass::<0>(STREAM, STREAM.len() * 1000), 0);
}
