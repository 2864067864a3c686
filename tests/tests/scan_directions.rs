//! Every way to scan lists the same messages: from the front, from both ends in turn, and from a file in windows.

use std::io::Cursor;
use std::path::Path;

use tgm_std::{ScanOptions, scan_file_with_options, scan_with_options};

/// Lists the messages of `bytes` by every way.
fn ways(bytes: &[u8]) -> Vec<(&'static str, Vec<(usize, usize)>)> {
    let options = |bidirectional| ScanOptions { bidirectional, ..ScanOptions::default() };
    let of_file = |options| scan_file_with_options(&mut Cursor::new(bytes), options).expect("in memory");
    vec![
        ("slice, from the front", scan_with_options(bytes, &options(false))),
        ("slice, from both ends", scan_with_options(bytes, &options(true))),
        ("file, from the front", of_file(&options(false))),
        ("file, from both ends", of_file(&options(true))),
    ]
}

/// Short files of several streamed messages that were cut, with a whole message at the end. A scan spends bounded work
/// on searching damaged messages. In files this short the bound must allow a full search, otherwise the ways differ.
#[test]
fn cut_streams_before_a_whole_message_are_listed_alike_from_either_end() {
    for name in ["scan-cut-streams.tgm", "scan-damaged-length.tgm"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/finds").join(name);
        let bytes = std::fs::read(path).expect("a file of this test");
        let ways = ways(&bytes);
        for (way, found) in &ways {
            assert_eq!(*found, ways[0].1, "{name}: {way}");
        }
    }
}
