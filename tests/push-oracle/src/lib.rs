//! Facts of a stream of messages, found by the push decoder ([`facts_of`]) and by the slice parser ([`oracle::facts`]).
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a part of tests")]

mod facts;
pub mod oracle;

use tgm_core::ErrorKind;
use tgm_core::wire::MAGIC;

pub use facts::{Fact, facts_of, first_message, without_last_begin};

/// Whether the last fact is that another message begins inside of this one, between frames.
pub fn is_cut_short(bytes: &[u8], facts: &[Fact]) -> bool {
    let Some(Fact::Error(error)) = facts.last() else { return false };
    let at = usize::try_from(error.offset()).unwrap();
    error.kind() == ErrorKind::Truncated && bytes.get(at..).is_some_and(|rest| rest.starts_with(MAGIC))
}
