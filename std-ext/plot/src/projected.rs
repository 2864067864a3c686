//! A field of the globe in another projection.

use crate::field::Field;
use crate::layout::SIDE;
use crate::map::Map;
use crate::picture::{Cell, Sheet};
use crate::projection::{MapKind, Projection};

/// Rows or columns of the longer side: two for each unit of a picture.
const RESOLUTION: usize = 2 * SIDE;

impl Sheet {
    /// The sheet in a projection: each place has the value of the cell that is there.
    ///
    /// # Errors
    /// Why it cannot be: the sheet is not a map, or the projection shows nothing of it.
    pub fn projected(self, kind: MapKind) -> Result<Self, &'static str> {
        let Some(plain) = &self.map else {
            return Err("--projection is of values on the globe, and these have no places");
        };
        let map = Map::new(plain.bounds, kind).ok_or("this projection shows nothing of the field")?;
        if map.projection == Projection::PlateCarree {
            return Ok(self);
        }
        let (rows, columns) = sides(map.size());
        let (old_rows, old_columns) = (self.field.rows().min(RESOLUTION), self.field.columns().min(RESOLUTION));
        let small = self.resized(old_rows, old_columns);
        let (mut values, mut inside) = (Vec::with_capacity(rows * columns), Vec::with_capacity(rows * columns));
        for row in 0..rows {
            for column in 0..columns {
                let place = map.in_field((middle(column, columns), middle(row, rows)));
                let cell = place.map_or(Cell::Outside, |(x, y)| small.cell(index(y, old_rows), index(x, old_columns)));
                let (value, is_inside) = match cell {
                    Cell::Value(value) => (value, 1.0),
                    Cell::Missing => (f64::NAN, 1.0),
                    Cell::Outside => (f64::NAN, f64::NAN),
                };
                values.push(value);
                inside.push(is_inside);
            }
        }
        let no_values = "there are no values";
        let field = Field::new(rows, columns, values).ok_or(no_values)?;
        let inside = Field::new(rows, columns, inside).ok_or(no_values)?;
        Ok(Self { field, axes: map.axes(), map: Some(map), inside: Some(inside) })
    }
}

/// Rows and columns for a plane of this width and height.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few cells")]
fn sides((width, height): (f64, f64)) -> (usize, usize) {
    let scale = RESOLUTION as f64 / width.max(height);
    let side = |length: f64| ((length * scale).round() as usize).clamp(1, RESOLUTION);
    (side(height), side(width))
}

/// The share at which the middle of a cell lies.
#[expect(clippy::cast_precision_loss, reason = "few cells")]
fn middle(cell: usize, count: usize) -> f64 {
    (cell as f64 + 0.5) / count as f64
}

/// The cell at a share.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few cells")]
pub(crate) fn index(share: f64, count: usize) -> usize {
    ((share * count as f64) as usize).min(count.saturating_sub(1))
}
