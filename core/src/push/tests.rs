//! Messages that end inside of a frame's header, bodies that come in one piece, and bodies that are empty.

use std::vec::Vec;

use super::*;
use crate::wire::{END_MAGIC, FRAME_HEADER_SIZE, MAGIC, MIN_MESSAGE_SIZE, POSTAMBLE_SIZE, PREAMBLE_SIZE, WIRE_VERSION};
use crate::{Error, Message};

const SAMPLE: &[u8] = include_bytes!("../../samples/float32-little.tgm");

/// A message with these bytes between preamble and postamble.
fn message(inside: &[u8]) -> Vec<u8> {
    let length = ((MIN_MESSAGE_SIZE + inside.len()) as u64).to_be_bytes();
    let preamble = [&MAGIC[..], &WIRE_VERSION.to_be_bytes(), &[0; 6], &length].concat();
    let first_footer = ((PREAMBLE_SIZE + inside.len()) as u64).to_be_bytes();
    [&preamble[..], inside, &first_footer, &length, END_MAGIC].concat()
}

/// The error of pushing these bytes; `None` if the decoder only waits for more.
fn pushed(bytes: &[u8]) -> Option<Error> {
    let (mut decoder, mut input) = (PushDecoder::<256>::new(Link::Reliable), bytes);
    loop {
        match decoder.next_event(&mut input) {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}

#[test]
fn a_header_at_the_end_of_a_message_is_the_same_error_as_in_a_slice() {
    let header = &SAMPLE[PREAMBLE_SIZE..][..FRAME_HEADER_SIZE + 4];
    for room in 2..header.len() {
        let bytes = message(&header[..room]);
        let expected = Message::parse(&bytes).unwrap().frames().find_map(Result::err);
        let error = pushed(&bytes);
        assert_eq!(error, expected, "{room}");
        assert!(error.is_some() && bytes.len() == PREAMBLE_SIZE + room + POSTAMBLE_SIZE);
    }
}

#[test]
fn a_body_needs_no_memory_if_it_comes_in_one_piece_behind_its_header() {
    let descriptor_first: &[u8] = include_bytes!("../../samples/cbor-before-payload-mask-rle.tgm");
    for bytes in [SAMPLE, descriptor_first] {
        for frame in Message::parse(bytes).unwrap().frames() {
            let header_end = usize::try_from(frame.unwrap().body_offset()).unwrap();
            let (mut begin, mut rest) = bytes.split_at(header_end);
            let (mut decoder, mut bodies) = (PushDecoder::<0>::new(Link::Reliable), 0);
            for input in [&mut begin, &mut rest] {
                while let Some(event) = decoder.next_event(input).unwrap() {
                    assert!(!matches!(event, Event::TooLarge(_)));
                    bodies += usize::from(matches!(event, Event::Cbor(_) | Event::Descriptor(_)));
                }
            }
            assert!(bodies > 1);
            decoder.finish().unwrap();
        }
    }
}

#[test]
fn a_body_that_lacks_its_descriptor_is_refused_without_further_bytes() {
    let empty = [b"FR\0\x09\0\x01\0\0", &36_u64.to_be_bytes()[..], &16_u64.to_be_bytes(), &[0; 8], b"ENDF"].concat();
    let bytes = message(&empty);
    let expected = Message::parse(&bytes).unwrap().objects().find_map(Result::err);
    let error = pushed(&bytes[..PREAMBLE_SIZE + FRAME_HEADER_SIZE]);
    assert!(error.is_some(), "no byte is missing");
    assert_eq!(error, expected);
}
