//! Whether what two files have is equal.

use tgm_std::Result;

use super::File;
use super::arrays::bytes;
use super::decoded::as_coordinate;
use crate::dataset::Dataset;
use crate::elements::floats;
use crate::model::{Content, Variable, product};

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
    let names = other.dataset.variables.iter().map(|it| &it.name);
    for name in names.chain(other.dataset.coordinates.iter().map(|it| &it.name)) {
        let is_same = match (file.dataset.variable(name), other.dataset.variable(name)) {
            (Some(own), Some(others)) => same(&file.dataset, own, others)?,
            (None, _) if file.dataset.coordinate(name).is_none() => true,
            // Times that were counted in several units, in one of them at least.
            _ => match (as_coordinate(file, name)?, as_coordinate(other, name)?) {
                (Some(own), Some(others)) => own.dims == others.dims && own.values == others.values,
                _ => false,
            },
        };
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether two variables of one archive have the same values.
///
/// # Errors
/// The errors of reading.
pub(super) fn same(dataset: &Dataset, one: &Variable, other: &Variable) -> Result<bool> {
    if one.dims != other.dims || one.shape != other.shape {
        return Ok(false);
    }
    match (&one.content, &other.content) {
        (Content::Texts(own), Content::Texts(others)) => return Ok(own == others),
        (Content::Texts(_), _) | (_, Content::Texts(_)) => return Ok(false),
        (Content::Pieces(own), Content::Pieces(others))
            if own.dtype == others.dtype && own.packed == others.packed && own.chunk == others.chunk =>
        {
            let is_at_place = |((place, _), (other, _)): (&(u64, u32), &(u64, u32))| place == other;
            if own.hole == others.hole
                && own.places.len() == others.places.len()
                && own.places.iter().zip(&others.places).all(is_at_place)
            {
                let mut pairs = own.places.iter().zip(&others.places);
                let is_same = pairs.try_fold(true, |all, ((_, own), (_, other))| {
                    // What was read is not read again.
                    if !all {
                        return Ok::<_, tgm_std::TensogramError>(false);
                    }
                    let digests = (dataset.archive.digest(*own)?, dataset.archive.digest(*other)?);
                    Ok(digests.0.is_some() && digests.0 == digests.1)
                })?;
                if is_same {
                    return Ok(true);
                }
            }
        }
        _ => {}
    }
    if product(&one.shape).is_none_or(|count| count > MOST_COMPARED) {
        return Ok(false);
    }
    let (own, others) = (bytes(dataset, one)?, bytes(dataset, other)?);
    let (Some(of_one), Some(of_other)) = (one.dtype(), other.dtype()) else { return Ok(false) };
    if of_one == of_other && own == others {
        return Ok(true);
    }
    let (Ok(own), Ok(others)) = (floats(of_one, &own), floats(of_other, &others)) else { return Ok(false) };
    #[expect(clippy::float_cmp, reason = "equal values are equal")]
    let is_equal = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
    Ok(own.iter().zip(&others).all(is_equal))
}
