//! A reader for `tests/conformance/run.py` out of the model of `tgm-std`: what digests, validation and parts of objects are.
//!
//! `python3 tests/conformance/run.py target/debug/examples/conformance_reader --without metadata`. It needs a machine that
//! has the least significant byte first.
#![allow(clippy::unwrap_used, reason = "a command that is wrong ends the program with a text")]

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use serde_json::{Value as Json, json};
use tgm_std::validate::{IssueCode, IssueSeverity, ValidateOptions, ValidationLevel, validate_file};
use tgm_std::{Archive, Object, Result, scan};
use tgm_tests::sha256;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().collect();
    let path = words.iter().skip(2).find(|word| !word.starts_with("--")).unwrap();
    let is_right = match words[1].as_str() {
        "digest" => digest(Path::new(path)),
        "validate" => validate(Path::new(path)),
        _ => extract(Path::new(path), &words).is_ok(),
    };
    ExitCode::from(u8::from(!is_right))
}

/// Prints the digests of all messages. Returns whether all bytes of the file are read.
fn digest(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap();
    let (mut is_right, mut covered) = (true, 0);
    let messages: Vec<Json> = scan(&bytes)
        .into_iter()
        .map(|(offset, length)| {
            covered += length;
            match digests_of(&bytes[offset..offset + length]) {
                Ok(objects) => json!({"offset": offset, "length": length, "objects": objects}),
                Err(error) => {
                    is_right = false;
                    json!({"offset": offset, "length": length, "error": error.to_string()})
                }
            }
        })
        .collect();
    println!("{}", json!({"messages": messages}));
    is_right && covered == bytes.len()
}

/// The digests of a message's objects.
fn digests_of(message: &[u8]) -> Result<Vec<Json>> {
    let archive = Archive::from_bytes(message);
    archive.message(0)?.objects()?.map(|object| digest_of(&object?)).collect()
}

fn digest_of(object: &Object<'_>) -> Result<Json> {
    let values = object.read().bytes()?;
    let (dtype, shape) = (object.dtype().name(), object.shape());
    Ok(json!({"dtype": dtype, "shape": shape, "bytes": values.len(), "sha256": sha256(&values)}))
}

/// Prints what is found in a file. Returns whether it is right: values that are not finite are within the format.
fn validate(path: &Path) -> bool {
    let options = ValidateOptions { max_level: ValidationLevel::Fidelity, ..ValidateOptions::default() };
    let report = validate_file(path, &options).unwrap();
    println!("{}", json!({"messages": report.messages.len(), "file_issues": report.file_issues.len()}));
    let is_allowed = |code| matches!(code, IssueCode::NanDetected | IssueCode::InfDetected);
    let issues = report.messages.iter().flat_map(|message| &message.issues);
    let mut errors = issues.filter(|issue| issue.severity == IssueSeverity::Error && !is_allowed(issue.code));
    report.file_issues.is_empty() && errors.next().is_none()
}

/// Writes a part of an object.
fn extract(path: &Path, words: &[String]) -> Result<()> {
    let option = |name: &str| words[1 + words.iter().position(|word| word == name).unwrap()].as_str();
    let number = |text: &str| text.parse::<usize>().unwrap();
    let (start, count) = option("--range").split_once(':').unwrap();
    let archive = Archive::open(path)?;
    let object = archive.object(number(option("--message")), number(option("--object")))?;
    let part = object.read().ranges(&[(number(start) as u64, number(count) as u64)]).bytes()?;
    fs::write(option("--output"), part).map_err(Into::into)
}
