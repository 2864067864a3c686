//! The two ends of a message: preamble and postamble.

use tgm_core::wire::{END_MAGIC, MAGIC, Postamble, Preamble, WIRE_VERSION};
use zerocopy::IntoBytes;
use zerocopy::big_endian::{U16, U32, U64};

use crate::base::error::Result;
use crate::encode::sink::Sink;

/// A preamble. A `total_length` of 0 means that the length is unknown.
pub(crate) fn preamble(flags: u16, total_length: u64) -> Preamble {
    Preamble {
        magic: *MAGIC,
        version: U16::new(WIRE_VERSION),
        flags: U16::new(flags),
        reserved: U32::ZERO,
        total_length: U64::new(total_length),
    }
}

/// Writes a postamble. A `total_length` of 0 means that the length is unknown.
///
/// # Errors
/// The errors of the sink.
pub(crate) fn write_postamble(sink: &mut impl Sink, first_footer_offset: u64, total_length: u64) -> Result<()> {
    let postamble = Postamble {
        first_footer_offset: U64::new(first_footer_offset),
        total_length: U64::new(total_length),
        magic: *END_MAGIC,
    };
    sink.write(postamble.as_bytes())
}
