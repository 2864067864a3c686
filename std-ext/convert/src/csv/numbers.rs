//! Text from numbers.

use std::fmt::{Display, LowerExp};

use half::{bf16, f16};
use tgm_core::descriptor::{ByteOrder, Dtype};

use crate::arrays::Array;

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
        // The values in memory end before a count that is too large.
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
