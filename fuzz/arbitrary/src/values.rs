//! Shapes, and bytes of values. A few bytes of the fuzzer make many values.

use arbitrary::{Result, Unstructured};
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::half::{bf16, f16};

use crate::{MOST_ELEMENTS, Pipeline, once_in};

/// A shape of at most four dimensions and [`MOST_ELEMENTS`] elements.
pub(super) fn shape(u: &mut Unstructured<'_>) -> Result<Vec<u64>> {
    let rank = u.int_in_range(0..=4_usize)?;
    let mut left = MOST_ELEMENTS;
    let mut shape = Vec::new();
    for _ in 0..rank {
        let most = if once_in(4, u)? { left.min(700) } else { left.min(6) };
        let dim = if once_in(30, u)? { 0 } else { u.int_in_range(1..=most)? };
        left /= dim.max(1);
        shape.push(dim);
    }
    Ok(shape)
}

/// `count` elements of `dtype` in `order` that `pipeline` takes.
pub(super) fn values(
    dtype: Dtype,
    order: ByteOrder,
    count: u64,
    pipeline: Pipeline,
    u: &mut Unstructured<'_>,
) -> Result<Vec<u8>> {
    let len = dtype.byte_len(count).and_then(|len| usize::try_from(len).ok()).unwrap_or_default();
    let mut numbers = Numbers::arbitrary(u)?;
    let is_measured = !pipeline.takes_any_values() || u.arbitrary()?;
    let mut bytes = match part_of(dtype, order) {
        Some(append) if is_measured => {
            let mut bytes = Vec::with_capacity(len);
            while bytes.len() < len {
                append(numbers.next_measured(), &mut bytes);
            }
            bytes
        }
        _ => raw(len, &mut numbers, u)?,
    };
    bytes.truncate(len);
    if dtype == Dtype::Bitmask
        && let (Some(last), rest @ 1..) = (bytes.last_mut(), count % 8)
    {
        // Bits after the last element are zero.
        *last &= !(0xff_u8 >> rest);
    }
    Ok(bytes)
}

/// Any bytes: some of the fuzzer, over and over, or numbers.
fn raw(len: usize, numbers: &mut Numbers, u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if u.arbitrary()? {
        let taken = u.bytes(u.len().min(len).min(64))?;
        return Ok(if taken.is_empty() { vec![0; len] } else { taken.iter().copied().cycle().take(len).collect() });
    }
    Ok((0..len).map(|_| numbers.next().to_le_bytes()[0]).collect())
}

/// Appends a number as a scalar.
type Append = fn(f64, &mut Vec<u8>);

/// How a scalar of a float is written; `None` for other types.
fn part_of(dtype: Dtype, order: ByteOrder) -> Option<Append> {
    Some(match (dtype, order) {
        (Dtype::Float16, ByteOrder::Big) => |value, out| out.extend(f16::from_f64(value).to_be_bytes()),
        (Dtype::Float16, ByteOrder::Little) => |value, out| out.extend(f16::from_f64(value).to_le_bytes()),
        (Dtype::Bfloat16, ByteOrder::Big) => |value, out| out.extend(bf16::from_f64(value).to_be_bytes()),
        (Dtype::Bfloat16, ByteOrder::Little) => |value, out| out.extend(bf16::from_f64(value).to_le_bytes()),
        (Dtype::Float32 | Dtype::Complex64, ByteOrder::Big) => |value, out| out.extend(narrow(value).to_be_bytes()),
        (Dtype::Float32 | Dtype::Complex64, ByteOrder::Little) => |value, out| out.extend(narrow(value).to_le_bytes()),
        (Dtype::Float64 | Dtype::Complex128, ByteOrder::Big) => |value, out| out.extend(value.to_be_bytes()),
        (Dtype::Float64 | Dtype::Complex128, ByteOrder::Little) => |value, out| out.extend(value.to_le_bytes()),
        _ => return None,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
const fn narrow(value: f64) -> f32 {
    value as f32
}

/// A series of numbers.
struct Numbers {
    state: u64,
    /// What is added to a number to get the next one; `None` for noise.
    step: Option<u64>,
    base: f64,
    /// Every how many numbers one is not finite; 0 for never.
    gaps: u64,
    count: u64,
}

impl Numbers {
    fn arbitrary(u: &mut Unstructured<'_>) -> Result<Self> {
        let step = if u.arbitrary()? { Some(u64::from(u.arbitrary::<u8>()?)) } else { None };
        Ok(Self {
            state: u.arbitrary::<u32>()?.into(),
            step,
            base: *u.choose(&[0.0, 273.15, -1e5, 1.0])?,
            gaps: if once_in(3, u)? { u.int_in_range(1..=40)? } else { 0 },
            count: 0,
        })
    }

    fn next(&mut self) -> u64 {
        self.state = match self.step {
            Some(step) => self.state.wrapping_add(step),
            None => self
                .state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407)
                .rotate_left(29),
        };
        self.state
    }

    /// A number as measurements are: of moderate size, with gaps.
    fn next_measured(&mut self) -> f64 {
        self.count = self.count.wrapping_add(1);
        if self.gaps > 0 && self.count.is_multiple_of(self.gaps) {
            return match self.count / self.gaps % 5 {
                0 => f64::INFINITY,
                1 => f64::NEG_INFINITY,
                _ => f64::NAN,
            };
        }
        let [a, b, ..] = self.next().to_le_bytes();
        self.base + f64::from(u16::from_le_bytes([a, b])) / 128.0
    }
}
