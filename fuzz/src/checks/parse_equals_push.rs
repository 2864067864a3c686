//! The slice parser and the push decoder tell the same facts of a message, and the same errors at the same offsets, but for
//! what the order of arrival demands (see `tgm_core::push`).

use crate::push::tests::same_as_the_slice_parser;

/// Checks the message that `bytes` begin with.
pub fn check(bytes: &[u8]) {
    same_as_the_slice_parser(bytes);
}
