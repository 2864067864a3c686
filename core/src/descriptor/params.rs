//! Parameters of the pipeline's stages, typed and checked (FORMAT §3.5, PIPELINE §3 to §5).

use super::view::Descriptor;
use crate::cbor::{Uints, Value};
use crate::error::{ErrorKind, Result};
use crate::names::Key;
#[cfg(feature = "packing")]
use crate::packing::Packing;

/// Parameters of szip, as stored. The flags that the format implies are not among the stored ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SzipParams {
    /// Blocks in a reference sample interval, 1 to 4096.
    pub rsi: u32,
    /// Samples in a block: 8, 16, 32 or 64; with [`NOT_ENFORCE`](super::szip_flags::NOT_ENFORCE) any even number.
    pub block_size: u32,
    /// The bits of [`szip_flags`](super::szip_flags).
    pub flags: u32,
}

/// The bound of a zfp stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ZfpMode {
    /// A number of bits for each value.
    FixedRate(f64),
    /// A number of bit planes for each value.
    FixedPrecision(u32),
    /// A largest absolute error.
    FixedAccuracy(f64),
}

/// Parameters of sz3. They describe how the payload was made; a decoder does not need them.
#[derive(Clone, Copy, Debug)]
pub struct Sz3Params<'a> {
    /// `abs`, `rel` or `psnr`.
    pub error_bound_mode: &'a str,
    /// The bound, in the unit that the mode implies.
    pub error_bound: f64,
}

impl<'a> Descriptor<'a> {
    /// The parameters of simple_packing, under their names since 0.19 (`sp_…`), otherwise under their earlier names.
    ///
    /// # Errors
    /// [`ErrorKind::MissingKey`], [`ErrorKind::WrongType`], [`ErrorKind::IntegerRange`];
    /// [`ErrorKind::ParameterRange`] for a reference value that is not finite; [`ErrorKind::BitsPerValue`] above 64.
    #[cfg(feature = "packing")]
    pub fn packing(&self) -> Result<Packing> {
        let reference = self.required_or(Key::SpReferenceValue, Key::ReferenceValue)?;
        let reference_value = reference.as_exact_f64()?;
        if !reference_value.is_finite() {
            return Err(ErrorKind::ParameterRange(Key::SpReferenceValue).at(reference.offset()));
        }
        let bits = self.required_or(Key::SpBitsPerValue, Key::BitsPerValue)?;
        let bits_per_value = u32_of(&bits)?;
        if bits_per_value > 64 {
            return Err(ErrorKind::BitsPerValue(bits_per_value).at(bits.offset()));
        }
        Ok(Packing {
            reference_value,
            binary_scale_factor: i32_of(&self.required_or(Key::SpBinaryScaleFactor, Key::BinaryScaleFactor)?)?,
            decimal_scale_factor: i32_of(&self.required_or(Key::SpDecimalScaleFactor, Key::DecimalScaleFactor)?)?,
            bits_per_value,
        })
    }

    /// The element size of the shuffle filter, in bytes.
    ///
    /// # Errors
    /// [`ErrorKind::MissingKey`], [`ErrorKind::WrongType`], [`ErrorKind::IntegerRange`];
    /// [`ErrorKind::ParameterRange`] if it is 0.
    pub fn shuffle_element_size(&self) -> Result<u64> {
        let value = self.required(Key::ShuffleElementSize)?;
        match value.as_u64()? {
            0 => Err(ErrorKind::ParameterRange(Key::ShuffleElementSize).at(value.offset())),
            size => Ok(size),
        }
    }

    /// The parameters of szip. `szip::Params` checks their ranges.
    ///
    /// # Errors
    /// [`ErrorKind::MissingKey`], [`ErrorKind::WrongType`], [`ErrorKind::IntegerRange`].
    pub fn szip(&self) -> Result<SzipParams> {
        Ok(SzipParams {
            rsi: u32_of(&self.required(Key::SzipRsi)?)?,
            block_size: u32_of(&self.required(Key::SzipBlockSize)?)?,
            flags: u32_of(&self.required(Key::SzipFlags)?)?,
        })
    }

    /// The bit offsets of szip's reference sample intervals, if the writer stored them.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`], [`ErrorKind::IntegerRange`].
    pub fn szip_block_offsets(&self) -> Result<Option<Uints<'a>>> {
        let position = self.positions.get(Key::SzipBlockOffsets);
        position.map(|position| Uints::read(&mut self.encoded.ahead(position))).transpose()
    }

    /// The parameters of zfp.
    ///
    /// # Errors
    /// [`ErrorKind::MissingKey`], [`ErrorKind::WrongType`], [`ErrorKind::IntegerRange`];
    /// [`ErrorKind::ParameterRange`] for an unknown mode.
    pub fn zfp(&self) -> Result<ZfpMode> {
        let mode = self.required(Key::ZfpMode)?;
        match mode.as_str()? {
            "fixed_rate" => self.required(Key::ZfpRate)?.as_exact_f64().map(ZfpMode::FixedRate),
            "fixed_precision" => u32_of(&self.required(Key::ZfpPrecision)?).map(ZfpMode::FixedPrecision),
            "fixed_accuracy" => self.required(Key::ZfpTolerance)?.as_exact_f64().map(ZfpMode::FixedAccuracy),
            _ => Err(ErrorKind::ParameterRange(Key::ZfpMode).at(mode.offset())),
        }
    }

    /// The parameters of sz3.
    ///
    /// # Errors
    /// [`ErrorKind::MissingKey`], [`ErrorKind::WrongType`], [`ErrorKind::IntegerRange`];
    /// [`ErrorKind::ParameterRange`] for an unknown mode.
    pub fn sz3(&self) -> Result<Sz3Params<'a>> {
        let mode = self.required(Key::Sz3ErrorBoundMode)?;
        let error_bound_mode = mode.as_str()?;
        if !matches!(error_bound_mode, "abs" | "rel" | "psnr") {
            return Err(ErrorKind::ParameterRange(Key::Sz3ErrorBoundMode).at(mode.offset()));
        }
        Ok(Sz3Params { error_bound_mode, error_bound: self.required(Key::Sz3ErrorBound)?.as_exact_f64()? })
    }

    fn required(&self, key: Key) -> Result<Value<'a>> {
        self.known_parameter(key)?.ok_or(ErrorKind::MissingKey(key).at(self.offset()))
    }

    /// The value under the current name, otherwise under the name before 0.19.
    #[cfg(feature = "packing")]
    fn required_or(&self, key: Key, before: Key) -> Result<Value<'a>> {
        match (self.known_parameter(key)?, self.known_parameter(before)?) {
            (Some(value), _) | (None, Some(value)) => Ok(value),
            (None, None) => Err(ErrorKind::MissingKey(key).at(self.offset())),
        }
    }
}

fn u32_of(value: &Value<'_>) -> Result<u32> {
    u32::try_from(value.as_u64()?).map_err(|_| ErrorKind::IntegerRange.at(value.offset()))
}

#[cfg(feature = "packing")]
fn i32_of(value: &Value<'_>) -> Result<i32> {
    i32::try_from(value.as_i64()?).map_err(|_| ErrorKind::IntegerRange.at(value.offset()))
}
