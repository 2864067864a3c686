//! Section 4: what the values are, where and when, as far as templates share octets.
//!
//! | octets | templates 4.0, 4.1, 4.2, 4.5, 4.6, 4.8 to 4.12, 4.15 |
//! |---|---|
//! | 10, 11 | category and number of the parameter |
//! | 12, 14 | type of generating process, and which one |
//! | 18, 19 to 22 | unit of time, and forecast time in it |
//! | 23, 24, 25 to 28 | first fixed surface: type, scale factor, scaled value |
//! | 29, 30, 31 to 34 | second fixed surface |
//! | 4.1 and 4.11: 35, 36, 37 | type of ensemble forecast, number of the perturbation, number of forecasts |
//! | 4.2 and 4.12: 35, 36 | derived forecast, number of forecasts |

use tgm_grid::Octets;

use super::error::GribError;
use super::sections::Section;

/// The numbers of section 4. Those that are absent or missing are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Product {
    pub(super) template: u16,
    pub(super) category: Option<u8>,
    pub(super) number: Option<u8>,
    pub(super) process_type: Option<u8>,
    pub(super) process: Option<u8>,
    pub(super) time_unit: Option<u8>,
    pub(super) forecast_time: Option<i64>,
    pub(super) first: Surface,
    pub(super) second: Surface,
    pub(super) ensemble_type: Option<u8>,
    pub(super) perturbation: Option<u8>,
    pub(super) derived: Option<u8>,
    pub(super) forecasts: Option<u8>,
    /// Statistics over an interval, not a moment: their step has a start and an end.
    pub(super) is_statistic: bool,
}

/// A fixed surface: its type, and its value times ten to the scale factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Surface {
    pub(super) code: Option<u8>,
    pub(super) scale: Option<i64>,
    pub(super) value: Option<i64>,
}

impl Product {
    pub(super) fn parse(section: Section<'_>) -> Result<Self, GribError> {
        let template = section.u16(8)?;
        let mut product = Self { template, ..Self::default() };
        if !matches!(template, 0 | 1 | 2 | 5 | 6 | 8..=12 | 15) {
            return Ok(product);
        }
        let octet = |octet| Ok::<_, GribError>(Some(section.u8(octet)?).filter(|number| *number != u8::MAX));
        // A parameter may have the number 255, which local tables use.
        product.category = Some(section.u8(10)?);
        product.number = Some(section.u8(11)?);
        product.process_type = octet(12)?;
        product.process = octet(14)?;
        product.time_unit = octet(18)?;
        product.forecast_time = present(section, 19)?;
        product.first = Surface::parse(section, 23)?;
        product.second = Surface::parse(section, 29)?;
        match template {
            1 | 11 => {
                product.ensemble_type = octet(35)?;
                product.perturbation = octet(36)?;
                product.forecasts = octet(37)?;
            }
            2 | 12 => {
                product.derived = octet(35)?;
                product.forecasts = octet(36)?;
            }
            _ => {}
        }
        product.is_statistic = matches!(template, 8..=12);
        Ok(product)
    }
}

impl Surface {
    fn parse(section: Section<'_>, octet: usize) -> Result<Self, GribError> {
        let code = Some(section.u8(octet)?).filter(|code| *code != u8::MAX);
        let scale = section.u8(octet + 1)?;
        let scale = if scale == u8::MAX { None } else { Some(section.i8(octet + 1)?) };
        Ok(Self { code, scale, value: present(section, octet + 2)? })
    }

    /// The value times 10 to the power `shift`, if it is whole.
    pub(super) fn whole(&self, shift: i64) -> Option<i64> {
        let power = shift - self.scale?;
        let ten = 10_i64.checked_pow(u32::try_from(power.unsigned_abs()).ok()?)?;
        match self.value? {
            value if power >= 0 => value.checked_mul(ten),
            value => (value % ten == 0).then_some(value / ten),
        }
    }
}

/// A number of four octets, or `None` if it is missing.
fn present(section: Section<'_>, octet: usize) -> Result<Option<i64>, GribError> {
    Ok(if section.u32(octet)? == Octets::MISSING { None } else { Some(section.i32(octet)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_whole_numbers_or_nothing() {
        let surface = |scale, value| Surface { code: Some(100), scale: Some(scale), value: Some(value) };
        assert_eq!(
            [surface(0, 50_000).whole(-2), surface(0, 50).whole(-2), surface(2, 50).whole(0)],
            [Some(500), None, None]
        );
        assert_eq!(
            [surface(-2, 5).whole(0), surface(1, 20).whole(0), surface(127, 20).whole(0)],
            [Some(500), Some(2), None]
        );
    }
}
