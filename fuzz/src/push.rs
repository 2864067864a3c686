//! What a stream was found to hold, by the push decoder and by the slice parser.

use tgm_core::push::*;

pub(crate) mod tests;
