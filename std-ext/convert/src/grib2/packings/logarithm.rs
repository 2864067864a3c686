//! Template 5.61: simple packing of logarithms.
//!
//! Y = exp((X · 2^E + R) · 10^-D) - p, with p in octets 21 to 24 of section 5: encoders add it where values are not positive.

use tgm_std::{DecodeLimits, Result};

use super::super::codes::{Reader, Writer, packed_len};
use super::super::complex::reserve_numbers;
use super::super::error::{GribError, GribErrorKind};
use super::super::sections::Section;
use super::scale::Scale;

/// The parameters of template 5.61.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Logarithm {
    scale: Scale,
    /// p.
    added: f64,
    at: usize,
}

impl Logarithm {
    /// # Errors
    /// [`GribErrorKind::ShortSection`], and the errors of the scale.
    pub(in super::super) fn parse(section: Section<'_>) -> std::result::Result<Self, GribError> {
        let added = f32::from_be_bytes(section.array(21)?);
        Ok(Self { scale: Scale::parse(section)?, added: added.into(), at: section.offset() })
    }

    fn formula(&self, line: f64) -> f64 {
        line.exp() - self.added
    }

    /// # Errors
    /// [`GribErrorKind::ShortData`]; an error beyond the limits.
    pub(super) fn decode(&self, data: &[u8], count: u64, limits: &DecodeLimits) -> Result<Vec<f64>> {
        let (needed, found) = (packed_len(count, self.scale.bits)? as u64, data.len() as u64);
        if found < needed {
            return Err(GribErrorKind::ShortData { needed, found }.at(self.at).into());
        }
        let mut values = reserve_numbers(data.len(), count, limits)?;
        let mut integers = Reader::new(data);
        values.extend((0..count).map(|_| self.formula(self.scale.value(integers.take(self.scale.bits)))));
        Ok(values)
    }

    /// The data of values that were decoded. `None` if integers do not give them.
    pub(super) fn encode(&self, values: &[f64]) -> Result<Option<Vec<u8>>> {
        let mut integers = Writer::new(packed_len(values.len() as u64, self.scale.bits)?)?;
        let is_given = values.iter().all(|value| {
            let size = value.abs() + self.added.abs();
            let found = self.scale.integer(*value, (value + self.added).ln(), size, |line| self.formula(line));
            found.map(|integer| integers.put(integer, self.scale.bits)).is_some()
        });
        Ok(is_given.then(|| integers.finish()))
    }
}
