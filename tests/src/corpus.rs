//! The files that tests read: `tests/data` always, the full corpus where `TGM_CORPUS` names its directory.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

/// The environment variable that names the full corpus. If it is set and files are missing there, tests fail.
pub const CORPUS_VARIABLE: &str = "TGM_CORPUS";
/// The least number of files in the full corpus: with fewer, the directory is not the full corpus.
const FULL_CORPUS_FILES: usize = 870;
/// The least number of files in `tests/data`.
const DATA_FILES: usize = 870;

/// One file of messages, and what is known about it.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The path in its directory, without extension: `dtypes/float32-little`.
    pub name: String,
    /// Where the file lies.
    pub path: PathBuf,
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// The sidecar (`README.md` beside it has the schema).
    pub json: Json,
    /// The sidecar's `class`.
    pub class: String,
}

/// `tests/data`, the part of the corpus that lies in this repository.
pub fn data_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

/// The directory of the full corpus, if the environment names one.
pub fn full_dir() -> Option<PathBuf> {
    env::var_os(CORPUS_VARIABLE).map(PathBuf::from)
}

/// Every sample of `tests/data`, and the further samples of the full corpus if the environment names one.
///
/// # Panics
/// If a directory, file or sidecar is missing, or there are fewer files than there must be.
pub fn samples() -> Vec<Sample> {
    let mut samples = load(&data_dir(), DATA_FILES);
    if let Some(dir) = full_dir() {
        let manifest = dir.join("MANIFEST.json");
        assert!(manifest.is_file(), "{CORPUS_VARIABLE} is set and {} is missing", manifest.display());
        let known: BTreeSet<String> = samples.iter().map(|sample| sample.name.clone()).collect();
        samples.extend(load(&dir, FULL_CORPUS_FILES).into_iter().filter(|sample| !known.contains(&sample.name)));
    }
    samples
}

/// The samples of the malformed class, or all others.
///
/// # Panics
/// As [`samples`].
pub fn samples_where(malformed: bool) -> Vec<Sample> {
    samples().into_iter().filter(|sample| (sample.class == "malformed") == malformed).collect()
}

/// One sample of `tests/data` by its name.
///
/// # Panics
/// If there is no such sample.
pub fn sample(name: &str) -> Sample {
    read(&data_dir(), &data_dir().join(format!("{name}.json"))).unwrap_or_else(|| panic!("{name} is not in tests/data"))
}

fn load(dir: &Path, least: usize) -> Vec<Sample> {
    let mut found = Vec::new();
    collect(dir, &mut found);
    found.sort();
    let samples: Vec<Sample> = found.iter().filter_map(|path| read(dir, path)).collect();
    assert!(samples.len() >= least, "{}: {} samples, expected {least} at least", dir.display(), samples.len());
    check_manifest(dir);
    samples
}

/// Collects the sidecars below `dir`. Every message file must have one.
fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("corpus directory {}: {error}", dir.display()));
    for entry in entries {
        let path = entry.unwrap_or_else(|error| panic!("{}: {error}", dir.display())).path();
        match path.extension().and_then(|ext| ext.to_str()) {
            _ if path.is_dir() => collect(&path, found),
            Some("tgm") => assert!(path.with_extension("json").exists(), "{} has no sidecar", path.display()),
            Some("json") if path.file_name().is_some_and(|name| name != "MANIFEST.json") => found.push(path),
            _ => {}
        }
    }
}

/// The sample of a sidecar; `None` if there is no such sidecar.
fn read(dir: &Path, json: &Path) -> Option<Sample> {
    // Names such as `0.14.0-f32` contain dots, and `with_extension` would cut the name at the last one.
    let name = json.strip_prefix(dir).ok()?.to_str()?.strip_suffix(".json")?.replace('\\', "/");
    let text = fs::read_to_string(json).ok()?;
    let path = dir.join(format!("{name}.tgm"));
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let json: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}.json: {error}"));
    let class = json["class"].as_str().unwrap_or_else(|| panic!("{name}.json has no class")).to_owned();
    assert_eq!(json["size"].as_u64(), Some(bytes.len() as u64), "{name}: size");
    assert_eq!(json["sha256"].as_str(), Some(&*crate::sha256(&bytes)), "{name}: sha256");
    Some(Sample { name, path, bytes, json, class })
}

/// Checks that every file listed in the directory's manifest exists, if there is a manifest.
fn check_manifest(dir: &Path) {
    let Ok(text) = fs::read_to_string(dir.join("MANIFEST.json")) else { return };
    let manifest: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("MANIFEST.json: {error}"));
    for file in manifest["files"].as_array().into_iter().flatten() {
        let path = dir.join(file["path"].as_str().unwrap_or_default());
        assert!(path.is_file(), "{} is listed in MANIFEST.json and missing", path.display());
    }
}
