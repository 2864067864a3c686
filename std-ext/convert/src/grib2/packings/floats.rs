//! Coefficients that are not packed.

use std::borrow::Cow;

use tgm_std::Result;

use super::super::error::GribErrorKind;
use super::super::sections::END;
use super::ibm;

/// How floats are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Floats {
    Ibm,
    Ieee32,
    Ieee64,
}

impl Floats {
    /// By a precision of code table 5.7.
    ///
    /// # Errors
    /// [`GribErrorKind::Precision`].
    pub(super) const fn of_precision(code: u8) -> std::result::Result<Self, GribErrorKind> {
        match code {
            1 => Ok(Self::Ieee32),
            2 => Ok(Self::Ieee64),
            code => Err(GribErrorKind::Precision(code)),
        }
    }

    /// Bits of a number.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Self::Ibm | Self::Ieee32 => 32,
            Self::Ieee64 => 64,
        }
    }

    /// The value of a number's bits.
    #[expect(clippy::cast_possible_truncation, reason = "the bits of a float of this length")]
    pub(super) fn value(self, bits: u64) -> f64 {
        match self {
            Self::Ibm => ibm::value(bits as u32),
            Self::Ieee32 => f32::from_bits(bits as u32).into(),
            Self::Ieee64 => f64::from_bits(bits),
        }
    }

    /// The bits of the number that is nearest to a value.
    #[expect(clippy::cast_possible_truncation, reason = "it is compared with what was stored")]
    pub(super) fn of(self, value: f64) -> u64 {
        match self {
            Self::Ibm => ibm::nearest(value).into(),
            Self::Ieee32 => (value as f32).to_bits().into(),
            Self::Ieee64 => value.to_bits(),
        }
    }
}

/// The data with as many bytes as floats and integers need. ecCodes leaves the last byte out where not all of its bits are needed, and reads the
/// end of the message instead.
///
/// # Errors
/// [`GribErrorKind::ShortData`] for a section at `at`.
pub(super) fn whole(data: &[u8], (floats, integers): (usize, usize), at: usize) -> Result<Cow<'_, [u8]>> {
    let (needed, found) = (floats as u64 + integers as u64, data.len() as u64);
    if found >= needed {
        return Ok(data.into());
    }
    if integers == 0 || found + 1 < needed {
        return Err(GribErrorKind::ShortData { needed, found }.at(at).into());
    }
    Ok([data, END].concat().into())
}
