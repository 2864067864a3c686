//! Statistics over dimensions of a dataset: a line for each place of the others.

use std::io;

use serde_json::{Map, Value as Json};
use tgm_dataset::{Coordinate, Dataset, GRID, Statistic, Variable};
use tgm_std::TensogramError;
use tgm_std::metadata::query::compare::Number;

use super::Stats;
use super::numbers::number_text;
use crate::read::cubes::{names, open_or_report, with_variable};
use crate::read::elements::json_of;
use crate::show::json::Document;
use crate::show::output::Out;
use crate::show::table::{Cell, Column, Table};

/// The statistics of a line, in the order of columns, with their titles.
const COLUMNS: [(&str, Statistic); 5] = [
    ("values", Statistic::Count),
    ("min", Statistic::Min),
    ("mean", Statistic::Mean),
    ("max", Statistic::Max),
    ("sd", Statistic::Std),
];

/// Statistics of a variable over dimensions.
pub(super) struct Reduction {
    /// The dimensions that are gone.
    pub(super) over: Vec<String>,
    /// The dimensions that are left, and their lengths.
    pub(super) dims: Vec<String>,
    pub(super) shape: Vec<u64>,
    /// The values of each statistic, row-major.
    pub(super) values: Vec<Values>,
}

/// The values of a statistic.
pub(super) struct Values {
    pub(super) floats: Vec<f64>,
    /// The same as whole numbers of 64 bits, if they are such.
    pub(super) integers: Option<Vec<Option<i128>>>,
}

impl Values {
    /// A value. `None` for a place that has none.
    fn at(&self, place: usize) -> Option<Number> {
        if let Some(integers) = &self.integers {
            return integers.get(place).copied().flatten().map(Number::Integer);
        }
        self.floats.get(place).copied().filter(|value| !value.is_nan()).map(Number::Float)
    }
}

/// The statistics of one variable.
struct Found<'d> {
    name: &'d str,
    reduced: Reduction,
    /// The labels of each dimension that is left, at the indices that were picked.
    labels: Vec<Vec<String>>,
}

impl Stats {
    /// Prints statistics over the dimensions `over`.
    pub(super) fn print_over(&self, over: &[String], out: &mut Out) -> io::Result<()> {
        let paths = &self.files.paths;
        let Some(datasets) = open_or_report(paths, self.cube.options(over), self.chosen.digests, out) else {
            return Ok(());
        };
        let (dataset, variables) = match self.variables(&datasets, over) {
            Ok(found) => found,
            Err(error) => {
                out.report(&names(paths), &error);
                return Ok(());
            }
        };
        let mut found = Vec::new();
        for variable in variables {
            match self.reduced(dataset, variable, over) {
                Ok(reduced) => found.push(reduced),
                Err(error) => out.report(&names(paths), &error),
            }
        }
        if self.files.json() { print_json(&found, out) } else { print_table(&found, out) }
    }

    /// The variable that was named, or all that have the dimensions.
    pub(super) fn variables<'d>(
        &self,
        datasets: &'d [Dataset],
        over: &[String],
    ) -> Result<(&'d Dataset, Vec<&'d Variable>), TensogramError> {
        if let Some(name) = &self.cube.cube {
            let (dataset, variable) = with_variable(datasets, name)?;
            return Ok((dataset, vec![variable]));
        }
        for dataset in datasets {
            let coordinates = dataset.coordinate_names();
            let has_all = |it: &&Variable| {
                let is_value = it.dtype().is_some() && !coordinates.contains(it.name.as_str());
                is_value && over.iter().all(|dim| dim == GRID || it.dims.contains(dim))
            };
            let found: Vec<&Variable> = dataset.variables.iter().filter(has_all).collect();
            if !found.is_empty() {
                return Ok((dataset, found));
            }
        }
        let text = format!("no variable has the dimension {}: `tgm cube` lists them", over.join(" and "));
        Err(TensogramError::Metadata(text.into()))
    }

    /// Statistics of a variable over the dimensions `over`, among which `grid` stands for several.
    pub(super) fn reduction(
        &self,
        dataset: &Dataset,
        variable: &Variable,
        over: &[String],
        statistics: &[Statistic],
    ) -> Result<Reduction, TensogramError> {
        let name = &variable.name;
        let dims = dataset.meant_dims(name, over)?;
        let picks = dataset.select(name, &self.selectors_of(variable))?;
        let (options, over) = (self.decoding.of_boxes(), dims.iter().map(|dim| (*dim).to_string()).collect());
        if self.weigh_latitudes {
            let found = dataset.reduce_weighted(name, &picks, &dims, &options)?;
            let values = statistics.iter().map(|statistic| {
                let without = || TensogramError::Metadata("a sum has no weights: without --weigh-latitudes".into());
                let floats = found.values(*statistic).ok_or_else(without)?;
                Ok(Values { floats, integers: found.integers(*statistic) })
            });
            let values = values.collect::<Result<_, TensogramError>>()?;
            return Ok(Reduction { over, values, dims: found.dims, shape: found.shape });
        }
        let found = dataset.reduce(name, &picks, &dims, statistics, &options)?;
        let values = statistics
            .iter()
            .map(|statistic| Values { floats: found.values(*statistic), integers: found.integers(*statistic) });
        let values = values.collect();
        Ok(Reduction { over, values, dims: found.dims, shape: found.shape })
    }

    fn reduced<'d>(
        &self,
        dataset: &'d Dataset,
        variable: &'d Variable,
        over: &[String],
    ) -> Result<Found<'d>, TensogramError> {
        let name = &variable.name;
        let reduced = self.reduction(dataset, variable, over, &COLUMNS.map(|(_, statistic)| statistic))?;
        let picks = dataset.select(name, &self.selectors_of(variable))?;
        let mut labels = Vec::new();
        for dim in &reduced.dims {
            let coordinate = dataset.labels(dim)?;
            let pick = variable.dims.iter().position(|of| of == dim).and_then(|at| picks.get(at));
            let without = || TensogramError::Metadata(format!("{name}: dimension {dim} lacks an index").into());
            let pick = pick.ok_or_else(without)?;
            let text = |number: u64| -> Result<String, TensogramError> {
                let at = pick.at(number).and_then(|at| usize::try_from(at).ok()).ok_or_else(without)?;
                Ok(coordinate.as_deref().map_or_else(|| at.to_string(), |it: &Coordinate| it.label_text(at)))
            };
            labels.push((0..pick.count()).map(text).collect::<Result<_, _>>()?);
        }
        Ok(Found { name, reduced, labels })
    }
}

impl Found<'_> {
    fn rows(&self) -> usize {
        self.reduced.values.first().map_or(0, |values| values.floats.len())
    }

    /// The label of a row along a dimension. Nothing for a dimension that the variable lacks.
    fn label(&self, row: usize, dim: &str) -> String {
        let Some(at) = self.reduced.dims.iter().position(|of| of == dim) else { return String::new() };
        // There are as many values, so the product is a number that this machine counts.
        let behind: u64 = self.reduced.shape.iter().skip(at + 1).product();
        // There is a label for each index of a dimension.
        let labels: &[String] = self.labels.get(at).map_or(&[], Vec::as_slice);
        let index = row as u64 / behind.max(1) % (labels.len() as u64).max(1);
        usize::try_from(index).ok().and_then(|index| labels.get(index)).cloned().unwrap_or_default()
    }

    fn value(&self, row: usize, column: usize) -> Option<Number> {
        self.reduced.values.get(column).and_then(|values| values.at(row))
    }
}

/// The dimensions of all variables, in their order.
fn dims<'f>(found: &'f [Found<'_>]) -> Vec<&'f str> {
    let mut dims: Vec<&str> = Vec::new();
    for dim in found.iter().flat_map(|it| &it.reduced.dims) {
        if !dims.contains(&dim.as_str()) {
            dims.push(dim);
        }
    }
    dims
}

fn print_table(found: &[Found<'_>], out: &mut Out) -> io::Result<()> {
    let dims = dims(found);
    let titles: Vec<String> = dims.iter().map(|dim| (*dim).to_string()).collect();
    let counts = COLUMNS.map(|(title, _)| title.to_string());
    let mut table = Table::new([Column::left("name")]).with_titles(&titles).with_titles(&counts);
    for it in found {
        for row in 0..it.rows() {
            let labels = dims.iter().map(|dim| it.label(row, dim).into());
            let numbers =
                (0..COLUMNS.len()).map(|column| Cell::from(it.value(row, column).map(number_text).unwrap_or_default()));
            table.row(out, [Cell::from(it.name)].into_iter().chain(labels).chain(numbers).collect())?;
        }
    }
    table.finish(out)
}

fn print_json(found: &[Found<'_>], out: &mut Out) -> io::Result<()> {
    let mut document = Document::begin(out, "tgm.stats-over/1", "places")?;
    for it in found {
        for row in 0..it.rows() {
            let mut item = Map::new();
            item.insert("name".into(), it.name.into());
            let labels = it.reduced.dims.iter().map(|dim| (dim.clone(), Json::from(it.label(row, dim))));
            item.insert("place".into(), Json::Object(labels.collect()));
            for (column, (title, _)) in COLUMNS.iter().enumerate() {
                if let Some(value) = it.value(row, column).and_then(json_of) {
                    item.insert((*title).into(), value);
                }
            }
            document.item(out, &Json::Object(item))?;
        }
    }
    document.end(out)
}
