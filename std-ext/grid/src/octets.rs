//! Numbers in a section of GRIB, by the octet at which they begin.

use std::fmt;

use crate::error::GridError;

/// The octets of a section of GRIB, counted from 1 as the manual counts them.
///
/// Numbers are big-endian. `None` means that the section ends before the number does.
///
/// ```
/// use tgm_grid::Octets;
///
/// let octets = Octets::new(&[0, 0, 0, 7, 3, 0x80, 0x05]);
/// assert_eq!((octets.u32(1), octets.u8(5), octets.i16(6)), (Some(7), Some(3), Some(-5)));
/// assert_eq!(octets.u16(7), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Octets<'a>(&'a [u8]);

impl<'a> Octets<'a> {
    /// The number of 4 octets that stands for a missing one: all bits are 1 (regulation 92.1.4).
    pub const MISSING: u32 = u32::MAX;

    /// The octets of a section, from its first byte on.
    pub const fn new(section: &'a [u8]) -> Self {
        Self(section)
    }

    /// All bytes.
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The bytes from an octet on. Empty if the section ends before.
    pub fn from(self, octet: usize) -> &'a [u8] {
        self.0.get(octet.saturating_sub(1)..).unwrap_or_default()
    }

    /// `N` octets.
    pub fn array<const N: usize>(self, octet: usize) -> Option<[u8; N]> {
        self.from(octet).first_chunk().copied()
    }

    /// A number of one octet.
    pub fn u8(self, octet: usize) -> Option<u8> {
        self.array(octet).map(u8::from_be_bytes)
    }

    /// A number of 2 octets.
    pub fn u16(self, octet: usize) -> Option<u16> {
        self.array(octet).map(u16::from_be_bytes)
    }

    /// A number of 4 octets.
    pub fn u32(self, octet: usize) -> Option<u32> {
        self.array(octet).map(u32::from_be_bytes)
    }

    /// A signed number of one octet. The first bit is the sign, and the others are the amount (regulation 92.1.5), also of
    /// the signed numbers below.
    pub fn i8(self, octet: usize) -> Option<i64> {
        self.u8(octet).map(|number| signed(number.into(), u8::BITS))
    }

    /// A signed number of 2 octets.
    pub fn i16(self, octet: usize) -> Option<i64> {
        self.u16(octet).map(|number| signed(number.into(), u16::BITS))
    }

    /// A signed number of 4 octets.
    pub fn i32(self, octet: usize) -> Option<i64> {
        self.u32(octet).map(|number| signed(number, u32::BITS))
    }
}

impl fmt::Debug for Octets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Octets").field("len", &self.0.len()).finish()
    }
}

/// The octets of a section that has to have the numbers that are read from it.
///
/// All errors are [`GridError::ShortSection`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needed<'a>(pub(crate) Octets<'a>);

impl Needed<'_> {
    /// `N` octets from an octet on, counted from 1.
    pub(crate) fn array<const N: usize>(self, octet: usize) -> Result<[u8; N], GridError> {
        self.0.array(octet).ok_or(GridError::ShortSection { octet })
    }

    pub(crate) fn u8(self, octet: usize) -> Result<u8, GridError> {
        self.array(octet).map(u8::from_be_bytes)
    }

    pub(crate) fn u16(self, octet: usize) -> Result<u16, GridError> {
        self.array(octet).map(u16::from_be_bytes)
    }

    pub(crate) fn u24(self, octet: usize) -> Result<u32, GridError> {
        self.array(octet).map(|[high, middle, low]| u32::from_be_bytes([0, high, middle, low]))
    }

    pub(crate) fn u32(self, octet: usize) -> Result<u32, GridError> {
        self.array(octet).map(u32::from_be_bytes)
    }

    pub(crate) fn i8(self, octet: usize) -> Result<i64, GridError> {
        self.u8(octet).map(|number| signed(number.into(), u8::BITS))
    }

    pub(crate) fn i24(self, octet: usize) -> Result<i64, GridError> {
        self.u24(octet).map(|number| signed(number, 24))
    }

    pub(crate) fn i32(self, octet: usize) -> Result<i64, GridError> {
        self.u32(octet).map(|number| signed(number, u32::BITS))
    }

    /// A signed number of millionths in 4 octets: of degrees, say.
    pub(crate) fn millionths(self, octet: usize) -> Result<f64, GridError> {
        self.i32(octet).map(|number| float(number) / 1e6)
    }

    /// A number of thousandths in 4 octets: a length in millimetres, say.
    pub(crate) fn thousandths(self, octet: usize) -> Result<f64, GridError> {
        self.u32(octet).map(|number| f64::from(number) / 1e3)
    }

    /// A signed number of thousandths in 3 octets: an angle of edition 1.
    pub(crate) fn short_angle(self, octet: usize) -> Result<f64, GridError> {
        self.i24(octet).map(|number| float(number) / 1e3)
    }

    /// A number of edition 1: a sign, 7 bits of a power of 16, and 24 bits. Each is exact.
    pub(crate) fn ibm(self, octet: usize) -> Result<f64, GridError> {
        let bits = self.u32(octet)?;
        let power = (bits >> 24 & 0x7f).cast_signed() - 64;
        let amount = f64::from(bits & 0x00ff_ffff) / f64::from(1 << 24) * 16_f64.powi(power);
        Ok(if bits >> 31 == 0 { amount } else { -amount })
    }
}

/// A number of a section, which has no more than 32 bits.
#[expect(clippy::cast_precision_loss, reason = "a number of 32 bits")]
const fn float(number: i64) -> f64 {
    number as f64
}

/// The number of `bits` bits whose first bit is its sign.
fn signed(number: u32, bits: u32) -> i64 {
    let sign = 1_u32 << (bits - 1);
    let amount = i64::from(number & (sign - 1));
    if number & sign == 0 { amount } else { -amount }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_sign_in_the_first_bit() {
        assert_eq!((signed(0x8001, 16), signed(0x7fff, 16), signed(0x8000, 16)), (-1, 32767, 0));
        assert_eq!((signed(0xff, 8), signed(u32::MAX, 32)), (-127, -i64::from(i32::MAX)));
    }
}
