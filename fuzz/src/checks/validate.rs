//! Validation: a message that decoding refuses does not pass, a deeper level keeps the errors of the others, and
//! decoding confirms digests that were verified.

use tgm_std::{DecodeOptions, ValidateOptions, ValidationLevel, decode, validate_buffer, validate_message};

use crate::{limits, options};

const LEVELS: [ValidationLevel; 4] =
    [ValidationLevel::Structure, ValidationLevel::Metadata, ValidationLevel::Integrity, ValidationLevel::Fidelity];

/// Checks the message at the start of `bytes`, and all bytes as a file.
pub fn check(bytes: &[u8]) {
    let mut was_ok = true;
    for max_level in LEVELS {
        let asked = ValidateOptions { max_level, limits: limits(), max_issues: 100, ..ValidateOptions::default() };
        let report = validate_message(bytes, &asked);
        assert!(was_ok || !report.is_ok(), "{max_level} drops an error");
        was_ok = report.is_ok();
        assert!(report.issues.len() <= 101);
        assert!(report.issues.iter().all(|issue| issue.byte_offset.is_none_or(|at| at <= bytes.len())));
        assert!(report.issues.is_sorted_by_key(|issue| issue.level));
        if report.hash_verified {
            let verifying = DecodeOptions { verify_hash: true, ..options() };
            let found = decode(bytes, &verifying);
            let is_mismatch = matches!(
                found,
                Err(tgm_std::TensogramError::HashMismatch { .. } | tgm_std::TensogramError::MissingHash { .. })
            );
            assert!(!is_mismatch, "{found:?}");
        }
    }
    if was_ok {
        let decoded = decode(bytes, &options());
        assert!(decoded.is_ok(), "all levels are passed: {:?}", decoded.err());
    }
    let asked = ValidateOptions { limits: limits(), max_issues: 100, ..ValidateOptions::default() };
    let file = validate_buffer(bytes, &asked);
    let messages = tgm_std::scan(bytes);
    assert_eq!(file.messages.len(), messages.len());
    let junk: usize = file.file_issues.iter().map(|issue| issue.length).sum();
    let in_messages: usize = messages.iter().map(|(_, length)| length).sum();
    assert_eq!(junk + in_messages, bytes.len());
}
