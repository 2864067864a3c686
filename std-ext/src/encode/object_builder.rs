//! Building data objects from typed slices.

pub(super) mod preset;
mod widen;

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use tgm_codec::about::Parameter;
use tgm_codec::{ErrorBound, blosc2, sz3, zfp, zstd};
use tgm_core::descriptor::{ByteOrder, Compression, Dtype, Encoding, Filter, Key, ZfpMode};
use tgm_core::packing::Packing;
use tgm_core::szip::flags::{MSB, PREPROCESS};
use tgm_core::tensor::Element as _;
use zerocopy::IntoBytes as _;

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve_more;
use crate::base::options::Blosc2Codec;
use crate::encode::defaults::packed_bits;
use crate::encode::packing::{Values, derive, derive_within, finite_values};
use crate::model::metadata::{PathOwner, path_owner, set_path};
use crate::model::number::Number;
use crate::model::params::{metadata, value_of};
use crate::model::types::DataObjectDescriptor;

/// Builds a data object: values of a Rust type, their shape, their metadata, and the pipeline that they go through.
///
/// ```
/// use tgm_std::{MessageBuilder, ObjectBuilder};
///
/// let wind = [3.5_f32, -1.25, 0.0, 2.0, 4.75, 1.5];
/// let object = ObjectBuilder::new(&[2, 3], &wind)?.metadata("mars.param", "10u").shuffle().szip();
/// assert_eq!(object.descriptor().shape, [2, 3]);
/// let bytes = MessageBuilder::new().object(object).encode()?;
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ObjectBuilder<'a> {
    pub(super) descriptor: DataObjectDescriptor,
    pub(super) data: Cow<'a, [u8]>,
    pub(super) metadata: BTreeMap<String, Value>,
    /// The first metadata key that could not be set, and why. [`Self::check`] reports it.
    mistake: Option<String>,
}

impl<'a> ObjectBuilder<'a> {
    /// A tensor of `shape`, slowest dimension first, with `values` in row-major order. The values are borrowed.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](crate::TensogramError::Metadata) if the shape does not have as many values.
    pub fn new<T: Number>(shape: &[u64], values: &'a [T]) -> Result<Self> {
        let descriptor = DataObjectDescriptor::new(T::Element::DTYPE, ByteOrder::NATIVE, shape);
        if descriptor.num_elements()? != values.len() {
            return Err(metadata(format!("shape {shape:?} does not hold {} values", values.len())));
        }
        Ok(Self::from_parts(descriptor, T::as_elements(values).as_bytes()))
    }

    /// A tensor of `shape` whose elements are bits, packed into bytes. The first is the highest bit.
    pub fn bitmask(shape: &[u64], bits: &'a [u8]) -> Self {
        let descriptor = DataObjectDescriptor::new(Dtype::Bitmask, ByteOrder::NATIVE, shape);
        Self::from_parts(descriptor, bits)
    }

    /// A tensor with a descriptor, and its elements' bytes in the descriptor's byte order.
    pub fn from_parts(descriptor: DataObjectDescriptor, data: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { descriptor, data: data.into(), metadata: BTreeMap::new(), mistake: None }
    }

    /// Sets metadata of the object: an entry of its `base` (FORMAT §3.3).
    ///
    /// Dots in `key` lead into maps, which are made as needed. [`GlobalMetadata::get`](crate::GlobalMetadata::get)
    /// finds the value under the same key. [`MessageBuilder::encode`](crate::MessageBuilder::encode) reports a key that
    /// cannot be set ([`set_path`]), and a key that readers look up elsewhere: `extra.KEY` belongs to the message, and
    /// `base.N.KEY` names an object by its number. A key with a dot of its own can stand in double quotes. To take keys as they are, use [`encode`](crate::encode()) with
    /// [`GlobalMetadata`](crate::GlobalMetadata).
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
    /// assert_eq!(error.to_string(), "metadata error: object 0: cannot set mars.param: mars is not a map");
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let key = key.into();
        let set = match path_owner(&key) {
            PathOwner::Message(Some(path)) => {
                Err(metadata(format!("{key} is the message's: write MessageBuilder::extra({path:?}, ...)")))
            }
            PathOwner::Numbered { .. } => Err(metadata(format!(
                "{key}: what `metadata` sets is of this object already: leave `base` and the number out"
            ))),
            _ => set_path(&mut self.metadata, &key, value),
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

    /// The same object with values of its own: borrowed ones are copied.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) if there is not enough memory.
    pub fn into_owned(self) -> Result<ObjectBuilder<'static>> {
        let Self { descriptor, data, metadata, mistake } = self;
        let data = match data {
            Cow::Owned(data) => data,
            Cow::Borrowed(data) => {
                let mut copy = Vec::new();
                reserve_more(&mut copy, data.len())?;
                copy.extend_from_slice(data);
                copy
            }
        };
        Ok(ObjectBuilder { descriptor, data: Cow::Owned(data), metadata, mistake })
    }

    /// Reports the first key that could not be set. The error names the object by `index`, its number in the message.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](crate::TensogramError::Metadata) if there is such a key.
    pub(super) fn check(&self, index: usize) -> Result<()> {
        match &self.mistake {
            Some(text) => Err(metadata(format!("object {index}: {text}"))),
            None => Ok(()),
        }
    }

    /// The descriptor, the data and the metadata of this object, which is object `index` of its message.
    ///
    /// # Errors
    /// The errors of [`Self::check`].
    pub(in crate::encode) fn into_parts(self, index: usize) -> Result<Parts<'a>> {
        self.check(index)?;
        Ok((self.descriptor, self.data, self.metadata))
    }

    fn set(self, key: Key, value: impl Into<Value>) -> Self {
        self.parameter(key.name(), value)
    }

    /// Sets the compression and its parameters.
    fn compressed(mut self, compression: Compression, parameters: &[(Key, Parameter)]) -> Self {
        self.descriptor.compression = compression.name().to_string();
        for (key, parameter) in parameters {
            self = self.set(*key, value_of(*parameter));
        }
        self.with_stages_in_line()
    }

    /// Compresses by any codec of the format, as it usually does. zfp and sz3 have no usual way: encoding then asks for
    /// [`parameter`](Self::parameter)s.
    ///
    /// ```
    /// use tgm_std::core::descriptor::Compression;
    /// use tgm_std::{MessageBuilder, ObjectBuilder};
    ///
    /// let object = ObjectBuilder::new(&[3], &[1_i16, 2, 3])?.compression(Compression::Szip);
    /// assert!(MessageBuilder::new().object(object).encode().is_ok());
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    #[must_use]
    pub fn compression(self, compression: Compression) -> Self {
        let usual = tgm_codec::find(compression).and_then(|codec| codec.about().usual);
        self.compressed(compression, usual.unwrap_or(&[]))
    }

    /// Packs values into `bits` each (PIPELINE §3). Lossy: a value changes by up to half a step. The step is the smallest
    /// power of two that is at least the range of the values divided by 2^bits - 1.
    ///
    /// The format packs only `float64`. Values of `float32`, `float16` and `bfloat16` are widened to `float64` first:
    /// that is exact, and takes a copy of 8 bytes for each value. The object then has dtype `float64`;
    /// [`Read::values`](crate::Read::values) gives it as `f32` too. Values of another type
    /// are an error of [`MessageBuilder::encode`](crate::MessageBuilder::encode).
    ///
    /// ```
    /// use tgm_std::{MessageBuilder, ObjectBuilder, read};
    ///
    /// let wind: Vec<f32> = (0..360).map(|i| (i as f32).sin() * 20.0).collect();
    /// let bytes = MessageBuilder::new().object(ObjectBuilder::new(&[360], &wind)?.simple_packing(16)).encode()?;
    /// let object = tgm_std::core::Message::parse(&bytes)?.object(0)?;
    /// let found = read(&object).values::<f32>()?;
    /// assert!(found.iter().zip(&wind).all(|(found, value)| (found - value).abs() < 0.001));
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    #[must_use]
    pub fn simple_packing(mut self, bits: u32) -> Self {
        self.widen();
        self.descriptor.encoding = Encoding::SimplePacking.name().to_string();
        self.set(Key::SpBitsPerValue, bits).with_stages_in_line()
    }

    /// [`Self::simple_packing`] with the fewest bits that change no value by more than `error`. Reads all values once.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for values that are not finite, for an `error` that is
    /// not positive, and if 64 bits are too few; [`TensogramError::Metadata`](crate::TensogramError::Metadata) for values
    /// that are not floats.
    pub fn simple_packing_within(mut self, error: f64) -> Result<Self> {
        self.packable()?;
        let packing = derive_within(Values::new(&self.data, self.descriptor.byte_order), error)?;
        Ok(self.simple_packing(packing.bits_per_value))
    }

    /// [`Self::simple_packing`] with parameters that the finite values decide. NaN and infinities become masks, which
    /// [`MessageBuilder::allow_nan`](crate::MessageBuilder::allow_nan) and
    /// [`MessageBuilder::allow_inf`](crate::MessageBuilder::allow_inf) must allow. If there are any, this call copies the finite
    /// values for the time that it takes.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`](crate::TensogramError::Encoding) for more than 64 bits;
    /// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for values that are not floats.
    pub fn simple_packing_of_finite(mut self, bits: u32, decimal_scale_factor: i32) -> Result<Self> {
        self.packable()?;
        let order = self.descriptor.byte_order;
        let finite = finite_values(&self.data, order);
        let packing = derive(Values::new(&finite, order), bits, decimal_scale_factor)?;
        Ok(self.packed_by(packing))
    }

    /// [`Self::simple_packing_of_finite`] with the fewest bits that change no finite value by more than `error`.
    ///
    /// # Errors
    /// The errors of [`Self::simple_packing_within`], except that NaN and infinite values are allowed.
    pub fn simple_packing_of_finite_within(mut self, error: f64) -> Result<Self> {
        self.packable()?;
        let order = self.descriptor.byte_order;
        let finite = finite_values(&self.data, order);
        let packing = derive_within(Values::new(&finite, order), error)?;
        Ok(self.packed_by(packing))
    }

    /// [`Self::simple_packing`] with parameters that are known.
    fn packed_by(self, packing: Packing) -> Self {
        self.simple_packing(packing.bits_per_value)
            .set(Key::SpReferenceValue, packing.reference_value)
            .set(Key::SpBinaryScaleFactor, packing.binary_scale_factor)
            .set(Key::SpDecimalScaleFactor, packing.decimal_scale_factor)
    }

    /// Widens floats to `float64`, the only type that can be packed. Any other type is an error.
    fn packable(&mut self) -> Result<()> {
        self.widen();
        match self.descriptor.dtype {
            Dtype::Float64 => Ok(()),
            dtype => Err(metadata(format!("simple_packing only supports float64, got {dtype}"))),
        }
    }

    /// Widens floats of 16 and 32 bits to `float64`. Other values stay as they are.
    fn widen(&mut self) {
        let descriptor = &mut self.descriptor;
        if let Some(widened) = widen::to_f64(descriptor.dtype, descriptor.byte_order, &self.data) {
            descriptor.dtype = Dtype::Float64;
            self.data = Cow::Owned(widened);
        }
    }

    /// Shuffles the bytes of elements, or of packed values (PIPELINE §4). Packed values get a width of whole bytes: 12 bits
    /// become 16.
    #[must_use]
    pub fn shuffle(mut self) -> Self {
        self.descriptor.filter = Filter::Shuffle.name().to_string();
        self.with_stages_in_line()
    }

    /// Sets the parameters of shuffle and szip that follow from the stages before them. So the order of calls makes no
    /// difference.
    fn with_stages_in_line(mut self) -> Self {
        let bits = packed_bits(&self.descriptor);
        let is_shuffled = self.descriptor.filter == Filter::Shuffle.name();
        let is_szip = self.descriptor.compression == Compression::Szip.name();
        // Samples of szip and the units of shuffle lie in whole bytes, but packed values lie without gaps.
        let takes_bytes = |bits: &u64| is_shuffled && *bits < 64 || is_szip && *bits < 32;
        if let Some(bits) = bits.filter(|bits| !bits.is_multiple_of(8) && takes_bytes(bits)) {
            return self.set(Key::SpBitsPerValue, bits.next_multiple_of(8)).with_stages_in_line();
        }
        if is_szip {
            // Only raw values have the descriptor's byte order. For packed values, readers and writers set the flag
            // themselves; other shuffled values are samples of one byte.
            let is_big = bits.is_none() && !is_shuffled && self.descriptor.byte_order == ByteOrder::Big;
            self = self.set(Key::SzipFlags, PREPROCESS | if is_big { MSB } else { 0 });
        }
        if is_shuffled {
            // Packed values are shuffled by whole bytes.
            let size = bits.map_or(self.descriptor.dtype.byte_width() as u64, |bits| bits.div_ceil(8));
            self = self.set(Key::ShuffleElementSize, size.max(1));
        }
        self
    }

    /// Compresses with Zstandard.
    #[must_use]
    pub fn zstd(self, level: i32) -> Self {
        self.compressed(Compression::Zstd, &zstd::parameters(level))
    }

    /// Compresses with LZ4.
    #[must_use]
    pub fn lz4(self) -> Self {
        self.compression(Compression::Lz4)
    }

    /// Compresses with szip, in blocks of 16 samples and intervals of 128 blocks.
    ///
    /// Works for values of at most four bytes, shuffled values, and packed values of up to 32 bits. Packed values get a width
    /// of whole bytes: 12 bits become 16.
    #[must_use]
    pub fn szip(self) -> Self {
        self.compression(Compression::Szip)
    }

    /// Compresses with Blosc2, at a level from 0 to 9.
    #[must_use]
    pub fn blosc2(self, codec: Blosc2Codec, level: u8) -> Self {
        self.compressed(Compression::Blosc2, &blosc2::parameters(codec, level.into()))
    }

    /// Compresses `f64` values with zfp: lossy.
    #[must_use]
    pub fn zfp(self, mode: ZfpMode) -> Self {
        self.compressed(Compression::Zfp, &zfp::parameters(mode))
    }

    /// Compresses `f64` values with sz3: lossy, with errors within the bound.
    #[must_use]
    pub fn sz3(self, bound: ErrorBound) -> Self {
        self.compressed(Compression::Sz3, &sz3::parameters(bound))
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

    /// The descriptor as it is now. The encoder may complete it.
    pub const fn descriptor(&self) -> &DataObjectDescriptor {
        &self.descriptor
    }
}

/// What the encoder needs of an object: its descriptor, the bytes of its elements, and its metadata.
type Parts<'a> = (DataObjectDescriptor, Cow<'a, [u8]>, BTreeMap<String, Value>);

/// Keeps the first mistake for later, because the methods of builders return no result.
pub(super) fn note(mistake: &mut Option<String>, set: Result<()>) {
    if let Err(error) = set
        && mistake.is_none()
    {
        *mistake = Some(match error {
            TensogramError::Metadata(reason) => reason.to_string(),
            other => other.to_string(),
        });
    }
}
