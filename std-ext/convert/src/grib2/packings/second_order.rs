//! Second order: integers in groups. Each group has a first-order value, its reference, and a width for the integers of its values.
//!
//! Two forms say which groups there are: `standard`, of the manual for edition 1, and `extended`, of ECMWF, which differences of order 1 to 3
//! may precede. Edition 2 has the second one as templates 5.50001 and 5.50002. Values of an object are simple packing of the same integers. What lies
//! in front of the integers of groups is the head: head and integers give the section back.
//!
//! Rows may run to and fro: every second one is backwards then, together with its bits of the bitmap.

mod extended;
mod groups;
mod standard;

use tgm_std::{DecodeLimits, Result};

use self::extended::Extended;
use self::groups::Decoded;
use self::standard::Standard;
use super::super::bitmap;
use super::super::codes::{NONE, at_points};
use super::super::complex::reserve_numbers;
use super::super::error::GribError;
#[cfg(doc)]
use super::super::error::GribErrorKind;
use super::super::sections::Section;

/// Integers in groups of second order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct SecondOrder {
    form: Form,
    /// Points of each row, if the form needs them.
    rows: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Extended(Extended),
    Standard(Standard),
}

/// Which points have a value, as the order of the data has them.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Places<'a> {
    pub(in super::super) bitmap: Option<&'a [u8]>,
    pub(in super::super) points: u64,
    /// How many have one.
    pub(in super::super) count: u64,
}

impl SecondOrder {
    /// Section 5 of template 5.50001, or of 5.50002 if it `has_flags`.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`], and those that name a number that is not supported.
    pub(in super::super) fn second_edition(
        section: Section<'_>,
        has_flags: bool,
    ) -> std::result::Result<Self, GribError> {
        Ok(Self { form: Form::Extended(Extended::parse(section, has_flags)?), rows: vec![] })
    }

    /// Section 4 of edition 1.
    ///
    /// # Errors
    /// The same.
    pub(in super::super) fn first_edition(section: Section<'_>) -> std::result::Result<Self, GribError> {
        let form = if is_extended(section)? {
            Form::Extended(Extended::parse_first_edition(section)?)
        } else {
            Form::Standard(Standard::parse(section)?)
        };
        Ok(Self { form, rows: vec![] })
    }

    /// Octets of section 4 in front of the data.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub(in super::super) fn head_len(section: Section<'_>) -> std::result::Result<usize, GribError> {
        if is_extended(section)? { Extended::head_len(section) } else { Ok(standard::HEAD_LEN) }
    }

    /// Whether the rows of the grid have to be known.
    pub(in super::super) const fn needs_rows(&self) -> bool {
        match &self.form {
            Form::Extended(form) => form.is_to_and_fro,
            Form::Standard(form) => form.is_by_row(),
        }
    }

    /// The same with the points of each row.
    pub(in super::super) fn with_rows(self, rows: Vec<u64>) -> Self {
        Self { rows, ..self }
    }

    /// Whether points have another order than values.
    pub(in super::super) const fn is_to_and_fro(&self) -> bool {
        matches!(self.form, Form::Extended(Extended { is_to_and_fro: true, .. }))
    }

    /// The integers of a section's data, in the order of the data.
    ///
    /// # Errors
    /// [`Framing`](tgm_std::TensogramError::Framing) for groups that contradict their number, their lengths or the data; an error beyond the limits.
    pub(in super::super) fn decode<'a>(
        &self,
        data: &'a [u8],
        places: Places<'_>,
        limits: &DecodeLimits,
    ) -> Result<Decoded<'a>> {
        match &self.form {
            Form::Extended(form) => form.decode(data, places.count, limits),
            Form::Standard(form) => form.decode(data, places.count, &self.values_of_rows(places), limits),
        }
    }

    /// The data of integers that were decoded. `None` if the groups of `head` have no place for them.
    ///
    /// # Errors
    /// The errors of the head.
    pub(in super::super) fn encode(
        &self,
        integers: &[i64],
        places: Places<'_>,
        head: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        match &self.form {
            Form::Extended(form) => form.encode(integers, head),
            Form::Standard(form) => form.encode(integers, &self.values_of_rows(places), head),
        }
    }

    /// The lengths of groups, if the head follows from these and the integers.
    ///
    /// # Errors
    /// The errors of the head.
    pub(in super::super) fn lengths<'a>(&self, integers: &[i64], head: &'a [u8]) -> Result<Option<&'a [u8]>> {
        match &self.form {
            Form::Extended(form) => form.lengths(integers, head),
            Form::Standard(_) => Ok(None),
        }
    }

    /// The head that follows from lengths.
    ///
    /// # Errors
    /// An error if memory runs out.
    pub(in super::super) fn derive(&self, integers: &[i64], lengths: &[u8]) -> Result<Option<Vec<u8>>> {
        match &self.form {
            Form::Extended(form) => form.derive(integers, lengths),
            Form::Standard(_) => Ok(None),
        }
    }

    /// How many values each row has, without rows that have none.
    fn values_of_rows(&self, places: Places<'_>) -> Vec<u64> {
        let Some(bits) = places.bitmap else {
            return self.rows.iter().copied().filter(|length| *length > 0).collect();
        };
        let mut bits = bitmap::iter(bits, places.points);
        let rows = self.rows.iter().map(|length| {
            let points = usize::try_from(*length).unwrap_or(usize::MAX);
            bits.by_ref().take(points).filter(|has_value| *has_value).count() as u64
        });
        rows.filter(|values| *values > 0).collect()
    }

    /// The integers of points, [`NONE`] for those without one, of integers in the order of the data.
    ///
    /// # Errors
    /// An error beyond the limits.
    pub(in super::super) fn turned(
        &self,
        integers: &[i64],
        places: Places<'_>,
        limits: &DecodeLimits,
    ) -> Result<Vec<i64>> {
        let mut turned = reserve_numbers(size_of_val(integers), places.points, limits)?;
        let each = integers.iter().map(|integer| Some(*integer));
        turned.extend(at_points(each, places.bitmap, places.points).map(|integer| integer.unwrap_or(NONE)));
        self.turn(&mut turned);
        Ok(turned)
    }

    /// The inverse: integers in the order of the data. `None` if other points have a value.
    pub(in super::super) fn turned_back(&self, mut turned: Vec<i64>, places: Places<'_>) -> Option<Vec<i64>> {
        self.turn(&mut turned);
        if let Some(bits) = places.bitmap {
            let is_same = turned.iter().map(|integer| *integer != NONE).eq(bitmap::iter(bits, places.points));
            turned.retain(|integer| *integer != NONE);
            return is_same.then_some(turned);
        }
        turned.iter().all(|integer| *integer != NONE).then_some(turned)
    }

    /// Turns every second row.
    fn turn(&self, mut points: &mut [i64]) {
        for (place, length) in self.rows.iter().enumerate() {
            let length = usize::try_from(*length).unwrap_or(usize::MAX).min(points.len());
            let Some((row, rest)) = points.split_at_mut_checked(length) else { return };
            if place % 2 == 1 {
                row.reverse();
            }
            points = rest;
        }
    }
}

/// Whether the data of section 4 have ECMWF's form.
fn is_extended(section: Section<'_>) -> std::result::Result<bool, GribError> {
    const FLAGS: usize = 14;
    const EXTENDED: u8 = 8;
    Ok(section.u8(FLAGS)? & EXTENDED != 0)
}
