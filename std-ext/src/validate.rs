//! Validation of messages and files: all errors, not only the first one (FORMAT §6).
//!
//! | level | finds | reads |
//! |---|---|---|
//! | 1 structure | errors in preamble, frames and postamble | frame headers, tails and padding |
//! | 2 metadata | CBOR that is malformed, or contradicts itself or the frames | CBOR |
//! | 3 integrity | wrong digests, pipelines that cannot be undone | every byte |
//! | 4 fidelity | too many or too few values, and values that are not finite and have no mask | every value |
//!
//! [`check_message`] asks one question only, whether a message is as it was written, and gives the first fault: it allocates
//! nothing. [`examine`] is the engine of that, with a verdict on each frame. The answers agree: see [`check_message`].
//!
//! The report has a walk of its own, because it goes on after frames at which [`Frames`](tgm_core::frame::Frames) ends, and
//! lists every contradiction where the checks of `tgm-core` return the first. If `check_message` were that walk with an end at the
//! first issue, it would take four times as long for a message of a thousand small objects, as it parses each map to name what
//! is wrong. Both share the rules for one frame (headers, order, padding, digests), and a test damages every byte and compares them.
//!
//! A decoder stops at the first error. Here each level goes on where it can, and later levels use the results of
//! earlier ones. A message that the library's decoder refuses never passes all levels. Memory: the values of one
//! object, and a few words for each frame. Time is linear in the bytes given and decoded. Decoding has limits:
//! [`ValidateOptions::limits`] for an object, [`ValidateOptions::budget`] for a message and a file.

mod damage;
mod descriptor;
mod duplicates;
mod fidelity;
mod file;
mod frames;
mod intact;
mod integrity;
mod issue;
mod keys;
pub mod leftover;
mod metadata;
mod non_finite;
mod options;
mod report;
mod structure;
mod trial;
mod walk;

pub use damage::Damage;
pub use file::{Progress, validate_buffer, validate_file, validate_file_with, validate_stream};
pub use intact::{Depth, Finding, check_digests, check_message, examine};
pub use issue::{IssueCode, IssueSeverity, ValidationIssue, ValidationLevel};
pub use leftover::Leftover;
pub use options::ValidateOptions;
pub use report::{FileIssue, FileValidationReport, ValidationReport};

use crate::base::budget::Spending;
use report::Findings;

/// Options and results of validation, under the path that the reference crate has.
pub mod types {
    pub use super::{
        FileIssue, FileValidationReport, IssueCode, IssueSeverity, ValidateOptions, ValidationIssue, ValidationLevel,
        ValidationReport,
    };
}

/// Validates the message at the start of `bytes`. If the message states its length, bytes after it are ignored.
/// Otherwise it must end with the bytes.
///
/// ```
/// use tgm_std::validate::{IssueCode, ValidateOptions, validate_message};
///
/// # let mut bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm").unwrap();
/// let report = validate_message(&bytes, &ValidateOptions::default());
/// assert!(report.is_ok() && report.hash_verified);
///
/// let end = bytes.len();
/// bytes[end - 1] = 0;
/// let report = validate_message(&bytes, &ValidateOptions::default());
/// assert_eq!(report.issues[0].code, IssueCode::PostambleInvalid);
/// ```
pub fn validate_message(bytes: &[u8], options: &ValidateOptions) -> ValidationReport {
    of_message(bytes, options, &mut options.budget.of_file(bytes.len() as u64))
}

/// [`validate_message`] with the rest of a budget.
fn of_message(bytes: &[u8], options: &ValidateOptions, spending: &mut Spending) -> ValidationReport {
    spending.begin_message(bytes.len() as u64);
    let mut findings = Findings::new(options);
    findings.drop_warnings(options.checksum_only);
    let structure = structure::read(bytes, options, &mut findings);
    findings.drop_warnings(false);
    let Some(mut message) = structure else { return findings.into_report(0, false) };
    if options.checks_metadata() {
        metadata::check(&mut message, options, &mut findings);
    }
    let verified = options.checks_integrity() && integrity::check(&mut message, options, spending, &mut findings);
    findings.into_report(message.objects.len(), verified)
}
