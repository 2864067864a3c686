//! Scanning: segments cover every byte exactly once, in order; every message has its magics; a file and a slice give
//! the same messages.

use tgm_core::scan::{Segment, scan};
use tgm_core::wire::{END_MAGIC, MAGIC};
use tgm_std::v2;

/// Checks the segments of `bytes`.
pub fn check(bytes: &[u8]) {
    let mut covered = 0;
    let mut was_junk = false;
    for segment in scan(bytes) {
        assert_eq!(segment.offset(), covered);
        assert!(segment.length() > 0);
        covered += segment.length();
        let is_junk = !segment.is_message();
        assert!(!(is_junk && was_junk), "junk is reported in one piece");
        was_junk = is_junk;
        let found = segment.bytes_of(bytes).expect("inside");
        if segment.is_message() {
            assert!(found.starts_with(MAGIC) && found.ends_with(END_MAGIC) && found.len() >= 48);
        } else {
            alone(found);
        }
    }
    assert_eq!(covered, bytes.len() as u64);
    assert_eq!(tgm_std::scan_file(&mut std::io::Cursor::new(bytes)).ok(), Some(tgm_std::scan(bytes)));
    let mut end = 0;
    for segment in v2::scan(bytes) {
        assert!(segment.range.start == end && segment.range.end > end);
        end = segment.range.end;
    }
    assert_eq!(end, bytes.len());
}

/// Asserts that junk, scanned alone, holds no message that states its length.
fn alone(junk: &[u8]) {
    let stated = |segment: &Segment| {
        let length = segment.bytes_of(junk).and_then(|message| message.get(16..24));
        segment.is_message() && length != Some(&[0; 8])
    };
    assert!(!scan(junk).any(|segment| stated(&segment)), "a message in a segment of junk");
}
