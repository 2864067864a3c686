//! Stores of Zarr with any description and any chunk: they are refused, or become a message whose objects decode, and that
//! writes a store again with the same values.
//!
//! An input has the length of the description in two bytes, the description, and the bytes of a chunk, which two chunks
//! share.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tempfile::TempDir;
use tgm_convert::ArrayWriter as _;
use tgm_convert::Chunks;
use tgm_convert::zarr::{ToZarrOptions, ZarrOptions, ZarrWriter, to_tensogram};
use tgm_std::{DecodeLimits, DecodeOptions, decode};

/// Memory that damaged lengths may take.
const LIMITS: DecodeLimits = DecodeLimits {
    max_decoded_bytes: 1 << 20,
    free_bytes: 1 << 16,
    max_expansion: 1 << 10,
    max_objects: 1 << 8,
    ..DecodeLimits::UNLIMITED
};

/// Checks a store with one array, by its chunks and joined.
pub fn check(bytes: &[u8]) {
    let Some((json, chunk)) = split(bytes) else { return };
    let folder = tempfile::tempdir().expect("a directory");
    let store = folder.path().join("in.zarr");
    write(&store, json, chunk);
    for chunks in [Chunks::Keep, Chunks::Join] {
        let Some(message) = message(&store, chunks) else { continue };
        let values = values(&message);
        let Some(again) = back(&folder, &message) else { continue };
        let again = self::message(&again, chunks).expect("just written");
        // Chunks that have nothing but the fill value may be missing now.
        if chunks == Chunks::Join {
            assert!(values == self::values(&again), "other values");
        }
    }
}

/// Description and chunk.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u16::from_le_bytes(*len).into())
}

/// Makes the directory. The first two chunks of the last dimension have the same bytes.
fn write(store: &Path, json: &[u8], chunk: &[u8]) {
    let dims = serde_json::from_slice::<Json>(json).ok();
    let dims = dims.and_then(|json| json.get("shape").and_then(Json::as_array).map(Vec::len)).unwrap_or(1).min(8);
    fs::create_dir(store).expect("a directory");
    fs::write(store.join("zarr.json"), json).expect("a file");
    for last in ["0", "1"].iter().take(if dims == 0 { 1 } else { 2 }) {
        let mut path = store.join("c");
        if let Some(leading) = dims.checked_sub(1) {
            path.extend(vec!["0"; leading]);
            fs::create_dir_all(&path).expect("a directory");
            path.push(last);
        }
        fs::write(path, chunk).expect("a file");
    }
}

/// The message of the array, if there is one.
fn message(store: &Path, chunks: Chunks) -> Option<Vec<u8>> {
    let options = ZarrOptions { chunks, limits: LIMITS, zstd_level: None, ..ZarrOptions::default() };
    let mut message = Vec::new();
    let count = to_tensogram(store, &options, &mut message, &mut |_| {}).ok()?;
    (count == 1).then_some(message)
}

fn values(message: &[u8]) -> Vec<Vec<u8>> {
    let objects = decode(message, &options()).expect("just encoded").1;
    objects.into_iter().map(|(_, values)| values).collect()
}

fn options() -> DecodeOptions {
    DecodeOptions { limits: LIMITS, ..DecodeOptions::default() }
}

/// The store that the message becomes, if nothing of it is left out.
fn back(folder: &TempDir, message: &[u8]) -> Option<PathBuf> {
    let store = folder.path().join("out.zarr");
    _ = fs::remove_dir_all(&store);
    let options = ToZarrOptions { decode: options(), ..ToZarrOptions::default() };
    let mut writer = ZarrWriter::create(&store, options).expect("the directory was removed");
    let mut notes = 0;
    writer.write(message, &mut |_| notes += 1).ok()?;
    writer.finish().expect("directories");
    (notes == 0).then_some(store)
}
