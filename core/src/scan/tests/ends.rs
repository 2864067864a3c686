//! How messages end: whole, damaged, or because their writer stopped.

use super::super::growing::tests::grown;
use super::*;
use crate::wire::{FRAME_HEADER_SIZE, FRAME_MAGIC, POSTAMBLE_SIZE, PREAMBLE_SIZE};

/// The header of a frame of metadata that is `length` bytes long.
fn header(length: usize) -> Vec<u8> {
    [FRAME_MAGIC, &[0, 1, 0, 1, 0, 0][..], &(length as u64).to_be_bytes()].concat()
}

/// A frame of metadata with this body, whose length is a multiple of eight.
fn frame(body: &[u8]) -> Vec<u8> {
    let body = [body, &[0; 4]].concat();
    let bytes = [&header(FRAME_HEADER_SIZE + body.len() + 12)[..], &body, &[0; 8], b"ENDF"].concat();
    assert!(bytes.len().is_multiple_of(8));
    bytes
}

/// A preamble, or a postamble, that states this length.
fn preamble(stated: usize) -> Vec<u8> {
    [&empty_message(0)[..16], &(stated as u64).to_be_bytes()].concat()
}

fn postamble(stated: usize) -> Vec<u8> {
    [&24_u64.to_be_bytes()[..], &(stated as u64).to_be_bytes(), END_MAGIC].concat()
}

/// A frame whose body contains a message. If the frame counts as whole, that message is not a message of the source.
fn holding() -> Vec<u8> {
    frame(&empty_message(48))
}

/// Where that message is, if the frame follows a preamble.
const HELD: usize = PREAMBLE_SIZE + FRAME_HEADER_SIZE;

/// The segments, and where a torn message begins.
fn scanned(bytes: &[u8]) -> (Vec<(bool, usize, usize)>, Option<u64>) {
    let mut scanner = scan(bytes);
    scanner.by_ref().for_each(drop);
    (ranges(bytes), scanner.torn())
}

/// All bytes are junk.
fn junk(bytes: &[u8]) -> Vec<(bool, usize, usize)> {
    vec![(false, 0, bytes.len())]
}

#[test]
fn a_damaged_end_does_not_bring_out_what_whole_frames_hold() {
    let length = PREAMBLE_SIZE + holding().len() + POSTAMBLE_SIZE;
    let mut bytes = [preamble(length), holding(), postamble(length)].concat();
    assert_eq!(scanned(&bytes), (vec![(true, 0, length)], None));
    bytes[length - 1] ^= 1;
    assert_eq!(scanned(&bytes), (junk(&bytes), None));
    // The frames end eight bytes before the postamble: some of them may be missing.
    let mut bytes = [preamble(length + 8), holding(), vec![0; 8], postamble(length + 8)].concat();
    bytes[length + 7] ^= 1;
    let rest = length + 8 - HELD - 48;
    assert_eq!(scanned(&bytes), (vec![(false, 0, HELD), (true, HELD, 48), (false, HELD + 48, rest)], None));
}

#[test]
fn whole_frames_that_do_not_end_where_they_should_are_searched_from_the_last_one() {
    let length = PREAMBLE_SIZE + holding().len() + POSTAMBLE_SIZE;
    let mut message = [preamble(length - 8), holding(), postamble(length - 8)].concat();
    message[length - 1] ^= 1;
    let (sample, at) = (SAMPLE.len(), 1 + SAMPLE.len() + HELD);
    let found = ranges(&[&[7], SAMPLE, &message].concat());
    let rest = length - HELD - 48;
    let expected =
        [(false, 0, 1), (true, 1, sample), (false, 1 + sample, HELD), (true, at, 48), (false, at + 48, rest)];
    assert_eq!(found, expected);
}

#[test]
fn a_streamed_message_without_its_start_magic_is_not_a_message() {
    let mut bytes = streamed();
    bytes[..8].fill(0);
    assert_eq!(scanned(&bytes), (junk(&bytes), None));
}

#[test]
fn a_streamed_message_ends_with_a_postamble_that_states_its_length_or_none() {
    let length = PREAMBLE_SIZE + holding().len() + POSTAMBLE_SIZE;
    for (stated, is_whole) in [(0, true), (length, true), (length + 8, false)] {
        let bytes = [preamble(0), holding(), postamble(stated)].concat();
        assert_eq!(ranges(&bytes)[0] == (true, 0, length), is_whole, "{stated} of {length}");
    }
}

#[test]
fn the_end_of_a_streamed_message_is_found_behind_a_gap_of_any_length() {
    for gap in 0..600 {
        let bytes = [preamble(0), holding(), vec![1; gap], postamble(0)].concat();
        assert_eq!(ranges(&bytes), [(true, 0, bytes.len())], "{gap}");
        let followed = [&bytes, SAMPLE].concat();
        assert_eq!(ranges(&followed), [(true, 0, bytes.len()), (true, bytes.len(), SAMPLE.len())], "{gap}");
    }
}

/// A writer that was killed between two frames leaves whole frames, and the zeros of a file system. Few of them can be the
/// beginning of the postamble: then the message is torn, however they came.
#[test]
fn zeros_behind_whole_frames_are_the_same_however_they_come() {
    for gap in 0..80 {
        let bytes = [preamble(0), frame(&holding()), vec![0; gap]].concat();
        let expected: Vec<Segment> = scan(&bytes).collect();
        assert_eq!(expected.len() == 1, gap < 31, "{gap}");
        for step in [1, 5, 33] {
            assert_eq!(grown(&bytes, step), expected, "{gap} {step}");
        }
    }
}

#[test]
fn a_message_that_ends_after_whole_frames_is_torn() {
    let length = PREAMBLE_SIZE + holding().len() + POSTAMBLE_SIZE;
    for stated in [0, length] {
        // Anywhere in the postamble, and in the header of one more frame.
        for bytes_of_end in 0..POSTAMBLE_SIZE {
            let bytes = [&preamble(stated)[..], &holding(), &postamble(stated)[..bytes_of_end]].concat();
            assert_eq!(scanned(&bytes), (junk(&bytes), Some(0)), "{bytes_of_end}");
        }
    }
    for bytes_of_header in [2, 8, 15] {
        let bytes = [&preamble(0)[..], &holding(), &header(100)[..bytes_of_header]].concat();
        assert_eq!(scanned(&bytes), (junk(&bytes), Some(0)), "{bytes_of_header}");
    }
    // With all padding there could be, this is more than a postamble takes.
    let damaged = [preamble(0), holding(), vec![0; POSTAMBLE_SIZE + 7]].concat();
    assert_eq!(scanned(&damaged).1, None);
}

#[test]
fn a_message_that_ends_inside_a_frame_is_torn_if_the_frame_ends_in_the_message() {
    let before = PREAMBLE_SIZE + holding().len();
    let torn = |stated, rest| {
        let bytes = [preamble(stated), holding(), header(400), vec![1; rest]].concat();
        scanned(&bytes).1
    };
    for rest in [0, 50] {
        for stated in [0, before + 500, before + 400] {
            assert_eq!(torn(stated, rest), Some(0), "{stated}");
        }
        assert_eq!(torn(before + 399, rest), None);
    }
    // The frame ends with the source, and its tail is damaged.
    assert_eq!(torn(0, 400 - FRAME_HEADER_SIZE), None);
    assert_eq!(torn(0, 399 - FRAME_HEADER_SIZE), Some(0));
}

#[test]
fn messages_that_a_torn_frame_begins_with_are_its_payload() {
    let bytes = [&preamble(0), &header(9000)[..], SAMPLE, OTHER].concat();
    assert_eq!(scanned(&bytes), (junk(&bytes), Some(0)));
    assert_eq!(scan(&bytes).next_message_back(u64::MAX), Ok(None));
    // After other bytes they are messages of their own, whatever the length before them says.
    let stated = 40 + POSTAMBLE_SIZE;
    let behind = [&preamble(0), &header(9000)[..], &[1; 40], &postamble(stated), OTHER].concat();
    let at = behind.len() - OTHER.len();
    let last = Segment::Message { offset: at as u64, length: OTHER.len() as u64 };
    assert_eq!(ranges(&behind).last(), Some(&(true, at, OTHER.len())));
    assert_eq!(scan(&behind).next_message_back(u64::MAX), Ok(Some(last)));
}

#[test]
fn a_search_in_a_source_without_a_known_end_ends() {
    let bytes = [b'T'; 600];
    assert_eq!(Bare(&bytes).find(MAGIC, 0, u64::MAX), Ok(None));
    assert_eq!(Bare(&bytes[..5]).find(MAGIC, 0, u64::MAX), Ok(None));
}

#[test]
fn a_place_may_be_passed_over_and_bytes_may_be_skipped() {
    let bytes = [b"junk", SAMPLE, OTHER].concat();
    let (first, second) = (4, 4 + SAMPLE.len() as u64);
    let mut scanner = scan(&bytes);
    assert_eq!(scanner.place(), 0);
    assert_eq!(scanner.next(), Some(Segment::Junk { offset: 0, length: first }));
    assert_eq!(scanner.place(), first);
    let last = Segment::Message { offset: second, length: OTHER.len() as u64 };
    let mut skipping = scanner.clone();
    skipping.resume_at(second);
    assert_eq!((skipping.front(), skipping.place(), skipping.next()), (second, second, Some(last)));
    let mut passing = scan(&bytes[4..]);
    passing.pass_over();
    assert_eq!(passing.next(), Some(Segment::Junk { offset: 0, length: SAMPLE.len() as u64 }));
}
