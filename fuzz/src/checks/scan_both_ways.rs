//! A scan from both ends finds the messages that a scan from the start finds, whatever the bytes are. A scan from the end alone
//! finds all messages of a row.

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
    assert_eq!(forward, both);
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
