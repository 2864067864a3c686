//! A block: four values as integers of a common exponent, decorrelated, in bit planes.

use super::Params;
use super::bits::{BitReader, BitWriter};
use super::planes;

/// Values in a block.
pub(super) const LEN: usize = 4;
/// Bits of a block's exponent and of the 1 before it.
pub(super) const HEADER_BITS: u32 = 12;

const EXPONENT_BIAS: i32 = 1023;
/// The exponent that zfp gives to subnormal values as well.
const MIN_EXPONENT: i32 = -1022;
/// Bits of an integer that stands for a value below the block's power of two: sign and one guard bit are above them.
const FRACTION_BITS: i32 = 62;
/// The least exponent that decoders can scale with: 2^-1074 is the least number.
const MIN_SCALED_EXPONENT: i32 = FRACTION_BITS - 1074;

/// Where negabinary has the negative powers of two.
const NEGATIVE: u64 = 0xaaaa_aaaa_aaaa_aaaa;

const MAGNITUDE: u64 = u64::MAX >> 1;

/// Reads one block. Zeros follow the stream's end; the caller looks for it.
#[inline]
pub(super) fn read(stream: &mut BitReader<'_>, params: &Params) -> [f64; LEN] {
    let start = stream.position();
    let header = stream.peek();
    let values = if header & 1 == 1 {
        let exponent = (header >> 1 & 0x7ff) as i32 - EXPONENT_BIAS;
        stream.skip(HEADER_BITS);
        let integers = planes::read(stream, params.planes(exponent), params.plane_bits());
        let integers = inverse_lift(integers.map(from_negabinary));
        let scale = power_of_two(exponent - FRACTION_BITS);
        #[allow(clippy::cast_precision_loss, reason = "zfp rounds here, once")]
        integers.map(|integer| integer as f64 * scale)
    } else {
        stream.skip(1);
        [0.0; LEN]
    };
    if let Some(bits) = params.block_bits {
        stream.seek(start + u64::from(bits));
    }
    values
}

/// Writes one block of finite values.
#[inline]
pub(super) fn write(stream: &mut BitWriter, params: &Params, values: &[f64; LEN]) {
    let used = if let Some(exponent) = exponent_to_write(values, params) {
        stream.put(u64::from((exponent + EXPONENT_BIAS).cast_unsigned()) * 2 + 1, HEADER_BITS);
        let integers = lift(values.map(|value| fixed_point(value, exponent))).map(to_negabinary);
        HEADER_BITS + planes::write(stream, &integers, params.planes(exponent), params.plane_bits())
    } else {
        stream.put(0, 1);
        1
    };
    if let Some(bits) = params.block_bits {
        stream.pad(bits - used);
    }
}

/// The magnitude of the greatest value, as bits: they sort as the numbers do, infinities and NaN above all others.
#[inline]
pub(super) fn max_magnitude(values: &[f64]) -> u64 {
    values.iter().map(|value| value.to_bits() & MAGNITUDE).max().unwrap_or(0)
}

/// The exponent of the greatest value, unless the block has nothing to write.
///
/// zfp scales by infinity when it encodes exponents below -961, and by 0 when it decodes those below -1012. The latter
/// are raised: values of such blocks are whole multiples of the unit that -1012 has, 2^-1074.
#[inline]
fn exponent_to_write(values: &[f64; LEN], params: &Params) -> Option<i32> {
    let magnitude = max_magnitude(values);
    let exponent = (magnitude >> 52) as i32 + MIN_EXPONENT;
    (magnitude != 0 && params.planes(exponent) != 0).then_some(exponent.max(MIN_SCALED_EXPONENT))
}

/// `value` in units of 2^(exponent - 62), rounded towards zero.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the fraction is to go")]
fn fixed_point(value: f64, exponent: i32) -> i64 {
    let scale = FRACTION_BITS - exponent;
    // In two steps where one would be infinite; no bit is lost on the way up.
    let at_once = scale.min(EXPONENT_BIAS);
    (value * power_of_two(at_once) * power_of_two(scale - at_once)) as i64
}

/// 2^exponent, for exponents up to 1023; 0 below the least number.
#[inline]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(if exponent >= MIN_EXPONENT {
        u64::from((exponent + EXPONENT_BIAS).cast_unsigned()) << 52
    } else {
        1_u64.checked_shl((exponent + 1074).cast_unsigned()).unwrap_or(0)
    })
}

const fn to_negabinary(integer: i64) -> u64 {
    integer.cast_unsigned().wrapping_add(NEGATIVE) ^ NEGATIVE
}

const fn from_negabinary(bits: u64) -> i64 {
    (bits ^ NEGATIVE).wrapping_sub(NEGATIVE).cast_signed()
}

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

/// What [`lift`] did, undone but for the bits that its halvings dropped.
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
