//! Fields of coefficients, which have no places.

use crate::error::GridError;
use crate::octets::Needed;

/// The types of the first edition: spherical harmonics, also turned and stretched.
pub(crate) const TYPES: [u16; 4] = [50, 60, 70, 80];

/// The numbers of a section of the first edition: two for each coefficient of a triangle.
///
/// # Errors
/// [`GridError::ShortSection`]; [`GridError::Contradiction`] for another form than a triangle.
pub(crate) fn count(section: Needed<'_>) -> Result<u32, GridError> {
    let [j, k, m] = [section.u16(7)?, section.u16(9)?, section.u16(11)?].map(u32::from);
    // At most 2^32 - 2^16.
    let numbers = (j + 1).checked_mul(j + 2).ok_or(GridError::Contradiction)?;
    (j == k && j == m).then_some(numbers).ok_or(GridError::Contradiction)
}
