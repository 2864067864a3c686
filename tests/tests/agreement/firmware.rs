//! The expected output of the images of `tests/firmware`, checked with code that the images do not run: digests by
//! another XXH3, values by tgm-std. `tests/firmware/run` compares the output of microcontrollers with the same file.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tgm_core::Message;
use tgm_std::DecodeOptions;
use tgm_tests::{corpus, sha256};
use twox_hash::XxHash3_64;

/// The messages of `tests/firmware/src/messages.rs`.
const MESSAGES: [&str; 4] =
    ["dtypes/float32-big", "simple_packing/bits16", "simple_packing/b16-none-szip", "masks/threshold-16"];

#[test]
fn expected_output_of_the_images_is_what_the_messages_hold() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware/expected.txt");
    let [mut framing, mut object, mut decode, mut push, mut szip] = [const { String::new() }; 5];
    for name in MESSAGES {
        let sample = corpus::sample(name);
        let recorded = &sample.json["messages"][0];
        let frames = recorded["wire"]["frames"].as_array().unwrap();
        let objects = recorded["objects"].as_array().unwrap();
        writeln!(framing, "framing {name} {} {}", frames.len(), objects.len()).unwrap();

        let message = Message::parse(&sample.bytes).unwrap();
        let good =
            message.frames().map(|frame| frame.unwrap()).filter(|f| XxHash3_64::oneshot(f.body()) == f.hash_slot());
        let good = good.count();
        let descriptor = &objects[0]["descriptor"];
        let count: u64 = descriptor["shape"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).product();
        writeln!(object, "object {name} {good} {} {count}", descriptor["dtype"].as_str().unwrap()).unwrap();

        let values = little_endian_values(&sample.bytes, &objects[0]);
        writeln!(decode, "decode {name} {good} {} {:016x}", values.len(), XxHash3_64::oneshot(&values)).unwrap();

        let unpacked = if descriptor["compression"] == "szip" { values } else { Vec::new() };
        let digest = fnv_1a(&unpacked);
        writeln!(szip, "push_szip {name} {good} {} {digest:016x}", unpacked.len()).unwrap();

        let values = if descriptor["compression"] == "none" { unmasked_values(&sample.bytes) } else { Vec::new() };
        writeln!(push, "push {name} {good} {} {:016x}", values.len(), fnv_1a(&values)).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap();
    assert_eq!(found, framing + &object + &decode + &push + &szip, "{}", file.display());
}

/// The checksum of images that do not contain the library's digest.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// The little-endian values. Their digest must be the recorded one.
fn little_endian_values(message: &[u8], object: &Json) -> Vec<u8> {
    let values = decoded(message, &DecodeOptions::default());
    assert_eq!(sha256(&values), object["decoded"]["sha256"].as_str().unwrap());
    values
}

/// The values of the payload without masks applied: what a push decoder hands out in chunks.
fn unmasked_values(message: &[u8]) -> Vec<u8> {
    decoded(message, &DecodeOptions { restore_non_finite: false, ..DecodeOptions::default() })
}

fn decoded(message: &[u8], options: &DecodeOptions) -> Vec<u8> {
    let (_, descriptor, mut values) = tgm_std::decode_object(message, 0, options).unwrap();
    if cfg!(target_endian = "big") {
        values.chunks_mut(descriptor.dtype.swap_unit_size()).for_each(<[u8]>::reverse);
    }
    values
}
