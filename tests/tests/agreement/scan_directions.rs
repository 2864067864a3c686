//! Every way to scan lists the same messages: from the front, from both ends in turn, from a file in windows, and as files and
//! readers do when they are opened.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use tgm_std::read::options::ReadKnob;
use tgm_std::read::{ReadOptions, Reader};
use tgm_std::{MessageLayout, ScanOptions, TensogramFile, scan_file_with_options, scan_with_options};

/// Lists the messages of `bytes` by every way.
fn ways(bytes: &[u8]) -> Vec<(&'static str, Vec<(usize, usize)>)> {
    let options = |bidirectional| ScanOptions { bidirectional, ..ScanOptions::default() };
    let of_file = |options| scan_file_with_options(&mut Cursor::new(bytes), options).expect("in memory");
    let size = |number: u64| usize::try_from(number).expect("in memory");
    let pairs = |layouts: &[MessageLayout]| layouts.iter().map(|at| (size(at.offset), size(at.length))).collect();
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("messages.tgm");
    fs::write(&path, bytes).expect("a file");
    let opened = TensogramFile::open(&path).and_then(|file| file.message_layouts()).expect("a file of messages");
    let mapped = crate::mapped::map(&path).expect("a file that can be mapped");
    let read = Reader::new(bytes, ReadOptions::memory()).message_layouts().expect("in memory");
    let by_glances = ReadKnob::Initial.set(16, ReadOptions::memory());
    let glanced = Reader::new(bytes, by_glances).message_layouts().expect("in memory");
    vec![
        ("slice, from the front", scan_with_options(bytes, &options(false))),
        ("slice, from both ends", scan_with_options(bytes, &options(true))),
        ("file, from the front", of_file(&options(false))),
        ("file, from both ends", of_file(&options(true))),
        ("TensogramFile", pairs(&opened)),
        ("MappedFile", pairs(mapped.message_layouts())),
        ("Reader", pairs(&read)),
        ("Reader that knows little at first", pairs(&glanced)),
    ]
}

/// Short files of several streamed messages that were cut, with a whole message at the end. A scan spends bounded work
/// on searching damaged messages. In files this short the bound must allow a full search, otherwise the ways differ.
#[test]
fn cut_streams_before_a_whole_message_are_listed_alike_from_either_end() {
    for name in ["scan-cut-streams.tgm", "scan-damaged-length.tgm"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/finds").join(name);
        let bytes = fs::read(path).expect("a file of this test");
        assert_alike(&bytes, name);
    }
}

fn assert_alike(bytes: &[u8], name: &str) {
    let ways = ways(bytes);
    for (way, found) in &ways {
        assert_eq!(*found, ways[0].1, "{name}: {way}");
    }
}

/// The last message holds another one, and both end with the same postamble. It states the length of the inner message.
#[test]
fn a_message_that_ends_with_another_message_is_listed_alike_from_either_end() {
    let whole = fs::read(tgm_tests::corpus::data_dir().join("dtypes/float32-big.tgm")).expect("test data");
    let mut outer = whole[..24].to_vec();
    outer.extend(&whole);
    let length = outer.len() as u64;
    outer[16..24].copy_from_slice(&length.to_be_bytes());
    for behind in 0..3 {
        let bytes = [&whole[..], &whole, &outer, &whole.repeat(behind)].concat();
        assert_eq!(scan_with_options(&bytes, &ScanOptions::default()).len(), 3 + behind);
        assert_alike(&bytes, &format!("{behind} messages after it"));
    }
}
