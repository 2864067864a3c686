//! The files of `tests/data` and their sidecars.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

/// A file of the corpus by its path.
pub(crate) fn data(path: &str) -> String {
    format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/{}"), path)
}

/// All message files below a folder of the corpus, in order.
pub(crate) fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(Path::new(&data(folder)), &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "tgm") {
            found.push(path);
        }
    }
}

/// The sidecar of a file.
pub(crate) fn sidecar(path: &Path) -> Json {
    serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap()
}

/// The files of a class.
pub(crate) fn of_class(class: &str) -> impl Iterator<Item = (PathBuf, Json)> {
    let recorded = files("").into_iter().map(|path| (path.clone(), sidecar(&path)));
    recorded.filter(move |(_, sidecar)| sidecar["class"] == class)
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}
