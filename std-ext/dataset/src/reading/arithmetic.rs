//! Scale factor and offset.

use tgm_core::descriptor::Dtype;

use super::numbers::{Number, range};
use super::{AttributeValue, NotApplied, OFFSET, SCALE};

/// What is done with a number that is not missing. What is not there is not calculated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arithmetic {
    /// Nothing.
    None,
    /// In `f32`.
    Single(Option<f32>, Option<f32>),
    /// In `f64`.
    Double(Option<f64>, Option<f64>),
    /// In integers, to `i64`.
    Integers(Option<i128>, Option<i128>),
    /// The same, to `f64`, because cells may be missing.
    IntegersOrNan(Option<i128>, Option<i128>),
}

impl Arithmetic {
    /// The arithmetic of a variable. A variable of flags with a scale of 1 and an offset of 0 stays as it is.
    ///
    /// # Errors
    /// The attributes that are not one number. Then no number is calculated.
    pub(super) fn of(
        stored: Dtype,
        scale: Option<&AttributeValue>,
        offset: Option<&AttributeValue>,
        has_flags: bool,
    ) -> Result<Self, Vec<NotApplied>> {
        let mut wrong = Vec::new();
        let mut factor = |name, told: Option<&AttributeValue>| {
            let found = match told? {
                AttributeValue::Numbers(numbers) => numbers.alone().map(|number| (numbers.dtype, number)),
                _ => None,
            };
            if found.is_none() {
                wrong.push(NotApplied { name, why: "it is not one number" });
            }
            found
        };
        let (scale, offset) = (factor(SCALE, scale), factor(OFFSET, offset));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        if scale.is_none() && offset.is_none() {
            return Ok(Self::None);
        }
        #[expect(clippy::float_cmp, reason = "nothing else leaves each number as it is")]
        let is = |factor: Option<(_, Number)>, neutral| {
            factor.is_none_or(|(_, number): (Option<Dtype>, _)| number.to_f64() == neutral)
        };
        if has_flags && is(scale, 1.0) && is(offset, 0.0) {
            return Ok(Self::None);
        }
        let narrow =
            [Dtype::Int8, Dtype::Uint8, Dtype::Int16, Dtype::Uint16, Dtype::Float16, Dtype::Bfloat16, Dtype::Float32];
        let is_single = |factor: (Option<Dtype>, Number)| factor.0 == Some(Dtype::Float32);
        if narrow.contains(&stored) && scale.is_some_and(is_single) && offset.is_none_or(is_single) {
            #[expect(clippy::cast_possible_truncation, reason = "the file has them as f32")]
            let single = |factor: Option<(_, Number)>| factor.map(|(_, number)| number.to_f64() as f32);
            return Ok(Self::Single(single(scale), single(offset)));
        }
        let integer = |factor: Option<(_, Number)>| match factor {
            None => Some(None),
            Some((_, Number::Integer(integer))) => Some(Some(integer)),
            Some((_, Number::Float(_))) => None,
        };
        if let (Some(_), Some(scale), Some(offset)) = (range(stored), integer(scale), integer(offset)) {
            return Ok(Self::Integers(scale, offset));
        }
        let double = |factor: Option<(_, Number)>| factor.map(|(_, number)| number.to_f64());
        Ok(Self::Double(double(scale), double(offset)))
    }

    /// The arithmetic if cells may be missing.
    pub(super) const fn for_missing(self, may_be_missing: bool) -> Self {
        match self {
            Self::Integers(scale, offset) if may_be_missing => Self::IntegersOrNan(scale, offset),
            other => other,
        }
    }

    /// The type of the values of numbers of type `view`.
    pub(super) const fn dtype(self, view: Dtype) -> Dtype {
        match self {
            Self::None => view,
            Self::Single(..) => Dtype::Float32,
            Self::Double(..) | Self::IntegersOrNan(..) => Dtype::Float64,
            Self::Integers(..) => Dtype::Int64,
        }
    }

    /// Whether a greater number gives a lesser value.
    pub(super) fn reverses(self) -> bool {
        match self {
            Self::None => false,
            Self::Single(scale, _) => scale.is_some_and(|scale| scale < 0.0),
            Self::Double(scale, _) => scale.is_some_and(|scale| scale < 0.0),
            Self::Integers(scale, _) | Self::IntegersOrNan(scale, _) => scale.is_some_and(|scale| scale < 0),
        }
    }
}

/// `number · scale + offset`, each step rounded by itself.
pub(super) fn single(number: f32, scale: Option<f32>, offset: Option<f32>) -> f32 {
    let product = scale.map_or(number, |scale| number * scale);
    offset.map_or(product, |offset| product + offset)
}

/// The same in `f64`.
pub(super) fn double(number: f64, scale: Option<f64>, offset: Option<f64>) -> f64 {
    let product = scale.map_or(number, |scale| number * scale);
    offset.map_or(product, |offset| product + offset)
}

/// The same in integers. `None` beyond 127 bits.
pub(super) fn integers(number: i128, scale: Option<i128>, offset: Option<i128>) -> Option<i128> {
    let product = scale.map_or(Some(number), |scale| number.checked_mul(scale))?;
    offset.map_or(Some(product), |offset| product.checked_add(offset))
}
