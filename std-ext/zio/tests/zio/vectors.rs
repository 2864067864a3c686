//! The files of `tests/data-zio`, read.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use tgm_std::ByteOrder;

/// The directory of the vectors.
pub(crate) fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data-zio")
}

/// A file of vectors.
pub(crate) fn file(name: &str) -> Json {
    let path = dir().join(name);
    serde_json::from_slice(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

/// The list `key` of a file, which must have at least `least` entries.
pub(crate) fn list(name: &str, key: &str, least: usize) -> Vec<Json> {
    let list = file(name)[key].as_array().unwrap().clone();
    assert!(list.len() >= least, "{name} has {} {key}", list.len());
    list
}

/// Bytes out of hexadecimal digits.
pub(crate) fn unhex(text: &Json) -> Vec<u8> {
    let digits = text.as_str().unwrap().as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// The parts of a vector.
pub(crate) fn parts(vector: &Json) -> Vec<Vec<u8>> {
    vector["parts"].as_array().unwrap().iter().map(unhex).collect()
}

/// The byte order that a vector's sender had.
pub(crate) fn order(vector: &Json) -> ByteOrder {
    ByteOrder::from_name(vector["coord_order"].as_str().unwrap_or("little")).unwrap()
}

/// The vector's name.
pub(crate) fn id(vector: &Json) -> &str {
    vector["id"].as_str().unwrap()
}
