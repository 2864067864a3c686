//! A block: four values as integers of a common exponent, decorrelated, in bit planes.
//!
//! ```text
//! values      x y z w
//! integers    value · 2^(62 − exponent), where 2^exponent is above all of them
//! lifted      the mean, then differences: neighbours are alike, so differences are small
//! negabinary  digits of base −2: small numbers of either sign have zeros at the top
//! planes      bit 63 of all four, bit 62 of all four, and so on
//! ```

use super::bits::{BitReader, BitWriter};
use super::block_limits::BlockLimits;
use super::double::{EXPONENT_BIAS, EXPONENT_BITS, FRACTION_BITS, HEADER_BITS, LEAST_EXPONENT};
use super::planes;

/// Values in a block.
pub(super) const LEN: usize = 4;
/// The exponent of the least normal number, which zfp gives to subnormal ones too.
const MIN_EXPONENT: i32 = 1 - EXPONENT_BIAS;
/// The exponent of the block's power of two in the integers: a sign and a guard bit are above their other bits.
const INTEGER_BITS: i32 = 62;
/// The least exponent that decoders can scale with, as 2^[`LEAST_EXPONENT`] is the least number.
const MIN_SCALED_EXPONENT: i32 = INTEGER_BITS + LEAST_EXPONENT;

/// The digits of negabinary that count negative powers of two.
const NEGATIVE: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// The bits of an `f64` but for the sign.
const MAGNITUDE: u64 = u64::MAX >> 1;

/// Reads one block. After the stream's end it reads zeros: the caller checks for that.
#[inline]
pub(super) fn read(stream: &mut BitReader<'_>, limits: &BlockLimits) -> [f64; LEN] {
    let start = stream.position();
    let header = stream.peek();
    let values = if header & 1 == 1 {
        let exponent = (header >> 1 & ((1 << EXPONENT_BITS) - 1)) as i32 - EXPONENT_BIAS;
        stream.skip(HEADER_BITS);
        let integers = planes::read(stream, limits.planes(exponent), limits.plane_bits());
        let integers = inverse_lift(integers.map(from_negabinary));
        let scale = power_of_two(exponent - INTEGER_BITS);
        #[allow(clippy::cast_precision_loss, reason = "zfp rounds here, and nowhere else")]
        integers.map(|integer| integer as f64 * scale)
    } else {
        stream.skip(1);
        [0.0; LEN]
    };
    if let Some(bits) = limits.block_bits {
        stream.seek(start + u64::from(bits));
    }
    values
}

/// Writes one block of finite values.
#[inline]
pub(super) fn write(stream: &mut BitWriter, limits: &BlockLimits, values: &[f64; LEN]) {
    let used = if let Some(exponent) = exponent_to_write(values, limits) {
        stream.put(u64::from((exponent + EXPONENT_BIAS).cast_unsigned()) * 2 + 1, HEADER_BITS);
        let integers = lift(values.map(|value| fixed_point(value, exponent))).map(to_negabinary);
        HEADER_BITS + planes::write(stream, &integers, limits.planes(exponent), limits.plane_bits())
    } else {
        stream.put(0, 1);
        1
    };
    if let Some(bits) = limits.block_bits {
        stream.pad(bits - used);
    }
}

/// The bits of the greatest magnitude. Bits sort as the numbers do, infinities and NaN above all others.
#[inline]
pub(super) fn max_magnitude(values: &[f64]) -> u64 {
    values.iter().map(|value| value.to_bits() & MAGNITUDE).max().unwrap_or(0)
}

/// The exponent of the greatest value; `None` if the block has nothing to write.
///
/// zfp scales by infinity when it encodes exponents below -961, and by 0 when it decodes exponents below -1012. So
/// exponents below -1012 are raised to it. No value changes: all are whole multiples of 2^-1074, the unit of -1012.
#[inline]
fn exponent_to_write(values: &[f64; LEN], limits: &BlockLimits) -> Option<i32> {
    let magnitude = max_magnitude(values);
    let exponent = (magnitude >> FRACTION_BITS) as i32 + MIN_EXPONENT;
    (magnitude != 0 && limits.planes(exponent) != 0).then_some(exponent.max(MIN_SCALED_EXPONENT))
}

/// `value` in units of 2^(exponent - 62), rounded towards zero.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "rounding towards zero is meant")]
fn fixed_point(value: f64, exponent: i32) -> i64 {
    let scale = INTEGER_BITS - exponent;
    // In two steps, as one factor could be infinite. Scaling up loses no bit.
    let at_once = scale.min(EXPONENT_BIAS);
    (value * power_of_two(at_once) * power_of_two(scale - at_once)) as i64
}

/// 2^exponent, for exponents up to 1023; 0 below the least number.
#[inline]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(if exponent >= MIN_EXPONENT {
        u64::from((exponent + EXPONENT_BIAS).cast_unsigned()) << FRACTION_BITS
    } else {
        1_u64.checked_shl((exponent - LEAST_EXPONENT).cast_unsigned()).unwrap_or(0)
    })
}

/// The digits of base −2: the bits of the sum with the mask, in which the bits of the mask are flipped.
const fn to_negabinary(integer: i64) -> u64 {
    integer.cast_unsigned().wrapping_add(NEGATIVE) ^ NEGATIVE
}

/// Undoes [`to_negabinary`].
const fn from_negabinary(bits: u64) -> i64 {
    (bits ^ NEGATIVE).wrapping_sub(NEGATIVE).cast_signed()
}

/// Decorrelates four integers: x becomes their mean, the others are differences of several scales.
///
/// Each step replaces two numbers by their mean and half of their difference, roughly. It is zfp's transform, which has
/// no multiplication and nearly keeps the range.
#[inline]
const fn lift([mut x, mut y, mut z, mut w]: [i64; LEN]) -> [i64; LEN] {
    x = x.wrapping_add(w) >> 1;
    w = w.wrapping_sub(x);
    z = z.wrapping_add(y) >> 1;
    y = y.wrapping_sub(z);
    x = x.wrapping_add(z) >> 1;
    z = z.wrapping_sub(x);
    w = w.wrapping_add(y) >> 1;
    y = y.wrapping_sub(w);
    w = w.wrapping_add(y >> 1);
    y = y.wrapping_sub(w >> 1);
    [x, y, z, w]
}

/// Undoes [`lift`], step by step, except for the bits that its halvings drop.
#[inline]
const fn inverse_lift([mut x, mut y, mut z, mut w]: [i64; LEN]) -> [i64; LEN] {
    y = y.wrapping_add(w >> 1);
    w = w.wrapping_sub(y >> 1);
    y = y.wrapping_add(w);
    w = w.wrapping_shl(1).wrapping_sub(y);
    z = z.wrapping_add(x);
    x = x.wrapping_shl(1).wrapping_sub(z);
    y = y.wrapping_add(z);
    z = z.wrapping_shl(1).wrapping_sub(y);
    w = w.wrapping_add(x);
    x = x.wrapping_shl(1).wrapping_sub(w);
    [x, y, z, w]
}
