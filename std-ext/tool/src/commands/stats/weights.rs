//! The weights of latitudes.

use tgm_core::descriptor::Descriptor;
use tgm_core::metadata::MessageMetadata;
use tgm_dataset::area_weights;
use tgm_grid::{Area, KnownPoints, Places, RegularGrid};
use tgm_std::{DecodeLimits, TensogramError};

use crate::read::places::places;
use crate::read::select::Scope;

/// The weights of a grid's values, by the areas that they stand for: as [`area_weights`] has them, for an object as for a dataset.
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
        limits: (&DecodeLimits, Option<&KnownPoints>),
    ) -> Result<Self, TensogramError> {
        if descriptor.element_count() == 0 {
            return Ok(Self { of_rows: vec![], columns: 0 });
        }
        let shape: Vec<_> = descriptor.shape().iter().collect();
        let short = || TensogramError::Metadata("latitudes need two dimensions: this object has fewer".into());
        let found = places((metadata, index), scope, &shape, limits)?;
        let found = found.or_else(|| RegularGrid::new(&shape, Area::GLOBE).map(Places::Regular)).ok_or_else(short)?;
        let (latitudes, columns) = found.latitudes();
        let are_rows = matches!(&found, Places::Regular(grid) if !grid.is_by_column());
        let of_rows = area_weights(&latitudes, are_rows);
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
