//! Application of the pipeline flags to one object.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter, Key, SzipParams};
use tgm_std::{
    ByteOrder, DEFAULT_SIMPLE_PACKING_BITS, DataObjectDescriptor, EncodeOptions, ObjectBuilder, TensogramError,
};

use super::PipelineFlags;
use crate::read::numbers::to_float64;

/// Parameters of `simple_packing`.
const PACKING: [Key; 4] =
    [Key::SpReferenceValue, Key::SpBinaryScaleFactor, Key::SpDecimalScaleFactor, Key::SpBitsPerValue];
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

impl PipelineFlags {
    /// Gives an object the stages that the flags name. `data` holds its values in the descriptor's byte order. Values
    /// are converted if a stage needs float64 and the flags allow it.
    ///
    /// # Errors
    /// For stages that the object cannot have, and for parameters that its values do not determine.
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

    /// Sets the first stage. Returns whether its output may have another element width than before.
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

    /// Sets the third stage.
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
        self.check_level(compression).map_err(encoding_error)
    }
}

/// The fewest bits, at least `bits`, that szip takes as a sample.
const fn whole_samples(bits: u32) -> u32 {
    if bits == 0 { 8 } else { bits.next_multiple_of(8) }
}

/// The stage of a flag. Without a flag, the stage that the object names.
fn known<K>(asked: Option<K>, name: &str, from_name: fn(&str) -> Option<K>) -> Result<K, TensogramError> {
    let known = asked.or_else(|| from_name(name));
    known.ok_or_else(|| encoding_error(format!("the format has no stage {name}")))
}

fn encoding_error(text: impl Into<String>) -> TensogramError {
    TensogramError::Encoding(text.into().into())
}

/// Whether the object has a lossy stage.
pub(crate) fn is_lossy(descriptor: &DataObjectDescriptor) -> bool {
    let compression = Compression::from_name(&descriptor.compression);
    descriptor.encoding == Encoding::SimplePacking.name()
        || matches!(compression, Some(Compression::Zfp | Compression::Sz3))
}

/// An object whose stages are being set.
struct Staging<'d> {
    descriptor: DataObjectDescriptor,
    data: Cow<'d, [u8]>,
    converted: bool,
}

impl Staging<'_> {
    fn set(&mut self, key: Key, value: impl Into<ciborium::Value>) {
        self.descriptor.params.insert(key.name().to_string(), value.into());
    }

    /// An integer parameter of the descriptor.
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

    /// Lets a builder set parameters of the descriptor.
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

    /// Whether all values are finite. They are float64.
    fn is_finite(&self) -> bool {
        let values: &[[u8; 8]] = self.data.as_chunks().0;
        let load = match self.descriptor.byte_order {
            ByteOrder::Big => f64::from_be_bytes,
            ByteOrder::Little => f64::from_le_bytes,
        };
        values.iter().all(|bytes| load(*bytes).is_finite())
    }

    /// Sets the second stage.
    fn filter(&mut self, filter: Filter, is_packed_anew: bool) {
        let was_shuffled = self.descriptor.filter == Filter::Shuffle.name();
        if filter == Filter::None {
            self.remove(&[Key::ShuffleElementSize]);
            self.descriptor.filter = Filter::None.name().to_string();
        } else if !was_shuffled || is_packed_anew || self.converted {
            // The builder derives the element width from the stages before.
            let built = ObjectBuilder::from_parts(self.descriptor.clone(), &[][..]).shuffle();
            self.descriptor = built.descriptor().clone();
        }
    }
}
