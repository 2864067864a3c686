//! Spectral coefficients: simple packing (5.50 and mode 1 of edition 1) and complex packing (5.51 and mode 2).
//!
//! A field of truncation T has a real and an imaginary part for each pair of 0 ≤ m ≤ T and m ≤ n ≤ T: (T + 1) · (T + 2) values, m
//! slowest, the imaginary part after the real one.
//!
//! ```text
//! simple     the first value is in the section's head; all others are integers: (X · 2^E + R) · 10^-D
//! complex    floats of m, n ≤ S, the subset; then integers of the others, by the same formula and divided by (n(n+1))^P
//! ```
//!
//! Imaginary parts of m = 0 have no meaning. They are 0 whatever their integer is. In edition 1 the row n = S of the subset is divided by the
//! power too, because the first encoder did so (GRIBEX), and decoders follow it.

use tgm_std::{DecodeLimits, Result};

use super::super::codes::{Reader, Writer, packed_len};
use super::super::complex::reserve_numbers;
use super::super::error::{GribError, GribErrorKind};
use super::super::sections::Section;
use super::floats::{Floats, whole};
use super::ibm;
use super::scale::Scale;

/// Coefficients of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Spectral {
    scale: Scale,
    /// T.
    truncation: u32,
    form: Form,
    /// Where the section begins.
    at: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// The first value.
    Simple(f64),
    Complex(Subset),
}

/// The coefficients of complex packing that are not packed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Subset {
    /// S.
    truncation: u32,
    floats: Floats,
    /// P.
    power: f64,
    /// Whether the last row is divided too.
    divides_last: bool,
}

impl Spectral {
    /// Section 5 of template 5.50 or 5.51, for the grid of section 3.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`]; [`GribErrorKind::Truncation`] for another than a triangular one.
    pub(in super::super) fn parse(
        section: Section<'_>,
        grid: Section<'_>,
        is_complex: bool,
    ) -> std::result::Result<Self, GribError> {
        let at = section.offset();
        let scale = Scale::parse(section)?;
        let truncation = triangle(grid)?.ok_or(GribErrorKind::Truncation.at(at))?;
        if !is_complex {
            let first = f32::from_be_bytes(section.array(21)?);
            return Ok(Self { scale, truncation, form: Form::Simple(first.into()), at });
        }
        let floats = Floats::of_precision(section.u8(35)?).map_err(|kind| kind.at(at))?;
        let [j, k, m] = [section.u16(25)?, section.u16(27)?, section.u16(29)?];
        #[expect(clippy::cast_precision_loss, reason = "a number of 32 bits")]
        let power = section.i32(21)? as f64 / 1e6;
        let subset = Subset { truncation: j.into(), floats, power, divides_last: false };
        if (j, j) != (k, m) {
            return Err(GribErrorKind::Truncation.at(at));
        }
        Self::complex(scale, truncation, subset, at)
    }

    /// Section 4 of edition 1, for a grid of this truncation.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub(in super::super) fn first_edition(
        section: Section<'_>,
        scale: Scale,
        truncation: u32,
        is_complex: bool,
    ) -> std::result::Result<Self, GribError> {
        let at = section.offset();
        if !is_complex {
            return Ok(Self { scale, truncation, form: Form::Simple(ibm::value(section.u32(12)?)), at });
        }
        let [j, k, m] = section.array(16)?;
        if (j, j) != (k, m) {
            return Err(GribErrorKind::Truncation.at(at));
        }
        let power = f64::from(section.i16(14)?) / 1000.0;
        let subset = Subset { truncation: j.into(), floats: Floats::Ibm, power, divides_last: true };
        Self::complex(scale, truncation, subset, at)
    }

    /// Octets of section 4 in front of the data.
    pub(in super::super) const fn head_len(is_complex: bool) -> usize {
        if is_complex { 18 } else { 15 }
    }

    /// Complex packing.
    ///
    /// # Errors
    /// [`GribErrorKind::Truncation`] for a subset that is greater than the whole.
    fn complex(scale: Scale, truncation: u32, subset: Subset, at: usize) -> std::result::Result<Self, GribError> {
        if subset.truncation > truncation {
            return Err(GribErrorKind::Truncation.at(at));
        }
        Ok(Self { scale, truncation, form: Form::Complex(subset), at })
    }

    /// Bytes of the floats, and of the integers.
    fn lengths(&self) -> Result<(usize, usize)> {
        let (all, floats) = match self.form {
            Form::Simple(_) => (values_of(self.truncation) - 1, 0),
            Form::Complex(subset) => (values_of(self.truncation), values_of(subset.truncation)),
        };
        let float_bits = if let Form::Complex(subset) = self.form { subset.floats.bits() } else { 0 };
        Ok((packed_len(floats, float_bits)?, packed_len(all - floats, self.scale.bits)?))
    }

    /// The coefficients of a section's data.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortData`], [`GribErrorKind::ValueCount`]; an error beyond the limits.
    pub(in super::super) fn decode(&self, data: &[u8], count: u64, limits: &DecodeLimits) -> Result<Vec<f64>> {
        let stated = values_of(self.truncation);
        if count != stated {
            return Err(GribErrorKind::ValueCount { stated, points: count }.at(self.at).into());
        }
        let (floats, integers) = self.lengths()?;
        let data = &whole(data, (floats, integers), self.at)?;
        let mut values = reserve_numbers(data.len(), count, limits)?;
        let (floats, integers) = data.split_at_checked(floats).unwrap_or_default();
        let (mut floats, mut integers) = (Reader::new(floats), Reader::new(integers));
        let scale = self.scale;
        match self.form {
            Form::Simple(first) => {
                values.push(first);
                values.extend((1..count).map(|_| scale.value(integers.take(scale.bits))));
            }
            Form::Complex(subset) => {
                let factors = self.factors(&subset, data.len(), limits)?;
                values.extend(self.places(&subset, &factors).map(|place| {
                    let number = if place.is_float {
                        subset.floats.value(floats.take(subset.floats.bits()))
                    } else {
                        scale.value(integers.take(scale.bits))
                    };
                    if place.is_zero { 0.0 } else { number * place.factor }
                }));
            }
        }
        Ok(values)
    }

    /// A section's data of coefficients that were decoded. `None` if integers do not give them.
    ///
    /// # Errors
    /// An error if memory runs out.
    pub(in super::super) fn encode(&self, values: &[f64], limits: &DecodeLimits) -> Result<Option<Vec<u8>>> {
        if values.len() as u64 != values_of(self.truncation) {
            return Ok(None);
        }
        let (floats_len, integers_len) = self.lengths()?;
        let (mut floats, mut integers) = (Writer::new(floats_len)?, Writer::new(integers_len)?);
        let scale = self.scale;
        let mut put = |found: Option<u64>| found.map(|integer| integers.put(integer, scale.bits)).is_some();
        let is_given = match self.form {
            Form::Simple(first) => {
                let (mean, others) = values.split_first().unwrap_or((&0.0, &[]));
                let found = |value: &f64| put(scale.integer(*value, *value, value.abs(), |line| line));
                mean.to_bits() == first.to_bits() && others.iter().all(found)
            }
            Form::Complex(subset) => {
                let factors = self.factors(&subset, size_of_val(values), limits)?;
                self.places(&subset, &factors).zip(values).all(|(place, value)| {
                    let line = value / place.factor;
                    if place.is_float {
                        floats.put(subset.floats.of(line), subset.floats.bits());
                        return true;
                    }
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "it is whole, 53 bits at most"
                    )]
                    let zero = || scale.nearest(0.0) as u64;
                    if place.is_zero {
                        return put(Some(zero()).filter(|_| value.to_bits() == 0));
                    }
                    put(scale.integer(*value, line, value.abs(), |line| line * place.factor))
                })
            }
        };
        let mut data = floats.finish();
        data.extend(integers.finish());
        Ok(is_given.then_some(data))
    }

    /// What the numbers of each n are multiplied by: 1/(n(n+1))^P.
    fn factors(&self, subset: &Subset, encoded: usize, limits: &DecodeLimits) -> Result<Vec<f64>> {
        let mut factors = reserve_numbers(encoded, u64::from(self.truncation) + 1, limits)?;
        factors.push(0.0);
        factors.extend((1..=self.truncation).map(|n| {
            let n = f64::from(n);
            (n * (n + 1.0)).powf(subset.power).recip()
        }));
        Ok(factors)
    }

    /// What is known of each value, in order.
    fn places<'f>(&self, subset: &Subset, factors: &'f [f64]) -> impl Iterator<Item = Place> + use<'f> {
        let (last, divides_last) = (subset.truncation, subset.divides_last);
        let row = move |m: u32| (m..).zip(factors.iter().skip(m as usize)).map(move |(n, factor)| (m, n, *factor));
        (0..=self.truncation).flat_map(row).flat_map(move |(m, n, factor)| {
            let is_float = n <= last;
            let factor = if is_float && !(divides_last && n == last) { 1.0 } else { factor };
            [false, true].map(|is_imaginary| Place { is_float, factor, is_zero: is_imaginary && m == 0 && !is_float })
        })
    }
}

/// What is known of a value without its bits.
struct Place {
    /// Whether it is in the subset.
    is_float: bool,
    factor: f64,
    /// Whether it is 0, whatever its integer is.
    is_zero: bool,
}

/// Values of a triangular truncation.
pub(in super::super) const fn values_of(truncation: u32) -> u64 {
    (truncation as u64 + 1) * (truncation as u64 + 2)
}

/// The truncation of a section 3 of spherical harmonics, if it is triangular. Greater ones than anybody has are not read.
///
/// # Errors
/// [`GribErrorKind::ShortSection`].
pub(in super::super) fn triangle(grid: Section<'_>) -> std::result::Result<Option<u32>, GribError> {
    const GREATEST: u32 = 0xffff;
    let [j, k, m] = [grid.u32(15)?, grid.u32(19)?, grid.u32(23)?];
    Ok(((j, j) == (k, m) && j <= GREATEST).then_some(j))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    const LIMITS: DecodeLimits = DecodeLimits { free_bytes: 1 << 20, ..DecodeLimits::UNLIMITED };

    fn complex(floats: Floats, divides_last: bool) -> Spectral {
        let scale = Scale::new(-3.0, (-2, 1), 5, 0).unwrap();
        Spectral::complex(scale, 3, Subset { truncation: 1, floats, power: 0.7, divides_last }, 0).unwrap()
    }

    /// Three pairs of floats, and integers of 5 bits for the other seven pairs.
    fn data(floats: Floats) -> Vec<u8> {
        let mut writer = Writer::new(0).unwrap();
        for value in [3.5, 0.0, -2.0, 0.0, 0.5, -0.25] {
            writer.put(floats.of(value), floats.bits());
        }
        // Imaginary parts of m = 0 are the integer whose value is nearest to 0, as encoders write it.
        for integer in [31, 12, 0, 12, 7, 9, 30, 1, 2, 3, 4, 5, 6, 20] {
            writer.put(integer, 5);
        }
        writer.finish()
    }

    #[test]
    fn coefficients_are_floats_and_integers_over_a_power_and_come_back() {
        for floats in [Floats::Ibm, Floats::Ieee32, Floats::Ieee64] {
            for divides_last in [false, true] {
                let (spectral, data) = (complex(floats, divides_last), data(floats));
                let values = spectral.decode(&data, 20, &LIMITS).unwrap();
                let power = |n: f64| 1.0 / (n * (n + 1.0)).powf(0.7);
                let last = if divides_last { power(1.0) } else { 1.0 };
                let line = |integer: f64| (integer * 0.25 - 3.0) * (1.0 / 10.0);
                assert_eq!(values[..4], [3.5, 0.0, -2.0 * last, 0.0], "{floats:?}");
                assert_eq!(values[4..8], [line(31.0) * power(2.0), 0.0, line(0.0) * power(3.0), 0.0]);
                assert_eq!(values[8..12], [0.5 * last, -0.25 * last, line(7.0) * power(2.0), line(9.0) * power(2.0)]);
                assert_eq!(spectral.encode(&values, &LIMITS).unwrap(), Some(data));
                let mut edited = values.clone();
                edited[10] *= 1.0 + 1e-12;
                assert_eq!(spectral.encode(&edited, &LIMITS).unwrap(), None);
                edited[10] = values[10] * (1.0 + f64::EPSILON);
                assert!(spectral.encode(&edited, &LIMITS).unwrap().is_some(), "powers differ between machines");
                assert_eq!(spectral.encode(&values[1..], &LIMITS).unwrap(), None);
            }
        }
    }

    #[test]
    fn what_is_too_short_or_counts_otherwise_is_an_error() {
        let (spectral, data) = (complex(Floats::Ieee32, false), data(Floats::Ieee32));
        // ecCodes leaves the last byte out, where its bits are not all needed.
        assert_eq!(
            spectral.decode(&data[..32], 20, &LIMITS).unwrap()[..19],
            spectral.decode(&data, 20, &LIMITS).unwrap()[..19]
        );
        for len in 0..data.len() - 1 {
            let error = spectral.decode(&data[..len], 20, &LIMITS).unwrap_err().to_string();
            assert!(error.contains("their values need 33"), "{error}");
        }
        assert!(spectral.decode(&data, 42, &LIMITS).unwrap_err().to_string().contains("states 20 values"));
        // A truncation without bits for its coefficients costs no more than the limits allow.
        let scale = Scale::new(0.0, (0, 0), 0, 0).unwrap();
        let subset = Subset { truncation: 0, floats: Floats::Ieee32, power: 1.0, divides_last: false };
        let limits = DecodeLimits { free_bytes: 1 << 20, max_expansion: 100, ..DecodeLimits::default() };
        let great = Spectral::complex(scale, 60_000, subset, 0).unwrap();
        let error = great.decode(&[0; 8], values_of(60_000), &limits).unwrap_err().to_string();
        assert!(error.contains("more than the limit"), "{error}");
    }
}
