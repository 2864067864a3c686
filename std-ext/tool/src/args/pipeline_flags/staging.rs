//! Application of the pipeline flags to one object.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use tgm_core::descriptor::{Compression, Dtype, Encoding, Filter, Key};
use tgm_std::codec::about::{About, Input, Parameter};
use tgm_std::codec::{self, Codec, sz3, szip, zfp};
use tgm_std::{
    ByteOrder, DEFAULT_SIMPLE_PACKING_BITS, DataObjectDescriptor, EncodeOptions, ObjectBuilder, TensogramError,
};

use super::{PipelineFlags, SZIP_BITS, check_szip_bits};
use crate::read::numbers::to_float64;

/// Parameters of `simple_packing`.
pub(super) const PACKING: [Key; 4] =
    [Key::SpReferenceValue, Key::SpBinaryScaleFactor, Key::SpDecimalScaleFactor, Key::SpBitsPerValue];

/// An object with its stages, and the values that it is encoded from.
pub(super) type Staged<'d> = (DataObjectDescriptor, Cow<'d, [u8]>);

impl PipelineFlags {
    /// [`Self::apply`], but exact values stay: who asks for data of 16 bits does not want hours rounded to days.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub(crate) fn apply_to<'d>(
        &self,
        is_exact: bool,
        descriptor: DataObjectDescriptor,
        data: Cow<'d, [u8]>,
        options: &EncodeOptions,
    ) -> Result<Staged<'d>, TensogramError> {
        if !is_exact || !self.is_lossy() {
            return self.apply(descriptor, data, options);
        }
        self.rounding.leave();
        self.lossless().apply(descriptor, data, options)
    }

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
    ) -> Result<Staged<'d>, TensogramError> {
        if self.best {
            return self.with_best(&descriptor, &data, options).apply(descriptor, data, options);
        }
        let (staged, is_packed_anew) = self.stage(descriptor, data)?;
        if is_packed_anew {
            self.rounding.add(&staged.0, &staged.1, options)?;
        }
        Ok(staged)
    }

    /// [`Self::apply`] without `--best`, and whether the values are packed, with other parameters than before.
    pub(super) fn stage<'d>(
        &self,
        descriptor: DataObjectDescriptor,
        data: Cow<'d, [u8]>,
    ) -> Result<(Staged<'d>, bool), TensogramError> {
        let mut object = Staging { descriptor, data, converted: false };
        object.descriptor.masks = None;
        let takes_numbers = |compression: Compression| about(compression).filter(|about| about.input == Input::Numbers);
        let encoding = self.encoding.or(self.packs().then_some(Encoding::SimplePacking));
        let asks_for_stages_before = encoding == Some(Encoding::SimplePacking) || self.filter == Some(Filter::Shuffle);
        let compression = known(self.compression(), &object.descriptor.compression, Compression::from_name)?;
        // Where stages exclude each other, the object's earlier ones go.
        let is_in_the_way =
            self.compression().is_none() && asks_for_stages_before && takes_numbers(compression).is_some();
        let compression = if is_in_the_way { Compression::None } else { compression };
        let of_numbers = takes_numbers(compression);
        let encoding = encoding.or(of_numbers.map(|_| Encoding::None));
        let encoding = known(encoding, &object.descriptor.encoding, Encoding::from_name)?;
        let filter = self.filter.or(of_numbers.map(|_| Filter::None));
        let filter = known(filter, &object.descriptor.filter, Filter::from_name)?;
        let only_float64 =
            if encoding == Encoding::SimplePacking { Some(encoding.name()) } else { of_numbers.map(About::name) };
        if let Some(stage) = only_float64 {
            object.need_float64(stage, self.convert)?;
        }
        if object.descriptor.compression != compression.name() {
            // The stages before follow from the new compression, not from the one that goes.
            object.remove_compression();
        }
        if let Some(bits) = self.bits.filter(|_| compression == Compression::Szip) {
            check_szip_bits(bits).map_err(encoding_error)?;
        }
        let was_packed = object.descriptor.encoding == Encoding::SimplePacking.name();
        let has_other_width = self.encode(&mut object, encoding, compression)?;
        let is_shuffled = compression == Compression::Szip && self.filter.is_none() && object.is_szip_of_bytes();
        object.filter(if is_shuffled { Filter::Shuffle } else { filter }, has_other_width);
        if object.has_no_bits() {
            object.remove_compression();
        } else {
            self.compress(&mut object, compression)?;
        }
        let is_packed_anew = encoding == Encoding::SimplePacking && (self.packs() || !was_packed);
        Ok(((object.descriptor, object.data), is_packed_anew))
    }

    /// Sets the first stage. Returns whether its output may have another element width than before.
    fn encode(
        &self,
        object: &mut Staging<'_>,
        encoding: Encoding,
        compression: Compression,
    ) -> Result<bool, TensogramError> {
        let was_packed = object.descriptor.encoding == Encoding::SimplePacking.name();
        if encoding == Encoding::None {
            object.remove(&PACKING);
            object.descriptor.encoding = Encoding::None.name().to_string();
            return Ok(was_packed);
        }
        if was_packed && !self.packs() {
            return Ok(compression == Compression::Szip && object.widen());
        }
        let mut bits = self.bits.or_else(|| object.integer(Key::SpBitsPerValue)).unwrap_or(DEFAULT_SIMPLE_PACKING_BITS);
        let decimal = self.decimal_scale.or_else(|| object.integer(Key::SpDecimalScaleFactor));
        let decimal = decimal.filter(|_| self.max_error.is_none()).unwrap_or(0);
        object.remove(&PACKING);
        if let Some(error) = self.max_error {
            object.build(|builder| builder.simple_packing_of_finite_within(error))?;
            let fewest = object.integer(Key::SpBitsPerValue).unwrap_or(bits);
            bits = fewest;
            if compression == Compression::Szip {
                bits = whole_samples(fewest);
                check_szip_bits(bits).map_err(encoding_error)?;
            }
            if bits == fewest {
                return Ok(true);
            }
            object.remove(&PACKING);
        }
        object.build(|builder| builder.simple_packing_of_finite(bits, decimal))?;
        Ok(true)
    }

    /// Sets the third stage.
    fn compress(&self, object: &mut Staging<'_>, compression: Compression) -> Result<(), TensogramError> {
        let is_new = object.descriptor.compression != compression.name();
        object.remove(&[Key::SzipBlockOffsets]);
        object.descriptor.compression = compression.name().to_string();
        let about = about(compression);
        if let Some(about) = about.filter(|_| is_new) {
            if about.usual.is_none() && self.chosen(compression).is_none() {
                return Err(encoding_error(format!("compression {compression} needs --{compression}")));
            }
            object.build(|builder| Ok(builder.compression(compression)))?;
        }
        if let Some(chosen) = self.chosen(compression) {
            // Where keys exclude each other, the earlier ones go. The others stay.
            if about.is_some_and(|about| about.usual.is_none()) {
                object.remove(about.map_or(&[], |about| about.keys));
            }
            for (key, value) in chosen {
                match value {
                    Parameter::Integer(value) => object.set(key, value),
                    Parameter::Float(value) => object.set(key, value),
                    Parameter::Text(value) => object.set(key, value),
                }
            }
        }
        if let (Some(level), Some(key)) = (self.level, about.and_then(|about| about.level).map(|level| level.key)) {
            object.set(key, level);
        }
        self.check_level(compression).map_err(encoding_error)
    }

    /// The parameters that a codec's own flag names.
    fn chosen(&self, compression: Compression) -> Option<Vec<(Key, Parameter)>> {
        match compression {
            Compression::Szip => self.szip.map(|params| szip::parameters(params).to_vec()),
            Compression::Blosc2 => self.blosc2.map(|codec| vec![(Key::Blosc2Codec, Parameter::Text(codec.name()))]),
            Compression::Zfp => self.zfp.map(|mode| zfp::parameters(mode).to_vec()),
            Compression::Sz3 => self.sz3.map(|bound| sz3::parameters(bound).to_vec()),
            _ => None,
        }
    }
}

fn about(compression: Compression) -> Option<&'static About> {
    codec::find(compression).map(Codec::about)
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
    let codec = Compression::from_name(&descriptor.compression).and_then(about);
    descriptor.encoding == Encoding::SimplePacking.name() || codec.is_some_and(|about| about.is_lossy)
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

    /// Gives packed values the bits that szip takes, for the same integers. Returns whether they had others.
    fn widen(&mut self) -> bool {
        let bits = self.integer(Key::SpBitsPerValue).filter(|bits| (1..=32).contains(bits));
        let Some(bits) = bits.filter(|bits| !SZIP_BITS.contains(bits)) else { return false };
        self.set(Key::SpBitsPerValue, whole_samples(bits));
        true
    }

    fn remove(&mut self, keys: &[Key]) {
        let params: &mut BTreeMap<_, _> = &mut self.descriptor.params;
        for key in keys {
            params.remove(key.name());
        }
    }

    /// Whether szip has to take the bytes of the values: its samples have at most 32 bits, and whole bytes.
    fn is_szip_of_bytes(&self) -> bool {
        const SAMPLES: RangeInclusive<usize> = 1..=4;
        let width = self.descriptor.dtype.byte_width();
        self.descriptor.encoding == Encoding::None.name() && !SAMPLES.contains(&width)
    }

    /// Whether values are packed to no bits, as constant ones are: no bytes are left to compress.
    fn has_no_bits(&self) -> bool {
        self.descriptor.encoding == Encoding::SimplePacking.name() && self.integer(Key::SpBitsPerValue) == Some(0)
    }

    /// Takes the third stage away.
    fn remove_compression(&mut self) {
        codec::all().for_each(|codec| self.remove(codec.about().keys));
        self.descriptor.compression = Compression::None.name().to_string();
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
