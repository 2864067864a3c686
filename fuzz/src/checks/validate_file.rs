//! Validation finds the same in a file and in its bytes in memory.

use std::fs;

use tempfile::NamedTempFile;
use tgm_std::{TensogramFile, ValidateOptions, ValidationLevel, validate_buffer, validate_file};

use crate::limits;

/// Validates a file of `bytes`.
pub fn check(bytes: &[u8]) {
    let file = NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), bytes).expect("a temporary file");
    for max_level in [ValidationLevel::Structure, ValidationLevel::Fidelity] {
        let asked = ValidateOptions { max_level, limits: limits(), max_issues: 100, ..ValidateOptions::default() };
        let (of_file, of_bytes) =
            (validate_file(file.path(), &asked).expect("the file exists"), validate_buffer(bytes, &asked));
        assert_eq!(format!("{of_file:?}"), format!("{of_bytes:?}"));
    }
    let opened = TensogramFile::open(file.path()).expect("the file exists");
    let layouts = opened.message_layouts().expect("a scan");
    let report = validate_buffer(bytes, &ValidateOptions { limits: limits(), ..ValidateOptions::default() });
    assert_eq!(layouts.len(), report.messages.len());
    let in_messages: u64 = layouts.iter().map(|layout| layout.length).sum();
    let elsewhere: usize = report.file_issues.iter().map(|issue| issue.length).sum();
    assert_eq!(in_messages + elsewhere as u64, bytes.len() as u64);
}
