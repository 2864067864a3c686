//! How to validate.

use super::issue::ValidationLevel;
use crate::base::budget::DecodeBudget;
use crate::base::limits::DecodeLimits;

/// Options of a validation (FORMAT §6).
#[derive(Clone, Debug)]
pub struct ValidateOptions {
    /// How deep to go: digests and pipelines, but not values.
    pub max_level: ValidationLevel,
    /// Also look at the order of keys in the CBOR of metadata, preceders and descriptors, whatever the level.
    pub check_canonical: bool,
    /// Digests only: of the structure errors but no warnings, no metadata, nothing is decoded.
    pub checksum_only: bool,
    /// Find what the reference finds and no more: only digests of data objects, and those where flags of 0.21 and later
    /// announce them; no lengths in indexes, no copy of the length in the postamble, no masks of bitmasks; nothing about
    /// reserved bits, frame versions, the grid of frames, repeated keys and `szip_block_offsets`.
    pub like_reference: bool,
    /// Findings of a message that are listed: 10,000. Others are counted.
    pub max_issues: usize,
    /// What decoding an object may cost.
    pub limits: DecodeLimits,
    /// What decoding all objects of a message, and all of a file, may cost.
    pub budget: DecodeBudget,
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
