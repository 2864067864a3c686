//! What the push decoder and the slice parser find in a stream.

use tgm_core::push::*;

pub(crate) mod tests;
