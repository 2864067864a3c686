//! Small messages of every frame kind and every codec, with every small damage: cut at every byte, every bit flipped,
//! two bytes of each magic at every place.
//!
//! Each damaged message is read from a slice and in pieces; every [`FILE_EACH`]th also as a file, by positioned reads
//! and by map. No read panics or takes more memory than a whole message; scanning looks at each byte a bounded number
//! of times; the ways agree; and verification reports every flipped bit of a hashed body.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

mod damage;
mod messages;
mod ways;

use tgm_core::Message;
use tgm_core::hash::Verdict;
use tgm_std::{DecodeOptions, decode};
use tgm_tests::alloc::measure;

use damage::{cuts, flips, splices};
use messages::Small;
use ways::{Ways, options};

/// Bytes that reading a damaged message in all ways may hold at once: the states of codecs, most of it libzstd's, and a
/// few times the values that the limits of [`options`] allow.
const MEMORY: u64 = 8 << 20;
/// Bytes of the largest message. The time that these tests take grows with the square of it.
const LARGEST: usize = 900;
/// One damaged message in this many is also written to a file.
const FILE_EACH: usize = 23;

/// Reads each damaged message in every way. Returns how many there were, and how many were still readable.
fn read_all(small: &Small, damaged: impl Iterator<Item = Vec<u8>>) -> (usize, usize) {
    let mut ways = Ways::new();
    let (mut count, mut readable) = (0, 0);
    for (case, bytes) in damaged.enumerate() {
        let (is_readable, usage) = measure(|| ways.read(&bytes, case.is_multiple_of(FILE_EACH)));
        assert!(usage.peak <= MEMORY, "{}, case {case}: {} bytes", small.name, usage.peak);
        count += 1;
        readable += usize::from(is_readable);
    }
    (count, readable)
}

fn every_message(what: &str, damage: impl Fn(&[u8]) -> Box<dyn Iterator<Item = Vec<u8>> + '_> + Sync) {
    let messages = messages::all();
    let part = messages.len().div_ceil(2);
    std::thread::scope(|threads| {
        for messages in messages.chunks(part) {
            let damage = &damage;
            threads.spawn(move || {
                for small in messages {
                    let (count, readable) = read_all(small, damage(&small.bytes));
                    println!("{what}, {}: {count} cases, {readable} readable", small.name);
                }
            });
        }
    });
}

#[test]
fn messages_are_small_and_cover_every_frame_kind_and_codec() {
    let messages = messages::all();
    for small in &messages {
        assert!(small.bytes.len() <= LARGEST, "{}: {} bytes", small.name, small.bytes.len());
        assert!(Ways::new().read(&small.bytes, true), "{}", small.name);
    }
    messages::assert_covered(&messages);
}

#[test]
fn a_message_cut_anywhere_is_read_safely() {
    every_message("cut", |bytes| Box::new(cuts(bytes)));
}

#[test]
fn a_message_with_any_bit_flipped_is_read_safely() {
    every_message("flipped", |bytes| Box::new(flips(bytes).map(|(_, damaged)| damaged)));
}

#[test]
fn a_message_with_a_piece_of_a_magic_anywhere_is_read_safely() {
    every_message("spliced", |bytes| Box::new(splices(bytes)));
}

#[test]
fn any_flipped_bit_in_a_hashed_body_is_reported() {
    let verifying = DecodeOptions { verify_hash: true, ..options() };
    for small in messages::all() {
        let message = Message::parse(&small.bytes).unwrap();
        let bodies: Vec<_> = message.frames().map(Result::unwrap).collect();
        let mut flipped = 0;
        for (at, damaged) in flips(&small.bytes) {
            let in_body = |offset: u64, len: usize| (offset..offset + len as u64).contains(&(at as u64));
            let Some(frame) = bodies.iter().find(|frame| in_body(frame.body_offset(), frame.body().len())) else {
                continue;
            };
            flipped += 1;
            assert!(is_reported(&damaged), "{}, byte {at}", small.name);
            if frame.frame_type().is_data_object() {
                assert!(decode(&damaged, &verifying).is_err(), "{}, byte {at}", small.name);
            }
        }
        assert!(flipped >= 8 * 50, "{}: {flipped}", small.name);
    }
}

/// Whether verifying all digests, as the message flags them, finds an error or a mismatch.
fn is_reported(bytes: &[u8]) -> bool {
    let Ok(message) = Message::parse(bytes) else { return true };
    let Ok(presence) = message.hash_presence() else { return true };
    message.verify(presence).any(|frame| !frame.is_ok_and(|frame| frame.verdict == Verdict::Good))
}
