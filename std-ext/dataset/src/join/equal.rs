//! Whether what two files have is equal.

use tgm_std::Result;

use super::File;
use crate::amounts::as_values;
use crate::cf::NUMPY_DTYPE;
use crate::dataset::Dataset;
use crate::elements::floats;
use crate::labels::{moments, scale_of};
use crate::model::{Content, Pieces, Variable, product, text_attribute};
use crate::times::TimeScale;

/// Elements of a variable that are compared. Larger ones are equal if their objects have the same digest.
const MOST_COMPARED: u64 = 1 << 22;

/// Whether what two datasets share is equal, such as coordinates.
///
/// # Errors
/// The errors of reading.
pub(super) fn fits(file: &File, other: &File) -> Result<bool> {
    let lens = file.dataset.dims();
    let has_other_len = |(name, len): (&str, u64)| lens.iter().any(|(known, own)| *known == name && *own != len);
    if other.dataset.dims().into_iter().any(has_other_len) {
        return Ok(false);
    }
    for others in &other.dataset.variables {
        let Some(own) = file.dataset.variable(&others.name) else { continue };
        let is_same = if count_alike((&file.dataset, own), (&other.dataset, others)) {
            same(&file.dataset, own, others)?
        } else if own.dims == others.dims && are_of_one_calendar((&file.dataset, own), (&other.dataset, others)) {
            // Times that are counted from different moments.
            let moments = (moments(&file.dataset, own)?, moments(&other.dataset, others)?);
            moments.0.is_some() && moments.0 == moments.1
        } else {
            false
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether numbers of two variables mean the same: they have the same units, or units of times that say the same.
fn count_alike((dataset, own): (&Dataset, &Variable), (other, others): (&Dataset, &Variable)) -> bool {
    let scales = (scale_of(dataset, own), scale_of(other, others));
    let has_same = |key: &str| text_attribute(&own.attributes, key) == text_attribute(&others.attributes, key);
    scales.0 == scales.1 && (scales.0.is_some() || has_same("units")) && has_same(NUMPY_DTYPE)
}

/// Whether the numbers of both variables are times, of calendars that count the same days.
fn are_of_one_calendar((dataset, own): (&Dataset, &Variable), (other, others): (&Dataset, &Variable)) -> bool {
    let calendar = |scale: TimeScale| scale.calendar.counted_as();
    let calendars = (scale_of(dataset, own).map(calendar), scale_of(other, others).map(calendar));
    calendars.0.is_some() && calendars.0 == calendars.1
}

/// Whether two variables of one archive have the same values.
///
/// # Errors
/// The errors of reading.
pub(super) fn same(dataset: &Dataset, one: &Variable, other: &Variable) -> Result<bool> {
    if one.dims != other.dims || one.shape != other.shape {
        return Ok(false);
    }
    let values = if dataset.archive.raw.has(&one.name) { None } else { as_values(&[one, other]) };
    let (one, other) = match values.as_deref() {
        Some([one, other]) => (one, other),
        _ => (one, other),
    };
    match (&one.content, &other.content) {
        (Content::Texts(own), Content::Texts(others)) => return Ok(own == others),
        (Content::Texts(_), _) | (_, Content::Texts(_)) => return Ok(false),
        (Content::Pieces(own), Content::Pieces(others)) if lie_alike(own, others) => {
            let digest = |(_, object): &(u64, u32)| dataset.archive.digest(*object);
            let mut is_same = true;
            for (own, other) in own.places.iter().zip(&others.places) {
                let digests = (digest(own)?, digest(other)?);
                is_same = digests.0.is_some() && digests.0 == digests.1;
                if !is_same {
                    break;
                }
            }
            if is_same {
                return Ok(true);
            }
        }
        _ => {}
    }
    if product(&one.shape).is_none_or(|count| count > MOST_COMPARED) {
        return Ok(false);
    }
    let (own, others) = (dataset.read_all(one)?, dataset.read_all(other)?);
    let (Some(of_one), Some(of_other)) = (one.dtype(), other.dtype()) else { return Ok(false) };
    if of_one == of_other && own == others {
        return Ok(true);
    }
    let (Ok(own), Ok(others)) = (floats(of_one, &own), floats(of_other, &others)) else { return Ok(false) };
    #[expect(clippy::float_cmp, reason = "equal values are equal")]
    let is_equal = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
    Ok(own.iter().zip(&others).all(is_equal))
}

/// Whether pieces have the same forms and places, so that equal objects are equal values.
fn lie_alike(one: &Pieces, other: &Pieces) -> bool {
    let places = |it: &Pieces| it.places.iter().map(|(place, _)| *place).collect::<Vec<_>>();
    (one.dtype, one.leading, &one.chunk) == (other.dtype, other.leading, &other.chunk)
        && one.packed == other.packed
        && one.hole == other.hole
        && places(one) == places(other)
}
