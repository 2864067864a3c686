//! Readers of sources: searches, and options of any size.

use tgm_std::read::options::ReadKnob;
use tgm_std::read::{FetchErrorKind, ReadOptions, Reader};
use tgm_std::{DecodeOptions, ScanOptions, TensogramError};

/// A search that gives up between messages has found those before, once.
#[test]
fn a_search_that_gives_up_keeps_what_it_found() {
    let message = std::fs::read("../tests/data/dtypes/float32-big.tgm").unwrap();
    let bytes = [&message[..], &message, &vec![b'x'; 300_000], &message].concat();
    let options = ReadKnob::Resync.set(100_000, ReadKnob::Initial.set(4 << 10, ReadOptions::remote()));
    let reader = Reader::with_scan_options(bytes, options, ScanOptions { bidirectional: false, ..Default::default() });
    for _ in 0..3 {
        let TensogramError::Remote(reason) = reader.message_count().unwrap_err() else {
            unreachable!("the error is of the reader")
        };
        assert_eq!(reason.fetch_error_kind(), Some(FetchErrorKind::TooLarge));
        assert!(reason.contains("no further"), "{reason}");
    }
    assert_eq!(reader.read_message(1).unwrap(), message);
    let options = ReadKnob::Resync.set(1 << 20, options);
    assert_eq!(Reader::new(reader.source().clone(), options).message_count().unwrap(), 3);
}

/// A program may set any size. Nothing overflows, and the answers are the same.
#[test]
fn sizes_without_bounds_change_no_answer() {
    use ReadKnob as K;

    let bytes = std::fs::read("../tests/data/dtypes/float32-big.tgm").unwrap().repeat(600);
    let (most, few) = (u64::MAX, ReadKnob::Initial.set(100, ReadOptions::remote()));
    let expected = Reader::new(bytes.clone(), few).decode_object(500, 0, &DecodeOptions::default()).unwrap();
    let sizes: [&[(K, u64)]; 6] = [
        &[(K::Initial, most)],
        &[(K::WholeMessage, most), (K::WholeFrame, most), (K::MaxStructure, most)],
        &[(K::WholeMessage, 0), (K::WholeFrame, 0), (K::Descriptor, most), (K::Header, most), (K::Gap, most - 1)],
        &[(K::Parallel, most), (K::InFlight, most), (K::Request, most)],
        // Eight times this is 0 in 64 bits.
        &[(K::ReadAhead, 1 << 61), (K::InFlight, most)],
        &[(K::ReadAhead, most), (K::Resync, most), (K::InFlight, most), (K::Requests, most), (K::Kept, most)],
    ];
    for knobs in sizes {
        let options = knobs.iter().fold(few, |options, (knob, value)| knob.set(*value, options));
        let one = Reader::new(&bytes[..], options);
        assert_eq!(one.decode_object(500, 0, &DecodeOptions::default()).unwrap(), expected, "{options:?}");
        assert_eq!(Reader::new(&bytes[..], options).message_count().unwrap(), 600, "{options:?}");
    }
}
