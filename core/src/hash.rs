//! Digests of frames: what they cover, whether a frame has one, and whether it is right (FORMAT §1.6, §2 row 4).
//!
//! A digest is the XXH3-64 (seed 0) of a frame's body. Writers since 0.21 set a flag in each frame that has one. Writers
//! before 0.21 set one flag in the message's preamble. [`HashPresence`] says which of the two applies (Rule H). The value
//! in the slot does not say whether it is a digest: zero is a digest like any other.

mod digest;
pub(crate) mod presence;
mod verify;

pub use digest::{HashMismatch, Verdict, digest};
pub use presence::HashPresence;
pub use verify::{Verified, Verify};
