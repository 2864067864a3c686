//! Statistics over dimensions as fields: a file of variables with coordinates, or bare values.

use std::io;

use tgm_convert::npy;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_dataset::{Computed, Dataset, Selector, Statistic, Variable};
use tgm_std::{MessageBuilder, TensogramError};

use super::Stats;
use super::over::Reduction;
use super::report::quantile_name;
use crate::args::files::usage;
use crate::args::listing::ending;
use crate::commands::boxes::Target;
use crate::read::cubes::{names, open_or_report};
use crate::show::output::Out;
use crate::write::destination::{Destination, Failure, OutputKind, Reads};

type Result<T> = std::result::Result<T, TensogramError>;

/// What is written of each variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Statistic(Statistic),
    /// The shares of `--quantiles`.
    Quantiles,
}

impl std::str::FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let known = Statistic::ALL.into_iter().find(|statistic| statistic.name() == text);
        let quantiles = (text == "quantiles").then_some(Self::Quantiles);
        known.map(Self::Statistic).or(quantiles).ok_or_else(|| {
            let names = Statistic::ALL.map(Statistic::name).join(", ");
            format!("expected {names} or quantiles")
        })
    }
}

/// What the fields are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldFile {
    Values,
    Dataset(Target),
}

impl FieldFile {
    /// What the name of a file asks for. `None` for a name that is not one of a file of fields.
    pub(super) fn of(output: &Destination) -> Option<Self> {
        let ending = ending(output)?;
        let values = (ending == "npy").then_some(Self::Values);
        values.or_else(|| Target::of_ending(&ending).map(Self::Dataset))
    }
}

impl Stats {
    /// Writes the statistics of `--statistic` over the dimensions `over`.
    pub(super) fn write_fields(&self, output: &Destination, file: FieldFile, over: &[String], out: &mut Out) {
        let paths = &self.files.paths;
        let Some(datasets) = open_or_report(paths, self.cube.options(over), self.chosen.digests, out) else { return };
        let (place, reads) = (names(paths), Reads::Only(paths));
        let found = match self.variables(&datasets, over) {
            Ok(found) => found,
            Err(error) => {
                out.report(&place, &error);
                return;
            }
        };
        match file {
            FieldFile::Dataset(target) => {
                let make = || self.fields(&found, over)?.encode();
                target.write(output, (&place, reads), out, &make);
            }
            FieldFile::Values => {
                let (dataset, &[variable]) = (found.0, found.1.as_slice()) else {
                    usage("a .npy file has one array: --cube NAME says of which variable");
                };
                output.write(out, OutputKind::Values, reads, |_, sink| {
                    let (results, reduction) = self.results(dataset, variable, over).map_err(Failure::at(&place))?;
                    let [result] = results.as_slice() else {
                        usage("a .npy file has one array: --statistic and --quantiles say which one");
                    };
                    // The values of all types but whole numbers of 64 bits are float64.
                    let of_variable = variable.dtype().filter(|dtype| *dtype == Dtype::Uint64);
                    let (dtype, bytes) = result.stored(of_variable, &reduction.shape).map_err(Failure::at(&place))?;
                    let header = npy::header(dtype, ByteOrder::NATIVE, &reduction.shape).map_err(io::Error::other)?;
                    sink.write_all(&header)?;
                    Ok(sink.write_all(&bytes)?)
                });
            }
        }
    }

    /// A message of all variables.
    fn fields(
        &self,
        (dataset, variables): &(&Dataset, Vec<&Variable>),
        over: &[String],
    ) -> Result<MessageBuilder<'static>> {
        let mut all = Vec::new();
        for variable in variables {
            let (results, reduction) = self.results(dataset, variable, over)?;
            all.push((variable.name.as_str(), self.selectors_of(variable), reduction.over, results));
        }
        let dims: Vec<Vec<&str>> =
            all.iter().map(|(_, _, over, _)| over.iter().map(String::as_str).collect()).collect();
        let each = all.iter().zip(&dims).map(|((variable, selectors, _, results), over)| tgm_dataset::Reduction {
            variable,
            selectors,
            over,
            results,
        });
        dataset.computed(&each.collect::<Vec<_>>())
    }

    /// What is wanted of a variable, and what it was reduced over.
    fn results(&self, dataset: &Dataset, variable: &Variable, over: &[String]) -> Result<(Vec<Computed>, Reduction)> {
        let wanted: Vec<Statistic> = self
            .statistics
            .iter()
            .filter_map(|it| if let Wanted::Statistic(statistic) = it { Some(*statistic) } else { None })
            .collect();
        let reduction = self.reduction(dataset, variable, over, &wanted)?;
        let shares: &[f64] = if self.statistics.contains(&Wanted::Quantiles) { &self.quantiles } else { &[] };
        let is_only = wanted.len() + shares.len() == 1;
        let called = |suffix: &str| if is_only { variable.name.clone() } else { format!("{}_{suffix}", variable.name) };
        let mut results = Vec::new();
        for (statistic, values) in wanted.iter().zip(&reduction.values) {
            let units = (*statistic == Statistic::Count).then_some("1");
            let method = match statistic {
                Statistic::Std => "standard_deviation",
                Statistic::Min => "minimum",
                Statistic::Max => "maximum",
                other => other.name(),
            };
            results.push(Computed {
                name: called(statistic.name()),
                values: values.floats.clone(),
                integers: values.integers.clone(),
                method: method.into(),
                units,
            });
        }
        if !shares.is_empty() {
            if self.weigh_latitudes {
                return Err(TensogramError::Metadata("quantiles have no weights: without --weigh-latitudes".into()));
            }
            let picks = dataset.select(&variable.name, &self.selectors_of(variable))?;
            let dims: Vec<&str> = reduction.over.iter().map(String::as_str).collect();
            let options = self.decoding.of_boxes();
            let found = dataset.quantiles(&variable.name, &picks, &dims, shares, &options)?;
            for (share, values) in shares.iter().zip(found.values) {
                let (name, method) = (called(&quantile_name(*share)), quantile_name(*share));
                results.push(Computed { name, values, integers: None, method, units: None });
            }
        }
        Ok((results, reduction))
    }

    /// The selectors that a variable has dimensions for; all of them, if it was named.
    pub(super) fn selectors_of(&self, variable: &Variable) -> Vec<Selector> {
        let is_of = |it: &&Selector| self.cube.cube.is_some() || variable.dims.iter().any(|dim| dim == it.dim());
        self.cube.selectors.iter().filter(is_of).cloned().collect()
    }
}
