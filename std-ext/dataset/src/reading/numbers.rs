//! Numbers of attributes, exact and with their types.

use tgm_core::descriptor::Dtype;
use tgm_std::deps::half::{bf16, f16};

use super::AttributeValue;

/// The numbers of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// Their type. `None` if the file has numbers without types, as JSON does: they take the type of what they stand beside,
    /// and calculate as `float64`.
    pub dtype: Option<Dtype>,
    /// The numbers themselves.
    pub list: List,
}

/// Integers or floats.
#[derive(Clone, Debug, PartialEq)]
pub enum List {
    /// Integers.
    Integers(Vec<i128>),
    /// Floats.
    Floats(Vec<f64>),
}

/// A number alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Integer(i128),
    /// A float.
    Float(f64),
}

impl Number {
    /// The nearest `f64`.
    #[expect(clippy::cast_precision_loss, reason = "arithmetic is that of float64")]
    pub const fn to_f64(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }
}

impl Numbers {
    /// The number, if there is one alone.
    pub(super) fn alone(&self) -> Option<Number> {
        match &self.list {
            List::Integers(list) => match list.as_slice() {
                [integer] => Some(Number::Integer(*integer)),
                _ => None,
            },
            List::Floats(list) => match list.as_slice() {
                [float] => Some(Number::Float(*float)),
                _ => None,
            },
        }
    }

    /// The same numbers as this type has them. `None` if one is not exact in it.
    pub(super) fn exact(&self, dtype: Dtype) -> Option<List> {
        let all = self.list.iter();
        if dtype.is_float() {
            return all.map(|number| float(dtype, number)).collect::<Option<_>>().map(List::Floats);
        }
        all.map(|number| integer(dtype, number)).collect::<Option<_>>().map(List::Integers)
    }
}

impl List {
    /// An empty list for numbers of this type.
    pub(super) const fn none(dtype: Dtype) -> Self {
        if dtype.is_float() { Self::Floats(Vec::new()) } else { Self::Integers(Vec::new()) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integers(list) => list.len(),
            Self::Floats(list) => list.len(),
        }
    }

    /// The numbers, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = Number> {
        let (integers, floats) = match self {
            Self::Integers(list) => (list.as_slice(), &[][..]),
            Self::Floats(list) => (&[][..], list.as_slice()),
        };
        let integers = integers.iter().map(|integer| Number::Integer(*integer));
        integers.chain(floats.iter().map(|float| Number::Float(*float)))
    }

    /// Adds the numbers of a list of the same kind. NaN is left out: a NaN equals nothing, and stays one.
    pub(super) fn extend(&mut self, other: Self) {
        match (self, other) {
            (Self::Integers(list), Self::Integers(other)) => list.extend(other),
            (Self::Floats(list), Self::Floats(other)) => list.extend(other.into_iter().filter(|float| !float.is_nan())),
            _ => {}
        }
    }

    /// Integers of type `stored` whose bits are read as type `view`. Other lists stay.
    pub(super) fn viewed(self, stored: Dtype, view: Dtype) -> Self {
        match self {
            Self::Integers(list) if stored != view => {
                Self::Integers(list.into_iter().map(|integer| reinterpret(view, integer)).collect())
            }
            list => list,
        }
    }
}

/// Whether the type has integers or real floats.
pub(super) const fn is_number(dtype: Dtype) -> bool {
    range(dtype).is_some() || dtype.is_float()
}

/// The least and the greatest integer of a type of integers.
pub(super) const fn range(dtype: Dtype) -> Option<(i128, i128)> {
    Some(match dtype {
        Dtype::Int8 => (i8::MIN as i128, i8::MAX as i128),
        Dtype::Int16 => (i16::MIN as i128, i16::MAX as i128),
        Dtype::Int32 => (i32::MIN as i128, i32::MAX as i128),
        Dtype::Int64 => (i64::MIN as i128, i64::MAX as i128),
        Dtype::Uint8 => (0, u8::MAX as i128),
        Dtype::Uint16 => (0, u16::MAX as i128),
        Dtype::Uint32 => (0, u32::MAX as i128),
        Dtype::Uint64 => (0, u64::MAX as i128),
        _ => return None,
    })
}

/// The type as which the attribute `_Unsigned` lets integers be read. `None` for a text without a meaning, and for floats.
pub(super) fn with_sign(stored: Dtype, text: &str) -> Option<Dtype> {
    const PAIRS: [(Dtype, Dtype); 4] = [
        (Dtype::Int8, Dtype::Uint8),
        (Dtype::Int16, Dtype::Uint16),
        (Dtype::Int32, Dtype::Uint32),
        (Dtype::Int64, Dtype::Uint64),
    ];
    let is_unsigned = match text {
        "true" | "True" => true,
        "false" => false,
        _ => return None,
    };
    let (signed, unsigned) = PAIRS.into_iter().find(|(signed, unsigned)| stored == *signed || stored == *unsigned)?;
    Some(if is_unsigned { unsigned } else { signed })
}

/// The integer that the low bits of another one are in this type.
pub(super) fn reinterpret(view: Dtype, integer: i128) -> i128 {
    let Some((least, greatest)) = range(view) else { return integer };
    let span = greatest - least + 1;
    (integer - least).rem_euclid(span) + least
}

/// The numbers that stand for missing cells, as the stored type has them.
pub(super) fn missing(stored: Dtype, told: &AttributeValue) -> Result<List, &'static str> {
    match told {
        AttributeValue::Numbers(numbers) => {
            if !stored.is_float() && numbers.list.iter().any(|number| number.to_f64().is_nan()) {
                return Err("NaN does not occur among integers");
            }
            numbers.exact(stored).ok_or("it is not exact in the type of the stored numbers")
        }
        _ => Err("it is not a number"),
    }
}

/// The same integer in this type.
fn integer(dtype: Dtype, number: Number) -> Option<i128> {
    let integer = match number {
        Number::Integer(integer) => integer,
        #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is within 2^65")]
        Number::Float(float) if float.fract() == 0.0 && float.abs() < 2_f64.powi(65) => float as i128,
        Number::Float(_) => return None,
    };
    let (least, greatest) = range(dtype)?;
    (least..=greatest).contains(&integer).then_some(integer)
}

/// The same float in this type.
fn float(dtype: Dtype, number: Number) -> Option<f64> {
    let float = number.to_f64();
    #[expect(clippy::cast_possible_truncation, reason = "the comparison says whether it was exact")]
    let is_integer_kept = match number {
        Number::Integer(integer) => float as i128 == integer,
        Number::Float(_) => true,
    };
    #[expect(clippy::cast_possible_truncation, reason = "the comparison says whether it was exact")]
    let narrow = match dtype {
        Dtype::Float64 => float,
        Dtype::Float32 => f64::from(float as f32),
        Dtype::Float16 => f16::from_f64(float).to_f64(),
        Dtype::Bfloat16 => bf16::from_f64(float).to_f64(),
        _ => return None,
    };
    #[expect(clippy::float_cmp, reason = "what is asked is whether they are the same")]
    let is_same = narrow == float || float.is_nan();
    (is_integer_kept && is_same).then_some(float)
}
