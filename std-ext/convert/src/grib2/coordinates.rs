//! Latitudes and longitudes of the points of a field, by its section 3.

use tgm_core::metadata::MessageMetadata;
pub use tgm_grid::Coordinates;
use tgm_grid::GridSection;
#[cfg(feature = "netcdf")]
use tgm_grid::Places;
#[cfg(doc)]
use tgm_std::TensogramError;
use tgm_std::{DecodeLimits, Result};

use super::error::{at_grid, of_grid};
use super::fields::Field;

/// Where the points of object `index` are, if it was made from GRIB. `None` if it was not, or its grid is not among those that
/// [`GridSection::coordinates`] knows.
///
/// Takes 16 bytes for each point, and time in proportion. The number of points is the one of section 3. An object can have
/// another number of values, if its metadata were edited.
///
/// ```
/// use tgm_std::DecodeLimits;
/// use tgm_convert::grib2::{GribOptions, coordinates, to_tensogram};
///
/// # let original = std::fs::read("../../tests/data-grib/reduced_gg_pl_32.grib2").unwrap();
/// let converted = to_tensogram(&original, &GribOptions::default())?.message;
/// let metadata = tgm_std::core::Message::parse(&converted)?.metadata()?;
/// let found = coordinates(&metadata, 0, &DecodeLimits::default())?.unwrap();
/// assert_eq!(found.latitudes.len(), 6114);
/// assert!((found.latitudes[0] - 87.8638).abs() < 1e-4 && found.longitudes[0] == 0.0);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// # Errors
/// [`TensogramError::Framing`] for sections that contradict themselves; [`TensogramError::Encoding`] beyond the limits;
/// the errors of reading metadata.
pub fn coordinates(metadata: &MessageMetadata<'_>, index: usize, limits: &DecodeLimits) -> Result<Option<Coordinates>> {
    let section = GridSection::of_object(metadata, index).map_err(of_grid)?;
    section.map_or(Ok(None), |section| of_section(section, 0, limits))
}

/// Where the values of object `index` with this shape are, as [`coordinates`] says; rows and columns of a regular grid are not taken apart.
///
/// # Errors
/// The errors of [`coordinates`].
#[cfg(feature = "netcdf")]
pub(crate) fn places(
    metadata: &MessageMetadata<'_>,
    index: usize,
    shape: &[u64],
    limits: &DecodeLimits,
) -> Result<Option<Places>> {
    let Some(section) = GridSection::of_object(metadata, index).map_err(of_grid)? else { return Ok(None) };
    let points = checked(section, 0, limits)?;
    Places::of_section(section, shape, points).map_err(of_grid)
}

impl Field<'_> {
    /// Where its points are. See [`coordinates`].
    ///
    /// # Errors
    /// The errors of [`coordinates`].
    pub fn coordinates(&self, limits: &DecodeLimits) -> Result<Option<Coordinates>> {
        self.grid()?.map_or(Ok(None), |section| of_section(section, self.grid_offset(), limits))
    }
}

/// The coordinates of section 3, which lies `offset` bytes into the message.
fn of_section(section: GridSection<'_>, offset: usize, limits: &DecodeLimits) -> Result<Option<Coordinates>> {
    let points = checked(section, offset, limits)?;
    Ok(section.coordinates(points).map_err(at_grid(offset))?)
}

/// The number of points, if their coordinates fit into the limits.
fn checked(section: GridSection<'_>, offset: usize, limits: &DecodeLimits) -> Result<u32> {
    let points = section.point_count().map_err(at_grid(offset))?;
    let len = u64::from(points) * 2 * size_of::<f64>() as u64;
    limits.check_bytes(section.octets().as_bytes().len() as u64, len)?;
    Ok(points)
}
