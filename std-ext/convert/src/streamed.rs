//! What formats share whose files are read piece by piece.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use ciborium::Value;
use tgm_core::descriptor::{Compression, Encoding, Filter, Key};
use tgm_std::codec::szip::{BLOCK_SIZE, RSI};
use tgm_std::codec::threads::Threads;
use tgm_std::pipeline::encode_pipeline;
use tgm_std::{DataObjectDescriptor, DecodeLimits, EncodeOptions, MaskMethod, Result};

use tgm_dataset::reading::{List, Numbers, Packed};

use crate::pieces::Chunks;

/// The least level of zstd for values that are few different numbers, in an order that a table of numbers has not. Level 9 takes a
/// fiftieth less room, and four times as long.
const LEVEL_OF_REPEATED: i32 = 4;
/// Bytes of values that say which stages are best. Numbers that come again far away need so many.
const TRIED: usize = 4 << 20;
/// Fewer bytes are not worth a trial.
const LEAST: usize = 4 << 10;

/// What becomes a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// The file.
    #[default]
    File,
    /// Each index of the unlimited dimension, with the variables that have it as their first dimension. The variables
    /// without it are in a message before.
    Record,
}

/// Options of the conversions from NetCDF and Zarr.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// What becomes a message, of NetCDF. Each array of Zarr becomes one.
    pub split: Split,
    /// What becomes an object of an array that is not split into records. Truth values of NetCDF are one object.
    pub chunks: Chunks,
    /// The level of zstd for the objects, whose bytes are shuffled before. Values that were packed integers are compressed by zstd of
    /// a higher level or by szip, where that is shorter. `None` stores values as they are.
    pub zstd_level: Option<i32>,
    /// Stages of the objects, in place of those that `zstd_level` chooses.
    pub stages: Option<OwnStages>,
    /// Integers with `scale_factor` or `add_offset` stay integers, with these attributes beside them, and are not made values.
    pub keep_packed: bool,
    /// Options for encoding. By default NaN and infinities are allowed. A variable that has some, where they are not, is reported.
    pub encode: EncodeOptions,
    /// How many threads read, decode and encode side by side. 0 and 1 stand for the calling thread. The messages do not depend on it.
    pub threads: u32,
    /// Limits on the values of a variable, for which a whole file of NetCDF counts as stored bytes, or on decoding a chunk of Zarr;
    /// and on the number of records and chunks.
    pub limits: DecodeLimits,
}

impl Default for ReadOptions {
    fn default() -> Self {
        let (split, chunks, encode) = (Split::File, Chunks::Fit, encode_options());
        let (stages, limits) = (None, DecodeLimits::default());
        Self { split, chunks, zstd_level: Some(3), stages, keep_packed: false, encode, threads: 1, limits }
    }
}

/// Options for encoding. NaN and infinities are allowed, with masks in the best form of this build.
fn encode_options() -> EncodeOptions {
    EncodeOptions {
        allow_nan: true,
        allow_inf: true,
        nan_mask_method: MaskMethod::of_build(),
        pos_inf_mask_method: MaskMethod::of_build(),
        neg_inf_mask_method: MaskMethod::of_build(),
        ..EncodeOptions::default()
    }
}

/// A descriptor with the stages of an object, and the values that it is encoded from.
type Staged<'v> = (DataObjectDescriptor, Cow<'v, [u8]>);
type SetStages =
    dyn for<'v> Fn(Subject, DataObjectDescriptor, Cow<'v, [u8]>, &EncodeOptions) -> Result<Staged<'v>> + Send + Sync;

/// What an object is in its dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Values that people measure or compute.
    Data,
    /// Values that only mean something if they are exact: times, latitudes, bounds and the like, which data are found by
    /// ([`tgm_dataset::coordinates_by`]), and codes ([`tgm_dataset::are_codes`]).
    Exact,
}

/// Stages of objects that the caller sets, in place of those that a converter chooses.
#[derive(Clone)]
pub struct OwnStages(Arc<SetStages>);

impl OwnStages {
    /// The function gets what the object is, its descriptor without stages, its values in the byte order that the descriptor has, and the
    /// options for encoding. It gives the descriptor with stages, and the values that they take. Several threads call it at the same
    /// time. A variable for which it fails is reported as one that cannot be converted.
    pub fn new(
        set: impl for<'v> Fn(Subject, DataObjectDescriptor, Cow<'v, [u8]>, &EncodeOptions) -> Result<Staged<'v>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(set))
    }
}

impl fmt::Debug for OwnStages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnStages")
    }
}

/// Gives an object the caller's stages, or the stages that fit its values, and encodes it. `packed` says how values that were packed
/// integers are packed again, and `is_scaled` and `chosen` are as in [`compress`].
///
/// # Errors
/// The errors of the caller's stages, and of encoding.
pub(super) fn encoded(
    options: &ReadOptions,
    subject: Subject,
    (mut descriptor, values): (DataObjectDescriptor, Vec<u8>),
    (packed, is_scaled): (Option<Packed>, bool),
    chosen: Option<&Chosen>,
) -> Result<(DataObjectDescriptor, Vec<u8>)> {
    if let Some(OwnStages(set)) = &options.stages {
        let (descriptor, values) = set(subject, descriptor, values.into(), &options.encode)?;
        return encode_pipeline(&descriptor, &values, &options.encode);
    }
    if let Some(packed) = packed {
        packed.describe(&mut descriptor);
    }
    if let Some(level) = options.zstd_level {
        compress(&mut descriptor, &values, (level, is_scaled), chosen);
    }
    encode_pipeline(&descriptor, &values, &options.encode)
}

/// Bytes of values that are read and encoded side by side. An object may have more.
pub(super) const TOGETHER: u64 = 128 << 20;

/// How many objects are read and encoded side by side: several for each thread, so that a slow one delays the others less. What one
/// thread makes is written before it makes more.
pub(super) fn side_by_side(threads: Threads) -> usize {
    const EACH: usize = 4;
    if threads.is_one() { 1 } else { usize::try_from(threads.count()).unwrap_or(1).saturating_mul(EACH) }
}

/// The stages that were best for the first piece of an array, and the bits of its packed numbers. They serve the others, so that not
/// each of them is compressed in several ways. The first piece is made before the others: so objects do not depend on threads.
#[derive(Debug, Default)]
pub(super) struct Chosen(OnceLock<(Option<u64>, Stages)>);

/// Lossless stages after the encoding.
#[derive(Clone, Copy, Debug)]
enum Stages {
    /// Bytes sorted by their place in elements of this size, then zstd.
    Shuffled(u64, i32),
    /// zstd alone.
    Plain(i32),
    Szip,
}

impl Stages {
    fn set(self, descriptor: &mut DataObjectDescriptor) {
        match self {
            Self::Shuffled(size, level) => {
                if size > 1 {
                    descriptor.filter = Filter::Shuffle.name().to_string();
                    descriptor.set_param(Key::ShuffleElementSize, size);
                }
                Self::Plain(level).set(descriptor);
            }
            Self::Plain(level) => {
                descriptor.compression = Compression::Zstd.name().to_string();
                descriptor.set_param(Key::ZstdLevel, level);
            }
            Self::Szip => {
                descriptor.compression = Compression::Szip.name().to_string();
                descriptor.set_param(Key::SzipRsi, RSI);
                descriptor.set_param(Key::SzipBlockSize, BLOCK_SIZE);
                descriptor.set_param(Key::SzipFlags, tgm_core::szip::flags::PREPROCESS);
            }
        }
    }

    /// Bytes that a part of the values takes. `None` if they cannot have these stages.
    fn tried(self, part: &DataObjectDescriptor, values: &[u8]) -> Option<usize> {
        let mut part = part.clone();
        self.set(&mut part);
        encode_pipeline(&part, values, &encode_options()).ok().map(|(_, region)| region.len())
    }
}

/// Lets a codec without loss compress an object. zstd has this level, or a higher one.
///
/// Bytes are shuffled before zstd. If `is_scaled`, values are packed integers that a scale made floating-point numbers of: their
/// low bytes look random, but the numbers come again. Then, and for values and integers that stay packed, other stages are tried too,
/// on a part of the values, unless they were `chosen` for an earlier piece.
fn compress(
    descriptor: &mut DataObjectDescriptor,
    values: &[u8],
    (level, is_scaled): (i32, bool),
    chosen: Option<&Chosen>,
) {
    let width = descriptor.dtype.byte_width();
    let bits = descriptor.params.get(Key::SpBitsPerValue.name()).and_then(Value::as_integer);
    let bits = bits.and_then(|bits| u64::try_from(bits).ok());
    let bits = bits.filter(|_| descriptor.encoding == Encoding::SimplePacking.name());
    if let Some((_, stages)) = chosen.and_then(|it| it.0.get()).filter(|(known, _)| *known == bits) {
        stages.set(descriptor);
        return;
    }
    let usual = Stages::Shuffled(bits.map_or(width as u64, |bits| bits.div_ceil(8)), level);
    let other = match bits {
        Some(8 | 16 | 24 | 32) => Some(Stages::Szip),
        // These are the packed integers themselves.
        None if is_scaled && !descriptor.dtype.is_float() => Some(Stages::Szip),
        None if is_scaled => Some(Stages::Plain(level.max(LEVEL_OF_REPEATED))),
        _ => None,
    };
    let best = other.filter(|_| width > 0 && values.len() >= LEAST).and_then(|other| {
        let len = values.len().min(TRIED) / width;
        let start = (values.len() / width - len) / 2 * width;
        let part = values.get(start..start + len * width)?;
        let made = DataObjectDescriptor::new(descriptor.dtype, descriptor.byte_order, &[len as u64]);
        let (encoding, params) = (descriptor.encoding.clone(), descriptor.params.clone());
        let described = DataObjectDescriptor { encoding, params, ..made };
        let of = |stages: Stages| stages.tried(&described, part).map(|len| (len, stages));
        [of(usual), of(other)].into_iter().flatten().min_by_key(|(len, _)| *len)
    });
    let best = best.map_or(usual, |(_, stages)| stages);
    if let Some(chosen) = chosen {
        // Other bits than before: the first choice stays.
        _ = chosen.0.set((bits, best));
    }
    best.set(descriptor);
}

/// Numbers as metadata. One number is a list if `is_list` says so.
pub(super) fn of_numbers(numbers: &Numbers, is_list: bool) -> Value {
    let mut values: Vec<Value> = match &numbers.list {
        #[expect(clippy::cast_precision_loss, reason = "integers beyond 64 bits are not attributes")]
        List::Integers(list) => {
            let value = |integer: &i128| {
                ciborium::value::Integer::try_from(*integer).map_or((*integer as f64).into(), Value::Integer)
            };
            list.iter().map(value).collect()
        }
        List::Floats(list) => list.iter().map(|float| Value::Float(*float)).collect(),
    };
    match values.pop() {
        Some(one) if values.is_empty() && !is_list => one,
        last => {
            values.extend(last);
            Value::Array(values)
        }
    }
}
