//! Reports of validation, and the collection of findings.

use serde::Serialize;

use super::issue::{IssueSeverity, ValidationIssue};
use super::options::ValidateOptions;

/// The findings in one message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ValidationReport {
    /// The findings, in the order of levels.
    pub issues: Vec<ValidationIssue>,
    /// The number of data objects, without those whose descriptor cannot be located.
    pub object_count: usize,
    /// Whether at least one object's digest was checked, all were right, and there is no error of any kind.
    pub hash_verified: bool,
    /// The number of findings beyond [`ValidateOptions::max_issues`], which are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub omitted_issues: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ValidationReport {
    /// Whether there is no error. Warnings are fine.
    pub fn is_ok(&self) -> bool {
        self.errors().next().is_none()
    }

    /// The errors among the findings.
    pub fn errors(&self) -> impl Iterator<Item = &ValidationIssue> {
        self.issues.iter().filter(|issue| issue.severity == IssueSeverity::Error)
    }
}

/// Bytes of a file that belong to no message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileIssue {
    /// Their position in the file. [`usize::MAX`] if it does not fit.
    pub byte_offset: usize,
    /// Their number. [`usize::MAX`] if it does not fit.
    pub length: usize,
    /// The finding as text.
    pub description: String,
}

/// The findings in a file or buffer of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileValidationReport {
    /// Bytes that belong to no message.
    pub file_issues: Vec<FileIssue>,
    /// The messages in order.
    pub messages: Vec<ValidationReport>,
}

impl FileValidationReport {
    /// Whether every message is without errors, and every byte belongs to a message. An empty file is fine.
    pub fn is_ok(&self) -> bool {
        self.file_issues.is_empty() && self.messages.iter().all(ValidationReport::is_ok)
    }

    /// Data objects of all messages.
    pub fn total_objects(&self) -> usize {
        self.messages.iter().map(|message| message.object_count).sum()
    }

    /// Whether there are messages, and all their digests were verified.
    pub fn hash_verified(&self) -> bool {
        !self.messages.is_empty() && self.messages.iter().all(|message| message.hash_verified)
    }
}

/// The findings so far. Their number is limited, because a small message can have many errors.
pub(super) struct Findings {
    issues: Vec<ValidationIssue>,
    max: usize,
    omitted: u64,
    has_error: bool,
    drop_warnings: bool,
}

impl Findings {
    pub(super) fn new(options: &ValidateOptions) -> Self {
        Self { issues: Vec::new(), max: options.max_issues, omitted: 0, has_error: false, drop_warnings: false }
    }

    /// Whether warnings are dropped from here on.
    pub(super) const fn drop_warnings(&mut self, drop: bool) {
        self.drop_warnings = drop;
    }

    /// Adds a finding. The first error is kept beyond the limit, so that a report with errors never looks clean.
    pub(super) fn push(&mut self, issue: ValidationIssue) {
        let is_error = issue.severity == IssueSeverity::Error;
        if self.drop_warnings && !is_error {
            return;
        }
        if self.issues.len() < self.max || is_error && !self.has_error {
            self.issues.push(issue);
        } else {
            self.omitted += 1;
        }
        self.has_error |= is_error;
    }

    /// Adds findings.
    pub(super) fn extend(&mut self, issues: impl IntoIterator<Item = ValidationIssue>) {
        for issue in issues {
            self.push(issue);
        }
    }

    /// The report; `verified` says whether digests of objects were checked and good.
    pub(super) fn into_report(mut self, object_count: usize, verified: bool) -> ValidationReport {
        // The last two levels run object by object, so findings are sorted by level here.
        self.issues.sort_by_key(|issue| issue.level);
        ValidationReport {
            issues: self.issues,
            object_count,
            hash_verified: verified && !self.has_error,
            omitted_issues: self.omitted,
        }
    }
}
