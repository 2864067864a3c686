//! The stages of an object.

use arbitrary::{Result, Unstructured};
use tgm_core::descriptor::{Compression, Dtype, Key, ZfpMode};
use tgm_std::codec::about::{About, Input, Support};
use tgm_std::codec::{self, Codec, ErrorBound};
use tgm_std::options::Blosc2Codec;
use tgm_std::{DataObjectDescriptor, ObjectBuilder};

use crate::once_in;

/// The stages that the values of an object go through, with their parameters.
///
/// ```
/// use tgm_std::core::descriptor::Dtype;
/// use tgm_arbitrary::Pipeline;
/// use tgm_arbitrary::arbitrary::Unstructured;
/// use tgm_std::{MessageBuilder, ObjectBuilder};
///
/// let pipeline = Pipeline::for_dtype(Dtype::Float64, &mut Unstructured::new(b"bytes of the fuzzer"))?;
/// let object = pipeline.apply(ObjectBuilder::new(&[3], &[1.0, 2.5, 4.0])?)?;
/// let message = MessageBuilder::new().object(object).encode()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pipeline {
    packed: Option<Packed>,
    shuffled: bool,
    compressed: Compressed,
}

/// simple_packing.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Packed {
    bits: u32,
    decimal_scale_factor: i32,
}

/// The third stage.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Compressed {
    None,
    Szip {
        rsi: u32,
        block_size: u32,
    },
    Zstd {
        level: i32,
    },
    Lz4,
    Blosc2 {
        codec: Blosc2Codec,
        level: u8,
    },
    Zfp(ZfpMode),
    Sz3(ErrorBound),
    Rle,
    Roaring,
    /// A codec that needs no parameters, and is none of these.
    Other(Compression),
}

/// What this build encodes with a codec.
pub(super) fn encoding(compression: Compression) -> Support {
    codec::find(compression).map_or(Support::Whole, |codec| codec.about().encoding)
}

/// Whether this build encodes with a codec.
pub(super) fn encodes(compression: Compression) -> bool {
    encoding(compression).is_any()
}

/// Codecs of the registry that have no variant of [`Compressed`].
fn others() -> impl Iterator<Item = &'static About> {
    use Compression::{Blosc2, Lz4, None, Rle, Roaring, Sz3, Szip, Zfp, Zstd};

    let abouts = codec::all().map(Codec::about).filter(|about| about.encoding.is_any() && about.usual.is_some());
    abouts.filter(|about| !matches!(about.compression, None | Szip | Zstd | Lz4 | Blosc2 | Zfp | Sz3 | Rle | Roaring))
}

impl Pipeline {
    /// The pipeline without any stage.
    pub const PLAIN: Self = Self { packed: None, shuffled: false, compressed: Compressed::None };

    /// A pipeline for values of `dtype`, out of all that this build can encode.
    ///
    /// # Errors
    /// None: without bytes left it is [`Self::PLAIN`]. `Result` is what [`Unstructured`] returns.
    pub fn for_dtype(dtype: Dtype, u: &mut Unstructured<'_>) -> Result<Self> {
        let packed = if dtype == Dtype::Float64 && u.ratio(2_u8, 5)? { Some(Packed::arbitrary(u)?) } else { None };
        // Shuffled packed values have whole bytes.
        let is_in_bytes = packed.is_none_or(|packed| packed.bits.is_multiple_of(8));
        let shuffled = dtype != Dtype::Bitmask && is_in_bytes && u.ratio(1_u8, 4)?;
        let mut choices = vec![Compressed::None];
        if encodes(Compression::Zstd) {
            choices.push(Compressed::Zstd { level: *u.choose(&[1, 3, -5, 6])? });
        }
        if encodes(Compression::Lz4) {
            choices.push(Compressed::Lz4);
        }
        // The elements of blosc2 are whole bytes.
        if encodes(Compression::Blosc2) && dtype != Dtype::Bitmask {
            choices.push(Compressed::Blosc2 { codec: *u.choose(&Blosc2Codec::ALL)?, level: u.int_in_range(0..=9)? });
        }
        // The samples of szip are packed values, shuffled or not.
        let of_bytes = if shuffled { 8 } else { 8 * dtype.byte_width() };
        let sample = packed.map_or(of_bytes, |packed| packed.bits as usize);
        if (8..=32).contains(&sample) && sample.is_multiple_of(8) {
            let (rsi, block_size) = (*u.choose(&[128, 1, 2, 7, 4096])?, *u.choose(&[16, 8, 32, 64])?);
            choices.push(Compressed::Szip { rsi, block_size });
        }
        if dtype == Dtype::Bitmask {
            choices.push(Compressed::Rle);
            if encodes(Compression::Roaring) {
                choices.push(Compressed::Roaring);
            }
        }
        if dtype == Dtype::Float64 && packed.is_none() && !shuffled {
            let modes = [
                ZfpMode::FixedAccuracy(0.125),
                ZfpMode::FixedRate(16.0),
                ZfpMode::FixedPrecision(40),
                ZfpMode::FixedAccuracy(1e-3),
            ];
            choices.push(Compressed::Zfp(*u.choose(&modes)?));
            match encoding(Compression::Sz3) {
                Support::Whole => choices.push(Compressed::Sz3(ErrorBound::Absolute(*u.choose(&[0.0, 0.01, 1.0])?))),
                Support::Lossless(_) => choices.push(Compressed::Sz3(ErrorBound::Absolute(0.0))),
                Support::Lacking(_) => {}
            }
        }
        choices.extend(
            others().filter(|about| about.input == Input::Bytes).map(|about| Compressed::Other(about.compression)),
        );
        Ok(Self { packed, shuffled, compressed: *u.choose(&choices)? })
    }

    /// Says to `object` what its stages are. Parameters of simple_packing are those that suit its finite values.
    ///
    /// # Errors
    /// The errors of [`ObjectBuilder::simple_packing_of_finite`].
    pub fn apply(self, object: ObjectBuilder<'_>) -> tgm_std::Result<ObjectBuilder<'_>> {
        let object = match self.packed {
            Some(packed) => object.simple_packing_of_finite(packed.bits, packed.decimal_scale_factor)?,
            None => object,
        };
        let object = if self.shuffled { object.shuffle() } else { object };
        Ok(match self.compressed {
            Compressed::None => object,
            Compressed::Szip { rsi, block_size } => {
                object.szip().parameter(Key::SzipRsi.name(), rsi).parameter(Key::SzipBlockSize.name(), block_size)
            }
            Compressed::Zstd { level } => object.zstd(level),
            Compressed::Lz4 => object.lz4(),
            Compressed::Blosc2 { codec, level } => object.blosc2(codec, level),
            Compressed::Zfp(mode) => object.zfp(mode),
            Compressed::Sz3(bound) => object.sz3(bound),
            Compressed::Rle => object.rle(),
            Compressed::Roaring => object.roaring(),
            Compressed::Other(compression) => object.compression(compression),
        })
    }

    /// Whether every finite value is kept to the bit.
    pub fn is_lossless(self) -> bool {
        let is_exact = match self.compressed {
            Compressed::Zfp(_) => false,
            Compressed::Sz3(bound) => bound == ErrorBound::Absolute(0.0),
            _ => true,
        };
        self.packed.is_none() && is_exact
    }

    /// Whether encoding refuses an object without elements.
    pub(super) const fn needs_elements(self) -> bool {
        matches!(self.compressed, Compressed::Sz3(_) | Compressed::Blosc2 { .. })
    }

    /// Whether encoding succeeds for any values. Other pipelines refuse values that they cannot hold.
    pub const fn takes_any_values(self) -> bool {
        self.packed.is_none() && !matches!(self.compressed, Compressed::Zfp(_) | Compressed::Sz3(_))
    }

    /// The largest change of a value of an object with this descriptor, beside rounding; `None` if there is no such
    /// bound. Values that zfp keeps to this are of moderate size.
    pub fn largest_change(self, descriptor: &DataObjectDescriptor) -> Option<f64> {
        if self.packed.is_some() {
            let exponent = |key: Key| {
                let value = descriptor.params.get(key.name())?.as_integer()?;
                i32::try_from(value).ok()
            };
            let (binary, decimal) = (exponent(Key::SpBinaryScaleFactor)?, exponent(Key::SpDecimalScaleFactor)?);
            return Some(2_f64.powi(binary) * 10_f64.powi(decimal.saturating_neg()));
        }
        match self.compressed {
            Compressed::Zfp(ZfpMode::FixedAccuracy(bound)) | Compressed::Sz3(ErrorBound::Absolute(bound)) => {
                Some(bound)
            }
            Compressed::Zfp(_) | Compressed::Sz3(_) => None,
            _ => Some(0.0),
        }
    }
}

impl Packed {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        let bits = if u.ratio(1_u8, 2)? { *u.choose(&[16, 8, 24, 32])? } else { u.int_in_range(1..=48)? };
        let decimal_scale_factor = if once_in(4, u)? { u.int_in_range(-3..=3)? } else { 0 };
        Ok(Self { bits, decimal_scale_factor })
    }
}
