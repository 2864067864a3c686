//! The same facts on any cut, equal to the facts of the slice parser.

use proptest::prelude::*;
use tgm_core::error::{ErrorKind, Result};
use tgm_core::frame::Frames;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::message::Message;
use tgm_core::push::{Event, Link, PushDecoder, Unpacker};
use tgm_core::wire::{MAGIC, PREAMBLE_SIZE};
use tgm_push_oracle::{Fact, facts_of, first_message, is_cut_short, oracle, without_last_begin};

use super::{FIRST, NESTED, Numbers, STEP, STREAM, THREE, byte_by_byte, corpus};

/// Enough for every message of the test data.
const LARGE: usize = 1 << 15;

/// Compares the facts of `bytes`, whole and cut, with the facts of the slice parser. Returns the number of errors.
fn check(bytes: &[u8], seed: u64, case: &str) -> usize {
    let whole = facts_of::<LARGE>(Link::Reliable, [bytes]);
    let first = first_message(whole.clone());
    match oracle::facts(bytes) {
        Some(expected) if is_cut_short(bytes, &first) => {
            assert!(expected.starts_with(first.split_last().unwrap().1), "{case}");
        }
        Some(expected) => assert_eq!(first, without_last_begin(expected), "{case}"),
        None => {
            // The slice parser reports this at once, unless there is an earlier error.
            let last = first.last().unwrap();
            let stated = Message::parse(bytes).unwrap_err();
            assert!(matches!(last, Fact::Error(e) if *e == stated || e.kind() != stated.kind()), "{case}: {last:?}");
        }
    }
    let mut numbers = Numbers(seed);
    for longest in [1, 3, 40, 700] {
        let cut = facts_of::<LARGE>(Link::Reliable, numbers.cut(bytes, longest));
        assert_eq!(cut, whole, "{case}: pieces of up to {longest}");
    }
    usize::from(matches!(first.last(), Some(Fact::Error(_))))
}

#[test]
fn every_file_is_found_as_the_slice_parser_finds_it() {
    let mut errors = 0;
    for (seed, (path, bytes)) in corpus().iter().enumerate() {
        errors += check(bytes, seed as u64, path);
        assert_eq!(
            facts_of::<LARGE>(Link::Reliable, byte_by_byte(bytes)),
            facts_of::<LARGE>(Link::Reliable, [bytes.as_slice()]),
            "{path}"
        );
    }
    assert!(errors > 40, "{errors}");
}

#[test]
fn two_cuts_anywhere_make_no_difference() {
    for bytes in [FIRST, STREAM, NESTED] {
        let whole = facts_of::<2048>(Link::Reliable, [bytes]);
        for first in 0..=bytes.len() {
            for second in (first..=bytes.len()).step_by(2 * STEP - 1) {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(facts_of::<2048>(Link::Reliable, pieces), whole, "{first}, {second}");
            }
        }
    }
}

#[test]
fn truncation_anywhere_is_the_error_of_the_slice_parser() {
    for bytes in [THREE, FIRST, STREAM, NESTED] {
        let whole = facts_of::<LARGE>(Link::Reliable, [bytes]);
        for len in 1..bytes.len() {
            let cut_off = &bytes[..len];
            let facts = facts_of::<LARGE>(Link::Reliable, [cut_off]);
            let (last, before) = facts.split_last().unwrap();
            assert!(whole.starts_with(before), "{len}");
            match (Message::parse(cut_off), oracle::facts(cut_off)) {
                (Err(error), _) => assert_eq!(*last, Fact::Error(error), "{len}"),
                (Ok(_), expected) => assert_eq!(Some(first_message(facts)), expected.map(without_last_begin), "{len}"),
            }
        }
    }
}

#[test]
fn a_changed_byte_anywhere_is_found_as_the_slice_parser_finds_it() {
    let mut errors = 0;
    for bytes in [THREE, FIRST, STREAM] {
        for at in (0..bytes.len()).step_by(STEP / 3 + 1) {
            for change in [1, 0x80] {
                let mut changed = bytes.to_vec();
                changed[at] ^= change;
                errors += check(&changed, at as u64, "changed");
            }
        }
    }
    assert!(errors > 300, "{errors}");
}

/// A gap before a frame may hold the end of the message, so the push decoder begins such a frame some bytes later than one
/// without a gap. A stream that ends before gives what the slice parser says.
#[test]
fn a_stream_that_ends_in_the_first_bytes_of_a_frame_is_found_as_the_slice_parser_finds_it() {
    const OBJECT_WITH_DESCRIPTOR_FIRST: &[u8] = b"FR\0\x09\0\x01\0\0\x02\0\0\0\0\0\0\0";
    const OF_UNKNOWN_TYPE: &[u8] = b"FRb\xb2\0\x01\0\0\0\0\0\0\0\0\0\x40";
    const IN_WRONG_ORDER: &[u8] = b"FR\0\x05\0\x01\0\0\0\0\0\0\0\0\0\x40";
    const TOO_SMALL: &[u8] = b"FR\0\x01\0\x01\0\0\0\0\0\0\0\0\0\x01";
    for header in [OBJECT_WITH_DESCRIPTOR_FIRST, OF_UNKNOWN_TYPE, IN_WRONG_ORDER, TOO_SMALL] {
        for gap in [0, 1, 8, 104] {
            for len in 0..56 {
                let mut bytes = STREAM[..PREAMBLE_SIZE].to_vec();
                bytes.resize(PREAMBLE_SIZE + gap, 0);
                bytes.extend(header.iter().chain(&[0; 40]).take(len));
                check(&bytes, (gap + len) as u64, &format!("{len} bytes of {header:?} after a gap of {gap}"));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tgm_tests::cases(600)))]
    #[test]
    fn whatever_is_changed_is_found_as_the_slice_parser_finds_it(
        base in 0_usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(0), Just(1)]), 1..6),
        cut in any::<prop::sample::Index>(),
        seed in any::<u64>(),
    ) {
        let mut bytes = [THREE, FIRST, STREAM, NESTED][base].to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        // Mostly whole, sometimes cut short.
        let len = cut.index(bytes.len() * 4).min(bytes.len());
        if bytes[16..24] == [0; 8] || len == bytes.len() {
            check(&bytes[..len], seed, "changed");
        }
    }
}

#[test]
fn a_message_in_one_piece_is_not_copied() {
    let range = THREE.as_ptr_range();
    let mut decoder = PushDecoder::<0>::new(Link::Reliable);
    let mut rest = THREE;
    let mut seen = 0;
    while let Some(event) = decoder.next_event(&mut rest).unwrap() {
        let bytes = match event {
            Event::Cbor(cbor) => cbor.as_bytes(),
            Event::Chunk(chunk) => chunk.bytes,
            Event::Descriptor(object) => object.descriptor.as_encoded(),
            Event::TooLarge(_) => panic!("{event:?}"),
            _ => continue,
        };
        assert!(range.contains(&bytes.as_ptr()));
        seen += 1;
    }
    assert!(seen >= 9, "{seen}");
    assert_eq!((decoder.position(), decoder.message_offset()), (THREE.len() as u64, THREE.len() as u64));
}

#[test]
fn messages_follow_each_other() {
    let stream: Vec<u8> = [THREE, STREAM, FIRST, STREAM, STREAM, NESTED].concat();
    let facts = facts_of::<LARGE>(Link::Reliable, [stream.as_slice()]);
    let lengths: Vec<u64> = facts
        .iter()
        .filter_map(|fact| if let Fact::End { length, .. } = fact { Some(*length) } else { None })
        .collect();
    let expected = [THREE, STREAM, FIRST, STREAM, STREAM, NESTED].map(|message| message.len() as u64);
    assert_eq!(lengths, expected);
    assert!(!facts.iter().any(|fact| matches!(fact, Fact::Error(_) | Fact::Skipped(_))));
    for seed in 0..40 {
        assert_eq!(facts_of::<LARGE>(Link::Reliable, Numbers(seed).cut(&stream, 100)), facts);
    }
}

#[test]
fn digests_of_every_release_are_right() {
    let verdicts = |bytes: &[u8]| -> Vec<Verdict> {
        let facts = facts_of::<LARGE>(Link::Reliable, [bytes]);
        facts
            .iter()
            .filter_map(|f| if let Fact::FrameEnd { verdict, .. } = f { Some(*verdict) } else { None })
            .collect()
    };
    let mut promised_only = 0;
    for (path, bytes) in corpus() {
        let Ok(message) = Message::parse(&bytes) else { continue };
        let Ok(presence) = message.hash_presence() else { continue };
        let ends = facts_of::<LARGE>(Link::Reliable, [bytes.as_slice()]);
        if ends.iter().any(|fact| matches!(fact, Fact::Error(_))) || path.contains("hash-on-one-frame-only") {
            continue;
        }
        promised_only += usize::from(presence == HashPresence::All);
        let Ok(expected) = message.verify(presence).map(|v| v.map(|v| v.verdict)).collect::<Result<Vec<_>>>() else {
            continue;
        };
        assert_eq!(verdicts(&bytes)[..expected.len()], expected, "{path}");
    }
    assert!(promised_only > 0);
}

#[test]
fn a_preamble_that_holds_the_start_of_a_frame_is_none_on_any_cut() {
    let own = &STREAM[..PREAMBLE_SIZE];
    let other = [&MAGIC[..], &[0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]].concat();
    for at in 10..PREAMBLE_SIZE {
        let mut bytes = [own, &[0; 30], &other, &[0xff; 40]].concat();
        bytes[own.len() + 30 + at..][..2].copy_from_slice(b"FR");
        check(&bytes, at as u64, "a preamble in a gap");
        let whole = facts_of::<LARGE>(Link::Reliable, [bytes.as_slice()]);
        let Fact::Error(error) = whole[1] else { panic!("{whole:?}") };
        // Its last byte has come before it is known that it begins a frame.
        assert_eq!(error.kind() == ErrorKind::Truncated, at == PREAMBLE_SIZE - 1, "{at}: {error}");
        for cut in 0..bytes.len() {
            let (before, after) = bytes.split_at(cut);
            assert_eq!(facts_of::<LARGE>(Link::Reliable, [before, after]), whole, "{at}, cut at {cut}");
        }
        assert_eq!(facts_of::<LARGE>(Link::Reliable, byte_by_byte(&bytes)), whole, "{at}");
    }
}

#[test]
fn a_frame_out_of_order_just_before_the_end_is_refused_as_that() {
    let end = Frames::open_ended(&STREAM[PREAMBLE_SIZE..], PREAMBLE_SIZE as u64).map_while(Result::ok).last().unwrap();
    let frames = &STREAM[..usize::try_from(end.end_offset()).unwrap()];
    // A header after a gap, with fewer bytes after it than a postamble has; the frames before it are footer frames.
    let header = [&b"FR"[..], &[0, 1, 0, 1, 0, 0], &1000_u64.to_be_bytes()].concat();
    for gap in 1..8 {
        let bytes = [frames, &vec![0; gap], &header].concat();
        check(&bytes, gap as u64, "a frame just before the end");
        let facts = facts_of::<LARGE>(Link::Reliable, [bytes.as_slice()]);
        let Some(Fact::Error(error)) = facts.last() else { panic!("{facts:?}") };
        assert!(matches!(error.kind(), ErrorKind::FrameOrder(..)), "{gap}: {error}");
    }
}

#[test]
fn a_frame_that_ends_beyond_all_numbers_is_refused_at_its_header() {
    // The last frame ends before 2^64, but leaves less room than a postamble takes. Its descriptor is not one.
    for length in [u64::MAX, u64::MAX - 30, u64::MAX - 40] {
        let header = [&b"FR"[..], &[0, 9, 0, 1, 0, 0], &length.to_be_bytes()].concat();
        let bytes = [&STREAM[..PREAMBLE_SIZE], &[0; 8], &header, &[0; 40]].concat();
        check(&bytes, 1, "a frame without end");
        let facts = facts_of::<LARGE>(Link::Reliable, [bytes.as_slice()]);
        let at = PREAMBLE_SIZE as u64 + 8 + 8;
        assert_eq!(facts[1], Fact::Error(ErrorKind::FrameExceedsMessage.at(at)));
    }
}

#[test]
fn a_preamble_between_frames_ends_the_message() {
    // The first message lacks everything after its first frame.
    let first_end =
        usize::try_from(Message::parse(THREE).unwrap().frames().next().unwrap().unwrap().end_offset()).unwrap();
    let stream = [&THREE[..first_end], FIRST].concat();
    let expected = facts_of::<LARGE>(Link::Reliable, [FIRST]);
    for longest in [1, 7, 2000] {
        let facts = facts_of::<LARGE>(Link::Reliable, Numbers(1).cut(&stream, longest));
        let error = facts.iter().position(|fact| matches!(fact, Fact::Error(_))).unwrap();
        assert_eq!(facts[error], Fact::Error(ErrorKind::Truncated.at(first_end as u64)));
        assert_eq!(facts[error + 1], Fact::Skipped(first_end as u64));
        assert_eq!(facts[error + 2..], expected);
    }
}

#[test]
fn size_is_fixed() {
    let sizes = [size_of::<PushDecoder<0>>(), size_of::<PushDecoder<256>>(), size_of::<Event<'_>>()];
    println!("PushDecoder<0>, <256>, Event: {sizes:?} bytes; Unpacker: {} bytes", size_of::<Unpacker>());
    assert!(sizes[0] <= 1024 && sizes[1] <= sizes[0] + 256, "{sizes:?}");
}
