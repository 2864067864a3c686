//! What the pipeline has to do for one object: its stages, their parameters read and checked (FORMAT §4.2, PIPELINE §3 to §5).
//!
//! What cannot be read back is refused here, although the reference writes some of it.

use std::num::NonZeroUsize;

use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter, Key, SzipParams, ZfpMode};
use tgm_core::packing::Packing;
use tgm_core::szip;

use super::defaults::{BLOSC2_LEVEL, ZSTD_LEVEL};
use crate::base::error::{Result, TensogramError};
use crate::base::options::Blosc2Codec;
use crate::codec;
use crate::codec::ErrorBound;
use crate::model::params::{Params, metadata, required};
use crate::model::types::DataObjectDescriptor;

/// The stages of one object.
#[derive(Debug)]
pub(crate) struct Plan {
    /// How values become bit fields, if they do.
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
    /// Reads the stages of a descriptor whose parameters of `simple_packing` are complete.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for names and combinations that are none of the format, or cannot be read back;
    /// [`TensogramError::Metadata`] for parameters that are missing or wrong.
    pub(crate) fn new(descriptor: &DataObjectDescriptor) -> Result<Self> {
        let params = Params(&descriptor.params);
        let packing = match encoding(descriptor)? {
            Encoding::None => None,
            Encoding::SimplePacking => Some(packing(params)?),
        };
        let shuffle = match filter(descriptor)? {
            Filter::None => None,
            Filter::Shuffle => Some(element_size(params)?),
        };
        let compressor = Stages { descriptor, params, packing, shuffle }.compressor()?;
        Ok(Self { packing, shuffle, compressor })
    }

    /// Whether no stage does anything.
    pub(crate) const fn goes_as_it_is(&self) -> bool {
        self.packing.is_none() && self.shuffle.is_none() && matches!(self.compressor, Compressor::None)
    }
}

/// The first stage's name.
///
/// # Errors
/// [`TensogramError::Encoding`] for one that is none of the format.
pub(crate) fn encoding(descriptor: &DataObjectDescriptor) -> Result<Encoding> {
    let name = &descriptor.encoding;
    Encoding::from_name(name).ok_or_else(|| TensogramError::encoding(format!("unknown encoding: {name}")))
}

fn filter(descriptor: &DataObjectDescriptor) -> Result<Filter> {
    let name = &descriptor.filter;
    Filter::from_name(name).ok_or_else(|| TensogramError::encoding(format!("unknown filter: {name}")))
}

/// The third stage's name.
///
/// # Errors
/// [`TensogramError::Encoding`] for one that is none of the format.
pub(crate) fn compression(descriptor: &DataObjectDescriptor) -> Result<Compression> {
    let name = &descriptor.compression;
    Compression::from_name(name).ok_or_else(|| TensogramError::encoding(format!("unknown compression: {name}")))
}

fn packing(params: Params<'_>) -> Result<Packing> {
    let reference_value = required(params.f64(Key::SpReferenceValue)?, Key::SpReferenceValue)?;
    if !reference_value.is_finite() {
        return Err(metadata(format!("sp_reference_value must be finite, got {reference_value}")));
    }
    let bits_per_value = required(params.u32(Key::SpBitsPerValue)?, Key::SpBitsPerValue)?;
    if bits_per_value > 64 {
        return Err(TensogramError::encoding(format!("bits_per_value {bits_per_value} exceeds 64")));
    }
    Ok(Packing {
        reference_value,
        binary_scale_factor: required(params.i32(Key::SpBinaryScaleFactor)?, Key::SpBinaryScaleFactor)?,
        decimal_scale_factor: required(params.i32(Key::SpDecimalScaleFactor)?, Key::SpDecimalScaleFactor)?,
        bits_per_value,
    })
}

fn element_size(params: Params<'_>) -> Result<NonZeroUsize> {
    let size = required(params.u64(Key::ShuffleElementSize)?, Key::ShuffleElementSize)?;
    let size = usize::try_from(size).map_err(|_| metadata("shuffle_element_size out of usize range"))?;
    NonZeroUsize::new(size).ok_or_else(|| TensogramError::encoding("shuffle: element_size must not be 0"))
}

/// The stages before the compressor, which its parameters depend on.
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
        let params = codec::szip::params_of(bits, self.shuffle.is_some(), self.descriptor.dtype, stored);
        params.map(Compressor::Szip).map_err(|error| failure("szip", error))
    }

    fn blosc2(&self) -> Result<Compressor> {
        let name = self.params.text(Key::Blosc2Codec)?.unwrap_or("lz4");
        let codec = Blosc2Codec::from_name(name)
            .ok_or_else(|| TensogramError::encoding(format!("unknown blosc2 codec: {name}")))?;
        let level = self.params.i32(Key::Blosc2Clevel)?.unwrap_or(BLOSC2_LEVEL);
        let level = u8::try_from(level).ok().filter(|level| *level <= 9);
        let level = level.ok_or_else(|| failure("blosc2", "blosc2_clevel must be 0 to 9"))?;
        let typesize = match (self.packing, self.shuffle) {
            (Some(packing), _) => packing.bits_per_value.div_ceil(8),
            (None, Some(_)) => 1,
            (None, None) => u32::try_from(self.descriptor.dtype.byte_width()).unwrap_or(0),
        };
        let typesize = u8::try_from(typesize).ok().filter(|size| *size > 0);
        let typesize = typesize.ok_or_else(|| failure("blosc2", "elements without a whole number of bytes"))?;
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

    /// zfp and sz3 code numbers, and know only doubles: behind other stages, or of another type, they cannot be read back.
    fn values_only(&self, codec: &str) -> Result<()> {
        let dtype = self.descriptor.dtype;
        if dtype != Dtype::Float64 {
            return Err(failure(codec, format!("values are {dtype}: only float64 can be compressed by it")));
        }
        if self.packing.is_some() || self.shuffle.is_some() {
            let (encoding, filter) = (&self.descriptor.encoding, &self.descriptor.filter);
            return Err(failure(codec, format!("encoding {encoding}, filter {filter}: none can stand before it")));
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

/// What a codec said, with its name.
pub(crate) fn failure(codec: &str, error: impl std::fmt::Display) -> TensogramError {
    TensogramError::encoding(format!("{codec} compression: {error}"))
}
