//! What a picture says of its values, and where they are: by the dataset that has them.

pub use tgm_dataset::text_attribute as text_of;
use tgm_dataset::{Coordinate, Dataset, Indices, Time, Values, Variable};
use tgm_std::TensogramError;

use crate::axis::{Axis, latitude, longitude};
use crate::field::Field;
use crate::map::Map;
use crate::nearest::Points;
use crate::picture::Sheet;
use crate::raster::Raster;
use crate::table::{Levels, Table};
use crate::vertical::{heights, way_up};

type Result<T> = std::result::Result<T, TensogramError>;

/// What is picked of a variable.
#[derive(Debug, Clone, Copy)]
pub struct Picked<'d> {
    /// The dataset.
    pub dataset: &'d Dataset,
    /// The variable.
    pub variable: &'d Variable,
    /// The indices, one for each dimension.
    pub picks: &'d [Indices],
}

/// A dimension that is not a single index.
struct Side<'d> {
    name: &'d str,
    picks: &'d Indices,
}

impl<'d> Picked<'d> {
    /// The text of an attribute of the variable.
    pub fn text(&self, name: &str) -> Option<&'d str> {
        text_of(&self.variable.attributes, name)
    }

    fn sides(&self) -> Vec<Side<'d>> {
        let all = self.variable.dims.iter().zip(self.picks);
        all.filter(|(_, picks)| !matches!(picks, Indices::Index(_))).map(|(name, picks)| Side { name, picks }).collect()
    }

    /// What the values of a line run along.
    ///
    /// # Errors
    /// The errors of reading coordinates.
    pub fn line_axis(&self) -> Result<Option<Axis>> {
        let sides = self.sides();
        let [side] = sides.as_slice() else { return Ok(None) };
        let (Some(axis), levels) = (self.labels(side)?, self.levels(side)?) else { return Ok(None) };
        let heights = levels.and_then(|levels| heights(levels.way, &levels.units, &levels.numbers));
        Ok(Some(match (axis, heights) {
            (Axis::Labels(name, mut labels), Some(heights)) => {
                labels.iter_mut().zip(heights).for_each(|(tick, share)| tick.0 = share);
                Axis::Levels(name, labels)
            }
            (axis, _) => axis,
        }))
    }

    fn labels(&self, side: &Side<'_>) -> Result<Option<Axis>> {
        let Some(found) = self.dataset.labels(side.name)? else { return Ok(None) };
        if found.dims != [side.name] {
            return Ok(None);
        }
        let Some(indices) = side.indices() else { return Ok(None) };
        let text = |at: usize| match (side.name, number_at(&found, at)) {
            ("latitude", Some(degrees)) => latitude(degrees),
            ("longitude", Some(degrees)) => longitude(degrees),
            _ => found.label_text(at).replace('T', " "),
        };
        let mut labels: Vec<String> = indices.iter().map(|at| text(*at)).collect();
        // What is the same in all times says nothing.
        if matches!(found.values, Values::Times(_)) {
            for same in [":00", ":00", " 00"] {
                if labels.iter().all(|label| label.ends_with(same)) {
                    for label in &mut labels {
                        label.truncate(label.len() - same.len());
                    }
                }
            }
        }
        let units = units_of(&found);
        let name = if units.is_empty() { side.name.to_string() } else { format!("{} [{units}]", side.name) };
        let numbers: Option<Vec<f64>> = indices.iter().map(|at| number_at(&found, *at)).collect();
        let Axis::Labels(name, mut all) = Axis::of_labels(&name, labels) else { return Ok(None) };
        // Labels that rise or fall have their distances.
        if let Some(shares) = numbers.and_then(|numbers| shares(&numbers)) {
            all.iter_mut().zip(shares).for_each(|(tick, share)| tick.0 = share);
        }
        Ok(Some(Axis::Labels(name, all)))
    }

    /// The values of a field of two sides, as they lie on the globe, or as rows and columns with their labels.
    ///
    /// # Errors
    /// The errors of reading coordinates; [`TensogramError::Object`] for values that are not a field.
    pub fn sheet(&self, values: &[f64]) -> Result<Sheet> {
        let sides = self.sides();
        let grid = self.dataset.positions(&self.variable.name)?;
        if let Some((latitudes, longitudes)) = grid
            && let Some(raster) = on_globe(self.variable, &sides, (&latitudes, &longitudes), values)
        {
            let Raster { field, bounds, inside } = raster;
            let map = Map::plain(bounds);
            return Ok(Sheet { field, axes: map.axes(), map: Some(map), inside });
        }
        let no_field = || TensogramError::Object("these values are not a field".into());
        let [rows, columns] = sides.as_slice() else { return Err(no_field()) };
        let labels = |side: &Side<'_>, count: usize| -> Result<Axis> {
            Ok(match self.labels(side)? {
                // Cells are of one size.
                Some(axis @ Axis::Labels(..)) => axis.evenly(),
                _ => Axis::Cells(count),
            })
        };
        let count = |side: &Side<'_>| usize::try_from(side.picks.count()).map_err(|_| no_field());
        let axes = [labels(rows, count(rows)?)?, labels(columns, count(columns)?)?];
        let table = Table { rows: count(rows)?, columns: count(columns)?, values: values.to_vec(), axes };
        // Levels stand upright, the highest one on top.
        let table = match (self.levels(rows)?, self.levels(columns)?) {
            (Some(levels), _) => table.upright(&levels),
            (None, Some(levels)) => table.turned().upright(&levels),
            (None, None) => table,
        };
        let Table { rows, columns, values, axes } = table;
        let field = Field::new(rows, columns, values).ok_or_else(no_field)?;
        Ok(Sheet { field, axes, map: None, inside: None })
    }

    /// The levels of a dimension of them. `None` for any other dimension.
    fn levels(&self, side: &Side<'_>) -> Result<Option<Levels>> {
        let Some(found) = self.dataset.labels(side.name)? else { return Ok(None) };
        let of = |name: &str| text_of(&found.attributes, name).unwrap_or_default();
        let Some(way) = way_up(side.name, of("units"), of("positive")) else { return Ok(None) };
        let Some(indices) = side.indices().filter(|_| found.dims == [side.name]) else { return Ok(None) };
        let numbers: Option<Vec<f64>> = indices.iter().map(|at| number_at(&found, *at)).collect();
        Ok(numbers.map(|numbers| Levels { way, units: of("units").into(), numbers }))
    }

    /// Whether the dimensions of its grid are there, and no other one is more than an index.
    ///
    /// # Errors
    /// The errors of reading coordinates.
    pub fn is_of_grid(&self) -> Result<bool> {
        let grid = self.dataset.grid_dims(&self.variable.name)?.unwrap_or_default();
        let is_whole = |(at, picks): (usize, &Indices)| grid.contains(&at) != matches!(picks, Indices::Index(_));
        Ok(!grid.is_empty() && self.picks.iter().enumerate().all(is_whole))
    }
}

impl Side<'_> {
    fn indices(&self) -> Option<Vec<usize>> {
        (0..self.picks.count()).map(|number| usize::try_from(self.picks.at(number)?).ok()).collect()
    }
}

/// Values on the globe. `None` if their sides do not have the latitudes and longitudes.
fn on_globe(
    variable: &Variable,
    sides: &[Side<'_>],
    (latitudes, longitudes): (&Coordinate, &Coordinate),
    values: &[f64],
) -> Option<Raster> {
    if let ([of_latitudes], [of_longitudes], [first, second]) =
        (latitudes.dims.as_slice(), longitudes.dims.as_slice(), sides)
        && of_latitudes != of_longitudes
    {
        let along = |side: &Side<'_>, coordinate: &Coordinate| -> Option<Vec<f64>> {
            side.indices()?.into_iter().map(|at| number_at(coordinate, at)).collect()
        };
        if first.name == of_latitudes && second.name == of_longitudes {
            return Raster::of_axes(&along(first, latitudes)?, &along(second, longitudes)?, values.to_vec());
        }
        if first.name != of_longitudes || second.name != of_latitudes {
            return None;
        }
        let (rows, columns) = (along(second, latitudes)?, along(first, longitudes)?);
        let turned = (0..values.len()).map(|at| {
            let (row, column) = (at / columns.len(), at % columns.len());
            values.get(column * rows.len() + row).copied()
        });
        return Raster::of_axes(&rows, &columns, turned.collect::<Option<_>>()?);
    }
    let is_along = |side: &Side<'_>, dim: &String| side.name == dim;
    if latitudes.dims != longitudes.dims
        || sides.len() != latitudes.dims.len()
        || !sides.iter().zip(&latitudes.dims).all(|(side, dim)| is_along(side, dim))
    {
        return None;
    }
    let (places, columns) = match sides {
        [along] => (along.indices()?, None),
        [rows, columns] => {
            // The length of a row of the whole grid.
            let dim = variable.dims.iter().position(|dim| dim == columns.name)?;
            let whole = usize::try_from(*variable.shape.get(dim)?).ok()?;
            let within = columns.indices()?;
            let all = rows.indices()?.into_iter().flat_map(|row| within.iter().map(move |column| row * whole + column));
            (all.collect::<Vec<_>>(), Some(within.len()))
        }
        _ => return None,
    };
    let of = |coordinate: &Coordinate| places.iter().map(|at| number_at(coordinate, *at)).collect::<Option<Vec<f64>>>();
    let points = Points { latitudes: of(latitudes)?, longitudes: of(longitudes)?, columns };
    Raster::of_points(&points, values)
}

/// A label as a number.
#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
pub fn number_at(coordinate: &Coordinate, at: usize) -> Option<f64> {
    match &coordinate.values {
        Values::Floats(all) => all.get(at).copied(),
        Values::Integers(all) | Values::Durations(all) => all.get(at).map(|number| *number as f64),
        Values::Times(all) => all.at(at).map(Time::seconds),
        Values::Texts(_) => None,
    }
}

/// The units of labels, where these do not show them.
fn units_of(coordinate: &Coordinate) -> &str {
    match &coordinate.values {
        Values::Durations(all) if all.iter().all(|step| step % 3600 == 0) => "h",
        Values::Times(_) | Values::Durations(_) => "",
        _ => text_of(&coordinate.attributes, "units")
            .filter(|units| !matches!(*units, "1" | "degrees_north" | "degrees_east"))
            .unwrap_or_default(),
    }
}

/// Where numbers that rise, or fall, lie between the first and the last one.
fn shares(numbers: &[f64]) -> Option<Vec<f64>> {
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    let sign = if first < last { 1.0 } else { -1.0 };
    let is_in_order = numbers.iter().zip(numbers.iter().skip(1)).all(|(one, next)| (next - one) * sign > 0.0);
    (numbers.len() > 1 && is_in_order).then(|| numbers.iter().map(|number| (number - first) / (last - first)).collect())
}
