//! The default parameters of stages (PIPELINE §5).

use tgm_core::descriptor::{Encoding, Key};

use crate::model::types::DataObjectDescriptor;

/// The number of blocks in an interval of szip.
pub(crate) const SZIP_RSI: u32 = 128;
/// The number of samples in a block of szip.
pub(crate) const SZIP_BLOCK_SIZE: u32 = 16;
/// The level of zstd.
pub(crate) const ZSTD_LEVEL: i32 = 3;
/// The level of blosc2.
pub(crate) const BLOSC2_LEVEL: i32 = 5;

/// The width of packed values in bits, if the descriptor packs values.
pub(crate) fn packed_bits(descriptor: &DataObjectDescriptor) -> Option<u64> {
    let bits = descriptor.params.get(Key::SpBitsPerValue.name())?.as_integer()?;
    u64::try_from(bits).ok().filter(|_| descriptor.encoding == Encoding::SimplePacking.name())
}
