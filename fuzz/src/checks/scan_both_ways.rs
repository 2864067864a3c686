//! Scans from the start and from the end find the same messages if the postambles state right lengths.
//!
//! A postamble with a wrong length can lead a scan from the end to another message, inside the one before it. For such
//! bytes only the properties of every scan are checked.

use tgm_core::scan::{Scanner, Segment, scan};
use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, MessageBuilder, ObjectBuilder};
use tgm_std::{EncodeOptions, ScanOptions, scan_with_options};

use crate::given::Given;
use crate::provenance;

/// Checks `bytes` as they are, and as payloads of messages in a row.
pub fn check(bytes: &[u8]) {
    as_they_are(bytes);
    let (row, expected) = row(bytes);
    let forward: Vec<Segment> = scan(&row).collect();
    assert_eq!(forward, expected, "from the start");
    let mut scanner = Scanner::new(&row[..]);
    let backward = std::iter::from_fn(|| match scanner.next_message_back(u64::MAX) {
        Ok(segment) => segment,
        Err(never) => match never {},
    });
    let mut backward: Vec<Segment> = backward.collect();
    backward.reverse();
    assert_eq!(backward, expected, "from the end");
}

fn as_they_are(bytes: &[u8]) {
    let forward = scan_with_options(bytes, &ScanOptions { bidirectional: false, ..ScanOptions::default() });
    let both = scan_with_options(bytes, &ScanOptions::default());
    let mut end = 0;
    for &(offset, length) in &both {
        assert!(offset >= end && length >= 48);
        end = offset + length;
    }
    assert!(end <= bytes.len());
    let is_true = |&(offset, length): &(usize, usize)| {
        let copy = &bytes[offset + length - 16..][..8];
        copy == (length as u64).to_be_bytes()
    };
    let covered: usize = forward.iter().map(|(_, length)| length).sum();
    if covered == bytes.len() && forward.iter().all(is_true) {
        assert_eq!(forward, both);
    }
}

/// Messages whose payloads are pieces of `bytes`, with whatever magics they hold.
fn row(bytes: &[u8]) -> (Vec<u8>, Vec<Segment>) {
    let mut row = Vec::new();
    let mut expected = Vec::new();
    for piece in Given(bytes).pieces(bytes).into_iter().take(4) {
        let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[piece.len() as u64]);
        let object = ObjectBuilder::from_parts(descriptor, piece);
        let message = MessageBuilder::new().options(options()).object(object).encode().expect("plain bytes");
        expected.push(Segment::Message { offset: row.len() as u64, length: message.len() as u64 });
        row.extend(message);
    }
    (row, expected)
}

fn options() -> EncodeOptions {
    EncodeOptions { provenance: Some(provenance()), ..EncodeOptions::default() }
}
