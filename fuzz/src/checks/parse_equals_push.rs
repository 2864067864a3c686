//! The slice parser and the push decoder find the same facts in a message, and the same errors at the same offsets,
//! except where the order of arrival demands a difference (see `tgm_core::push`).

use crate::push::same_as_the_slice_parser;

/// Checks the message at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    same_as_the_slice_parser(bytes);
}
