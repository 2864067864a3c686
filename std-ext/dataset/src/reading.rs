//! How stored numbers become values, by the convention CF: one reading for NetCDF, HDF5 and Zarr.
//!
//! A variable has stored numbers and attributes that say what they mean. [`Reading::of`] takes its type and these
//! attributes, and says what the values are:
//!
//! 1. `_Unsigned` = "true" or "True" makes unsigned integers of signed ones, "false" the opposite.
//! 2. Cells are missing whose stored number equals `_FillValue` or a `missing_value`, after an exact cast to the stored
//!    type. A NaN stands for the cells with NaN, among floats.
//! 3. The number is multiplied by `scale_factor`, and `add_offset` is added. Each step rounds by itself.
//!
//! | stored | `scale_factor` | `add_offset` | values |
//! |---|---|---|---|
//! | any | none | none | as stored |
//! | up to 16 bits, or a float of up to 32 | `float` | `float` or none | `float32` |
//! | integers | an integer, or none | an integer, or none | `int64`, or an error; `float64` if cells may be missing |
//! | any | any other | any other | `float64`, with every operand widened first |
//!
//! Missing cells become NaN where values are floats. Among integers the number stays, and `_FillValue` stays beside it.
//!
//! Attributes of the encoding do not stay beside values that they no longer describe: [`Reading::fate`] says which are
//! dropped, and which have other numbers now. `valid_min`, `valid_max` and `valid_range` mask nothing. They go through the
//! same arithmetic as the values. Attributes that cannot be obeyed stay, and [`Reading::not_applied`] lists them.
//!
//! Where integers and those beside them would have to say different things with one number, or are computed with, they become
//! floats, and what is missing NaN: [`Reading::of_amounts`].
//!
//! [`Packed::of`] says whether `simple_packing` gives the same values, to the bit.
//!
//! Objects may hold the stored numbers of a variable beside these attributes, as [`Reading::kept`] reads them. Then
//! [`Reading::of_packed`] says what their values are.

mod amounts;
mod arithmetic;
mod bounds;
mod cells;
mod numbers;
mod packed;
mod packing;

#[cfg(test)]
mod tests;

use tgm_core::descriptor::Dtype;
use tgm_std::TensogramError;

use self::arithmetic::Arithmetic;
pub use self::cells::gather;
pub use self::numbers::{List, Number, Numbers};
pub use self::packed::told;
pub use self::packing::{Packed, pack};

/// The attributes that say what stored numbers mean.
pub const NAMES: [&str; 10] =
    [UNSIGNED, FILL, MISSING, SCALE, OFFSET, "valid_min", "valid_max", "valid_range", "flag_values", "flag_masks"];
/// The attribute that lets integers be read with or without a sign.
pub const UNSIGNED: &str = "_Unsigned";
/// The attribute with the number of cells that nothing was written to.
pub const FILL: &str = "_FillValue";
/// Units of times, as numpy and as the convention CF name them.
pub const NUMPY_UNITS: [(&str, &str); 7] = [
    ("D", "days"),
    ("h", "hours"),
    ("m", "minutes"),
    ("s", "seconds"),
    ("ms", "milliseconds"),
    ("us", "microseconds"),
    ("ns", "nanoseconds"),
];
/// The attribute with numbers that stand for missing cells.
pub const MISSING: &str = "missing_value";
/// The attribute with the factor of stored numbers.
pub const SCALE: &str = "scale_factor";
/// The attribute with what is added to the product.
pub const OFFSET: &str = "add_offset";

/// What a file says under the name of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeValue {
    /// One number, or several.
    Numbers(Numbers),
    /// One text.
    Text(String),
    /// Anything else, such as several texts.
    Other,
}

/// What becomes of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It stays as it is.
    Stays,
    /// It belongs to the encoding, and would be wrong beside the values.
    Dropped,
    /// It stays with these numbers.
    Becomes(Numbers),
}

/// An attribute that is not obeyed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplied {
    /// Its name.
    pub name: &'static str,
    /// Why, in words.
    pub why: &'static str,
}

/// How the stored numbers of a variable become values.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The type of the file.
    stored: Dtype,
    /// The type as which the stored bits are read: another one than `stored` with `_Unsigned`.
    view: Dtype,
    arithmetic: Arithmetic,
    /// The numbers that stand for missing cells, of type `view`. NaN is not among them.
    missing: List,
    fates: Vec<(&'static str, Fate)>,
    not_applied: Vec<NotApplied>,
    /// Whether the file names a fill value.
    has_fill: bool,
}

impl Reading {
    /// Whether values are integers of up to 16 bits times a scale: so many numbers at most are different.
    pub fn is_scaled(&self) -> bool {
        matches!(self.arithmetic, Arithmetic::Single(..) | Arithmetic::Double(..))
            && self.view.byte_width() <= 2
            && !self.view.is_float()
    }

    /// The reading of a variable of type `stored` with these attributes. Other attributes than [`NAMES`] are passed over,
    /// and of two with one name the first counts.
    ///
    /// Types that are not integers or real floats are read as they are stored.
    pub fn of(stored: Dtype, attributes: &[(&str, AttributeValue)]) -> Self {
        let find = |name: &str| attributes.iter().find(|(own, _)| *own == name).map(|(_, told)| told);
        let mut reading = Self {
            stored,
            view: stored,
            arithmetic: Arithmetic::None,
            missing: List::none(stored),
            fates: Vec::new(),
            not_applied: Vec::new(),
            has_fill: find(FILL).is_some(),
        };
        if !numbers::is_number(stored) {
            return reading;
        }
        reading.read_sign(find(UNSIGNED));
        let mut told = Vec::new();
        for name in [FILL, MISSING] {
            if let Some(value) = find(name) {
                match numbers::missing(stored, value) {
                    Ok(list) => {
                        reading.missing.extend(list.viewed(stored, reading.view));
                        told.push((name, true));
                    }
                    Err(why) => {
                        reading.not_applied.push(NotApplied { name, why });
                        told.push((name, false));
                    }
                }
            }
        }
        let has_flags = find("flag_values").is_some() || find("flag_masks").is_some();
        match Arithmetic::of(stored, find(SCALE), find(OFFSET), has_flags) {
            Ok(arithmetic) => {
                reading.arithmetic = arithmetic.for_missing(!reading.missing.is_empty());
                for name in [SCALE, OFFSET].into_iter().filter(|name| find(name).is_some()) {
                    reading.fates.push((name, Fate::Dropped));
                }
            }
            Err(list) => reading.not_applied.extend(list),
        }
        for (name, _) in told.iter().filter(|(_, is_applied)| *is_applied) {
            let fate = if reading.dtype().is_float() {
                Fate::Dropped
            } else if reading.view == stored {
                Fate::Stays
            } else {
                find(name).and_then(|told| reading.of_view(told)).map_or(Fate::Stays, Fate::Becomes)
            };
            reading.fates.push((name, fate));
        }
        bounds::read(&mut reading, &find);
        reading
    }

    fn read_sign(&mut self, told: Option<&AttributeValue>) {
        let Some(told) = told else { return };
        let view = match told {
            AttributeValue::Text(text) => numbers::with_sign(self.stored, text),
            _ => None,
        };
        match view {
            Some(view) => {
                self.view = view;
                self.fates.push((UNSIGNED, Fate::Dropped));
            }
            None => {
                self.not_applied.push(NotApplied { name: UNSIGNED, why: "only \"true\" and \"false\" mean something" });
            }
        }
    }

    /// Numbers of the stored type, read as the values are.
    fn of_view(&self, told: &AttributeValue) -> Option<Numbers> {
        let AttributeValue::Numbers(numbers) = told else { return None };
        let list = numbers.exact(self.stored)?.viewed(self.stored, self.view);
        Some(Numbers { dtype: Some(self.view), list })
    }

    /// Whether integers become values by a scale or an offset.
    pub fn is_packed(&self) -> bool {
        !self.is_plain() && !self.stored.is_float()
    }

    /// The reading that keeps the stored numbers as they are, and all attributes beside them. What is not applied stays known.
    #[must_use]
    pub fn kept(self) -> Self {
        let missing = List::none(self.stored);
        Self { view: self.stored, arithmetic: Arithmetic::None, missing, fates: Vec::new(), ..self }
    }

    /// The type of the file.
    pub const fn stored(&self) -> Dtype {
        self.stored
    }

    /// The type as which the stored bits are read.
    pub(crate) const fn view(&self) -> Dtype {
        self.view
    }

    /// The type of the values.
    pub const fn dtype(&self) -> Dtype {
        self.arithmetic.dtype(self.view)
    }

    /// Whether the values are the stored numbers, but for missing ones.
    pub const fn is_plain(&self) -> bool {
        matches!(self.arithmetic, Arithmetic::None)
    }

    /// Whether values need nothing to be done: they are the stored bytes.
    pub fn is_as_stored(&self) -> bool {
        self.is_plain() && (self.missing.is_empty() || !self.view.is_float())
    }

    /// What becomes of the attribute with this name.
    pub fn fate(&self, name: &str) -> &Fate {
        self.fates.iter().find(|(own, _)| *own == name).map_or(&Fate::Stays, |(_, fate)| fate)
    }

    /// The attributes that are not obeyed. They stay.
    pub fn not_applied(&self) -> &[NotApplied] {
        &self.not_applied
    }

    /// Which of these attributes do not stay as they are: what a writer needs to store the numbers again as they were.
    pub fn changed(&self) -> impl Iterator<Item = &'static str> {
        self.fates.iter().filter(|(_, fate)| *fate != Fate::Stays).map(|(name, _)| *name)
    }
}

/// The error of numbers that have no values.
fn encoding(text: impl Into<String>) -> TensogramError {
    TensogramError::Encoding(text.into().into())
}
