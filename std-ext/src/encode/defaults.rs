//! The default parameters of stages (PIPELINE §5).

use tgm_core::descriptor::{Encoding, Key};

use crate::model::types::DataObjectDescriptor;

/// The width of packed values in bits, if the descriptor packs values.
pub(crate) fn packed_bits(descriptor: &DataObjectDescriptor) -> Option<u64> {
    let bits = descriptor.params.get(Key::SpBitsPerValue.name())?.as_integer()?;
    u64::try_from(bits).ok().filter(|_| descriptor.encoding == Encoding::SimplePacking.name())
}
