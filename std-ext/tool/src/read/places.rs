//! Where the values of an object are: between bounds that metadata have, or at the points of its grid of GRIB.

use serde_json::Value as Json;
use tgm_core::metadata::MessageMetadata;
use tgm_grid::{Area, GridError, GridSection, Places, Points, RegularGrid};
use tgm_std::{DecodeLimits, TensogramError};

use crate::read::select::{Scope, text};

/// The bounds that metadata have.
///
/// # Errors
/// [`TensogramError::Metadata`] for bounds that are not four numbers.
pub(crate) fn area(scope: Scope<'_, '_>) -> Result<Option<Area>, TensogramError> {
    let Some(area) = scope.first(&Area::KEYS)? else { return Ok(None) };
    let parsed = match &area {
        Json::Array(numbers) => {
            let numbers = numbers.iter().map(Json::as_f64).collect::<Option<Vec<_>>>();
            numbers.ok_or(GridError::Area).and_then(|numbers| Area::new(&numbers))
        }
        other => text(other).parse(),
    };
    parsed.map(Some).map_err(|reason| TensogramError::Metadata(format!("area is {area}: {reason}").into()))
}

/// The places of object `index` with this shape. `area` counts before the points of a GRIB grid. `None` if neither is
/// there.
///
/// # Errors
/// The errors of the GRIB sections in metadata; [`TensogramError::Encoding`] beyond the limits.
pub(crate) fn places(
    metadata: &MessageMetadata<'_>,
    index: usize,
    shape: &[u64],
    area: Option<Area>,
    limits: &DecodeLimits,
) -> Result<Option<Places>, TensogramError> {
    if let Some(area) = area {
        return Ok(RegularGrid::new(shape, area).map(Places::Regular));
    }
    let Some(section) = GridSection::of_object(metadata, index).map_err(of_grid)? else { return Ok(None) };
    let points = section.point_count().map_err(of_grid)?;
    let len = u64::from(points) * 2 * size_of::<f64>() as u64;
    limits.check_bytes(section.octets().as_bytes().len() as u64, len)?;
    let found = section.coordinates(points).map_err(of_grid)?;
    // A part of a field is another grid.
    Ok(found.and_then(|found| Points::new(found, shape)).map(Places::Points))
}

fn of_grid(error: GridError) -> TensogramError {
    match error {
        GridError::Metadata(error) => error.into(),
        error => TensogramError::Framing(format!("{error}").into()),
    }
}
