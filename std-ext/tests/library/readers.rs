//! Readers of sources: searches, and options of any size.

use tgm_std::read::{FetchErrorKind, ReadOptions, Reader};
use tgm_std::{DecodeOptions, ScanOptions, TensogramError};

/// A search that gives up between messages has found those before, once.
#[test]
fn a_search_that_gives_up_keeps_what_it_found() {
    let message = std::fs::read("../tests/data/dtypes/float32-big.tgm").unwrap();
    let bytes = [&message[..], &message, &vec![b'x'; 300_000], &message].concat();
    let options = ReadOptions { resync: 100_000, initial: 4 << 10, ..ReadOptions::remote() };
    let reader = Reader::with_scan_options(bytes, options, ScanOptions { bidirectional: false, ..Default::default() });
    for _ in 0..3 {
        let TensogramError::Remote(reason) = reader.message_count().unwrap_err() else {
            unreachable!("the error is of the reader")
        };
        assert_eq!(reason.fetch_error_kind(), Some(FetchErrorKind::TooLarge));
        assert!(reason.contains("resync"), "{reason}");
    }
    assert_eq!(reader.read_message(1).unwrap(), message);
    let options = ReadOptions { resync: 1 << 20, ..options };
    assert_eq!(Reader::new(reader.source().clone(), options).message_count().unwrap(), 3);
}

/// A program may set any size. Nothing overflows, and the answers are the same.
#[test]
fn sizes_without_bounds_change_no_answer() {
    let bytes = std::fs::read("../tests/data/dtypes/float32-big.tgm").unwrap().repeat(600);
    let (most, few) = (u64::MAX, ReadOptions { initial: 100, ..ReadOptions::remote() });
    let expected = Reader::new(bytes.clone(), few).decode_object(500, 0, &DecodeOptions::default()).unwrap();
    for options in [
        ReadOptions { initial: most, ..few },
        ReadOptions { whole_message: most, whole_frame: most, max_structure: most, ..few },
        ReadOptions { whole_message: 0, whole_frame: 0, descriptor: most, header: most, gap: Some(most), ..few },
        ReadOptions { parallel: usize::MAX, in_flight: most, request: most, ..few },
        // Eight times this is 0 in 64 bits.
        ReadOptions { read_ahead: 1 << 61, in_flight: most, ..few },
        ReadOptions { read_ahead: most, resync: most, in_flight: most, requests: most, kept: most, ..few },
    ] {
        let one = Reader::new(&bytes[..], options);
        assert_eq!(one.decode_object(500, 0, &DecodeOptions::default()).unwrap(), expected, "{options:?}");
        assert_eq!(Reader::new(&bytes[..], options).message_count().unwrap(), 600, "{options:?}");
    }
}
