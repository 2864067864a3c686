//! Segments, sources and torn messages, on messages of the samples and on small ones made here.

mod ends;

use std::vec;
use std::vec::Vec;

use core::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::wire::{END_MAGIC, MAGIC, WIRE_VERSION};

const SAMPLE: &[u8] = include_bytes!("../../samples/float32-little.tgm");
const OTHER: &[u8] = include_bytes!("../../samples/bits16.tgm");

/// A source that has only what it must have.
struct Bare<'a>(&'a [u8]);

impl Source for Bare<'_> {
    type Error = Infallible;

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, Infallible> {
        self.0.read_at(offset, out)
    }
}

fn ranges(bytes: &[u8]) -> Vec<(bool, usize, usize)> {
    let range = |segment: Segment| {
        let (offset, length) = (usize::try_from(segment.offset()).unwrap(), usize::try_from(segment.length()).unwrap());
        assert_eq!(segment.bytes_of(bytes), Some(&bytes[offset..offset + length]));
        (segment.is_message(), offset, length)
    };
    let found: Vec<_> = scan(bytes).map(range).collect();
    // A source without searches of its own finds the same.
    assert!(Scanner::new(Bare(bytes)).map(range).eq(found.iter().copied()));
    found
}

/// A message without frames. Its postamble states its length, or 0 as a streamed message's may.
fn empty_message(stated: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(WIRE_VERSION.to_be_bytes());
    bytes.extend([0; 6]);
    bytes.extend(stated.to_be_bytes());
    bytes.extend(24_u64.to_be_bytes());
    bytes.extend(stated.to_be_bytes());
    bytes.extend(END_MAGIC);
    assert_eq!(bytes.len(), MIN_MESSAGE_SIZE);
    bytes
}

#[test]
fn segments_cover_every_byte_and_know_what_they_are() {
    let (first, second) = (SAMPLE.len(), OTHER.len());
    assert_eq!(ranges(SAMPLE), [(true, 0, first)]);
    assert_eq!(ranges(b""), []);
    let joined = [&b"before"[..], SAMPLE, OTHER, b"between", SAMPLE, b"after"].concat();
    let at = 6 + first + second;
    assert_eq!(
        ranges(&joined),
        [
            (false, 0, 6),
            (true, 6, first),
            (true, 6 + first, second),
            (false, at, 7),
            (true, at + 7, first),
            (false, at + 7 + first, 5),
        ]
    );
    let beyond = Segment::Junk { offset: 3, length: 4 };
    assert_eq!((beyond.bytes_of(&joined[..6]), beyond.bytes_of(&joined[..7])), (None, Some(&joined[3..7])));
    let endless = Segment::Junk { offset: 3, length: u64::MAX };
    assert_eq!(endless.bytes_of(&joined), None);
}

#[test]
fn a_scan_says_what_is_left_to_assign() {
    let joined = [SAMPLE, b"junk", OTHER].concat();
    let (first, whole) = (SAMPLE.len() as u64, joined.len() as u64);
    let mut scanner = scan(&joined);
    assert_eq!((scanner.front(), scanner.back(), scanner.torn()), (0, whole, None));
    assert_eq!(scanner.source().len(), whole);
    assert_eq!(scanner.next(), Some(Segment::Message { offset: 0, length: first }));
    assert_eq!((scanner.front(), scanner.back()), (first, whole));
    let last = Segment::Message { offset: first + 4, length: OTHER.len() as u64 };
    assert_eq!(scanner.next_message_back(u64::MAX), Ok(Some(last)));
    assert_eq!((scanner.front(), scanner.back()), (first, first + 4));
    assert_eq!(scanner.next_message_back(u64::MAX), Ok(None));
    assert_eq!(scanner.next(), Some(Segment::Junk { offset: first, length: 4 }));
    assert_eq!((scanner.front(), scanner.back(), scanner.next()), (first + 4, first + 4, None));
}

#[test]
fn messages_from_the_back_are_as_long_as_the_caller_allows() {
    let length = SAMPLE.len() as u64;
    assert_eq!(scan(SAMPLE).next_message_back(length - 1), Ok(None));
    assert_eq!(scan(SAMPLE).next_message_back(length), Ok(Some(Segment::Message { offset: 0, length })));
    // The search from the front had found that message already.
    let joined = [b"junk", SAMPLE].concat();
    let mut scanner = scan(&joined);
    assert!(!scanner.next().unwrap().is_message());
    assert_eq!(scanner.next_message_back(u64::MAX), Ok(None));
    assert_eq!(scanner.next(), Some(Segment::Message { offset: 4, length }));
}

/// A message that does not state its length.
fn streamed() -> Vec<u8> {
    let mut bytes = SAMPLE.to_vec();
    let at = bytes.len() - 16;
    bytes[16..24].fill(0);
    bytes[at..at + 8].fill(0);
    bytes
}

/// A message that states its length, and ends with another message. The postamble belongs to both.
fn outer(inner: &[u8]) -> Vec<u8> {
    let mut bytes = empty_message(0)[..24].to_vec();
    bytes.extend(inner);
    let length = (bytes.len() as u64).to_be_bytes();
    bytes[16..24].copy_from_slice(&length);
    bytes
}

#[test]
fn messages_from_the_end_do_not_count_if_one_from_the_start_reaches_into_them() {
    let (inner, length) = (empty_message(48), 24 + 48);
    let bytes = [SAMPLE, &outer(&inner), &empty_message(48)].concat();
    let at = SAMPLE.len() as u64;
    let mut scanner = scan(&bytes);
    let back = [scanner.next_message_back(u64::MAX), scanner.next_message_back(u64::MAX)].map(Result::unwrap);
    let last = Segment::Message { offset: at + length, length: 48 };
    assert_eq!(back, [Some(last), Some(Segment::Message { offset: at + 24, length: 48 })]);
    assert_eq!(scanner.next(), Some(Segment::Message { offset: 0, length: at }));
    assert!(scanner.back_agrees());
    assert_eq!(scanner.next(), Some(Segment::Message { offset: at, length }));
    assert!(!scanner.back_agrees());
    assert_eq!(scanner.next_message_back(u64::MAX), Ok(None));
    assert_eq!((scanner.next(), scanner.next()), (Some(last), None));
}

proptest! {
    #[test]
    fn steps_from_the_end_change_nothing(
        pieces in proptest::collection::vec((0..7_u8, 0..300_usize), 0..8),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        from_the_end in proptest::collection::vec(any::<bool>(), 1..20),
    ) {
        let mut bytes = Vec::new();
        for (kind, count) in pieces {
            match kind {
                0 => bytes.extend(SAMPLE),
                1 => bytes.extend(streamed()),
                2 => bytes.extend(&SAMPLE[..count.min(SAMPLE.len())]),
                3 => bytes.extend(&streamed()[..count]),
                4 => bytes.extend(outer(&empty_message(48))),
                5 => bytes.extend(outer(SAMPLE)),
                _ => bytes.resize(bytes.len() + count, 7),
            }
        }
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let mut scanner = scan(&bytes);
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for is_from_the_end in from_the_end.into_iter().cycle() {
            if is_from_the_end && let Ok(Some(message)) = scanner.next_message_back(u64::MAX) {
                back.push(message);
            }
            match scanner.next() {
                Some(segment) => front.push(segment),
                None => break,
            }
        }
        if scanner.back_agrees() {
            front.extend(back.into_iter().rev());
        }
        prop_assert_eq!(front, scan(&bytes).collect::<Vec<_>>());
    }
}

#[test]
fn the_smallest_message_is_found_from_both_ends() {
    let small = empty_message(MIN_MESSAGE_SIZE as u64);
    assert_eq!(ranges(&small), [(true, 0, MIN_MESSAGE_SIZE)]);
    assert_eq!(ranges(&small[..MIN_MESSAGE_SIZE - 1]), [(false, 0, MIN_MESSAGE_SIZE - 1)]);
    let segment = Segment::Message { offset: 0, length: MIN_MESSAGE_SIZE as u64 };
    assert_eq!(scan(&small).next_message_back(u64::MAX), Ok(Some(segment)));
    assert_eq!(scan(&small[1..]).next_message_back(u64::MAX), Ok(None));
    // A streamed message states no length, and is found from the front.
    let streamed = empty_message(0);
    assert_eq!(ranges(&[&streamed[..], SAMPLE].concat()), [(true, 0, 48), (true, 48, SAMPLE.len())]);
    assert_eq!(scan(&streamed).next_message_back(u64::MAX), Ok(None));
}

#[test]
fn lengths_that_no_preamble_confirms_are_not_messages() {
    let len = SAMPLE.len();
    for damaged in [0, 8, 16, len - 1] {
        let mut bytes = [SAMPLE, SAMPLE].concat();
        bytes[len + damaged] ^= 0x40;
        assert_eq!(scan(&bytes).next_message_back(u64::MAX), Ok(None), "byte {damaged}");
        assert_eq!(ranges(&bytes)[0], (true, 0, len), "byte {damaged}");
    }
}

#[test]
fn a_magic_is_found_wherever_the_chunks_are_cut() {
    for at in 0..60 {
        let mut bytes = vec![b'T'; 70];
        bytes[at..at + 8].copy_from_slice(MAGIC);
        for size in [9, 10, 16, 63, 64, 512] {
            let found = |from, end| {
                let Ok(found) = find_in_chunks(&Bare(&bytes), MAGIC, from, end, &mut vec![0; size], find);
                found
            };
            let Ok(whole) = (&bytes[..]).find(MAGIC, 0, 70);
            let Ok(bare) = Bare(&bytes).find(MAGIC, 0, 70);
            assert_eq!((found(0, 70), whole, bare), (Some(at as u64), Some(at as u64), Some(at as u64)), "{at} {size}");
            assert_eq!((found(0, at as u64 + 8), found(0, at as u64 + 7)), (Some(at as u64), None), "{at} {size}");
            assert_eq!((found(at as u64, 70), found(at as u64 + 1, 70)), (Some(at as u64), None), "{at} {size}");
            assert_eq!((found(0, u64::MAX), found(71, 70)), (Some(at as u64), None), "{at} {size}");
        }
    }
}

#[test]
fn bytes_beyond_the_end_of_a_slice_are_zero() {
    let bytes = &[1_u8, 2, 3][..];
    assert_eq!((bytes.read(0), bytes.read(2), bytes.read(3)), (Ok([1, 2, 3]), Ok([3, 0, 0]), Ok([0, 0, 0])));
    assert_eq!((Bare(bytes).read(1), bytes.read(u64::MAX)), (Ok([2, 3, 0]), Ok([0])));
    let mut out = [9; 4];
    assert_eq!((bytes.read_at(1, &mut out), out), (Ok(2), [2, 3, 9, 9]));
    assert!(!Source::is_empty(&bytes) && !Bare(bytes).is_empty() && Bare(&[]).is_empty());
}

#[test]
fn a_message_whose_writer_stopped_is_torn_to_the_end() {
    // A frame begins and does not end, and the message states no length.
    let mut torn = SAMPLE[..SAMPLE.len() - 100].to_vec();
    torn[16..24].fill(0);
    let bytes = [OTHER, &torn].concat();
    let mut scanner = scan(&bytes);
    assert!(scanner.next().unwrap().is_message());
    assert_eq!(scanner.torn(), None);
    let rest = Segment::Junk { offset: OTHER.len() as u64, length: torn.len() as u64 };
    assert_eq!((scanner.next(), scanner.torn(), scanner.next()), (Some(rest), Some(rest.offset()), None));
    // A message that ends with the source was written after it. One that does not is payload of the unfinished frame.
    let followed = [&torn[..], &empty_message(48)].concat();
    assert_eq!(ranges(&followed), [(false, 0, torn.len()), (true, torn.len(), 48)]);
    let nested = [&followed[..], b"payload!"].concat();
    assert_eq!(ranges(&nested), [(false, 0, nested.len())]);
    // What follows a message with a damaged end is a message of its own.
    let mut damaged = SAMPLE.to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(ranges(&[&damaged[..], OTHER].concat())[1], (true, SAMPLE.len(), OTHER.len()));
}

#[test]
fn a_message_that_lacks_only_its_start_magic_is_torn_if_its_frames_end_early() {
    for written in 0..8 {
        let mut unwritten = SAMPLE[..SAMPLE.len() - 100].to_vec();
        unwritten[written..8].fill(0);
        let mut scanner = scan(&unwritten);
        assert_eq!(scanner.next(), Some(Segment::Junk { offset: 0, length: unwritten.len() as u64 }));
        assert_eq!(scanner.torn(), Some(0), "{written} bytes of the magic");
    }
    // Other bytes there are no part of a magic.
    let mut other = SAMPLE[..SAMPLE.len() - 100].to_vec();
    other[3] = 1;
    let mut scanner = scan(&other);
    assert!(scanner.next().is_some_and(|segment| !segment.is_message()) && scanner.torn().is_none());
}
