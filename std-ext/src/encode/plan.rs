//! The stages of one object, with their parameters read and checked (FORMAT §4.2, PIPELINE §3 to §5).
//!
//! Combinations that no reader can decode are refused here. The reference writes some of them.

use std::num::NonZeroUsize;

use tgm_codec::shuffle;
use tgm_codec::{CodecError, ErrorBound};
use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter, Key, SzipParams, ZfpMode};
use tgm_core::packing::Packing;
use tgm_core::szip;

use super::defaults::{BLOSC2_LEVEL, ZSTD_LEVEL};
use crate::base::error::{Result, TensogramError};
use crate::base::options::Blosc2Codec;
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
    pub(crate) compressor: Compressor,
}

/// The third stage.
#[derive(Debug)]
pub(crate) enum Compressor {
    None,
    Szip(szip::Params),
    Zstd { level: i32 },
    Lz4,
    Blosc2 { codec: Blosc2Codec, level: u8, typesize: u8 },
    Zfp(ZfpMode),
    Sz3(ErrorBound),
    Rle,
    Roaring,
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
        let compressor = Stages { descriptor, params, packing, shuffle }.compressor()?;
        Ok(Self { packing, shuffle, compressor })
    }

    /// Whether there is no stage, so that the payload is the data.
    pub(crate) const fn has_no_stage(&self) -> bool {
        self.packing.is_none() && self.shuffle.is_none() && matches!(self.compressor, Compressor::None)
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

/// The stages before the compressor. Its parameters depend on them.
struct Stages<'a> {
    descriptor: &'a DataObjectDescriptor,
    params: Params<'a>,
    packing: Option<Packing>,
    shuffle: Option<NonZeroUsize>,
}

impl Stages<'_> {
    fn compressor(&self) -> Result<Compressor> {
        match compression(self.descriptor)? {
            Compression::None => Ok(Compressor::None),
            Compression::Lz4 => Ok(Compressor::Lz4),
            Compression::Zstd => Ok(Compressor::Zstd { level: self.params.i32(Key::ZstdLevel)?.unwrap_or(ZSTD_LEVEL) }),
            Compression::Szip => self.szip(),
            Compression::Blosc2 => self.blosc2(),
            Compression::Zfp => self.zfp(),
            Compression::Sz3 => self.sz3(),
            Compression::Rle => self.bitmask_only("rle").map(|()| Compressor::Rle),
            Compression::Roaring => self.bitmask_only("roaring").map(|()| Compressor::Roaring),
        }
    }

    fn szip(&self) -> Result<Compressor> {
        let stored = SzipParams {
            rsi: required(self.params.u32(Key::SzipRsi)?, Key::SzipRsi)?,
            block_size: required(self.params.u32(Key::SzipBlockSize)?, Key::SzipBlockSize)?,
            flags: required(self.params.u32(Key::SzipFlags)?, Key::SzipFlags)?,
        };
        let bits = self.packing.map(|packing| packing.bits_per_value);
        let params = tgm_codec::szip::params_of(bits, self.shuffle.is_some(), self.descriptor.dtype, stored);
        params.map(Compressor::Szip).map_err(|error| failure("szip", error))
    }

    fn blosc2(&self) -> Result<Compressor> {
        let name = self.params.text(Key::Blosc2Codec)?.unwrap_or("lz4");
        let codec = Blosc2Codec::from_name(name)
            .ok_or_else(|| TensogramError::encoding(format!("unknown blosc2 codec: {name}")))?;
        let level = self.params.i32(Key::Blosc2Clevel)?.unwrap_or(BLOSC2_LEVEL);
        let level = u8::try_from(level).ok().filter(|level| *level <= 9);
        let level = level.ok_or_else(|| failure("blosc2", CodecError::new("blosc2_clevel must be 0 to 9")))?;
        let typesize = match (self.packing, self.shuffle) {
            (Some(packing), _) => packing.bits_per_value.div_ceil(8),
            (None, Some(_)) => 1,
            (None, None) => u32::try_from(self.descriptor.dtype.byte_width()).unwrap_or(0),
        };
        let typesize = u8::try_from(typesize).ok().filter(|size| *size > 0);
        let typesize =
            typesize.ok_or_else(|| failure("blosc2", CodecError::new("elements without a whole number of bytes")))?;
        Ok(Compressor::Blosc2 { codec, level, typesize })
    }

    fn zfp(&self) -> Result<Compressor> {
        self.values_only("zfp")?;
        let mode = match required(self.params.text(Key::ZfpMode)?, Key::ZfpMode)? {
            "fixed_rate" => ZfpMode::FixedRate(required(self.params.f64(Key::ZfpRate)?, Key::ZfpRate)?),
            "fixed_precision" => {
                ZfpMode::FixedPrecision(required(self.params.u32(Key::ZfpPrecision)?, Key::ZfpPrecision)?)
            }
            "fixed_accuracy" => {
                ZfpMode::FixedAccuracy(required(self.params.f64(Key::ZfpTolerance)?, Key::ZfpTolerance)?)
            }
            other => return Err(TensogramError::encoding(format!("unknown zfp_mode: {other}"))),
        };
        Ok(Compressor::Zfp(mode))
    }

    fn sz3(&self) -> Result<Compressor> {
        self.values_only("sz3")?;
        let mode = required(self.params.text(Key::Sz3ErrorBoundMode)?, Key::Sz3ErrorBoundMode)?;
        let bound = required(self.params.f64(Key::Sz3ErrorBound)?, Key::Sz3ErrorBound)?;
        ErrorBound::new(mode, bound).map(Compressor::Sz3).map_err(|error| failure("sz3", error))
    }

    /// Checks the input of zfp and sz3, which compress float64 numbers: other stages before them, and other types,
    /// could not be decoded.
    fn values_only(&self, codec: &str) -> Result<()> {
        let dtype = self.descriptor.dtype;
        if dtype != Dtype::Float64 {
            return Err(failure(
                codec,
                CodecError::new(format!("values are {dtype}: only float64 can be compressed by it")),
            ));
        }
        if self.packing.is_some() || self.shuffle.is_some() {
            let (encoding, filter) = (&self.descriptor.encoding, &self.descriptor.filter);
            return Err(failure(
                codec,
                CodecError::new(format!("encoding {encoding}, filter {filter}: none can stand before it")),
            ));
        }
        Ok(())
    }

    fn bitmask_only(&self, codec: &str) -> Result<()> {
        match self.descriptor.dtype {
            Dtype::Bitmask => Ok(()),
            dtype => Err(TensogramError::encoding(format!(
                "compression \"{codec}\" only supports dtype=bitmask, got dtype={dtype}"
            ))),
        }
    }
}

/// The error of a codec, with its name.
pub(crate) fn failure(codec: &str, error: CodecError) -> TensogramError {
    error.in_codec(codec).into()
}

#[cfg(test)]
mod tests {
    use tgm_core::descriptor::ByteOrder;

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
            let plan = blosc2(Dtype::Float32, level).unwrap();
            assert!(
                matches!(plan.compressor, Compressor::Blosc2 { typesize: 4, level: l, .. } if i32::from(l) == level)
            );
        }
        for level in [-1, 10, 256] {
            assert!(blosc2(Dtype::Float32, level).unwrap_err().to_string().contains("blosc2_clevel must be 0 to 9"));
        }
        assert!(blosc2(Dtype::Bitmask, 5).unwrap_err().to_string().contains("a whole number of bytes"));
    }
}
