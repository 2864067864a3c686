//! Messages out of typed slices, without descriptors written by hand.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Compression, Dtype, Encoding, Filter, Key, ZfpMode};
use tgm_core::szip::flags::{MSB, PREPROCESS};
use tgm_core::tensor::Element as _;
use zerocopy::IntoBytes as _;

use super::defaults::{SZIP_BLOCK_SIZE, SZIP_RSI, packed_bits};
use crate::base::error::{Result, TensogramError};
use crate::base::options::{Blosc2Codec, EncodeOptions};
use crate::codec::ErrorBound;
use crate::encode::encode;
use crate::encode::packing::{Values, bits_within, derive, finite_values};
use crate::encode::streaming::StreamingEncoder;
use crate::model::metadata::set_path;
use crate::model::number::Number;
use crate::model::params::metadata;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// A message in the making: its objects and what it says about itself.
///
/// ```
/// use tgm_std::{DecodeOptions, MessageBuilder, ObjectBuilder, decode};
///
/// let temperature: Vec<f64> = (0..360).map(|i| 273.15 + f64::from(i) / 10.0).collect();
/// let message = MessageBuilder::new()
///     .extra("source", "a model")
///     .object(
///         ObjectBuilder::new(&[12, 30], &temperature)?
///             .metadata("param", "2t")
///             .simple_packing_within(0.01)?
///             .szip(),
///     )
///     .encode()?;
/// let (metadata, objects) = decode(&message, &DecodeOptions::default())?;
/// assert_eq!(metadata.base[0]["param"].as_text(), Some("2t"));
/// assert_eq!(objects[0].1.len(), 360 * 8);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MessageBuilder<'a> {
    metadata: GlobalMetadata,
    objects: Vec<ObjectBuilder<'a>>,
    options: EncodeOptions,
    mistake: Option<String>,
}

impl<'a> MessageBuilder<'a> {
    /// A message without objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says something about the message: an entry of `_extra_` (FORMAT §3.3).
    ///
    /// Dots in `key` lead into maps, which are made: [`GlobalMetadata::get`] finds the value under `extra.` and the key. What
    /// cannot be set ([`set_path`]), and a key that begins with `extra.` itself, is an error of [`Self::encode`]. For a key
    /// that has a dot in it there is [`encode`] with [`GlobalMetadata`].
    #[must_use]
    pub fn extra(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let key = key.into();
        let set = match of_message(&key) {
            Some(path) => Err(metadata(format!("{key}: what `extra` sets is the message's already: write {path:?}"))),
            None => set_path(&mut self.metadata.extra, &key, value),
        };
        note(&mut self.mistake, set);
        self
    }

    /// Adds an object.
    #[must_use]
    pub fn object(mut self, object: ObjectBuilder<'a>) -> Self {
        self.objects.push(object);
        self
    }

    /// How to encode.
    #[must_use]
    pub fn options(mut self, options: EncodeOptions) -> Self {
        self.options = options;
        self
    }

    /// Encodes the message.
    ///
    /// # Errors
    /// Those of [`encode`], and [`TensogramError::Metadata`](crate::TensogramError::Metadata) for the first key that could
    /// not be set.
    pub fn encode(mut self) -> Result<Vec<u8>> {
        self.check()?;
        self.metadata.base = self.objects.iter_mut().map(|object| std::mem::take(&mut object.metadata)).collect();
        let objects: Vec<_> = self.objects.iter().map(|object| (&object.descriptor, &*object.data)).collect();
        encode(&self.metadata, &objects, &self.options)
    }

    /// Writes a streamed message, whose objects are encoded one after the other; what is said about each comes before it.
    ///
    /// # Errors
    /// Those of [`StreamingEncoder`], and [`TensogramError::Metadata`](crate::TensogramError::Metadata) for the first key
    /// that could not be set: then nothing is written.
    pub fn stream_to<W: Write>(self, sink: W) -> Result<W> {
        self.check()?;
        let mut encoder = StreamingEncoder::new(sink, &self.metadata, &self.options)?;
        for object in self.objects {
            if !object.metadata.is_empty() {
                encoder.write_preceder(object.metadata)?;
            }
            encoder.write_object(&object.descriptor, &object.data)?;
        }
        encoder.finish()
    }

    /// Says which key could not be set, if there was one: of the message first, then of its objects.
    fn check(&self) -> Result<()> {
        if let Some(text) = &self.mistake {
            return Err(metadata(text.as_str()));
        }
        let mistakes = self.objects.iter().map(|object| &object.mistake);
        match mistakes.enumerate().find_map(|(index, mistake)| Some((index, mistake.as_ref()?))) {
            Some((index, text)) => Err(metadata(format!("object {index}: {text}"))),
            None => Ok(()),
        }
    }
}

/// Keeps the first mistake, as the methods of builders have no result.
fn note(mistake: &mut Option<String>, set: Result<()>) {
    if let Err(error) = set
        && mistake.is_none()
    {
        *mistake = Some(match error {
            TensogramError::Metadata(reason) => reason.to_string(),
            other => other.to_string(),
        });
    }
}

/// The rest of a path that readers look up in the message's annotations.
fn of_message(path: &str) -> Option<&str> {
    path.strip_prefix("extra.").or_else(|| path.strip_prefix("_extra_."))
}

/// Whether a path begins with the number of an object, as it does where all of a message's metadata is printed.
fn is_numbered(path: &str) -> bool {
    let number = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count();
    path.starts_with("base[")
        || path.strip_prefix("base.").is_some_and(|rest| {
            let digits = number(rest);
            digits > 0 && rest.get(digits..).is_none_or(|rest| rest.is_empty() || rest.starts_with('.'))
        })
}

/// A data object in the making: values of a Rust type, a shape, what is said about them, and the pipeline they go through.
#[derive(Clone, Debug)]
pub struct ObjectBuilder<'a> {
    descriptor: DataObjectDescriptor,
    data: Cow<'a, [u8]>,
    metadata: BTreeMap<String, Value>,
    mistake: Option<String>,
}

impl<'a> ObjectBuilder<'a> {
    /// A tensor of `shape`, slowest dimension first, with `values` in row-major order. They are not copied.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](crate::TensogramError::Metadata) if the shape does not hold as many.
    pub fn new<T: Number>(shape: &[u64], values: &'a [T]) -> Result<Self> {
        let descriptor = DataObjectDescriptor::new(T::Element::DTYPE, ByteOrder::NATIVE, shape);
        if descriptor.num_elements()? != values.len() {
            return Err(metadata(format!("shape {shape:?} does not hold {} values", values.len())));
        }
        Ok(Self::from_parts(descriptor, T::as_elements(values).as_bytes()))
    }

    /// A tensor of `shape` with bits packed into bytes, the first in the highest bit.
    pub fn bitmask(shape: &[u64], bits: &'a [u8]) -> Self {
        let descriptor = DataObjectDescriptor::new(Dtype::Bitmask, ByteOrder::NATIVE, shape);
        Self::from_parts(descriptor, bits)
    }

    /// A tensor as a descriptor says, with its elements' bytes.
    pub fn from_parts(descriptor: DataObjectDescriptor, data: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { descriptor, data: data.into(), metadata: BTreeMap::new(), mistake: None }
    }

    /// Says something about the object: an entry of its `base` (FORMAT §3.3).
    ///
    /// Dots in `key` lead into maps, which are made: [`GlobalMetadata::get`] finds the value under the same key. What cannot
    /// be set ([`set_path`]) is an error of [`MessageBuilder::encode`], and so are keys that readers look up elsewhere:
    /// `extra.KEY` is the message's, `base.N.KEY` says which object's. For a key that has a dot in it there is [`encode`]
    /// with [`GlobalMetadata`].
    ///
    /// ```
    /// use tgm_std::{MessageBuilder, ObjectBuilder, decode_metadata};
    ///
    /// let object = ObjectBuilder::new(&[2], &[1_u8, 2])?.metadata("mars.param", "2t").metadata("mars.step", 6);
    /// let metadata = decode_metadata(&MessageBuilder::new().object(object).encode()?)?;
    /// assert_eq!(metadata.get("mars.param").and_then(|value| value.as_str()), Some("2t"));
    ///
    /// let object = ObjectBuilder::new(&[2], &[1_u8, 2])?.metadata("mars", 5).metadata("mars.param", "2t");
    /// let error = MessageBuilder::new().object(object).encode().unwrap_err();
    /// assert_eq!(error.to_string(), "metadata error: object 0: cannot set mars.param: mars is no map");
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let key = key.into();
        let set = if let Some(path) = of_message(&key) {
            Err(metadata(format!("{key} is the message's: write MessageBuilder::extra({path:?}, ...)")))
        } else if is_numbered(&key) {
            Err(metadata(format!(
                "{key}: what `metadata` sets is of this object already: leave `base` and the number out"
            )))
        } else {
            set_path(&mut self.metadata, &key, value)
        };
        note(&mut self.mistake, set);
        self
    }

    /// Sets a parameter of the descriptor (FORMAT §3.5).
    #[must_use]
    pub fn parameter(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.descriptor.params.insert(key.into(), value.into());
        self
    }

    fn set(self, key: Key, value: impl Into<Value>) -> Self {
        self.parameter(key.name(), value)
    }

    fn compression(mut self, compression: Compression) -> Self {
        self.descriptor.compression = compression.name().to_string();
        self
    }

    /// Packs `f64` values into `bits` each (PIPELINE §3): lossy, the error being half of the range over 2^bits at best.
    #[must_use]
    pub fn simple_packing(mut self, bits: u32) -> Self {
        self.descriptor.encoding = Encoding::SimplePacking.name().to_string();
        self.set(Key::SpBitsPerValue, bits)
    }

    /// Packs `f64` values into as few bits as keep each within `error` of what it was. Reads all values once.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for values that are not finite, and if 64 bits do not
    /// do; [`TensogramError::Metadata`](crate::TensogramError::Metadata) for values of another type.
    pub fn simple_packing_within(self, error: f64) -> Result<Self> {
        if self.descriptor.dtype != Dtype::Float64 {
            return Err(metadata(format!("simple_packing only supports float64, got {}", self.descriptor.dtype)));
        }
        let bits = bits_within(&self.data, self.descriptor.byte_order, error)?;
        Ok(self.simple_packing(bits))
    }

    /// Packs `f64` values into `bits` each, with parameters that suit the finite ones. The others are for masks to remember:
    /// [`EncodeOptions::allow_nan`] and [`EncodeOptions::allow_inf`]. Reads all values once.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for more than 64 bits;
    /// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for values of another type.
    pub fn simple_packing_of_finite(self, bits: u32, decimal_scale_factor: i32) -> Result<Self> {
        if self.descriptor.dtype != Dtype::Float64 {
            return Err(metadata(format!("simple_packing only supports float64, got {}", self.descriptor.dtype)));
        }
        let order = self.descriptor.byte_order;
        let finite = finite_values(&self.data, order);
        let packing = derive(Values::new(&finite, order), bits, decimal_scale_factor)?;
        Ok(self
            .simple_packing(bits)
            .set(Key::SpReferenceValue, packing.reference_value)
            .set(Key::SpBinaryScaleFactor, packing.binary_scale_factor)
            .set(Key::SpDecimalScaleFactor, packing.decimal_scale_factor))
    }

    /// [`Self::simple_packing_of_finite`] with as few bits as keep each finite value within `error` of what it was.
    ///
    /// # Errors
    /// As [`Self::simple_packing_within`], but for values that are not finite.
    pub fn simple_packing_of_finite_within(self, error: f64) -> Result<Self> {
        let order = self.descriptor.byte_order;
        let bits = bits_within(&finite_values(&self.data, order), order, error)?;
        self.simple_packing_of_finite(bits, 0)
    }

    /// Shuffles the bytes of elements, or of packed values (PIPELINE §4).
    #[must_use]
    pub fn shuffle(mut self) -> Self {
        let bits = packed_bits(&self.descriptor);
        let size = bits.map_or(self.descriptor.dtype.byte_width() as u64, |bits| bits.div_ceil(8));
        self.descriptor.filter = Filter::Shuffle.name().to_string();
        self.set(Key::ShuffleElementSize, size.max(1))
    }

    /// Compresses with Zstandard.
    #[must_use]
    pub fn zstd(self, level: i32) -> Self {
        self.compression(Compression::Zstd).set(Key::ZstdLevel, level)
    }

    /// Compresses with LZ4.
    #[must_use]
    pub fn lz4(self) -> Self {
        self.compression(Compression::Lz4)
    }

    /// Compresses with szip, in blocks of 16 samples and intervals of 128 blocks. For values of at most four bytes,
    /// shuffled ones, and packed ones of up to 32 bits, which are packed into whole bytes.
    #[must_use]
    pub fn szip(self) -> Self {
        // Samples of szip are whole bytes.
        if let Some(bits) = packed_bits(&self.descriptor).filter(|bits| !bits.is_multiple_of(8) && *bits < 32) {
            return self.set(Key::SpBitsPerValue, bits.next_multiple_of(8)).szip();
        }
        let raw = self.descriptor.encoding == Encoding::None.name() && self.descriptor.filter == Filter::None.name();
        let big = raw && self.descriptor.byte_order == ByteOrder::Big;
        let flags = PREPROCESS | if big { MSB } else { 0 };
        self.compression(Compression::Szip)
            .set(Key::SzipRsi, SZIP_RSI)
            .set(Key::SzipBlockSize, SZIP_BLOCK_SIZE)
            .set(Key::SzipFlags, flags)
    }

    /// Compresses with Blosc2, at a level from 0 to 9.
    #[must_use]
    pub fn blosc2(self, codec: Blosc2Codec, level: u8) -> Self {
        self.compression(Compression::Blosc2).set(Key::Blosc2Codec, codec.name()).set(Key::Blosc2Clevel, level)
    }

    /// Compresses `f64` values with zfp: lossy.
    #[must_use]
    pub fn zfp(self, mode: ZfpMode) -> Self {
        let (name, key, value) = match mode {
            ZfpMode::FixedRate(rate) => ("fixed_rate", Key::ZfpRate, Value::from(rate)),
            ZfpMode::FixedPrecision(precision) => ("fixed_precision", Key::ZfpPrecision, Value::from(precision)),
            ZfpMode::FixedAccuracy(tolerance) => ("fixed_accuracy", Key::ZfpTolerance, Value::from(tolerance)),
        };
        self.compression(Compression::Zfp).set(Key::ZfpMode, name).set(key, value)
    }

    /// Compresses `f64` values with sz3: lossy, within the bound.
    #[must_use]
    pub fn sz3(self, bound: ErrorBound) -> Self {
        let (mode, value) = bound.parts();
        self.compression(Compression::Sz3).set(Key::Sz3ErrorBoundMode, mode).set(Key::Sz3ErrorBound, value)
    }

    /// Compresses a bitmask to run lengths.
    #[must_use]
    pub fn rle(self) -> Self {
        self.compression(Compression::Rle)
    }

    /// Compresses a bitmask to a roaring bitmap.
    #[must_use]
    pub fn roaring(self) -> Self {
        self.compression(Compression::Roaring)
    }

    /// The descriptor as it stands.
    pub const fn descriptor(&self) -> &DataObjectDescriptor {
        &self.descriptor
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests may panic")]
mod tests;
