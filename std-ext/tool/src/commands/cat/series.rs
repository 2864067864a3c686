//! Values over many messages as a table: a series at a point, or any other selection.

use std::borrow::Cow;
use std::io;

use tgm_dataset::{Coordinate, Dataset, Indices, Selector, Variable};
use tgm_std::TensogramError;

use super::Cat;
use crate::args::cube::Point;
use crate::read::cubes::{Cells, names, open_or_report, with_variable};
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
    dims: Vec<(usize, usize)>,
}

fn refused(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}

impl Cat {
    /// Prints a line for each place along the dimensions `over`.
    pub(super) fn print_series(&self, over: &[String], out: &mut Out) -> io::Result<()> {
        let Some(datasets) = open_or_report(&self.paths, self.cube.open.options(), self.digests, out) else {
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
            let has_all = |it: &&Variable| {
                let is_value = it.dtype().is_some() && !dataset.is_coordinate(&it.name);
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
        for variable in &all {
            match self.picks_of(dataset, variable, over, all.len() > 1) {
                Ok(found) => {
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
        // The indices of each dimension of the rows, which all variables share.
        let indices = |dim: &String| {
            let at = first.0.dims.iter().position(|of| of == dim)?;
            first.1.get(at)
        };
        let along: Vec<&Indices> = over.iter().filter_map(indices).collect();
        let lens: Vec<usize> = along.iter().map(|it| usize::try_from(it.count()).unwrap_or(usize::MAX)).collect();
        let rows = lens.iter().try_fold(1_usize, |all, len| all.checked_mul(*len));
        let rows = rows.ok_or_else(|| refused("the rows cannot be counted"))?;
        let mut columns = Vec::new();
        for (variable, picks) in variables.iter().zip(&picks) {
            columns.push(self.column(dataset, variable, picks, over)?);
        }
        let labels = labels(dataset, over)?;
        let point = self.point(dataset, first.0)?;
        let mut titles: Vec<String> = over.to_vec();
        titles.extend(labels.iter().map(|it| it.coordinate.name.clone()));
        if point.is_some() {
            titles.extend(["latitude", "longitude"].map(str::to_string));
        }
        titles.extend(columns.iter().map(|it| it.variable.name.clone()));
        let of_dims = over.iter().map(|dim| dataset.labels(dim)).collect::<Result<Vec<_>>>()?;
        let table = Table::new([] as [Column; 0]).with_titles(&titles);
        let line = |row: usize| {
            let (mut left, mut places) = (row, Vec::with_capacity(lens.len()));
            for len in lens.iter().rev() {
                places.push(left % (*len).max(1));
                left /= (*len).max(1);
            }
            places.reverse();
            let at = |dim: usize| -> usize {
                let place = places.get(dim).copied().unwrap_or(0) as u64;
                let index = along.get(dim).and_then(|indices| indices.at(place));
                index.and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX)
            };
            let own = of_dims.iter().enumerate().map(|(dim, labels)| match labels {
                Some(labels) => labels.label_text(at(dim)),
                None => at(dim).to_string(),
            });
            let along = labels.iter().map(|it| {
                let flat = it.dims.iter().fold(0, |flat, (dim, len)| flat * len + at(*dim));
                it.coordinate.label_text(flat)
            });
            let point = point.iter().flat_map(|(latitude, longitude)| [latitude.to_string(), longitude.to_string()]);
            let values = columns.iter().map(|column| {
                let flat: usize = column.strides.iter().zip(&places).map(|(stride, place)| stride * place).sum();
                column.texts.get(flat).cloned().unwrap_or_default()
            });
            own.chain(along).chain(point).chain(values).map(Cell::from).collect()
        };
        Ok((table, (0..rows).map(line).collect(), left_out))
    }

    /// The indices of a variable. Each dimension that is not one of the rows' has one.
    fn picks_of(
        &self,
        dataset: &Dataset,
        variable: &Variable,
        over: &[String],
        is_one_of: bool,
    ) -> Result<Vec<Indices>> {
        let name = &variable.name;
        if let Some(dim) = over.iter().find(|dim| !variable.dims.contains(dim)) {
            return Err(refused(format!("{name} has no dimension {dim}; it has {}", variable.dims.join(", "))));
        }
        // Of several variables, some may lack a dimension that others have.
        let is_of = |it: &&Selector| !is_one_of || variable.dims.iter().any(|dim| dim == it.dim());
        let selectors: Vec<Selector> = self.cube.selectors.iter().filter(is_of).cloned().collect();
        let mut picks = dataset.select(name, &selectors)?;
        if let Some(Point(latitude, longitude)) = self.nearest {
            for (dim, index) in dataset.nearest(name, latitude, longitude)? {
                if let Some(pick) = picks.get_mut(dim) {
                    *pick = Indices::Index(index);
                }
            }
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
        let cells = Cells::read(dataset, &variable.name, picks, &self.decoding.of_boxes())?;
        let texts = self.texts_of(&cells);
        let behind = |dim: usize| -> usize {
            let lens =
                picks.iter().skip(dim.saturating_add(1)).map(|it| usize::try_from(it.count()).unwrap_or(usize::MAX));
            lens.product()
        };
        let at = |name: &String| variable.dims.iter().position(|dim| dim == name).map_or(0, behind);
        Ok(Values { variable, texts, strides: over.iter().map(at).collect() })
    }

    /// Where the point is that was found.
    fn point(&self, dataset: &Dataset, variable: &Variable) -> Result<Option<(f64, f64)>> {
        let Some(Point(latitude, longitude)) = self.nearest else { return Ok(None) };
        dataset.nearest_place(&variable.name, latitude, longitude).map(Some)
    }
}

/// Coordinates along the dimensions of the rows that are not labels of one of them, such as the times for which forecasts are.
fn labels<'d>(dataset: &'d Dataset, over: &[String]) -> Result<Vec<Labels<'d>>> {
    let mut found = Vec::new();
    for coordinate in &dataset.coordinates {
        let is_along = !coordinate.dims.is_empty() && coordinate.dims.iter().all(|dim| over.contains(dim));
        if !is_along || coordinate.dims == [coordinate.name.as_str()] {
            continue;
        }
        let mut dims = Vec::new();
        for dim in &coordinate.dims {
            let len = dataset.labels(dim)?.map_or(1, |labels| labels.values.len());
            dims.extend(over.iter().position(|of| of == dim).map(|at| (at, len)));
        }
        found.push(Labels { coordinate: Cow::Borrowed(coordinate), dims });
    }
    Ok(found)
}
