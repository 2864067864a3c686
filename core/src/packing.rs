//! `simple_packing`: bit fields to `f64` and `f32`, whole or a range.
//!
//! ```text
//! scale = 2^E · 10^(-D)
//! for each element i of the request:
//!     q     = bits [i·B, (i+1)·B) of the packed bytes, most significant bit first
//!     value = R + scale · q
//! ```
//!
//! There is no padding between fields, so a field can start at any bit. Two kernels share the work:
//!
//! - `groups`, for widths where a few values fill a few whole bytes: 8, 12, 16, 24 and 32 bits. It turns an array of
//!   constant size into an array of constant size, and compilers make vector code of that.
//! - `Fields`, for every other width, and for values before and after whole groups. It loads the 64 bits around a field
//!   and shifts:
//!
//!   ```text
//!   bytes         │ 8 bytes from the one with the field's first bit, as a big-endian word
//!   << shift      │ removes the bits of earlier fields: shift is 0 to 7
//!   >> (64 - B)   │ removes the bits of later fields
//!   ```
//!
//!   A field of 58 bits or more can reach into a ninth byte. Its last bits are then added from there.
//!
//! Both are generic over a function that stores a value. So `f64`, `f32` and bytes of either order come from the same code.
//! [`Formula`] says why product and sum are rounded one after the other. Format: PIPELINE §3.4 and §3.5.

use crate::error::{ErrorKind, Result};
pub use crate::formula::{Formula, Unpack};
use crate::names::ByteOrder;

/// Parameters of `simple_packing`: value = `reference_value` + 2^`binary_scale_factor` · 10^-`decimal_scale_factor` · q.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packing {
    /// R, the value of q = 0.
    pub reference_value: f64,
    /// E, the power of two between neighbouring values.
    pub binary_scale_factor: i32,
    /// D, the power of ten that values were multiplied by.
    pub decimal_scale_factor: i32,
    /// B, the width of q in bits: 0 to 64.
    pub bits_per_value: u32,
}

impl Packing {
    /// The distance between neighbouring values: 2^E · 10^(-D).
    ///
    /// A power beyond the range of `f64` is infinite, and its reciprocal is zero; there are no subnormal values in between.
    /// So with E below -1023 every value is R.
    ///
    /// ```
    /// use tgm_core::packing::Packing;
    ///
    /// let packing =
    ///     Packing { reference_value: 250.0, binary_scale_factor: -10, decimal_scale_factor: 0, bits_per_value: 12 };
    /// assert_eq!(packing.scale(), 1.0 / 1024.0);
    /// ```
    #[must_use]
    pub const fn scale(&self) -> f64 {
        // D = i32::MIN has no negative. The largest i32 gives the same result: infinity.
        powi(2.0, self.binary_scale_factor) * powi(10.0, self.decimal_scale_factor.saturating_neg())
    }

    /// What writers multiply values with before they round: 10^D · 2^(-E). Every machine rounds it in the same way.
    #[must_use]
    pub const fn factor(&self) -> f64 {
        powi(10.0, self.decimal_scale_factor) * powi(2.0, self.binary_scale_factor.saturating_neg())
    }

    /// The formula that makes values of packed integers.
    #[must_use]
    pub const fn formula(&self) -> Formula {
        Formula { reference: self.reference_value, scale: self.scale() }
    }

    /// Bytes that `count` packed values take, ⌈count · B / 8⌉; `None` if their bits exceed `u64`.
    #[must_use]
    pub const fn packed_len(&self, count: u64) -> Option<u64> {
        match count.checked_mul(self.bits_per_value as u64) {
            Some(bits) => Some(bits.div_ceil(8)),
            None => None,
        }
    }
}

/// Unpacks `out.len()` values, starting with element `start`.
///
/// `packed` holds the fields of the whole tensor, beginning with element 0. Only the bytes of the wanted elements are read.
/// If B is 0, no byte is read and every value is R. O(`out.len()`), no allocation.
///
/// ```
/// use tgm_core::packing::{Packing, unpack_into};
///
/// let packing = Packing { reference_value: 0.0, binary_scale_factor: 0, decimal_scale_factor: 0, bits_per_value: 12 };
/// let mut values = [0.0_f32; 2];
/// unpack_into(&[0x00, 0x00, 0x01, 0x00, 0x20, 0x03], &packing, 2, &mut values)?;
/// assert_eq!(values, [2.0, 3.0]);
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::BitsPerValue`] if B is over 64; [`ErrorKind::RangeOutOfBounds`] if the last bit's position exceeds `u64`;
/// [`ErrorKind::Truncated`] at the end of `packed` if the last value reaches beyond it. After an error `out` is unchanged.
pub fn unpack_into<T: Unpack>(packed: &[u8], packing: &Packing, start: u64, out: &mut [T]) -> Result<()> {
    unpack(packed, packing, start, out, T::from_f64)
}

/// Unpacks `out.len() / 8` values, starting with element `start`, as the bytes of `f64` in `order`.
///
/// Otherwise the same as [`unpack_into`].
///
/// # Errors
/// [`ErrorKind::OutputLength`] if the length of `out` is not a multiple of 8; the errors of [`unpack_into`].
pub fn unpack_bytes_into(packed: &[u8], packing: &Packing, start: u64, order: ByteOrder, out: &mut [u8]) -> Result<()> {
    let (slots, []) = out.as_chunks_mut() else { return Err(ErrorKind::OutputLength.at(0)) };
    match order {
        ByteOrder::Big => unpack(packed, packing, start, slots, f64::to_be_bytes),
        ByteOrder::Little => unpack(packed, packing, start, slots, f64::to_le_bytes),
    }
}

/// The formula, and how a value is stored.
#[derive(Clone, Copy)]
struct Stored<F> {
    formula: Formula,
    store: F,
}

impl<F> Stored<F> {
    /// The slot for the field whose nearest `f64` is `q`.
    #[inline]
    fn slot<S>(&self, q: f64) -> S
    where
        F: Fn(f64) -> S,
    {
        (self.store)(self.formula.value_of(q))
    }
}

/// The kernel behind every public function. `store` turns a value into an item of the output.
fn unpack<S: Clone, F: Fn(f64) -> S + Copy>(
    packed: &[u8],
    packing: &Packing,
    start: u64,
    out: &mut [S],
    store: F,
) -> Result<()> {
    let bits = packing.bits_per_value;
    if bits > u64::BITS {
        return Err(ErrorKind::BitsPerValue(bits).at(0));
    }
    let mut fields = fields_from(packed, bits, start, out.len())?;
    let stored = Stored { formula: packing.formula(), store };
    if bits == 0 {
        out.fill(store(packing.reference_value));
        return Ok(());
    }
    // Two 12-bit values share three bytes. If the request begins with the second one, that value comes before the groups.
    let head_len = usize::from(bits == 12 && fields.shift != 0);
    let (head, body) = out.split_at_mut_checked(head_len).unwrap_or_default();
    unpack_fields(&mut fields, head, stored);
    let tail = unpack_groups(&mut fields, body, stored);
    unpack_fields(&mut fields, tail, stored);
    Ok(())
}

/// The fields from element `start` on, after the check that `packed` holds `count` of them.
fn fields_from(packed: &[u8], bits: u32, start: u64, count: usize) -> Result<Fields<'_>> {
    let end = u64::try_from(count).ok().and_then(|count| start.checked_add(count));
    let end_bit = end.and_then(|end| end.checked_mul(bits.into())).ok_or(ErrorKind::RangeOutOfBounds.at(0))?;
    if count == 0 || bits == 0 {
        return Ok(Fields { packed: &[], shift: 0, bits });
    }
    let truncated = ErrorKind::Truncated.at_index(packed.len());
    let needed = usize::try_from(end_bit.div_ceil(8)).map_err(|_| truncated)?;
    let packed = packed.get(..needed).ok_or(truncated)?;
    // Cannot overflow: the position is not greater than `end_bit`, which fits.
    let start_bit = start.wrapping_mul(bits.into());
    let first = usize::try_from(start_bit / 8).map_err(|_| truncated)?;
    let packed = packed.get(first..).ok_or(truncated)?;
    Ok(Fields { packed, shift: (start_bit % 8) as u32, bits })
}

/// Unpacks whole groups, if there is a group for the width, and returns the slots that are left.
#[inline]
fn unpack_groups<'o, S, F: Fn(f64) -> S + Copy>(
    fields: &mut Fields<'_>,
    out: &'o mut [S],
    stored: Stored<F>,
) -> &'o mut [S] {
    match fields.bits {
        8 => groups(fields, out, stored, |[a]: [u8; 1]| [i32::from(a)]),
        12 => groups(fields, out, stored, |[a, b, c]: [u8; 3]| {
            [i32::from_be_bytes([0, 0, a, b]) >> 4, i32::from_be_bytes([0, 0, b & 0x0f, c])]
        }),
        16 => groups(fields, out, stored, |[a, b]: [u8; 2]| [i32::from_be_bytes([0, 0, a, b])]),
        24 => groups(fields, out, stored, |[a, b, c]: [u8; 3]| [i32::from_be_bytes([0, a, b, c])]),
        32 => groups(fields, out, stored, |bytes: [u8; 4]| [u32::from_be_bytes(bytes)]),
        _ => out,
    }
}

/// Unpacks groups of `BYTES` bytes to `VALUES` values each. `split` takes a group apart. The fields start on a byte.
///
/// `split` returns fields of fewer than 32 bits as `i32`, because every vector unit converts `i32` to `f64`, and few
/// convert `u32`.
fn groups<'o, S, F, Q, const BYTES: usize, const VALUES: usize>(
    fields: &mut Fields<'_>,
    out: &'o mut [S],
    stored: Stored<F>,
    split: impl Fn([u8; BYTES]) -> [Q; VALUES],
) -> &'o mut [S]
where
    F: Fn(f64) -> S + Copy,
    Q: Into<f64>,
{
    let (sources, rest) = fields.packed.as_chunks();
    let (slots, tail) = out.as_chunks_mut();
    for (slots, &source) in slots.iter_mut().zip(sources) {
        *slots = split(source).map(|q| stored.slot(q.into()));
    }
    fields.packed = rest;
    tail
}

/// Unpacks one value after another, at any width and bit offset.
fn unpack_fields<S, F: Fn(f64) -> S + Copy>(fields: &mut Fields<'_>, out: &mut [S], stored: Stored<F>) {
    for (slot, q) in out.iter_mut().zip(fields) {
        #[allow(clippy::cast_precision_loss, reason = "the format's formula rounds q to f64")]
        let q = q as f64;
        *slot = stored.slot(q);
    }
}

/// Bit fields of `bits` bits, beginning after the first `shift` bits of `packed`. It never ends: after the bytes come
/// zeros.
#[derive(Clone, Debug)]
struct Fields<'a> {
    packed: &'a [u8],
    /// Bits of the first byte that belong to earlier fields: 0 to 7.
    shift: u32,
    /// 1 to 64.
    bits: u32,
}

impl Iterator for Fields<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let left_aligned = window(self.packed).wrapping_shl(self.shift);
        let mut q = left_aligned.wrapping_shr(u64::BITS.wrapping_sub(self.bits));
        let end = self.shift.wrapping_add(self.bits);
        // The field may reach into a ninth byte, by `spill` bits.
        if let Some(spill @ 1..) = end.checked_sub(u64::BITS) {
            let ninth = self.packed.get(8).copied().unwrap_or_default();
            q |= u64::from(ninth.wrapping_shr(8_u32.wrapping_sub(spill)));
        }
        self.packed = self.packed.get((end / 8) as usize..).unwrap_or_default();
        self.shift = end % 8;
        Some(q)
    }
}

/// The first eight bytes as a big-endian integer; missing ones are zero.
#[inline]
fn window(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => short_window(bytes),
    }
}

/// [`window`] of fewer than eight bytes.
#[cold]
fn short_window(bytes: &[u8]) -> u64 {
    let mut window = [0; 8];
    for (slot, &byte) in window.iter_mut().zip(bytes) {
        *slot = byte;
    }
    u64::from_be_bytes(window)
}

/// `base` to an integer power, by repeated squaring. For a negative exponent: the reciprocal of the positive power.
///
/// It multiplies in the same order as `f64::powi` in std does where that is not left to the C library, as on Windows. So it rounds
/// to the same result. `core` has no `powi`.
const fn powi(mut base: f64, exponent: i32) -> f64 {
    let mut left = exponent.unsigned_abs();
    let mut power = 1.0;
    loop {
        if left % 2 == 1 {
            power *= base;
        }
        left /= 2;
        if left == 0 {
            break;
        }
        base *= base;
    }
    if exponent < 0 { 1.0 / power } else { power }
}

#[cfg(test)]
#[allow(clippy::float_cmp, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "exact on purpose")]
mod tests {
    use std::hint::black_box;
    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn packing(reference_value: f64, binary: i32, decimal: i32, bits_per_value: u32) -> Packing {
        Packing { reference_value, binary_scale_factor: binary, decimal_scale_factor: decimal, bits_per_value }
    }

    /// Plain integers of `bits` bits.
    fn integers(bits: u32) -> Packing {
        packing(0.0, 0, 0, bits)
    }

    /// The field of element `index`, read bit by bit.
    fn oracle_field(packed: &[u8], bits: u32, index: u64) -> u64 {
        (0..u64::from(bits)).fold(0, |field, bit| {
            let position = index * u64::from(bits) + bit;
            let byte = packed[usize::try_from(position / 8).unwrap()];
            field << 1 | u64::from(byte >> (7 - position % 8) & 1)
        })
    }

    fn oracle(packed: &[u8], packing: &Packing, start: u64, count: usize) -> Vec<f64> {
        let field = |index| oracle_field(packed, packing.bits_per_value, index) as f64;
        let product = |index| packing.scale() * field(index);
        (start..).take(count).map(|index| packing.reference_value + product(index)).collect()
    }

    fn unpacked<T: Unpack + Default>(packed: &[u8], packing: &Packing, start: u64, count: usize) -> Result<Vec<T>> {
        let mut out = vec![T::default(); count];
        unpack_into(packed, packing, start, &mut out).map(|()| out)
    }

    fn unpacked_bytes(packed: &[u8], packing: &Packing, start: u64, order: ByteOrder, count: usize) -> Vec<u8> {
        let mut out = vec![0xaa; count * 8];
        unpack_bytes_into(packed, packing, start, order, &mut out).unwrap();
        out
    }

    /// Every output agrees with the oracle, and with one byte less the input is truncated there.
    fn check(packed: &[u8], packing: &Packing, start: u64, count: usize) {
        let expected = oracle(packed, packing, start, count);
        let case = (packing, start, count);
        let as_bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(as_bits(unpacked(packed, packing, start, count).unwrap()), as_bits(expected.clone()), "{case:?}");
        let single: Vec<f32> = expected.iter().map(|&value| value as f32).collect();
        assert_eq!(unpacked::<f32>(packed, packing, start, count), Ok(single), "{case:?}");
        let big: Vec<u8> = expected.iter().flat_map(|value| value.to_be_bytes()).collect();
        assert_eq!(unpacked_bytes(packed, packing, start, ByteOrder::Big, count), big, "{case:?}");
        let little: Vec<u8> = expected.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(unpacked_bytes(packed, packing, start, ByteOrder::Little, count), little, "{case:?}");

        if count > 0 && packing.bits_per_value > 0 {
            let needed = usize::try_from(packing.packed_len(start + count as u64).unwrap()).unwrap();
            let exact = unpacked::<f64>(&packed[..needed], packing, start, count);
            assert_eq!(as_bits(exact.unwrap()), as_bits(expected), "{case:?}");
            let short = unpacked::<f64>(&packed[..needed - 1], packing, start, count);
            assert_eq!(short, Err(ErrorKind::Truncated.at_index(needed - 1)), "{case:?}");
        }
    }

    /// Bytes without a pattern, the same every time.
    fn noise(len: usize) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn every_width_start_and_length_agrees_with_the_bitwise_oracle() {
        let packed = noise(8 * 70);
        for bits in 0..=64 {
            for start in [0, 1, 2, 3, 5, 7, 8, 9, 16, 23] {
                for count in 0..40 {
                    check(&packed, &packing(-2.5, -7, 1, bits), start, count);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_request_agrees_with_the_bitwise_oracle(
            packed in prop::collection::vec(any::<u8>(), 8 * 80),
            reference in -1e9..1e9,
            binary in -40..40,
            decimal in -5..5,
            bits in 0_u32..=64,
            start in 0_u64..40,
            count in 0_usize..40,
        ) {
            check(&packed, &packing(reference, binary, decimal, bits), start, count);
        }

        #[test]
        fn no_request_panics(
            packed in prop::collection::vec(any::<u8>(), 0..40),
            binary in any::<i32>(),
            decimal in any::<i32>(),
            bits in prop_oneof![0_u32..70, any::<u32>()],
            start in prop_oneof![0_u64..40, any::<u64>()],
            len in 0_usize..100,
        ) {
            let packing = packing(1.0, binary, decimal, bits);
            let mut out = vec![0; len];
            let _ = unpack_bytes_into(&packed, &packing, start, ByteOrder::Big, &mut out);
            let _ = unpacked::<f32>(&packed, &packing, start, len);
        }

        #[test]
        #[cfg_attr(windows, ignore = "std asks the C library there, which rounds in another way")]
        fn powers_are_as_std_has_them(base in any::<f64>(), exponent in any::<i32>(), small in -400..400) {
            for (base, exponent) in [(base, exponent), (base, small), (2.0, small), (10.0, small), (1.0 + 1e-9, exponent)] {
                // Hidden from the compiler, which might compute constant powers otherwise.
                let expected = black_box(base).powi(black_box(exponent));
                let power = powi(base, exponent);
                assert!(power.to_bits() == expected.to_bits() || power.is_nan() && expected.is_nan(), "{base} {exponent}");
            }
        }
    }

    #[test]
    #[cfg_attr(windows, ignore = "std asks the C library there, which rounds in another way")]
    fn powers_of_two_and_ten_are_as_std_has_them() {
        for exponent in (-2200..=2200).chain([i32::MIN, i32::MIN + 1, i32::MAX]) {
            for base in [2.0, 10.0] {
                assert_eq!(powi(base, exponent), black_box::<f64>(base).powi(black_box(exponent)), "{base} {exponent}");
            }
        }
    }

    /// PIPELINE §10: payloads that the reference wrote.
    #[test]
    fn payloads_of_the_reference_decode_to_their_values() {
        let decode = |packed, packing, count| unpacked::<f64>(packed, &packing, 0, count).unwrap();
        let sixteen = decode(&[0x00, 0x00, 0x53, 0x33, 0xac, 0xcd], packing(250.0, -14, 0, 16), 3);
        assert_eq!(sixteen, [250.0, 250.0 + 21299.0 / 16384.0, 250.0 + 44237.0 / 16384.0]);
        let twelve = decode(&[0x00, 0x05, 0x33, 0xac, 0xd0], packing(250.0, -10, 0, 12), 3);
        assert_eq!(twelve, [250.0, 250.0 + 1331.0 / 1024.0, 250.0 + 2765.0 / 1024.0]);
        let decimal = decode(&[0x00, 0x1b, 0xb1], packing(1.23, 0, 2, 8), 3);
        assert_eq!(decimal, [1.23, 1.23 + 0.01 * 27.0, 1.23 + 0.01 * 177.0]);
        assert_eq!(decode(&[0x00, 0x00, 0x01, 0xff], integers(8), 4), [0.0, 0.0, 1.0, 255.0]);
        assert_eq!(decode(&[0; 6], packing(42.0, 0, 0, 16), 3), [42.0; 3]);
    }

    #[test]
    fn zero_to_three_decode_at_the_widths_of_the_reference() {
        let payloads: [(u32, &[u8]); 5] = [
            (4, &[0x01, 0x23]),
            (10, &[0x00, 0x00, 0x10, 0x08, 0x03]),
            (12, &[0x00, 0x00, 0x01, 0x00, 0x20, 0x03]),
            (20, &[0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x20, 0x00, 0x03]),
            (24, &[0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3]),
        ];
        for (bits, payload) in payloads {
            assert_eq!(unpacked(payload, &integers(bits), 0, 4), Ok(vec![0.0, 1.0, 2.0, 3.0]), "{bits} bits");
        }
        assert_eq!(unpacked(&[0x70], &integers(1), 0, 4), Ok(vec![0.0, 1.0, 1.0, 1.0]));
    }

    #[test]
    fn product_and_sum_are_rounded_one_after_the_other() {
        // Rounded once, the value would be the next number, 0.600_000_000_000_000_1.
        assert_eq!(unpacked(&5_u64.to_be_bytes(), &packing(0.1, 0, 1, 64), 0, 1), Ok(vec![0.6]));
    }

    #[test]
    fn zero_bits_are_the_reference_value_without_bytes() {
        assert_eq!(unpacked(&[], &packing(-7.25, 3, 3, 0), 1 << 60, 3), Ok(vec![-7.25; 3]));
    }

    #[test]
    fn scale_steps_from_1_over_infinity_to_zero() {
        assert_eq!(packing(0.0, -1060, 0, 8).scale(), 0.0);
        assert_eq!(packing(0.0, 0, i32::MIN, 8).scale(), f64::INFINITY);
        assert_eq!(packing(0.0, 0, i32::MAX, 8).scale(), 0.0);
    }

    #[test]
    fn no_value_lies_beyond_the_end() {
        assert_eq!(unpacked::<f64>(&[0; 9], &integers(8), 100, 0), Ok(vec![]));
    }

    #[test]
    fn over_64_bits_are_rejected() {
        assert_eq!(unpacked::<f64>(&[0; 99], &integers(65), 0, 1), Err(ErrorKind::BitsPerValue(65).at(0)));
    }

    #[test]
    fn positions_beyond_u64_are_out_of_bounds() {
        let out_of_bounds = Err(ErrorKind::RangeOutOfBounds.at(0));
        assert_eq!(unpacked::<f64>(&[0; 9], &integers(8), u64::MAX / 8, 1), out_of_bounds);
        assert_eq!(unpacked::<f64>(&[0; 9], &integers(0), u64::MAX, 1), out_of_bounds);
    }

    #[test]
    fn a_part_of_a_value_is_not_an_output_length() {
        let result = unpack_bytes_into(&[0; 9], &integers(8), 0, ByteOrder::Big, &mut [0; 12]);
        assert_eq!(result, Err(ErrorKind::OutputLength.at(0)));
    }

    #[test]
    fn a_failed_request_leaves_the_output_alone() {
        let mut out = [1.0_f64; 4];
        assert_eq!(unpack_into(&[9; 3], &integers(8), 0, &mut out), Err(ErrorKind::Truncated.at(3)));
        assert_eq!(out, [1.0; 4]);
    }

    #[test]
    fn packed_len_rounds_up_to_bytes() {
        assert_eq!(integers(12).packed_len(3), Some(5));
        assert_eq!(integers(0).packed_len(u64::MAX), Some(0));
        assert_eq!(integers(2).packed_len(u64::MAX), None);
    }
}
