//! Section 4: how the values are stored.
//!
//! | octets | simple packing |
//! |---|---|
//! | 4 | flags in the high half; unused bits at the end of the data in the low half |
//! | 5 to 6 | binary scale factor E |
//! | 7 to 10 | reference value R, IBM |
//! | 11 | bits of each value |
//! | 12 on | values |
//!
//! The decimal scale factor D is in octets 27 to 28 of section 1.

use super::super::error::{GribError, GribErrorKind};
use super::super::representation::{Representation, ieee, packing_of};
use super::super::sections::Section;

/// Octets in front of simple packing's values.
pub(super) const HEAD_LEN: usize = 11;
/// The same for IEEE numbers: octet 12 has their precision.
const IEEE_HEAD_LEN: usize = 12;

/// Flags of section 4.
const SPECTRAL: u8 = 8;
const COMPLEX: u8 = 4;
const MORE: u8 = 1;
/// The flags of IEEE numbers, as ecCodes writes them: more flags, and integers before.
const IEEE: u8 = 3;

/// Octets of section 4 in front of the data.
///
/// # Errors
/// [`GribErrorKind::ShortSection`].
pub(in super::super) fn head_len(section: Section<'_>) -> Result<usize, GribError> {
    section.u8(HEAD_LEN)?;
    Ok(if section.u8(4)? >> 4 == IEEE { IEEE_HEAD_LEN } else { HEAD_LEN })
}

/// Reads section 4 of a message with this section 1.
///
/// # Errors
/// [`GribErrorKind::ShortSection`], [`GribErrorKind::Packing`], [`GribErrorKind::Bits`].
pub(in super::super) fn parse(identification: Section<'_>, section: Section<'_>) -> Result<Representation, GribError> {
    let flags = section.u8(4)? >> 4;
    if flags == IEEE {
        return ieee(section.u8(IEEE_HEAD_LEN)?, section.offset());
    }
    if let Some(name) = unknown(flags) {
        return Err(GribErrorKind::Packing(name).at(section.offset()));
    }
    let numbers = (ibm(section.u32(7)?), section.i16(5)?, identification.i16(27)?, section.u8(HEAD_LEN)?);
    packing_of(numbers, section.u8(HEAD_LEN)? == 0, section.offset()).map(Representation::simple)
}

/// The name of a packing that is not read.
const fn unknown(flags: u8) -> Option<&'static str> {
    match (flags & SPECTRAL != 0, flags & COMPLEX != 0, flags & MORE != 0) {
        (true, false, _) => Some("spectral data in simple packing"),
        (true, true, _) => Some("spectral data in complex packing"),
        (false, true, _) => Some("second order packing"),
        (false, false, true) => Some("a matrix at each point"),
        (false, false, false) => None,
    }
}

/// An IBM number: a sign, 7 bits of a power of 16, and 24 bits of a fraction. Each is exact.
pub(super) fn ibm(number: u32) -> f64 {
    const BIAS: i32 = 64;
    let fraction = f64::from(number & 0xff_ffff) / f64::from(1 << 24);
    let exponent = (number >> 24 & 0x7f).cast_signed() - BIAS;
    let amount = fraction * 16_f64.powi(exponent);
    // There is one zero.
    if number >> 31 == 0 || amount == 0.0 { amount } else { -amount }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ibm_numbers_are_exact() {
        let expected = [
            (0x4111_9999, 1.099_999_904_632_568_4),
            (0xc276_a000, -118.625),
            (0x8000_0000, 0.0),
            (0x0000_0001, 2_f64.powi(-280)),
            (0x7fff_ffff, 16_777_215.0 * 2_f64.powi(228)),
            (0x4200_0001, 2_f64.powi(-16)),
        ];
        for (number, value) in expected {
            assert_eq!(ibm(number).to_bits(), f64::to_bits(value), "{number:x}");
        }
    }
}
