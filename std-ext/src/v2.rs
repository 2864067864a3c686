//! Messages of wire version 2, written by releases 0.4 to 0.16, and their upgrade to version 3 (FORMAT §9).
//!
//! ```text
//! preamble │ frames … FR 4 descriptor.hash │ postamble 16        version 2: digests of payloads, in descriptors
//!    │          │                                 │
//!    ▼          ▼                                 ▼
//! preamble │ frames … FR 9 … hash ENDF     │ postamble 24        version 3: digests of frames, in their tails
//! ```
//!
//! [`scan`] finds messages of both versions in a file. [`upgrade_message`] turns a message of version 2 into one of
//! version 3. Payloads stay byte for byte. The frames around them are written as the encoder writes new messages.
//! Content that version 3 has no place for is kept under [`UPGRADED_FROM`].
//!
//! The walk over frames uses [`Walk`](tgm_core::frame::Walk), [`Landmark`](tgm_core::frame::Landmark) and the order of
//! frames from `tgm_core`. Three things differ in version 2 and are written here: the tails (4 and 12 bytes instead of
//! 12 and 20), the number of the data-object type, and the postamble (16 bytes, with its magic at byte 8).

mod frame;
mod message;
mod metadata;
mod object;
mod scan;
mod upgrade;

pub use metadata::UPGRADED_FROM;
pub use scan::{Kind, Segment, scan};
pub use upgrade::{UpgradeOptions, upgrade_message};

/// The version that this module reads.
pub const WIRE_VERSION: u16 = 2;
