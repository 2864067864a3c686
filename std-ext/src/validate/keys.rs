//! Keys that stand twice in a map, and keys out of order.

use tgm_core::ErrorKind;
use tgm_core::cbor::{Canonical, verify_canonical};

use super::duplicates;
use super::issue::{IssueCode, ValidationIssue};
use super::options::ValidateOptions;
use super::report::Findings;

/// Reports repeated keys in the CBOR of `what`. `index` is the number of the data object, if it is one.
pub(super) fn check_duplicates(
    cbor: &[u8],
    offset: u64,
    what: &str,
    index: Option<usize>,
    options: &ValidateOptions,
    findings: &mut Findings,
) {
    if options.like_reference {
        return;
    }
    duplicates::find(cbor, &mut |duplicate| {
        let text = format!("{what} CBOR: key {} stands twice in one map, the last counts", duplicate.name);
        let issue = ValidationIssue::new(IssueCode::DuplicateKey, text).at(offset + duplicate.offset);
        findings.push(index.map_or(issue.clone(), |index| issue.of_object(index)));
    });
}

/// The finding for keys out of order. Malformed CBOR is reported elsewhere.
pub(super) fn check_order(cbor: &[u8], offset: u64, code: IssueCode, what: &str) -> Option<ValidationIssue> {
    match verify_canonical(cbor, Canonical::KeyOrder) {
        Err(error) if matches!(error.kind(), ErrorKind::NonCanonical(_)) => {
            let text = format!("{what} CBOR is not canonical: {}", error.kind());
            Some(ValidationIssue::new(code, text).at(error.shift(offset).offset()))
        }
        _ => None,
    }
}
