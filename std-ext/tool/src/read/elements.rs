//! The elements of decoded values as floats, one after the other, whatever their type.

use half::{bf16, f16};
use serde_json::Value as Json;
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype};
use tgm_std::metadata::query::compare::Number;

use crate::read::statistics::{BLOCK, Blocks};

/// How many floats an element has: two for complex numbers, the real part first.
pub(crate) const fn parts(dtype: Dtype) -> usize {
    match dtype {
        Dtype::Complex64 | Dtype::Complex128 => 2,
        _ => 1,
    }
}

/// Elements of an object: its values in the byte order `order`. Bitmasks are packed bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements<'v> {
    /// Element type.
    pub(crate) dtype: Dtype,
    /// Byte order of the values.
    pub(crate) order: ByteOrder,
    /// The number of elements.
    pub(crate) count: u64,
    /// The values.
    pub(crate) bytes: &'v [u8],
}

impl<'v> Elements<'v> {
    /// The elements of an object that has this descriptor and, in its byte order, these values.
    pub(crate) fn of(descriptor: &Descriptor<'_>, bytes: &'v [u8]) -> Self {
        let (dtype, order) = (descriptor.dtype(), descriptor.byte_order());
        Self { dtype, order, count: descriptor.element_count(), bytes }
    }

    /// Calls `with` for each float. Integers of 64 bits are rounded beyond 2^53, see [`Self::integer`].
    pub(crate) fn for_each(&self, mut with: impl FnMut(f64)) {
        self.for_each_block(&mut |block| block.iter().copied().for_each(&mut with));
    }

    /// One part of each number: of complex numbers the real or the imaginary ones.
    pub(crate) const fn part(&self, part: usize) -> Part<'_> {
        Part { elements: self, part }
    }
}

/// One part of each number.
pub(crate) struct Part<'e> {
    elements: &'e Elements<'e>,
    part: usize,
}

impl Blocks for Part<'_> {
    fn for_each_block(&self, with: &mut dyn FnMut(&[f64])) {
        let parts = parts(self.elements.dtype);
        if parts == 1 {
            return self.elements.for_each_block(with);
        }
        let mut own = Vec::with_capacity(BLOCK);
        // Blocks hold whole numbers.
        self.elements.for_each_block(&mut |block| {
            own.clear();
            own.extend(block.iter().skip(self.part).step_by(parts));
            with(&own);
        });
    }
}

impl Blocks for Elements<'_> {
    fn for_each_block(&self, with: &mut dyn FnMut(&[f64])) {
        let Self { dtype, order, count, bytes } = *self;
        match dtype {
            Dtype::Float16 => blocks(bytes, order, |b| f16::from_le_bytes(b).to_f64(), with),
            Dtype::Bfloat16 => blocks(bytes, order, |b| bf16::from_le_bytes(b).to_f64(), with),
            Dtype::Float32 | Dtype::Complex64 => blocks(bytes, order, |b| f32::from_le_bytes(b).into(), with),
            Dtype::Float64 | Dtype::Complex128 => blocks(bytes, order, f64::from_le_bytes, with),
            Dtype::Int8 => blocks(bytes, order, |b| i8::from_le_bytes(b).into(), with),
            Dtype::Int16 => blocks(bytes, order, |b| i16::from_le_bytes(b).into(), with),
            Dtype::Int32 => blocks(bytes, order, |b| i32::from_le_bytes(b).into(), with),
            Dtype::Int64 => blocks(bytes, order, |b| rounded(i64::from_le_bytes(b).into()), with),
            Dtype::Uint8 => blocks(bytes, order, |b| u8::from_le_bytes(b).into(), with),
            Dtype::Uint16 => blocks(bytes, order, |b| u16::from_le_bytes(b).into(), with),
            Dtype::Uint32 => blocks(bytes, order, |b| u32::from_le_bytes(b).into(), with),
            Dtype::Uint64 => blocks(bytes, order, |b| rounded(u64::from_le_bytes(b).into()), with),
            Dtype::Bitmask => {
                // As for other types, bytes that are missing have no values.
                let mut left = usize::try_from(count).unwrap_or(usize::MAX);
                let mut block = Vec::with_capacity(BLOCK);
                for bytes in bytes.chunks(BLOCK / 8) {
                    block.clear();
                    block.extend(bytes.iter().flat_map(|byte| bits(*byte)).take(left));
                    left -= block.len();
                    with(&block);
                }
            }
        }
    }
}

impl Elements<'_> {
    /// The integer at `index`, exactly. `None` for other types.
    pub(crate) fn integer(&self, index: usize) -> Option<i128> {
        let at = index.checked_mul(8)?;
        let bytes: [u8; 8] = *self.bytes.get(at..)?.first_chunk()?;
        let bytes = little(bytes, self.order);
        match self.dtype {
            Dtype::Int64 => Some(i64::from_le_bytes(bytes).into()),
            Dtype::Uint64 => Some(u64::from_le_bytes(bytes).into()),
            _ => None,
        }
    }
}

/// The number at `index` that `rounded` stands for: integers of 64 bits exactly.
pub(crate) fn exact(elements: &Elements<'_>, index: usize, rounded: f64) -> Number {
    elements.integer(index).map_or(Number::Float(rounded), Number::Integer)
}

/// A number as text: integers exactly, floats in the shortest form that reads back.
pub(crate) fn text_of(number: Number) -> String {
    match number {
        Number::Integer(integer) => integer.to_string(),
        Number::Float(float) => float.to_string(),
    }
}

/// A number in JSON: integers of 64 bits exactly. `None` for NaN and infinities.
pub(crate) fn json_of(number: Number) -> Option<Json> {
    match number {
        Number::Integer(integer) => {
            let signed = || i64::try_from(integer).ok().map(Json::from);
            u64::try_from(integer).ok().map(Json::from).or_else(signed)
        }
        Number::Float(float) => float.is_finite().then(|| float.into()),
    }
}

/// Calls `with` for the numbers in `data`, a block at a time.
fn blocks<const W: usize>(data: &[u8], order: ByteOrder, load: impl Fn([u8; W]) -> f64, with: &mut dyn FnMut(&[f64])) {
    let values: &[[u8; W]] = data.as_chunks().0;
    let mut block = [0.0; BLOCK];
    for values in values.chunks(BLOCK) {
        // Two loops, each of which registers make several numbers at a time.
        match order {
            ByteOrder::Little => block.iter_mut().zip(values).for_each(|(to, bytes)| *to = load(*bytes)),
            ByteOrder::Big => block.iter_mut().zip(values).for_each(|(to, bytes)| *to = load(little(*bytes, order))),
        }
        with(block.get(..values.len()).unwrap_or(&block));
    }
}

fn little<const W: usize>(mut bytes: [u8; W], order: ByteOrder) -> [u8; W] {
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    bytes
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
const fn rounded(integer: i128) -> f64 {
    integer as f64
}

/// The bits of a byte as 0 or 1, the highest first.
fn bits(byte: u8) -> impl Iterator<Item = f64> {
    (0..8).rev().map(move |place| f64::from(byte >> place & 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(dtype: Dtype, order: ByteOrder, count: u64, bytes: &[u8]) -> Vec<f64> {
        let mut found = Vec::new();
        Elements { dtype, order, count, bytes }.for_each(|value| found.push(value));
        found
    }

    #[test]
    fn every_type_gives_floats() {
        let big = ByteOrder::Big;
        assert_eq!(floats(Dtype::Int16, big, 2, &[0xff, 0xff, 1, 0]), [-1.0, 256.0]);
        assert_eq!(floats(Dtype::Float16, big, 1, &[0x3c, 0]), [1.0]);
        assert_eq!(floats(Dtype::Bfloat16, big, 1, &[0x3f, 0x80]), [1.0]);
        assert_eq!(floats(Dtype::Complex64, big, 1, &[0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0]), [1.0, -1.0]);
        assert_eq!(floats(Dtype::Bitmask, big, 3, &[0b1010_0000]), [1.0, 0.0, 1.0]);
        let bytes = u64::MAX.to_be_bytes();
        let largest = Elements { dtype: Dtype::Uint64, order: big, count: 1, bytes: &bytes };
        assert_eq!((largest.integer(0), largest.integer(1)), (Some(u64::MAX.into()), None));
    }
}
