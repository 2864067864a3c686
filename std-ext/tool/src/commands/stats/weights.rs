//! The weights of latitudes.

use tgm_core::descriptor::Descriptor;
use tgm_core::metadata::MessageMetadata;
use tgm_grid::{Area, Places, RegularGrid};
use tgm_std::{DecodeLimits, TensogramError};

use crate::read::places::places;
use crate::read::select::Scope;

/// The weights of a grid's values: the cosine of the latitude of their row. Where rows have different numbers of values, the values of a
/// row share it.
pub(super) struct Weights {
    of_rows: Vec<f64>,
    columns: usize,
}

impl Weights {
    /// The weights for the rows of an object. Its values are in memory, so the rows fit there too.
    pub(super) fn of(
        (metadata, index): (&MessageMetadata<'_>, usize),
        descriptor: &Descriptor<'_>,
        scope: Scope<'_, '_>,
        limits: &DecodeLimits,
    ) -> Result<Self, TensogramError> {
        if descriptor.element_count() == 0 {
            return Ok(Self { of_rows: vec![], columns: 0 });
        }
        let shape: Vec<_> = descriptor.shape().iter().collect();
        let short = || TensogramError::Metadata("latitudes need two dimensions: this object has fewer".into());
        let found = places((metadata, index), scope, &shape, limits)?;
        let found = found.or_else(|| RegularGrid::new(&shape, Area::GLOBE).map(Places::Regular)).ok_or_else(short)?;
        let (latitudes, columns) = found.latitudes();
        // The cosine at a pole is 6e-17, not 0.
        let weight = |latitude: &f64| latitude.to_radians().cos().max(0.0);
        // A list of points has rows of different lengths: neighbours of one latitude.
        let is_list = !matches!(found, Places::Regular(_)) && shape.len() == 1;
        let rows = latitudes.chunk_by(|one, other| is_list && one.to_bits() == other.to_bits());
        #[expect(clippy::cast_precision_loss, reason = "rows are in memory")]
        let of_row = |row: &[f64]| row.first().map_or(0.0, weight) / row.len() as f64;
        let of_rows: Vec<f64> = rows.flat_map(|row| std::iter::repeat_n(of_row(row), row.len())).collect();
        let of_grid = (of_rows.len() as u64).checked_mul(columns);
        if !of_grid.is_some_and(|points| points > 0 && descriptor.element_count().is_multiple_of(points)) {
            let text = format!("{} rows of {columns} places are not the grid of {shape:?}", of_rows.len());
            return Err(TensogramError::Metadata(text.into()));
        }
        Ok(Self { of_rows, columns: usize::try_from(columns).map_err(|_| short())? })
    }

    pub(super) fn of_element(&self, index: usize) -> f64 {
        // An object without elements has no rows, and is asked for no weight. Any other has a row for each element.
        let row = (index / self.columns.max(1)) % self.of_rows.len().max(1);
        self.of_rows.get(row).copied().unwrap_or(f64::NAN)
    }
}
