//! GRIB messages become Tensogram and return to the byte: samples of ecCodes with its values, and damaged ones.

mod damaged;
mod edition1;
mod keys;
mod reading;
mod way_back;

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use tgm_convert::grib2::{Found, GribOptions, MessageReader, from_tensogram, to_tensogram};
use tgm_std::{DecodeLimits, DecodeOptions, TensogramError};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data-grib"))
}

fn sample(name: &str) -> Vec<u8> {
    fs::read(folder().join(name).with_extension("grib2")).unwrap()
}

/// What ecCodes says of each sample.
fn expected() -> Vec<(String, Json)> {
    let text = fs::read(folder().join("expected.json")).unwrap();
    let Json::Object(samples) = serde_json::from_slice(&text).unwrap() else { panic!("expected.json is not a map") };
    samples.into_iter().collect()
}

/// Whether this build decodes a sample.
fn has_codec(name: &str) -> bool {
    (cfg!(feature = "grib-png") || !name.contains("png")) && (cfg!(feature = "grib-jpeg2000") || !name.contains("jpeg"))
}

/// The messages of a sample.
fn messages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut reader, mut found) = (MessageReader::new(bytes), Vec::new());
    while let Some(next) = reader.read_next().unwrap() {
        let Found::Message { bytes, .. } = next else { panic!("{next:?}") };
        found.push(bytes.to_vec());
    }
    found
}

fn converted(message: &[u8]) -> Vec<u8> {
    to_tensogram(message, &GribOptions::default()).unwrap().message
}

fn back(message: &[u8]) -> Result<Vec<u8>, TensogramError> {
    from_tensogram(message, &DecodeOptions::default()).map(|restored| restored.message)
}

fn sha(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Limits that keep damaged lengths cheap.
fn small() -> GribOptions {
    let limits = DecodeLimits { free_bytes: 1 << 20, max_decoded_bytes: 1 << 24, ..DecodeLimits::default() };
    GribOptions { limits, ..GribOptions::default() }
}

/// The bytes as a message: with its magic, edition, length and end.
fn framed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().max(20), 0);
    let (length, end) = ((bytes.len() as u64).to_be_bytes(), bytes.len() - 4);
    bytes[..4].copy_from_slice(b"GRIB");
    bytes[7] = 2;
    bytes[8..16].copy_from_slice(&length);
    bytes[end..].copy_from_slice(b"7777");
    bytes
}

/// Where a section of a message with one field begins.
fn section_at(message: &[u8], number: u8) -> usize {
    let mut at = 16;
    while message[at + 4] != number {
        at += u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) as usize;
    }
    at
}
