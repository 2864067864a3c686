//! Stored numbers that are the values, as amounts: what stands for a missing cell is NaN.
//!
//! Integers that are values stay integers, beside their `_FillValue`. Whatever computes with them, draws them, or puts them beside
//! integers with another `_FillValue` takes them as amounts. This is the one place that says what these are.

use tgm_core::cbor::Value;
use tgm_core::descriptor::Dtype;
use tgm_core::metadata::ObjectMetadata;
use tgm_std::Result;

use super::arithmetic::Arithmetic;
use super::numbers::{is_number, range};
use super::packed::{ATTRIBUTES, NETCDF, attribute_of};
use super::{AttributeValue, FILL, MISSING, NAMES, Reading, UNSIGNED};

impl Reading {
    /// How numbers that are the values become amounts, by the attributes beside them: `float32` for integers of up to 16 bits,
    /// `float64` for others, and floats of their own type. `None` if no number stands for missing cells.
    pub fn of_amounts(stored: Dtype, attribute: impl Fn(&str) -> Option<AttributeValue>) -> Option<Self> {
        let told: Vec<_> =
            [UNSIGNED, FILL, MISSING].into_iter().filter_map(|name| Some((name, attribute(name)?))).collect();
        if told.is_empty() || !is_number(stored) {
            return None;
        }
        let reading = Self::of(stored, &told);
        (!reading.missing.is_empty()).then(|| reading.with_nan())
    }

    /// The same by an object's metadata.
    ///
    /// # Errors
    /// Only errors of malformed CBOR, which were ruled out when the view was made.
    pub fn of_amounts_of(stored: Dtype, metadata: &ObjectMetadata<'_>) -> Result<Option<Self>> {
        let (attributes, netcdf) = (metadata.get(ATTRIBUTES)?, metadata.get(NETCDF)?);
        Ok(Self::of_amounts_by(stored, attributes.as_ref(), netcdf.as_ref()))
    }

    /// The same by the values of an object's keys `attributes` and `netcdf`.
    pub fn of_amounts_by(stored: Dtype, attributes: Option<&Value<'_>>, netcdf: Option<&Value<'_>>) -> Option<Self> {
        attributes?;
        Self::of_amounts(stored, attribute_of(attributes, netcdf))
    }

    /// How numbers become values that can be NaN, by all attributes beside them, also if none of them is missing. `None` if they
    /// are these values, and for other types than real numbers.
    pub fn of_values(stored: Dtype, attribute: impl Fn(&str) -> Option<AttributeValue>) -> Option<Self> {
        if !is_number(stored) {
            return None;
        }
        let told: Vec<_> = NAMES.into_iter().filter_map(|name| Some((name, attribute(name)?))).collect();
        Some(Self::of(stored, &told).with_nan()).filter(|it| !it.is_as_stored())
    }

    /// Whether both make the same of stored numbers.
    pub fn means_same(&self, other: &Self) -> bool {
        let holds =
            |one: &Self, other: &Self| one.missing.iter().all(|number| other.missing.iter().any(|it| it == number));
        (self.stored, self.view, self.arithmetic) == (other.stored, other.view, other.arithmetic)
            && holds(self, other)
            && holds(other, self)
    }

    /// Whether stored numbers are the values, and none stands for a missing cell.
    pub fn is_trivial(&self) -> bool {
        self.is_plain() && self.missing.is_empty() && self.view == self.stored
    }

    /// The same for integers of any size: what `float64` does not hold is rounded, where it is an error otherwise.
    #[must_use]
    pub fn rounded(mut self) -> Self {
        if self.arithmetic == Arithmetic::IntegersOrNan(None, None) {
            self.arithmetic = Arithmetic::Double(None, None);
        }
        self
    }

    /// Numbers of [`Self::of_amounts`] in the byte order of the machine, if a cell is missing among them. `None` if none is, and for
    /// integers of 64 bits that `float64` does not hold: then the numbers stay as they are.
    pub fn masked(&self, stored: &[u8]) -> Option<Vec<u8>> {
        let bytes = self.cells(stored.to_vec()).ok()?.bytes;
        let has_nan = match self.dtype() {
            Dtype::Float32 => bytes.as_chunks().0.iter().any(|it| f32::from_ne_bytes(*it).is_nan()),
            Dtype::Float64 => bytes.as_chunks().0.iter().any(|it| f64::from_ne_bytes(*it).is_nan()),
            // Floats of 16 bits.
            _ => bytes != stored,
        };
        has_nan.then_some(bytes)
    }

    /// The reading whose values are floats where they would be integers.
    fn with_nan(mut self) -> Self {
        if range(self.view).is_none() {
            return self;
        }
        let of_plain = match self.view.byte_width() {
            1 | 2 => Arithmetic::Single(None, None),
            4 => Arithmetic::Double(None, None),
            _ => Arithmetic::IntegersOrNan(None, None),
        };
        self.arithmetic = match self.arithmetic {
            Arithmetic::None => of_plain,
            other => other.for_missing(true),
        };
        self
    }
}
