//! Options of validation.

use super::issue::ValidationLevel;
use crate::base::budget::DecodeBudget;
use crate::base::limits::DecodeLimits;

/// Options of a validation (FORMAT §6).
#[derive(Clone, Debug)]
pub struct ValidateOptions {
    /// The deepest level. By default digests and pipelines, but not values.
    pub max_level: ValidationLevel,
    /// Also check the order of keys in the CBOR of metadata, preceders and descriptors, at any level.
    pub check_canonical: bool,
    /// Digests only: errors but no warnings of structure, no metadata, no decoding.
    pub checksum_only: bool,
    /// Report what the reference reports and no more, and streams that announce preceders and have none. Checked are only digests of data objects, and only where flags of
    /// 0.21 and later announce them. Not checked are lengths in indexes, the length in the postamble, masks of
    /// bitmasks, reserved bits, frame versions, the grid of frames, repeated keys and `szip_block_offsets`.
    pub like_reference: bool,
    /// The number of findings that are listed for a message: 10,000. More are counted only.
    pub max_issues: usize,
    /// Limits on decoding one object.
    pub limits: DecodeLimits,
    /// Limits on decoding all objects of a message and of a file.
    pub budget: DecodeBudget,
    /// How many threads validate the messages of a file that is read at positions: [`DecodeOptions::threads`](crate::DecodeOptions::threads).
    /// The report does not depend on it.
    pub threads: u32,
}

impl Default for ValidateOptions {
    fn default() -> Self {
        Self {
            max_level: ValidationLevel::default(),
            check_canonical: false,
            checksum_only: false,
            like_reference: false,
            max_issues: 10_000,
            limits: DecodeLimits::default(),
            budget: DecodeBudget::default(),
            threads: 0,
        }
    }
}

impl ValidateOptions {
    /// Whether level 2 runs.
    pub(super) fn checks_metadata(&self) -> bool {
        self.check_canonical || !self.checksum_only && self.max_level >= ValidationLevel::Metadata
    }

    /// Whether level 3 runs.
    pub(super) fn checks_integrity(&self) -> bool {
        self.checksum_only || self.max_level >= ValidationLevel::Integrity
    }

    /// Whether pipelines are undone.
    pub(super) fn decodes(&self) -> bool {
        !self.checksum_only && self.max_level >= ValidationLevel::Integrity
    }

    /// Whether level 4 runs.
    pub(super) fn checks_fidelity(&self) -> bool {
        !self.checksum_only && self.max_level >= ValidationLevel::Fidelity
    }
}
