//! Values over many messages as a table: a series at a point, or any other selection.

use std::borrow::Cow;
use std::io;

use tgm_dataset::{Coordinate, Dataset, Indices, Selector, Variable};
use tgm_std::TensogramError;

use super::Cat;
use crate::args::cube::Point;
use crate::read::cubes::{Cells, NearestPoint, names, open_or_report, pick_nearest, with_variable};
use crate::show::output::Out;
use crate::show::table::{Cell, Column, Table};

type Result<T> = std::result::Result<T, TensogramError>;

/// A column of values: a variable, and where its value for a row is.
struct Values<'d> {
    variable: &'d Variable,
    texts: Vec<String>,
    /// Values from one index of each dimension of the rows to the next.
    strides: Vec<usize>,
}

/// A column of labels, along some of the dimensions of the rows.
struct Labels<'d> {
    coordinate: Cow<'d, Coordinate>,
    /// For each of its dimensions, which of the rows' it is, and its length.
    dims: Vec<(usize, u64)>,
}

/// The dimensions of the rows, which all variables share.
struct Along<'d> {
    picks: Vec<&'d Indices>,
    labels: Vec<Option<Cow<'d, Coordinate>>>,
}

impl Along<'_> {
    /// How many rows there are along each dimension, and in all.
    fn lens(&self) -> Result<(Vec<usize>, usize)> {
        let uncounted = || refused("the rows cannot be counted");
        let lens = self.picks.iter().map(|it| usize::try_from(it.count()).map_err(|_| uncounted()));
        let lens = lens.collect::<Result<Vec<_>>>()?;
        let rows = lens.iter().try_fold(1_usize, |all, len| all.checked_mul(*len)).ok_or_else(uncounted)?;
        Ok((lens, rows))
    }

    /// The index of each dimension at a place among the picks.
    fn indices(&self, places: &[usize]) -> Result<Vec<u64>> {
        let index = |(pick, place): (&&Indices, &usize)| {
            pick.at(*place as u64).ok_or_else(|| refused(format!("the selection has no index number {place}")))
        };
        self.picks.iter().zip(places).map(index).collect()
    }
}

/// The label of a coordinate at an index from a dataset.
fn label_at(coordinate: &Coordinate, index: u64) -> Result<String> {
    let beyond = |_| refused(format!("{}: index {index} is too large for this machine", coordinate.name));
    usize::try_from(index).map(|index| coordinate.label_text(index)).map_err(beyond)
}

fn refused(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}

impl Cat {
    /// Prints a line for each place along the dimensions `over`.
    pub(super) fn print_series(&self, over: &[String], out: &mut Out) -> io::Result<()> {
        let Some(datasets) = open_or_report(&self.paths, self.cube.options(over), self.chosen.digests, out) else {
            return Ok(());
        };
        match self.series(&datasets, over) {
            Ok((mut table, rows, left_out)) => {
                for error in left_out {
                    out.remark(&format!("{}: left out: {error}", names(&self.paths)));
                }
                for row in rows {
                    table.row(out, row)?;
                }
                table.finish(out)
            }
            Err(error) => {
                out.report(&names(&self.paths), &error);
                Ok(())
            }
        }
    }

    /// The variables to print: the one that was named, or all that have the dimensions.
    fn variables<'d>(&self, datasets: &'d [Dataset], over: &[String]) -> Result<(&'d Dataset, Vec<&'d Variable>)> {
        if let Some(name) = &self.cube.cube {
            let (dataset, variable) = with_variable(datasets, name)?;
            return Ok((dataset, vec![variable]));
        }
        let of = |dataset: &'d Dataset| -> Vec<&'d Variable> {
            let coordinates = dataset.coordinate_names();
            let has_all = |it: &&Variable| {
                let is_value = it.dtype().is_some() && !coordinates.contains(it.name.as_str());
                is_value && over.iter().all(|dim| it.dims.contains(dim))
            };
            dataset.variables.iter().filter(has_all).collect()
        };
        let found = datasets.iter().map(|dataset| (dataset, of(dataset))).find(|(_, variables)| !variables.is_empty());
        found.ok_or_else(|| {
            let mut dims: Vec<&str> =
                datasets.iter().flat_map(|it| &it.variables).flat_map(|it| &it.dims).map(String::as_str).collect();
            dims.sort_unstable();
            dims.dedup();
            refused(format!("no variable has the dimension {}; there are {}", over.join(" and "), dims.join(", ")))
        })
    }

    /// The table, its rows, and why variables that were not named are not in it.
    fn series(&self, datasets: &[Dataset], over: &[String]) -> Result<(Table, Vec<Vec<Cell>>, Vec<TensogramError>)> {
        let (dataset, all) = self.variables(datasets, over)?;
        let (mut variables, mut picks, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        // Where the point is that was found: of the first variable.
        let mut point = None;
        for variable in &all {
            let mut nearest = None;
            match self.picks_of(dataset, variable, over, all.len() > 1, &mut nearest) {
                Ok(found) => {
                    point = point.or(nearest);
                    variables.push(*variable);
                    picks.push(found);
                }
                Err(error) => left_out.push(error),
            }
        }
        if variables.is_empty() {
            return Err(left_out.into_iter().next().unwrap_or_else(|| refused("there is no variable")));
        }
        let first = variables.first().zip(picks.first()).ok_or_else(|| refused("there is no variable"))?;
        let mut along = Along { picks: Vec::new(), labels: Vec::new() };
        for dim in over {
            let at = first.0.dims.iter().position(|of| of == dim);
            let pick = at.and_then(|at| first.1.get(at));
            along.picks.push(pick.ok_or_else(|| refused(format!("{} has no dimension {dim}", first.0.name)))?);
            along.labels.push(dataset.labels(dim)?);
        }
        let (lens, rows) = along.lens()?;
        let mut columns = Vec::new();
        for (variable, picks) in variables.iter().zip(&picks) {
            columns.push(self.column(dataset, variable, picks, over)?);
        }
        let labels = labels(dataset, first.0, over);
        let point = point.map(|it| [("latitude", it.latitude), ("longitude", it.longitude)]).into_iter().flatten();
        let point: Vec<(&str, f64)> = point.filter_map(|(title, degrees)| Some((title, degrees?))).collect();
        let mut titles: Vec<String> = over.to_vec();
        titles.extend(labels.iter().map(|it| it.coordinate.name.clone()));
        titles.extend(point.iter().map(|(title, _)| (*title).to_string()));
        titles.extend(columns.iter().map(|it| it.variable.name.clone()));
        let table = Table::new([] as [Column; 0]).with_titles(&titles);
        let line = |row: usize| -> Result<Vec<Cell>> {
            let (mut left, mut places) = (row, Vec::with_capacity(lens.len()));
            for len in lens.iter().rev() {
                places.push(left % (*len).max(1));
                left /= (*len).max(1);
            }
            places.reverse();
            let indices = along.indices(&places)?;
            let mut cells = Vec::with_capacity(titles.len());
            for (labels, index) in along.labels.iter().zip(&indices) {
                cells.push(labels.as_ref().map_or_else(|| Ok(index.to_string()), |it| label_at(it, *index))?);
            }
            for Labels { coordinate, dims } in &labels {
                let step =
                    |flat: u64, (dim, len): &(usize, u64)| flat.checked_mul(*len)?.checked_add(*indices.get(*dim)?);
                let flat = dims.iter().try_fold(0, step);
                let flat = flat.ok_or_else(|| refused(format!("{} has too many labels", coordinate.name)))?;
                cells.push(label_at(coordinate, flat)?);
            }
            cells.extend(point.iter().map(|(_, degrees)| degrees.to_string()));
            for column in &columns {
                let flat: usize = column.strides.iter().zip(&places).map(|(stride, place)| stride * place).sum();
                let missing = || refused(format!("{} has no value number {flat}", column.variable.name));
                cells.push(column.texts.get(flat).cloned().ok_or_else(missing)?);
            }
            Ok(cells.into_iter().map(Cell::from).collect())
        };
        Ok((table, (0..rows).map(line).collect::<Result<_>>()?, left_out))
    }

    /// The indices of a variable. Each dimension that is not one of the rows' has one.
    fn picks_of(
        &self,
        dataset: &Dataset,
        variable: &Variable,
        over: &[String],
        is_one_of: bool,
        point: &mut Option<NearestPoint>,
    ) -> Result<Vec<Indices>> {
        let name = &variable.name;
        if let Some(dim) = over.iter().find(|dim| !variable.dims.contains(dim)) {
            return Err(refused(format!("{name} has no dimension {dim}; it has {}", variable.dims.join(", "))));
        }
        // Some variables may lack a dimension that others have.
        let is_of = |it: &&Selector| !is_one_of || variable.dims.iter().any(|dim| dim == it.dim());
        let selectors: Vec<Selector> = self.cube.selectors.iter().filter(is_of).cloned().collect();
        let mut picks = dataset.select(name, &selectors)?;
        if let Some(Point(latitude, longitude)) = self.nearest {
            *point = Some(pick_nearest(dataset, variable, (latitude, longitude), over, &mut picks)?);
        }
        for (dim, pick) in variable.dims.iter().zip(&picks) {
            if pick.count() != 1 && !over.contains(dim) {
                let grid = dataset.grid_dims(name)?.unwrap_or_default();
                let is_of_grid = grid.iter().any(|at| variable.dims.get(*at) == Some(dim));
                let advice = if is_of_grid { "; --nearest LAT,LON picks a point" } else { "" };
                let count = pick.count();
                return Err(refused(format!(
                    "{name}: {count} labels of {dim} are not told apart: --sel {dim}=LABEL picks one, --over {},{dim} \
                     has a line for each{advice}",
                    over.join(",")
                )));
            }
        }
        Ok(picks)
    }

    fn column<'d>(
        &self,
        dataset: &Dataset,
        variable: &'d Variable,
        picks: &[Indices],
        over: &[String],
    ) -> Result<Values<'d>> {
        let cells = Cells::amounts(dataset, &variable.name, picks, &self.decoding.of_boxes())?;
        let texts = self.texts_of(&cells);
        // The values were read, so their number is one that this machine counts.
        let behind = |dim: usize| -> u64 { picks.iter().skip(dim + 1).map(Indices::count).product() };
        let stride = |name: &String| {
            let dim = variable.dims.iter().position(|dim| dim == name);
            let stride = dim.and_then(|dim| usize::try_from(behind(dim)).ok());
            stride.ok_or_else(|| refused(format!("{} has no dimension {name}", variable.name)))
        };
        Ok(Values { variable, texts, strides: over.iter().map(stride).collect::<Result<_>>()? })
    }
}

/// Coordinates along the dimensions of the rows that are not labels of one of them, such as the times for which forecasts are.
/// The dimensions are as long as the variable's.
fn labels<'d>(dataset: &'d Dataset, variable: &Variable, over: &[String]) -> Vec<Labels<'d>> {
    let len_of = |dim: &String| {
        let at = variable.dims.iter().position(|of| of == dim)?;
        Some((over.iter().position(|of| of == dim)?, *variable.shape.get(at)?))
    };
    let is_other = |it: &&Coordinate| !it.dims.is_empty() && it.dims != [it.name.as_str()];
    let along = dataset.coordinates.iter().filter(is_other).filter_map(|coordinate| {
        let dims = coordinate.dims.iter().map(len_of).collect::<Option<_>>()?;
        Some(Labels { coordinate: Cow::Borrowed(coordinate), dims })
    });
    along.collect()
}
