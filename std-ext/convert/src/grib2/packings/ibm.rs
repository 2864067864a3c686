//! Floats of IBM, which edition 1 has: a sign, 7 bits of a power of 16, and 24 bits of a fraction.

/// What is added to the exponent.
const BIAS: i32 = 64;
/// Bits of the fraction.
const FRACTION: i32 = 24;

/// The value, which is exact. There is one zero.
pub(in super::super) fn value(number: u32) -> f64 {
    let exponent = (number >> FRACTION & 0x7f).cast_signed() - BIAS;
    let amount = f64::from(number & 0xff_ffff) * 2_f64.powi(exponent * 4 - FRACTION);
    if number >> 31 == 0 || amount == 0.0 { amount } else { -amount }
}

/// The number whose value is nearest, without zeros in front of the fraction. The greatest one for values beyond it, and 0 for those that are too small.
pub(super) fn nearest(value: f64) -> u32 {
    const GREATEST: f64 = 16_777_215.0;
    let amount = value.abs();
    if amount.is_nan() || amount == 0.0 {
        return 0;
    }
    // A fraction has 24 bits, of which one of the first four is 1.
    let mut exponent = -BIAS;
    while exponent < BIAS - 1 && amount * 2_f64.powi(FRACTION - exponent * 4) > GREATEST {
        exponent += 1;
    }
    let fraction = (amount * 2_f64.powi(FRACTION - exponent * 4)).round().min(GREATEST);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "24 bits")]
    let number = fraction as u32 | (exponent + BIAS).cast_unsigned() << FRACTION;
    if fraction == 0.0 { 0 } else { number | u32::from(value < 0.0) << 31 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_come_back() {
        for (number, expected) in [
            (0x4111_9999, 1_153_433.0 / 1_048_576.0),
            (0xc276_a000, -118.625),
            (0x7fff_ffff, 16_777_215.0 * 2_f64.powi(228)),
            (0x0010_0000, 2_f64.powi(-260)),
            (0, 0.0),
        ] {
            assert_eq!((value(number).to_bits(), nearest(expected)), (f64::to_bits(expected), number), "{number:x}");
        }
        assert_eq!((value(0x8000_0000).to_bits(), nearest(-0.0)), (0, 0));
        for (amount, number) in [(f64::MAX, 0x7fff_ffff), (f64::NEG_INFINITY, 0xffff_ffff), (1e-300, 0), (f64::NAN, 0)]
        {
            assert_eq!(nearest(amount), number);
        }
    }
}
