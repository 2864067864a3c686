//! What parameters of stages are where a caller names none (PIPELINE §5).

use tgm_core::descriptor::{Encoding, Key};

use crate::model::types::DataObjectDescriptor;

/// Blocks in an interval of szip.
pub(crate) const SZIP_RSI: u32 = 128;
/// Samples in a block of szip.
pub(crate) const SZIP_BLOCK_SIZE: u32 = 16;
/// Level of zstd.
pub(crate) const ZSTD_LEVEL: i32 = 3;
/// Level of blosc2.
pub(crate) const BLOSC2_LEVEL: i32 = 5;

/// Bits of a packed value, if values are packed.
pub(crate) fn packed_bits(descriptor: &DataObjectDescriptor) -> Option<u64> {
    let bits = descriptor.params.get(Key::SpBitsPerValue.name())?.as_integer()?;
    u64::try_from(bits).ok().filter(|_| descriptor.encoding == Encoding::SimplePacking.name())
}
