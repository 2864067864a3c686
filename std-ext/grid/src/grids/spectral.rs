//! Fields of coefficients, which have no places: of spherical harmonics up to a truncation J, K, M, and of waves in two directions.

use super::{Edition, Template, Word};
use crate::error::GridError;
use crate::octets::Needed;

/// Templates 3.50 to 3.53.
pub(crate) const HARMONICS: Template = Template {
    edition: Edition::Second,
    numbers: &[50, 51, 52, 53],
    scanning_mode: None,
    words: &[&[Word::unsigned("J", 15, 4), Word::unsigned("K", 19, 4), Word::unsigned("M", 23, 4)]],
    parse: |_| Ok(None),
};

/// Templates 3.61 to 3.63.
pub(crate) const WAVES: Template = Template {
    edition: Edition::Second,
    numbers: &[61, 62, 63],
    scanning_mode: None,
    words: &[&[
        Word::unsigned("biFourierResolutionParameterN", 16, 4),
        Word::unsigned("biFourierResolutionParameterM", 20, 4),
        Word::unsigned("biFourierTruncationType", 24, 1),
    ]],
    parse: |_| Ok(None),
};

/// The types of the first edition, of spherical harmonics.
pub(crate) const FIRST: Template = Template {
    edition: Edition::First,
    numbers: &TYPES,
    scanning_mode: None,
    words: &[&[Word::unsigned("J", 7, 2), Word::unsigned("K", 9, 2), Word::unsigned("M", 11, 2)]],
    parse: |_| Ok(None),
};

/// Why their values have no places.
pub(crate) const OF_HARMONICS: &str =
    "its values are spectral coefficients, which have no places: `cdo sp2gp` or MIR makes a grid of the GRIB file";
pub(crate) const OF_WAVES: &str =
    "its values are coefficients of waves, which have no places: EPyGrAM makes a grid of the GRIB file";

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
