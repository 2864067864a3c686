//! Numbers from text, and text from numbers.

use std::fmt::{Display, LowerExp};

use half::{bf16, f16};
use tgm_core::descriptor::{ByteOrder, Dtype};

use crate::arrays::Array;

/// Texts of values that are missing.
const MISSING: [&str; 5] = ["", "nan", "na", "null", "none"];

/// A column as far as it was read: integers, as long as all are.
pub(super) struct Column {
    signed: Option<Vec<i64>>,
    unsigned: Option<Vec<u64>>,
    floats: Vec<f64>,
}

impl Default for Column {
    fn default() -> Self {
        Self { signed: Some(Vec::new()), unsigned: Some(Vec::new()), floats: Vec::new() }
    }
}

impl Column {
    /// Adds a field. An error if it is not a number.
    pub(super) fn push(&mut self, field: &str) -> Result<(), ()> {
        let is_missing = MISSING.iter().any(|missing| field.eq_ignore_ascii_case(missing));
        let float = if is_missing { f64::NAN } else { field.parse().map_err(|_| ())? };
        // A negative zero is a float.
        let is_integer = !is_missing && (float != 0.0 || float.is_sign_positive());
        add(&mut self.signed, field.parse().ok().filter(|_| is_integer));
        add(&mut self.unsigned, field.parse().ok().filter(|_| is_integer));
        self.floats.push(float);
        Ok(())
    }

    /// The type of the column, and its values in this machine's order.
    pub(super) fn finish(self) -> (Dtype, Vec<u8>) {
        let dtype = self.dtype();
        (dtype, self.bytes(dtype))
    }

    /// Several columns in one type.
    pub(super) fn finish_alike(columns: Vec<Self>) -> Vec<(Dtype, Vec<u8>)> {
        let has =
            |has: fn(&Self) -> bool| columns.iter().all(has) && columns.iter().any(|column| !column.floats.is_empty());
        let dtype = if has(|column| column.signed.is_some()) {
            Dtype::Int64
        } else if has(|column| column.unsigned.is_some()) {
            Dtype::Uint64
        } else {
            Dtype::Float64
        };
        columns.into_iter().map(|column| (dtype, column.bytes(dtype))).collect()
    }

    fn dtype(&self) -> Dtype {
        match self {
            Self { floats, .. } if floats.is_empty() => Dtype::Float64,
            Self { signed: Some(_), .. } => Dtype::Int64,
            Self { unsigned: Some(_), .. } => Dtype::Uint64,
            _ => Dtype::Float64,
        }
    }

    fn bytes(self, dtype: Dtype) -> Vec<u8> {
        match (dtype, self.signed, self.unsigned) {
            (Dtype::Int64, Some(signed), _) => signed.into_iter().flat_map(i64::to_ne_bytes).collect(),
            (Dtype::Uint64, _, Some(unsigned)) => unsigned.into_iter().flat_map(u64::to_ne_bytes).collect(),
            _ => self.floats.into_iter().flat_map(f64::to_ne_bytes).collect(),
        }
    }
}

/// Adds an integer, or ends the list of integers.
fn add<T>(integers: &mut Option<Vec<T>>, integer: Option<T>) {
    match (integers.as_mut(), integer) {
        (Some(integers), Some(integer)) => integers.push(integer),
        _ => *integers = None,
    }
}

/// The elements of an array as text.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'v> {
    /// The type of the elements.
    pub dtype: Dtype,
    /// Their byte order.
    pub order: ByteOrder,
    /// How many there are.
    pub count: u64,
    /// The elements. Bitmasks are packed bits.
    pub bytes: &'v [u8],
}

impl<'v> Numbers<'v> {
    /// The elements of an array.
    pub fn of(array: &'v Array<'_>) -> Self {
        let descriptor = &array.descriptor;
        let count = descriptor.shape.iter().fold(1_u64, |product, dim| product.saturating_mul(*dim));
        Self { dtype: descriptor.dtype, order: descriptor.byte_order, count, bytes: &array.values }
    }

    /// The text of each element: the digits that tell it from its neighbours. A complex number is `1+2j`.
    pub fn texts(&self) -> impl Iterator<Item = String> + use<'v> {
        let numbers = *self;
        (0..self.count).map_while(move |index| numbers.text(usize::try_from(index).ok()?))
    }

    fn text(&self, index: usize) -> Option<String> {
        let dtype = self.dtype;
        Some(match dtype {
            Dtype::Float16 => text_of(dtype, f16::from_le_bytes(self.at(index)?).to_f64()),
            Dtype::Bfloat16 => text_of(dtype, bf16::from_le_bytes(self.at(index)?).to_f64()),
            Dtype::Float32 => text_of(dtype, f32::from_le_bytes(self.at(index)?).into()),
            Dtype::Float64 => text_of(dtype, f64::from_le_bytes(self.at(index)?)),
            Dtype::Complex64 => {
                let part = |index| Some(text_of(dtype, f32::from_le_bytes(self.at(index)?).into()));
                complex(&part(2 * index)?, &part(2 * index + 1)?)
            }
            Dtype::Complex128 => {
                let part = |index| Some(text_of(dtype, f64::from_le_bytes(self.at(index)?)));
                complex(&part(2 * index)?, &part(2 * index + 1)?)
            }
            Dtype::Int8 => i8::from_le_bytes(self.at(index)?).to_string(),
            Dtype::Int16 => i16::from_le_bytes(self.at(index)?).to_string(),
            Dtype::Int32 => i32::from_le_bytes(self.at(index)?).to_string(),
            Dtype::Int64 => i64::from_le_bytes(self.at(index)?).to_string(),
            Dtype::Uint8 => u8::from_le_bytes(self.at(index)?).to_string(),
            Dtype::Uint16 => u16::from_le_bytes(self.at(index)?).to_string(),
            Dtype::Uint32 => u32::from_le_bytes(self.at(index)?).to_string(),
            Dtype::Uint64 => u64::from_le_bytes(self.at(index)?).to_string(),
            Dtype::Bitmask => (self.bytes.get(index / 8)? >> (7 - index % 8) & 1).to_string(),
        })
    }

    /// Bytes of number `index`, in little-endian order.
    fn at<const W: usize>(&self, index: usize) -> Option<[u8; W]> {
        let mut bytes: [u8; W] = *self.bytes.get(index.checked_mul(W)?..)?.first_chunk()?;
        if self.order == ByteOrder::Big {
            bytes.reverse();
        }
        Some(bytes)
    }
}

fn complex(real: &str, imaginary: &str) -> String {
    let sign = if imaginary.starts_with('-') { "" } else { "+" };
    format!("{real}{sign}{imaginary}j")
}

/// The text of a value of this type, or of a part of it: the digits that tell it from its neighbours, with an exponent
/// if that is much shorter.
pub fn text_of(dtype: Dtype, value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".to_string() } else { value.to_string() };
    }
    match dtype {
        Dtype::Float64 | Dtype::Complex128 => shortest(value, value),
        #[expect(clippy::cast_possible_truncation, reason = "it was a shorter float before")]
        Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 | Dtype::Complex64 => shortest(value, value as f32),
        _ => value.to_string(),
    }
}

fn shortest(value: f64, number: impl Display + LowerExp) -> String {
    let magnitude = value.abs();
    let has_digits = value == 0.0 || (1e-5..1e16).contains(&magnitude);
    if has_digits { number.to_string() } else { format!("{number:e}") }
}
