//! Where the values of an object are: at the points of its grid of GRIB, of a grid that metadata name, or between bounds that they have.

use serde_json::Value as Json;
use tgm_core::metadata::MessageMetadata;
use tgm_grid::{Area, GridError, GridSection, KnownPoints, Mapping, NamedGrid, Places, Stated};
use tgm_std::{DecodeLimits, TensogramError};

use crate::read::select::{Scope, text};

/// The bounds that metadata have.
///
/// # Errors
/// [`TensogramError::Metadata`] for bounds that are not four numbers.
fn area(scope: Scope<'_, '_>) -> Result<Option<Area>, TensogramError> {
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

/// The name of the grid that metadata have.
fn named(scope: Scope<'_, '_>) -> Result<Option<NamedGrid>, TensogramError> {
    let Some(grid) = scope.first(&NamedGrid::KEYS)? else { return Ok(None) };
    let order = scope.first(&NamedGrid::ORDER_KEYS)?;
    let order = order.as_ref().map(text);
    let name = match &grid {
        Json::Array(steps) => steps.iter().map(Json::to_string).collect::<Vec<_>>().join("/"),
        other => text(other),
    };
    if name.contains("proj=") {
        Mapping::of_proj(&name).map_err(|error| TensogramError::Metadata(format!("grid is {grid}: {error}").into()))?;
    }
    Ok(NamedGrid::parse(&name, order.as_deref()))
}

/// The places of object `index` with this shape, by what its metadata state: a section of GRIB, the name of a grid, or bounds. `None` if nothing
/// of it fits the object.
///
/// # Errors
/// The errors of [`area`] and of the GRIB sections in metadata; [`TensogramError::Encoding`] beyond the limits.
pub(crate) fn places(
    (metadata, index): (&MessageMetadata<'_>, usize),
    scope: Scope<'_, '_>,
    shape: &[u64],
    (limits, known): (&DecodeLimits, Option<&KnownPoints>),
) -> Result<Option<Places>, TensogramError> {
    let section = GridSection::of_object(metadata, index).map_err(of_grid)?;
    let stated = Stated { section, known, named: named(scope)?, area: area(scope)? };
    let count = shape.iter().try_fold(1_u64, |count, len| count.checked_mul(*len));
    // Rows and columns between bounds take no memory for each point.
    if stated.section.is_some() || stated.named.is_some() {
        let len = count.and_then(|count| count.checked_mul(2 * size_of::<f64>() as u64)).unwrap_or(u64::MAX);
        limits.check_bytes(section.map_or(0, |section| section.octets().as_bytes().len() as u64), len)?;
    }
    let most = count.map_or(u32::MAX, |count| u32::try_from(count).unwrap_or(u32::MAX));
    stated.places(shape, most).map_err(of_grid)
}

/// Why object `index` has no places, and what gives it some, if it is a field of coefficients or on an unstructured grid of GRIB.
///
/// # Errors
/// The errors of the GRIB sections in metadata.
pub(crate) fn no_places(metadata: &MessageMetadata<'_>, index: usize) -> Result<Option<&'static str>, TensogramError> {
    let Some(section) = GridSection::of_object(metadata, index).map_err(of_grid)? else { return Ok(None) };
    let numbers = section.unplaced().map_err(of_grid)?;
    Ok(tgm_grid::no_places(|name| numbers.iter().any(|(word, _)| *word == name)))
}

fn of_grid(error: GridError) -> TensogramError {
    match error {
        GridError::Metadata(error) => error.into(),
        error => TensogramError::Framing(format!("{error}").into()),
    }
}
