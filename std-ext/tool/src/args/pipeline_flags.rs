//! Flags that choose the stages of the pipeline.
//!
//! A stage without a flag stays as it is. New objects begin without stages.

mod best;
mod rounding;
mod staging;

use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use tgm_core::descriptor::{Compression, Encoding, Filter, SzipParams, ZfpMode};
use tgm_std::Blosc2Codec;
use tgm_std::codec::about::{About, Level};
use tgm_std::codec::{self, Codec, ErrorBound};

use crate::args::RARE;

pub(crate) use staging::is_lossy;

/// Widths of packed values that szip takes as samples.
const SZIP_BITS: [u32; 4] = [8, 16, 24, 32];

/// Flags that choose the stages of the pipeline.
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
    /// The fewest bits that keep each value within this error, with szip whole bytes: asks for simple_packing
    #[arg(long, value_name = "E", value_parser = positive, conflicts_with_all = ["bits", "decimal_scale"])]
    max_error: Option<f64>,
    /// Power of ten that values are multiplied by before they are packed: asks for simple_packing
    #[arg(long, help_heading = RARE, value_name = "D", allow_negative_numbers = true)]
    decimal_scale: Option<i32>,
    /// Second stage: shuffle sorts the bytes of elements, or of packed values
    #[arg(long, value_parser = PossibleValuesParser::new(Filter::ALL.iter().map(|stage| stage.name()))
        .try_map(|name| Filter::from_name(&name).ok_or("unknown")))]
    filter: Option<Filter>,
    /// Third stage; rle and roaring are for bitmasks, zfp and sz3 for float64
    #[arg(long, value_parser = PossibleValuesParser::new(Compression::ALL.iter().map(|stage| stage.name()))
        .try_map(|name| Compression::from_name(&name).ok_or("unknown")))]
    compression: Option<Compression>,
    /// Level of zstd (up to 22), or of blosc2 (0 to 9)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    level: Option<i32>,
    /// zfp, lossy: rate=BITS, precision=PLANES or tolerance=ERROR
    #[arg(long, help_heading = RARE, value_name = "MODE=X", value_parser = zfp)]
    zfp: Option<ZfpMode>,
    /// sz3, lossy: abs=ERROR, rel=PART of the range, or psnr=DECIBELS
    #[arg(long, help_heading = RARE, value_name = "MODE=X", value_parser = sz3)]
    sz3: Option<ErrorBound>,
    /// szip: blocks in an interval, samples in a block, flags [default with szip: 128,16,8]
    #[arg(long, help_heading = RARE, value_name = "RSI,BLOCK,FLAGS", value_parser = szip)]
    szip: Option<SzipParams>,
    /// blosc2, and the codec inside: blosclz, lz4, lz4hc, zlib or zstd
    #[arg(long, help_heading = RARE, value_name = "CODEC", value_parser = blosc2)]
    blosc2: Option<Blosc2Codec>,
    /// Convert values to float64 where a stage takes nothing else
    #[arg(long)]
    convert: bool,
    /// Try the lossless second and third stages on a part of each object, and take the smallest
    #[arg(long, conflicts_with_all = ["filter", "compression", "level", "zfp", "sz3", "szip", "blosc2"])]
    best: bool,
    /// Try no further after this time: objects then get the stages that were best for the last one of their type
    #[arg(long, help_heading = RARE, value_name = "SECONDS", requires = "best", value_parser = seconds)]
    budget: Option<Duration>,
    /// What `--best` has found.
    #[arg(skip)]
    trials: best::Trials,
    /// How far packed values are from what they were.
    #[arg(skip)]
    rounding: rounding::Rounding,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds, from 0 on".to_string())
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

/// Finds a width of packed values that szip does not take.
fn check_szip_bits(bits: u32) -> Result<(), String> {
    if SZIP_BITS.contains(&bits) {
        return Ok(());
    }
    Err(format!(
        "szip takes packed values of 8, 16, 24 or 32 bits, not of {bits}: ask for one of these, or for another compression"
    ))
}

impl PipelineFlags {
    /// Finds flags that contradict each other. For new objects, also finds flags that are missing.
    ///
    /// # Errors
    /// A sentence for the user.
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
        if let (Some(bits), Some(Compression::Szip)) = (self.bits, compression) {
            check_szip_bits(bits)?;
        }
        match compression.or_else(|| is_new.then_some(Compression::None)) {
            Some(Compression::Zfp) if is_new && self.zfp.is_none() => {
                Err("compression zfp needs --zfp rate=, precision= or tolerance=".into())
            }
            Some(Compression::Sz3) if is_new && self.sz3.is_none() => {
                Err("compression sz3 needs --sz3 abs=, rel= or psnr=".into())
            }
            Some(compression) => self.check_level(compression),
            None => Ok(()),
        }
    }

    /// Finds a level that the compression does not have.
    fn check_level(&self, compression: Compression) -> Result<(), String> {
        let Some(level) = self.level else { return Ok(()) };
        let Some(Level { least, most, .. }) = codec::find(compression).and_then(|codec| codec.about().level) else {
            let with = codec::all().map(Codec::about).filter(|about| about.level.is_some()).map(About::name);
            return Err(format!("--level is for {}, not for {compression}", with.collect::<Vec<_>>().join(" and ")));
        };
        if (least..=most).contains(&level) {
            return Ok(());
        }
        Err(format!("levels of {compression} are {least} to {most}"))
    }

    /// Whether no stage is named. Then all objects stay as they are.
    pub(crate) const fn is_empty(&self) -> bool {
        let Self {
            encoding,
            bits,
            max_error,
            decimal_scale,
            filter,
            compression,
            level,
            zfp,
            sz3,
            szip,
            blosc2,
            best,
            ..
        } = self;
        !*best
            && encoding.is_none()
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

    /// Whether the flags ask for a compression.
    pub(crate) fn compresses(&self) -> bool {
        self.compression().is_some_and(|compression| compression != Compression::None)
    }

    /// Whether the flags make floats of integers, or pack values anew.
    #[cfg(any(feature = "netcdf", feature = "zarr"))]
    pub(crate) const fn makes_floats(&self) -> bool {
        self.convert || self.packs() || matches!(self.encoding, Some(Encoding::SimplePacking))
    }

    /// Whether one of the flags asks for packing.
    const fn packs(&self) -> bool {
        self.bits.is_some() || self.max_error.is_some() || self.decimal_scale.is_some()
    }

    /// Whether some flag asks for stages that change values.
    pub(crate) fn is_lossy(&self) -> bool {
        let compression = self.compression().and_then(codec::find);
        self.packs()
            || self.encoding == Some(Encoding::SimplePacking)
            || compression.is_some_and(|codec| codec.about().is_lossy)
    }

    /// These flags without those that change values.
    fn lossless(&self) -> Self {
        let encoding = self.encoding.filter(|encoding| *encoding != Encoding::SimplePacking);
        let is_lossy =
            |compression: &Compression| codec::find(*compression).is_some_and(|codec| codec.about().is_lossy);
        let compression = self.compression.filter(|compression| !is_lossy(compression));
        let (bits, max_error, decimal_scale, zfp, sz3) = (None, None, None, None, None);
        Self { encoding, bits, max_error, decimal_scale, compression, zfp, sz3, ..self.clone() }
    }

    /// The given flags that imply a compression, with that compression.
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
}
