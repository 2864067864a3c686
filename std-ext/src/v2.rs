//! Messages of wire version 2, which releases 0.4 to 0.16 wrote, made messages of version 3 (FORMAT §9).
//!
//! ```text
//! preamble │ frames … FR 4 descriptor.hash │ postamble 16        version 2: digests of payloads, in descriptors
//!    │          │                                 │
//!    ▼          ▼                                 ▼
//! preamble │ frames … FR 9 … hash ENDF     │ postamble 24        version 3: digests of frames, in their tails
//! ```
//!
//! [`scan`] finds messages of both versions in a file, [`upgrade_message`] makes one of version 2 one of version 3.
//! Payloads stay as they are, byte for byte; around them is written what the encoder writes for new messages. What
//! version 3 has no place for is kept under [`UPGRADED_FROM`].

mod frame;
mod message;
mod metadata;
mod object;
mod scan;
mod upgrade;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests;

pub use metadata::UPGRADED_FROM;
pub use scan::{Kind, Segment, scan};
pub use upgrade::{UpgradeOptions, upgrade_message};

/// The version that this module reads.
pub const WIRE_VERSION: u16 = 2;
