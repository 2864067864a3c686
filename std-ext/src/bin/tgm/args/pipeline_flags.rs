//! Flags that say through which stages values go, and the stages of one object by them.
//!
//! A flag that is not given leaves its stage as it is: none for new objects, what an object has had for others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter, Key, SzipParams, ZfpMode};
use tgm_std::codec::ErrorBound;
use tgm_std::{
    Blosc2Codec, ByteOrder, DEFAULT_SIMPLE_PACKING_BITS, DataObjectDescriptor, EncodeOptions, ObjectBuilder,
    TensogramError,
};

use crate::read::numbers::to_float64;

/// Parameters of `simple_packing`.
const PACKING: [Key; 4] =
    [Key::SpReferenceValue, Key::SpBinaryScaleFactor, Key::SpDecimalScaleFactor, Key::SpBitsPerValue];
/// Bits of packed values that szip takes for its samples.
const SZIP_BITS: [u32; 4] = [8, 16, 24, 32];
/// Parameters of compressors.
const COMPRESSION: [Key; 13] = [
    Key::SzipRsi,
    Key::SzipBlockSize,
    Key::SzipFlags,
    Key::SzipBlockOffsets,
    Key::ZstdLevel,
    Key::Blosc2Codec,
    Key::Blosc2Clevel,
    Key::ZfpMode,
    Key::ZfpRate,
    Key::ZfpPrecision,
    Key::ZfpTolerance,
    Key::Sz3ErrorBoundMode,
    Key::Sz3ErrorBound,
];

/// The stages that are asked for.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Pipeline")]
pub(crate) struct PipelineFlags {
    /// First stage
    #[arg(long, value_parser = PossibleValuesParser::new(Encoding::ALL.iter().map(|stage| stage.name()))
        .try_map(|name| Encoding::from_name(&name).ok_or("unknown")))]
    encoding: Option<Encoding>,
    /// Bits of a packed value, 0 to 64, with szip 8, 16, 24 or 32: asks for simple_packing [default with it: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    bits: Option<u32>,
    /// As few bits as keep each value within this error, for szip whole bytes: asks for simple_packing
    #[arg(long, value_name = "E", value_parser = positive, conflicts_with_all = ["bits", "decimal_scale"])]
    max_error: Option<f64>,
    /// Power of ten that values are multiplied by before they are packed: asks for simple_packing
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    decimal_scale: Option<i32>,
    /// Second stage: shuffle sorts the bytes of elements, or of packed values
    #[arg(long, value_parser = PossibleValuesParser::new(Filter::ALL.iter().map(|stage| stage.name()))
        .try_map(|name| Filter::from_name(&name).ok_or("unknown")))]
    filter: Option<Filter>,
    /// Third stage; rle and roaring are for bitmasks, zfp and sz3 for float64
    #[arg(long, value_parser = PossibleValuesParser::new(Compression::ALL.iter().map(|stage| stage.name()))
        .try_map(|name| Compression::from_name(&name).ok_or("unknown")))]
    compression: Option<Compression>,
    /// Level of zstd, or of blosc2 (0 to 9)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    level: Option<i32>,
    /// zfp, lossy: rate=BITS, precision=PLANES or tolerance=ERROR
    #[arg(long, value_name = "MODE=X", value_parser = zfp)]
    zfp: Option<ZfpMode>,
    /// sz3, lossy: abs=ERROR, rel=PART of the range, or psnr=DECIBELS
    #[arg(long, value_name = "MODE=X", value_parser = sz3)]
    sz3: Option<ErrorBound>,
    /// szip: blocks in an interval, samples in a block, flags [default with szip: 128,16,8]
    #[arg(long, value_name = "RSI,BLOCK,FLAGS", value_parser = szip)]
    szip: Option<SzipParams>,
    /// blosc2, and the codec inside: blosclz, lz4, lz4hc, zlib or zstd
    #[arg(long, value_name = "CODEC", value_parser = blosc2)]
    blosc2: Option<Blosc2Codec>,
    /// Convert values to float64 where a stage takes nothing else
    #[arg(long)]
    convert: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_string())
}

fn mode<'t>(text: &'t str, modes: &str) -> Result<(&'t str, &'t str), String> {
    text.split_once('=').ok_or_else(|| format!("expected one of {modes}"))
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number that can stand here"))
}

fn zfp(text: &str) -> Result<ZfpMode, String> {
    const MODES: &str = "rate=BITS, precision=PLANES, tolerance=ERROR";
    match mode(text, MODES)? {
        ("rate", rate) => positive(rate).map(ZfpMode::FixedRate),
        ("precision", planes) => number(planes).map(ZfpMode::FixedPrecision),
        ("tolerance", error) => positive(error).map(ZfpMode::FixedAccuracy),
        _ => Err(format!("expected one of {MODES}")),
    }
}

fn sz3(text: &str) -> Result<ErrorBound, String> {
    let (name, bound) = mode(text, "abs=ERROR, rel=PART, psnr=DECIBELS")?;
    let bound: f64 = number(bound)?;
    if !bound.is_finite() || bound < 0.0 {
        return Err("a bound is a finite number, not negative".to_string());
    }
    ErrorBound::new(name, bound).map_err(|error| error.to_string())
}

fn szip(text: &str) -> Result<SzipParams, String> {
    let numbers = text.split(',').map(number).collect::<Result<Vec<u32>, _>>()?;
    match numbers.as_slice() {
        &[rsi, block_size, flags] => Ok(SzipParams { rsi, block_size, flags }),
        _ => Err("expected three numbers, RSI,BLOCK,FLAGS".to_string()),
    }
}

fn blosc2(name: &str) -> Result<Blosc2Codec, String> {
    let names = || Blosc2Codec::ALL.iter().map(|codec| codec.name()).collect::<Vec<_>>().join(", ");
    Blosc2Codec::from_name(name).ok_or_else(|| format!("not one of {}", names()))
}

impl PipelineFlags {
    /// Finds contradictions; for new objects, also what they cannot do without.
    ///
    /// # Errors
    /// In words for whoever typed the flags.
    pub(crate) fn check(&self, is_new: bool) -> Result<(), String> {
        if self.encoding == Some(Encoding::None) && self.packs() {
            return Err("--bits, --max-error and --decimal-scale are for --encoding simple_packing".into());
        }
        let implied: Vec<_> = self.implied().collect();
        if let [(first, _), (second, _), ..] = implied.as_slice() {
            return Err(format!("--{first} and --{second} ask for different compressions"));
        }
        if let (Some(&(flag, implied)), Some(asked)) = (implied.first(), self.compression)
            && implied != asked
        {
            return Err(format!("--{flag} is for compression {implied}, not for {asked}"));
        }
        let compression = self.compression();
        if let (Some(bits), Some(Compression::Szip)) = (self.bits, compression)
            && !SZIP_BITS.contains(&bits)
        {
            return Err(format!(
                "szip takes packed values of 8, 16, 24 or 32 bits, not of {bits}: ask for one of these, or for another compression"
            ));
        }
        match compression.or_else(|| is_new.then_some(Compression::None)) {
            Some(Compression::Zfp) if is_new && self.zfp.is_none() => {
                Err("compression zfp needs --zfp rate=, precision= or tolerance=".into())
            }
            Some(Compression::Sz3) if is_new && self.sz3.is_none() => {
                Err("compression sz3 needs --sz3 abs=, rel= or psnr=".into())
            }
            Some(Compression::Blosc2) if self.level.is_some_and(|level| !(0..=9).contains(&level)) => {
                Err("levels of blosc2 are 0 to 9".into())
            }
            Some(Compression::Zstd | Compression::Blosc2) | None => Ok(()),
            Some(other) if self.level.is_some() => Err(format!("--level is for zstd and blosc2, not for {other}")),
            Some(_) => Ok(()),
        }
    }

    /// Whether no flag is given, so that all objects stay as they are.
    pub(crate) const fn is_empty(&self) -> bool {
        let Self {
            encoding, bits, max_error, decimal_scale, filter, compression, level, zfp, sz3, szip, blosc2, ..
        } = self;
        encoding.is_none()
            && bits.is_none()
            && max_error.is_none()
            && decimal_scale.is_none()
            && filter.is_none()
            && compression.is_none()
            && level.is_none()
            && zfp.is_none()
            && sz3.is_none()
            && szip.is_none()
            && blosc2.is_none()
    }

    /// Whether one of the flags asks for packing.
    const fn packs(&self) -> bool {
        self.bits.is_some() || self.max_error.is_some() || self.decimal_scale.is_some()
    }

    /// Flags that ask for a compression by their names.
    fn implied(&self) -> impl Iterator<Item = (&'static str, Compression)> {
        [
            self.zfp.map(|_| ("zfp", Compression::Zfp)),
            self.sz3.map(|_| ("sz3", Compression::Sz3)),
            self.szip.map(|_| ("szip", Compression::Szip)),
            self.blosc2.map(|_| ("blosc2", Compression::Blosc2)),
        ]
        .into_iter()
        .flatten()
    }

    fn compression(&self) -> Option<Compression> {
        self.compression.or_else(|| self.implied().next().map(|(_, compression)| compression))
    }

    /// Gives an object the stages that are asked for. `data` are its values in the descriptor's byte order; they are
    /// converted if a stage needs that and the flags allow it.
    ///
    /// # Errors
    /// For stages that the object cannot have, and for parameters that cannot be derived from its values.
    pub(crate) fn apply<'d>(
        &self,
        descriptor: DataObjectDescriptor,
        data: Cow<'d, [u8]>,
        options: &EncodeOptions,
    ) -> Result<(DataObjectDescriptor, Cow<'d, [u8]>), TensogramError> {
        let mut object = Staging { descriptor, data, converted: false };
        object.descriptor.masks = None;
        let encoding = self.encoding.or(self.packs().then_some(Encoding::SimplePacking));
        let encoding = known(encoding, &object.descriptor.encoding, Encoding::from_name)?;
        let compression = known(self.compression(), &object.descriptor.compression, Compression::from_name)?;
        let filter = known(self.filter, &object.descriptor.filter, Filter::from_name)?;
        let only_float64 = if encoding == Encoding::SimplePacking {
            Some(encoding.name())
        } else {
            matches!(compression, Compression::Zfp | Compression::Sz3).then_some(compression.name())
        };
        if let Some(stage) = only_float64 {
            object.need_float64(stage, self.convert)?;
        }
        let is_packed_anew = self.encode(&mut object, encoding, compression, options)?;
        object.filter(filter, is_packed_anew);
        self.compress(&mut object, compression)?;
        Ok((object.descriptor, object.data))
    }

    /// The first stage. Returns whether what comes out of it may have another width than before.
    fn encode(
        &self,
        object: &mut Staging<'_>,
        encoding: Encoding,
        compression: Compression,
        options: &EncodeOptions,
    ) -> Result<bool, TensogramError> {
        let was_packed = object.descriptor.encoding == Encoding::SimplePacking.name();
        if encoding == Encoding::None {
            object.remove(&PACKING);
            object.descriptor.encoding = Encoding::None.name().to_string();
            return Ok(was_packed);
        }
        if was_packed && !self.packs() {
            return Ok(false);
        }
        let mut bits = self.bits.or_else(|| object.integer(Key::SpBitsPerValue)).unwrap_or(DEFAULT_SIMPLE_PACKING_BITS);
        let decimal = self.decimal_scale.or_else(|| object.integer(Key::SpDecimalScaleFactor));
        let decimal = decimal.filter(|_| self.max_error.is_none()).unwrap_or(0);
        object.remove(&PACKING);
        let has_gaps = (options.allow_nan || options.allow_inf) && !object.is_finite();
        if let Some(error) = self.max_error {
            object.build(|builder| {
                if has_gaps {
                    builder.simple_packing_of_finite_within(error)
                } else {
                    builder.simple_packing_within(error)
                }
            })?;
            let fewest = object.integer(Key::SpBitsPerValue).unwrap_or(bits);
            bits = if compression == Compression::Szip { whole_samples(fewest) } else { fewest };
            object.remove(&PACKING);
        }
        object.build(|builder| {
            if has_gaps {
                return builder.simple_packing_of_finite(bits, decimal);
            }
            Ok(builder.simple_packing(bits).parameter(Key::SpDecimalScaleFactor.name(), decimal))
        })?;
        Ok(true)
    }

    /// The third stage.
    fn compress(&self, object: &mut Staging<'_>, compression: Compression) -> Result<(), TensogramError> {
        let is_new = object.descriptor.compression != compression.name();
        if is_new {
            object.remove(&COMPRESSION);
        }
        object.remove(&[Key::SzipBlockOffsets]);
        object.descriptor.compression = compression.name().to_string();
        match compression {
            Compression::Szip => {
                if is_new {
                    object.build(|builder| Ok(builder.szip()))?;
                }
                if let Some(SzipParams { rsi, block_size, flags }) = self.szip {
                    object.set(Key::SzipRsi, rsi);
                    object.set(Key::SzipBlockSize, block_size);
                    object.set(Key::SzipFlags, flags);
                }
            }
            Compression::Zstd => {
                if let Some(level) = self.level {
                    object.set(Key::ZstdLevel, level);
                }
            }
            Compression::Blosc2 => {
                if let Some(codec) = self.blosc2 {
                    object.set(Key::Blosc2Codec, codec.name());
                }
                if let Some(level) = self.level {
                    object.set(Key::Blosc2Clevel, level);
                }
            }
            Compression::Zfp => match self.zfp {
                Some(mode) => {
                    object.remove(&[Key::ZfpMode, Key::ZfpRate, Key::ZfpPrecision, Key::ZfpTolerance]);
                    object.build(|builder| Ok(builder.zfp(mode)))?;
                }
                None if is_new => return Err(encoding_error("compression zfp needs --zfp")),
                None => {}
            },
            Compression::Sz3 => match self.sz3 {
                Some(bound) => object.build(|builder| Ok(builder.sz3(bound)))?,
                None if is_new => return Err(encoding_error("compression sz3 needs --sz3")),
                None => {}
            },
            Compression::None | Compression::Lz4 | Compression::Rle | Compression::Roaring => {}
        }
        if self.level.is_some() && !matches!(compression, Compression::Zstd | Compression::Blosc2) {
            return Err(encoding_error(format!("--level is for zstd and blosc2, and compression is {compression}")));
        }
        Ok(())
    }
}

/// The fewest bits of a packed value, not less than `bits`, that szip can take for samples.
const fn whole_samples(bits: u32) -> u32 {
    if bits == 0 { 8 } else { bits.next_multiple_of(8) }
}

/// What is asked for, or else the name that an object has for a stage.
fn known<K>(asked: Option<K>, name: &str, from_name: fn(&str) -> Option<K>) -> Result<K, TensogramError> {
    let known = asked.or_else(|| from_name(name));
    known.ok_or_else(|| encoding_error(format!("{name} is no stage of the format")))
}

fn encoding_error(text: impl Into<String>) -> TensogramError {
    TensogramError::Encoding(text.into().into())
}

/// Whether values went through a stage that does not give back what it got.
pub(crate) fn is_lossy(descriptor: &DataObjectDescriptor) -> bool {
    let compression = Compression::from_name(&descriptor.compression);
    descriptor.encoding == Encoding::SimplePacking.name()
        || matches!(compression, Some(Compression::Zfp | Compression::Sz3))
}

/// An object on its way through the flags.
struct Staging<'d> {
    descriptor: DataObjectDescriptor,
    data: Cow<'d, [u8]>,
    converted: bool,
}

impl Staging<'_> {
    fn set(&mut self, key: Key, value: impl Into<ciborium::Value>) {
        self.descriptor.params.insert(key.name().to_string(), value.into());
    }

    /// A parameter that is an integer.
    fn integer<T: TryFrom<i128>>(&self, key: Key) -> Option<T> {
        let integer = self.descriptor.params.get(key.name())?.as_integer()?;
        T::try_from(i128::from(integer)).ok()
    }

    fn remove(&mut self, keys: &[Key]) {
        let params: &mut BTreeMap<_, _> = &mut self.descriptor.params;
        for key in keys {
            params.remove(key.name());
        }
    }

    /// Lets a builder set parameters.
    fn build(
        &mut self,
        with: impl FnOnce(ObjectBuilder<'_>) -> Result<ObjectBuilder<'_>, TensogramError>,
    ) -> Result<(), TensogramError> {
        let built = with(ObjectBuilder::from_parts(self.descriptor.clone(), &*self.data))?;
        self.descriptor = built.descriptor().clone();
        Ok(())
    }

    fn need_float64(&mut self, stage: &str, may_convert: bool) -> Result<(), TensogramError> {
        let (dtype, order) = (self.descriptor.dtype, self.descriptor.byte_order);
        if dtype == Dtype::Float64 {
            return Ok(());
        }
        if !may_convert {
            return Err(encoding_error(format!(
                "{stage} takes float64 only, and values are {dtype}: --convert converts them"
            )));
        }
        self.data = Cow::Owned(to_float64(dtype, order, &self.data)?);
        self.descriptor.dtype = Dtype::Float64;
        self.descriptor.byte_order = ByteOrder::NATIVE;
        self.converted = true;
        Ok(())
    }

    /// Whether all values, which are float64, are finite.
    fn is_finite(&self) -> bool {
        let values: &[[u8; 8]] = self.data.as_chunks().0;
        let load = match self.descriptor.byte_order {
            ByteOrder::Big => f64::from_be_bytes,
            ByteOrder::Little => f64::from_le_bytes,
        };
        values.iter().all(|bytes| load(*bytes).is_finite())
    }

    /// The second stage.
    fn filter(&mut self, filter: Filter, is_packed_anew: bool) {
        let was_shuffled = self.descriptor.filter == Filter::Shuffle.name();
        if filter == Filter::None {
            self.remove(&[Key::ShuffleElementSize]);
            self.descriptor.filter = Filter::None.name().to_string();
        } else if !was_shuffled || is_packed_anew || self.converted {
            // A builder derives the width of elements from what came before.
            let built = ObjectBuilder::from_parts(self.descriptor.clone(), &[][..]).shuffle();
            self.descriptor = built.descriptor().clone();
        }
    }
}
