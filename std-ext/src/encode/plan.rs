//! The stages of one object, with their parameters read and checked (FORMAT §4.2, PIPELINE §3 to §5).
//!
//! Combinations that no reader can decode are refused here. The reference writes some of them.

use std::num::NonZeroUsize;

use tgm_codec::about::Uncompressed;
use tgm_codec::{Compress, shuffle};
use tgm_core::descriptor::{Compression, Encoding, Filter, Key};
use tgm_core::packing::Packing;

use crate::base::error::{Result, TensogramError};
use crate::encode::packing;
use crate::model::params::{Params, metadata, required};
use crate::model::types::DataObjectDescriptor;

/// The stages of one object.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The parameters of packing, if values are packed.
    pub(crate) packing: Option<Packing>,
    /// The element size of the shuffle filter, if it is on.
    pub(crate) shuffle: Option<NonZeroUsize>,
    /// The third stage, if there is one.
    pub(crate) compressor: Option<Box<dyn Compress>>,
}

impl Plan {
    /// Reads the stages of a descriptor. The parameters of `simple_packing` must be complete.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for unknown names, and for combinations that no reader can decode;
    /// [`TensogramError::Metadata`] for parameters that are missing or wrong.
    pub(crate) fn new(descriptor: &DataObjectDescriptor) -> Result<Self> {
        let params = Params(&descriptor.params);
        let packing = match encoding(descriptor)? {
            Encoding::None => None,
            Encoding::SimplePacking => Some(packing::read(params)?),
        };
        let shuffle = match filter(descriptor)? {
            Filter::None => None,
            Filter::Shuffle => Some(element_size(params)?),
        };
        let object = Uncompressed {
            dtype: descriptor.dtype,
            encoding: &descriptor.encoding,
            packed_bits: packing.map(|packing| packing.bits_per_value),
            filter: &descriptor.filter,
            is_shuffled: shuffle.is_some(),
            parameters: &params,
        };
        let codec = tgm_codec::find_compressing(compression(descriptor)?);
        let compressor = codec.map(|codec| codec.compressor(&object)).transpose()?;
        Ok(Self { packing, shuffle, compressor })
    }

    /// Whether there is no stage, so that the payload is the data.
    pub(crate) const fn has_no_stage(&self) -> bool {
        self.packing.is_none() && self.shuffle.is_none() && self.compressor.is_none()
    }
}

/// The first stage.
///
/// # Errors
/// [`TensogramError::Encoding`] for an unknown name.
pub(crate) fn encoding(descriptor: &DataObjectDescriptor) -> Result<Encoding> {
    let name = &descriptor.encoding;
    Encoding::from_name(name).ok_or_else(|| TensogramError::encoding(format!("unknown encoding: {name}")))
}

fn filter(descriptor: &DataObjectDescriptor) -> Result<Filter> {
    let name = &descriptor.filter;
    Filter::from_name(name).ok_or_else(|| TensogramError::encoding(format!("unknown filter: {name}")))
}

/// The third stage.
///
/// # Errors
/// [`TensogramError::Encoding`] for an unknown name.
pub(crate) fn compression(descriptor: &DataObjectDescriptor) -> Result<Compression> {
    let name = &descriptor.compression;
    Compression::from_name(name).ok_or_else(|| TensogramError::encoding(format!("unknown compression: {name}")))
}

fn element_size(params: Params<'_>) -> Result<NonZeroUsize> {
    let size = required(params.u64(Key::ShuffleElementSize)?, Key::ShuffleElementSize)?;
    let size = usize::try_from(size).map_err(|_| metadata("shuffle_element_size out of usize range"))?;
    Ok(shuffle::element_size(size)?)
}

#[cfg(test)]
mod tests {
    use tgm_core::descriptor::{ByteOrder, Dtype};

    use super::*;

    fn blosc2(dtype: Dtype, level: i32) -> Result<Plan> {
        let mut descriptor = DataObjectDescriptor::new(dtype, ByteOrder::Little, &[8]);
        descriptor.compression = Compression::Blosc2.name().into();
        descriptor.set_param(Key::Blosc2Clevel, level);
        Plan::new(&descriptor)
    }

    #[test]
    fn blosc2_has_levels_from_0_to_9_and_elements_of_whole_bytes() {
        for level in [0, 9] {
            let codec = blosc2(Dtype::Float32, level).unwrap().compressor.unwrap();
            assert!(format!("{codec:?}").contains(&format!("level: {level}, typesize: 4")), "{codec:?}");
        }
        for level in [-1, 10, 256] {
            assert!(blosc2(Dtype::Float32, level).unwrap_err().to_string().contains("blosc2_clevel must be 0 to 9"));
        }
        assert!(blosc2(Dtype::Bitmask, 5).unwrap_err().to_string().contains("a whole number of bytes"));
    }
}
