//! Scanning: segments cover every byte exactly once, in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tgm_core::scan::scan;

fuzz_target!(|bytes: &[u8]| {
    let mut covered = 0;
    for segment in scan(bytes) {
        assert_eq!(segment.offset(), covered);
        assert!(segment.length() > 0);
        covered += segment.length();
    }
    assert_eq!(covered, bytes.len() as u64);
    assert_eq!(tgm_std::scan_file(&mut std::io::Cursor::new(bytes)).ok(), Some(tgm_std::scan(bytes)));
});
