//! Where the values of the last dimensions of an object are.

use crate::coordinates::Coordinates;
use crate::error::GridError;
use crate::grids::Grid;
use crate::grids::healpix::Healpix;
use crate::points::Points;
use crate::regular::RegularGrid;
use crate::section::GridSection;

/// Where the values of the last dimensions of an object are.
///
/// ```
/// use tgm_grid::{Area, Places, RegularGrid};
///
/// let grid = RegularGrid::new(&[3, 4], Area::GLOBE).unwrap();
/// let places = Places::Regular(grid);
/// assert_eq!(places.nearest(10.0, 100.0), Some(vec![1, 1]));
/// assert_eq!(places.place(&[1, 1]), Some((0.0, 90.0)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Places {
    /// On a regular grid of the last two dimensions.
    Regular(RegularGrid),
    /// In the centres of pixels of equal areas, which are computed.
    Healpix(Healpix),
    /// At points of their own.
    Points(Points),
}

impl Places {
    /// The places that a section says for an object of this shape. `None` if it does not say them, or for another number of values: a part of
    /// a field is another grid.
    ///
    /// Takes 16 bytes for each point of a grid that is not regular. `most` is the number of points that the caller has memory for.
    ///
    /// # Errors
    /// The errors of [`GridSection::coordinates`].
    pub fn of_section(section: GridSection<'_>, shape: &[u64], most: u32) -> Result<Option<Self>, GridError> {
        let count = shape.iter().try_fold(1_u64, |count, len| count.checked_mul(*len));
        if count != Some(section.point_count()?.into()) {
            return Ok(None);
        }
        if let Some(grid) = section.regular(shape, most)? {
            return Ok(Some(Self::Regular(grid)));
        }
        if let (Some(pixels), [_]) = (section.healpix()?, shape) {
            return Ok(Some(Self::Healpix(pixels)));
        }
        Ok(section.coordinates(most)?.and_then(|points| Self::of_points(points, shape)))
    }

    /// The places of points, one for each value: on a regular grid if that is where they are. `None` for another number of values.
    pub fn of_points(points: Coordinates, shape: &[u64]) -> Option<Self> {
        if let Some(axes) = points.axes(shape) {
            return Some(Self::Regular(RegularGrid::of_axes(axes, false)));
        }
        // Columns that follow each other: the first dimension is the longitude.
        let turned = Coordinates { latitudes: points.longitudes, longitudes: points.latitudes };
        if let Some((longitudes, latitudes)) = turned.axes(shape) {
            return Some(Self::Regular(RegularGrid::of_axes((latitudes, longitudes), true)));
        }
        let points = Coordinates { latitudes: turned.longitudes, longitudes: turned.latitudes };
        Points::new(points, shape).map(Self::Points)
    }

    /// Each point, in the order of the values. `None` for a regular grid, and without memory for them. Takes 16 bytes for each.
    pub fn points(&self) -> Option<Coordinates> {
        match self {
            Self::Regular(_) => None,
            Self::Healpix(pixels) => pixels.coordinates(u32::try_from(pixels.point_count()).ok()?),
            Self::Points(points) => Some(points.coordinates().clone()),
        }
    }

    /// Latitude and longitude of the value at `indices`, in degrees.
    pub fn place(&self, indices: &[u64]) -> Option<(f64, f64)> {
        match (self, indices) {
            (Self::Regular(grid), [.., column, row]) if grid.is_by_column() => {
                Some((grid.latitude(*row), grid.longitude(*column)))
            }
            (Self::Regular(grid), [.., row, column]) => Some((grid.latitude(*row), grid.longitude(*column))),
            (Self::Healpix(pixels), [.., index]) => pixels.place(*index),
            (Self::Regular(_) | Self::Healpix(_), _) => None,
            (Self::Points(points), _) => points.place(indices),
        }
    }

    /// The indices of the last dimensions whose value is nearest to a place. `None` for a place outside.
    pub fn nearest(&self, latitude: f64, longitude: f64) -> Option<Vec<u64>> {
        match self {
            Self::Regular(grid) => grid.nearest_indices(latitude, longitude).map(Vec::from),
            Self::Healpix(pixels) => pixels.nearest(latitude, longitude).map(|index| vec![index]),
            Self::Points(points) => points.nearest(latitude, longitude),
        }
    }

    /// Latitudes in the order of the values, and how many values in a row have the same latitude. Takes 8 bytes for each row
    /// of a regular grid, and for each point of others.
    pub fn latitudes(&self) -> (Vec<f64>, u64) {
        match self {
            // Where columns follow each other, so do the latitudes of each.
            Self::Regular(grid) if grid.is_by_column() => {
                let (latitudes, _) = grid.axes();
                ((0..grid.columns()).flat_map(|_| latitudes.iter().copied()).collect(), 1)
            }
            Self::Regular(grid) => (grid.axes().0, grid.columns()),
            Self::Healpix(pixels) => {
                let places = (0..pixels.point_count()).filter_map(|index| pixels.place(index));
                (places.map(|(latitude, _)| latitude).collect(), 1)
            }
            Self::Points(points) => (points.coordinates().latitudes.clone(), 1),
        }
    }
}
