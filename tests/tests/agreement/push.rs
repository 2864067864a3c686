//! The decoder compared with the slice parser, on any cuts; and properties that only a decoder of pieces has.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

mod cuts;
mod lossy;
mod memory;
mod szip;
mod unpacking;

use std::path::Path;

/// Three objects, with frames before and after them.
const THREE: &[u8] = include_bytes!("../../data/streaming/backfilled-0.24.0.tgm");
/// One object whose descriptor comes first, with a mask of NaN.
const FIRST: &[u8] = include_bytes!("../../data/layout/cbor-before-payload-mask-rle.tgm");
/// A message that does not state its length, with preceders.
const STREAM: &[u8] = include_bytes!("../../data/preceder/some-objects.tgm");
/// A payload that is a message.
const NESTED: &[u8] = include_bytes!("../../data/layout/nested-message-buffered.tgm");

/// Every short message file of the test data, with its path.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data")).to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "tgm") {
                let bytes = std::fs::read(&path).unwrap();
                if bytes.len() < 20_000 {
                    found.push((path.display().to_string(), bytes));
                }
            }
        }
    }
    assert!(found.len() > 700, "{} files", found.len());
    found.sort();
    found
}

/// The distance between places that are tried: in a build without optimisation, trying every place takes too long.
const STEP: usize = if cfg!(debug_assertions) { 7 } else { 1 };

/// Numbers that look random, and are the same every time.
#[derive(Clone, Copy)]
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }

    /// `bytes` in pieces of random lengths, 0 included.
    fn cut<'a>(&mut self, bytes: &'a [u8], longest: usize) -> Vec<&'a [u8]> {
        let (mut pieces, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(self.below(longest + 1).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces
    }
}

fn byte_by_byte(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.chunks(1).collect()
}
