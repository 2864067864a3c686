//! Search for NaN and infinities among values of any width.

use tgm_core::descriptor::{ByteOrder, Dtype};

use tgm_codec::kernels::finite::all_finite;

/// Bytes that are first tested as a block, then searched if the test says so. A multiple of every element's size.
const BLOCK: usize = 16 << 10;
const ROW: usize = 512;

/// The kinds of values that are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Nan,
    Infinity,
}

/// A value that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NonFinite {
    /// Which element.
    pub(super) element: u64,
    /// The part of a complex value.
    pub(super) part: Option<&'static str>,
    pub(super) class: Class,
}

/// The bit layout of a dtype's scalars. A scalar is not finite if all bits of the exponent are set.
#[derive(Clone, Copy)]
struct Layout {
    width: usize,
    exponent: u64,
    mantissa: u64,
}

impl Layout {
    const fn of(dtype: Dtype) -> Option<Self> {
        let (width, mantissa_bits) = match dtype {
            Dtype::Float16 => (2, 10),
            Dtype::Bfloat16 => (2, 7),
            Dtype::Float32 | Dtype::Complex64 => (4, 23),
            Dtype::Float64 | Dtype::Complex128 => (8, 52),
            _ => return None,
        };
        let mantissa = (1 << mantissa_bits) - 1;
        let without_sign = u64::MAX >> (65 - 8 * width);
        Some(Self { width, exponent: without_sign & !mantissa, mantissa })
    }

    const fn class(self, bits: u64) -> Option<Class> {
        match (bits & self.exponent == self.exponent, bits & self.mantissa) {
            (false, _) => None,
            (true, 0) => Some(Class::Infinity),
            (true, _) => Some(Class::Nan),
        }
    }
}

/// The values in `bytes` that are not finite, in order. `None` for types that have none. O(bytes), no allocation.
pub(super) fn find(bytes: &[u8], dtype: Dtype, order: ByteOrder) -> Option<impl Iterator<Item = NonFinite> + use<'_>> {
    let layout = Layout::of(dtype)?;
    let is_complex = matches!(dtype, Dtype::Complex64 | Dtype::Complex128);
    let rows = parts(bytes, 0, BLOCK, dtype, order)
        .flat_map(move |(start, block)| parts(block, start, ROW, dtype, order))
        .flat_map(move |(start, row)| (start / layout.width..).zip(row.chunks_exact(layout.width)));
    Some(rows.filter_map(move |(i, scalar)| {
        let class = layout.class(read(scalar, order))?;
        let (element, part) = match (is_complex, i % 2) {
            (false, _) => (i, None),
            (true, 0) => (i / 2, Some("real")),
            (true, _) => (i / 2, Some("imaginary")),
        };
        Some(NonFinite { element: element as u64, part, class })
    }))
}

/// The parts of `len` bytes that contain such a value, each with the position of its first byte. `start` is the
/// position of `bytes`.
fn parts(
    bytes: &[u8],
    start: usize,
    len: usize,
    dtype: Dtype,
    order: ByteOrder,
) -> impl Iterator<Item = (usize, &[u8])> {
    let parts = (start..).step_by(len).zip(bytes.chunks(len));
    parts.filter(move |(_, part)| !all_finite(part, dtype, order))
}

/// A scalar of at most eight bytes as a number.
fn read(scalar: &[u8], order: ByteOrder) -> u64 {
    let push = |bits: u64, &byte: &u8| bits << 8 | u64::from(byte);
    match order {
        ByteOrder::Big => scalar.iter().fold(0, push),
        ByteOrder::Little => scalar.iter().rev().fold(0, push),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(bytes: &[u8], dtype: Dtype, order: ByteOrder) -> Vec<(u64, Option<&'static str>, Class)> {
        find(bytes, dtype, order).into_iter().flatten().map(|found| (found.element, found.part, found.class)).collect()
    }

    #[test]
    fn every_bit_pattern_of_a_half_is_classified() {
        for bits in 0..=u16::MAX {
            let value = half::f16::from_bits(bits);
            let expected = if value.is_nan() {
                vec![(0, None, Class::Nan)]
            } else if value.is_infinite() {
                vec![(0, None, Class::Infinity)]
            } else {
                vec![]
            };
            assert_eq!(classes(&bits.to_be_bytes(), Dtype::Float16, ByteOrder::Big), expected, "{bits:04x}");
        }
    }

    #[test]
    fn wider_floats_too() {
        for value in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 0.0] {
            let expected = match (value.is_nan(), value.is_infinite()) {
                (true, _) => vec![(1, None, Class::Nan)],
                (_, true) => vec![(1, None, Class::Infinity)],
                _ => vec![],
            };
            let little = [1.0, value].map(f32::to_le_bytes).concat();
            assert_eq!(classes(&little, Dtype::Float32, ByteOrder::Little), expected, "{value}");
            let big = [1.0, f64::from(value)].map(f64::to_be_bytes).concat();
            assert_eq!(classes(&big, Dtype::Float64, ByteOrder::Big), expected, "{value}");
            let upper: Vec<u8> = [1.0, value].iter().flat_map(|v| v.to_be_bytes()[..2].to_vec()).collect();
            assert_eq!(classes(&upper, Dtype::Bfloat16, ByteOrder::Big), expected);
        }
    }

    #[test]
    fn each_is_found_wherever_it_stands() {
        let places = [0_usize, 1, 63, 64, 2047, 2048, 2049, 4095, 4096, 9999];
        let mut values = vec![1.0_f64; 10_000];
        for place in places {
            values[place] = if place.is_multiple_of(2) { f64::NAN } else { f64::NEG_INFINITY };
        }
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        let found = |dtype| classes(&bytes, dtype, ByteOrder::Big);
        let class = |place: &usize| if place.is_multiple_of(2) { Class::Nan } else { Class::Infinity };
        assert_eq!(found(Dtype::Float64), places.map(|place| (place as u64, None, class(&place))));
        let part = |place: &usize| if place.is_multiple_of(2) { "real" } else { "imaginary" };
        let expected = places.map(|place| (place as u64 / 2, Some(part(&place)), class(&place)));
        assert_eq!(found(Dtype::Complex128), expected);
    }

    #[test]
    fn parts_of_complex_values_are_named() {
        let bytes = [0.0, f32::NAN, f32::INFINITY, 0.0].map(f32::to_le_bytes).concat();
        let expected = [(0, Some("imaginary"), Class::Nan), (1, Some("real"), Class::Infinity)];
        assert_eq!(classes(&bytes, Dtype::Complex64, ByteOrder::Little), expected);
        assert!(find(&bytes, Dtype::Uint32, ByteOrder::Little).is_none());
    }
}
