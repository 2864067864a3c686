//! Template 5.53: coefficients of waves in two directions, of models of a limited area.
//!
//! For each pair 0 ≤ j ≤ M and 0 ≤ i ≤ the limit of j there are four values, j slowest. Section 3 says N, M, and which pairs there are: a
//! rectangle, an ellipse or a diamond with these half axes. Section 5 says for which of these the values are floats, in front of all others: those
//! of another such figure, and of the axes i = 0 and j = 0 if it says so. The others are (X · 2^E + R) · 10^-D / (i² + j²)^P.
//!
//! | octets of section 3 | | octets of section 5 | |
//! |---|---|---|---|
//! | 16 to 19 | N | 12 to 20 | R, E, D, bits |
//! | 20 to 23 | M | 21 | figure of the floats |
//! | 24 | figure: 77, 88, 99 | 22 | 1: axes are floats |
//! | | | 23 to 26 | P in millionths |
//! | | | 27 to 30 | N and M of the floats |
//! | | | 31 to 34 | how many floats |
//! | | | 35 | their precision |

use tgm_std::{DecodeLimits, Result};

use super::super::codes::{Reader, Writer, packed_len};
use super::super::complex::reserve_numbers;
use super::super::error::{GribError, GribErrorKind};
use super::super::sections::Section;
use super::floats::{Floats, whole};
use super::scale::Scale;

/// Values of a pair.
const VALUES: u8 = 4;
/// The most pairs along an axis.
const MOST: u32 = 1 << 16;

/// The parameters of template 5.53 and of its grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct BiFourier {
    scale: Scale,
    all: Figure,
    subset: Figure,
    has_axes: bool,
    power: f64,
    floats: Floats,
    at: usize,
}

/// Which pairs there are.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    form: Form,
    n: u32,
    m: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Rectangle,
    Ellipse,
    Diamond,
}

impl Figure {
    fn new(form: u8, n: u32, m: u32) -> Option<Self> {
        let form = match form {
            77 => Form::Rectangle,
            88 => Form::Ellipse,
            99 => Form::Diamond,
            _ => return None,
        };
        (n < MOST && m < MOST).then_some(Self { form, n, m })
    }

    /// The greatest i of the pairs with j, which is at most M.
    fn limit(&self, j: u32) -> u32 {
        Self::share(self.form, self.n, j, self.m)
    }

    fn has(&self, i: u32, j: u32) -> bool {
        // Diamonds round both axes.
        i <= self.n && j <= self.m && i <= self.limit(j) && j <= Self::share(self.form, self.m, i, self.n)
    }

    /// How far one half axis goes where the other one has come `at` of its `length`.
    fn share(form: Form, whole: u32, at: u32, length: u32) -> u32 {
        if length == 0 {
            return whole;
        }
        match form {
            Form::Rectangle => whole,
            // Both have 16 bits.
            Form::Diamond => whole - (whole * at).checked_div(length).unwrap_or(0),
            Form::Ellipse => {
                let share = f64::from(at) / f64::from(length);
                // The points of the ellipse are inside, whatever rounding says.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within the axis")]
                let limit = (f64::from(whole) * (1.0 - share * share).sqrt() + 1e-10) as u32;
                limit
            }
        }
    }

    fn pairs(&self) -> u64 {
        (0..=self.m).map(|j| u64::from(self.limit(j)) + 1).sum()
    }
}

impl BiFourier {
    /// Section 5 of template 5.53, for the grid of section 3.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`]; [`GribErrorKind::Truncation`] for figures that are not known.
    pub(in super::super) fn parse(section: Section<'_>, grid: Section<'_>) -> std::result::Result<Self, GribError> {
        let at = section.offset();
        let unknown = GribErrorKind::Truncation.at(at);
        let all = Figure::new(grid.u8(24)?, grid.u32(16)?, grid.u32(20)?).ok_or(unknown)?;
        let subset = Figure::new(section.u8(21)?, section.u16(27)?.into(), section.u16(29)?.into()).ok_or(unknown)?;
        #[expect(clippy::cast_precision_loss, reason = "a number of 32 bits")]
        let power = section.i32(23)? as f64 / 1e6;
        let floats = Floats::of_precision(section.u8(35)?).map_err(|kind| kind.at(at))?;
        let found =
            Self { scale: Scale::parse(section)?, all, subset, has_axes: section.u8(22)? == 1, power, floats, at };
        let stated = u64::from(section.u32(6)?);
        // As many as are stated are walked.
        let is_known = u64::from(all.m) < stated && all.pairs() * u64::from(VALUES) == stated;
        if is_known { Ok(found) } else { Err(unknown) }
    }

    /// Whether the values of a pair are floats, and what the others are divided by.
    fn places(&self) -> impl Iterator<Item = (bool, f64)> + use<> {
        let Self { all, subset, has_axes, power, .. } = *self;
        (0..=all.m).flat_map(move |j| (0..=all.limit(j)).map(move |i| (i, j))).flat_map(move |(i, j)| {
            let is_float = (has_axes && (i == 0 || j == 0)) || subset.has(i, j);
            let (i, j) = (f64::from(i), f64::from(j));
            [(is_float, if is_float { 1.0 } else { (i * i + j * j).powf(power) }); VALUES as usize]
        })
    }

    /// Bytes of the floats, and of the integers.
    fn lengths(&self, count: u64) -> Result<(usize, usize)> {
        let floats = self.places().filter(|(is_float, _)| *is_float).count() as u64;
        Ok((packed_len(floats, self.floats.bits())?, packed_len(count - floats, self.scale.bits)?))
    }

    /// # Errors
    /// [`GribErrorKind::ShortData`], [`GribErrorKind::ValueCount`]; an error beyond the limits.
    pub(super) fn decode(&self, data: &[u8], count: u64, limits: &DecodeLimits) -> Result<Vec<f64>> {
        let stated = self.all.pairs() * u64::from(VALUES);
        if count != stated {
            return Err(GribErrorKind::ValueCount { stated, points: count }.at(self.at).into());
        }
        let mut values = reserve_numbers(data.len(), count, limits)?;
        let (floats, integers) = self.lengths(count)?;
        let data = &whole(data, (floats, integers), self.at)?;
        let (floats, integers) = data.split_at_checked(floats).unwrap_or_default();
        let (mut floats, mut integers) = (Reader::new(floats), Reader::new(integers));
        values.extend(self.places().map(|(is_float, divisor)| {
            if is_float {
                self.floats.value(floats.take(self.floats.bits()))
            } else {
                self.scale.value(integers.take(self.scale.bits)) / divisor
            }
        }));
        Ok(values)
    }

    /// The data of values that were decoded. `None` if integers do not give them.
    pub(super) fn encode(&self, values: &[f64]) -> Result<Option<Vec<u8>>> {
        let count = values.len() as u64;
        if self.all.pairs() * u64::from(VALUES) != count {
            return Ok(None);
        }
        let (floats_len, integers_len) = self.lengths(count)?;
        let (mut floats, mut integers) = (Writer::new(floats_len)?, Writer::new(integers_len)?);
        let is_given = self.places().zip(values).all(|((is_float, divisor), value)| {
            if is_float {
                floats.put(self.floats.of(*value), self.floats.bits());
                return true;
            }
            let found = self.scale.integer(*value, value * divisor, value.abs(), |line| line / divisor);
            found.map(|integer| integers.put(integer, self.scale.bits)).is_some()
        });
        let mut data = floats.finish();
        data.extend(integers.finish());
        Ok(is_given.then_some(data))
    }
}
