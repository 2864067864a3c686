//! `tgm stats`: extremes, mean, deviation, quantiles and distribution of values.

mod exact;
mod fields;
mod found;
mod numbers;
mod over;
mod report;
mod weights;

use std::convert::Infallible;
use std::io;

use clap::Args;
use tgm_core::Message;
use tgm_core::metadata::{MessageMetadata, NAME_KEYS, ObjectMetadata};
use tgm_core::object::DataObject;
use tgm_dataset::Statistic;
use tgm_std::codec::threads::Threads;
use tgm_std::metadata::query::compare::Number;
use tgm_std::{Spending, TensogramError};

use self::exact::{exact_quantiles, exact_range};
use self::fields::{FieldFile, Wanted};
use self::found::{Content, Found, Line, Total, Units};
use self::report::{Lines, Work, quantile_name};
use self::weights::Weights;
use crate::args::cube::CubeFlags;
use crate::args::decoding::Decoding;
use crate::args::files::{Files, usage};
use crate::args::limits::SumLimits;
use crate::args::listing::Listed;
use crate::args::object_numbers::ObjectNumbers;
use crate::commands::key_columns::{KeyColumns, Keys};
use crate::commands::{Run, examples};
use crate::read::about::UNITS;
use crate::read::candidates::Level;
use crate::read::chosen::Chosen;
use crate::read::elements::{Elements, parts};
use crate::read::entry::Entry;
use crate::read::in_order::{Means, Messages, Worked};
use crate::read::input::MessagePart;
use crate::read::quantiles::{self, Counting, Sketch};
use crate::read::select::Scope;
use crate::read::statistics::{Blocks as _, Histogram, Moments};
use crate::read::structure::Structure;
use crate::read::unpacked::Unpacked;
use crate::show::json::Document;
use crate::show::output::Out;
use crate::show::table::{Column, Table};

/// Print statistics of the values of every object, and of all of them
///
/// NaN and infinities are counted, and left out of everything else. The deviation is that of a whole population, and
/// quantiles lie between neighbouring values on a straight line. All objects together have statistics if their units are the
/// same. Quantiles of all objects together are within 0.5 % of
/// a value. The real and the imaginary parts of complex numbers have a line each; bits of a bitmask are 0 and 1.
/// Each thread decodes one object at a time.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm stats --quantiles 0.05,0.5,0.95 field.tgm", "extremes, mean and quantiles"),
    ("tgm stats --object 0 --histogram 5 field.tgm", "how the values of one object are spread"),
    ("tgm stats --over grid steps.tgm", "a line for each field of a dataset"),
]))]
pub(crate) struct Stats {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    only: ObjectNumbers,
    /// Apply -w to each object by itself
    #[arg(long)]
    objects: bool,
    #[command(flatten)]
    keys: Keys,
    /// Shares of the values that lie below what is printed, from 0 to 1
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',', default_value = "0.5", value_parser = share)]
    quantiles: Vec<f64>,
    /// Print how many values lie in each of N equal parts between the least and the greatest
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10", value_parser = bins)]
    histogram: Option<usize>,
    /// Weigh each value by the area that it stands for: the band between two rows of latitude, which the values of a row share
    ///
    /// Points that are not in rows weigh as the cosine of their latitude.
    /// Rows run evenly from the first to the third number of `mars.area` (or `area`). Without these numbers, values that
    /// come from GRIB lie where its grid says, and rows of others run from 90 to -90 degrees.
    /// Mean and deviation are weighted; quantiles and counts are not.
    #[arg(long)]
    weigh_latitudes: bool,
    /// Statistics over these dimensions of a dataset, with a line for each place of the others: number, "number,grid"
    ///
    /// All files together are a dataset (`tgm cube` shows it). `grid` stands for the dimensions of latitudes and longitudes. NaN
    /// and places without an object are left out. All variables that have the dimensions are reduced, or the one of --cube.
    /// With --weigh-latitudes values count by area, if latitudes are among the dimensions.
    /// With -O NAME.tgm, .nc, .zarr or .npy the file has the fields that --statistic names.
    #[arg(long, value_name = "DIM,...", value_delimiter = ',', conflicts_with_all = ["histogram", "objects"])]
    over: Vec<String>,
    /// What fields of --over are written to -O: mean, std, min, max, sum, count, or quantiles, which --quantiles names [default: mean]
    #[arg(
        long = "statistic",
        value_name = "NAME,...",
        value_delimiter = ',',
        default_value = "mean",
        hide_default_value = true,
        requires = "over"
    )]
    statistics: Vec<Wanted>,
    #[command(flatten)]
    cube: CubeFlags,
    #[command(flatten)]
    decoding: Decoding,
    #[command(flatten)]
    limits: SumLimits,
}

/// Bars of a distribution in the table.
const BARS: usize = 16;

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_string())
}

fn bins(text: &str) -> Result<usize, String> {
    let bins = text.parse().ok().filter(|bins| (1..=10_000).contains(bins));
    bins.ok_or_else(|| "expected a number from 1 to 10000".to_string())
}

impl Run for Stats {
    fn listed(&self) -> Listed<'_> {
        let listed = self.files.listed();
        match self.field_file(&listed) {
            // The file is not the text of a listing.
            Some(_) => Listed { output: None, ..listed },
            None => listed,
        }
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        if !self.over.is_empty() {
            if self.chosen.choice.is_one() || !self.chosen.selection.is_empty() || !self.only.numbers().is_empty() {
                usage("--over is of all messages: -m, --at, -w and --object do not go with it");
            }
            let listed = self.files.listed();
            if let (Some(output), Some(file)) = (listed.output, self.field_file(&listed)) {
                self.write_fields(output, file, &self.over, out);
                return Ok(());
            }
            if self.statistics != [Wanted::Statistic(Statistic::Mean)] {
                usage("--statistic says which fields are written: -O NAME.tgm, .nc, .zarr or .npy says where");
            }
            return self.print_over(&self.over, out);
        }
        if self.cube.cube.is_some() || !self.cube.selectors.is_empty() {
            usage("--cube and --sel go with --over DIM, which names dimensions of a dataset");
        }
        let keys = self.keys.columns(self.table(&KeyColumns::default()).titles(), &self.files.listing);
        let budget = self.limits.budget();
        let threads = self.decoding.threads(&budget);
        let state = |means: Means| (budget.of_file(means.length), means.threads);
        let mut work = Work { stats: self, total: Total::default() };
        let level = if self.objects { Level::Objects } else { Level::Messages };
        let asked = self.chosen.asked_of(level);
        let messages = Messages { paths: &self.files.paths, asked, wanted: MessagePart::Whole, threads };
        if self.files.json() {
            let mut document = Document::begin(out, "tgm.stats/1", "messages")?;
            let show = |line: &Line| self.line_json(line, &keys);
            let look = |state: &mut (Spending, u32), entry: &Entry<'_>| self.lines(entry, &keys, &show, state);
            messages.for_each(out, state, look, |out, worked| {
                let Worked::Message(entry, lines) = worked else { return Ok(()) };
                work.message_json(out, entry, lines).map_or(Ok(()), |item| document.item(out, &item))
            })?;
            return document.end_with(out, "all", &work.total_json());
        }
        let mut table = self.table(&keys);
        let show = |line: &Line| self.cells(line, &keys);
        let look = |state: &mut (Spending, u32), entry: &Entry<'_>| self.lines(entry, &keys, &show, state);
        messages.for_each(out, state, look, |out, worked| match worked {
            Worked::Message(entry, lines) => work.message_rows(out, entry, lines, &mut table),
            Worked::Pause => table.pause(out),
        })?;
        if work.total.objects > 1 && !matches!(work.total.units, Units::Different) {
            return table.footer(out, work.total_cells());
        }
        table.finish(out)
    }
}

impl Stats {
    /// What the file of `-O` has, if it has fields of `--over`.
    fn field_file(&self, listed: &Listed<'_>) -> Option<FieldFile> {
        listed.output.filter(|_| !self.over.is_empty()).and_then(FieldFile::of)
    }

    fn table(&self, keys: &KeyColumns) -> Table {
        let place = (self.files.paths.len() > 1).then_some(Column::left("file"));
        let before = place.into_iter().chain([Column::right("message"), Column::right("object")]);
        let about = [Column::left("name").optional(), Column::left("dtype"), Column::left("shape")];
        let counts = [
            Column::right("values"),
            Column::right("nan").optional(),
            Column::right("inf").optional(),
            Column::right("min"),
            Column::right("mean"),
            Column::right("max"),
            Column::right("sd"),
        ];
        let titles: Vec<_> = self.quantiles.iter().map(|q| quantile_name(*q)).collect();
        let table = Table::new(before.chain(about).chain(counts));
        let table = table.with_titles(&titles).with_titles(&["distribution".to_string()]);
        keys.hidden_in(keys.shown_in(table))
    }
}

impl Stats {
    /// The lines of a message. `show` makes a line what is printed.
    fn lines<T: Send>(
        &self,
        entry: &Entry<'_>,
        keys: &KeyColumns,
        show: &(impl Fn(&Line) -> T + Sync),
        (spending, threads): &mut (Spending, u32),
    ) -> Lines<T> {
        let Stats { chosen: Chosen { selection, .. }, objects: each, only, .. } = self;
        let message = Message::parse(entry.bytes)?;
        let metadata = self.chosen.digests.metadata(&message)?;
        let structure = Structure::new(&message, entry);
        if !each && !selection.has(&metadata, structure)? {
            return Ok(None);
        }
        only.check(metadata.object_count())?;
        spending.begin_message(entry.length());
        let check = self.chosen.digests.of(&message)?;
        let among = selection.of_objects(&metadata)?;
        let asked = keys.annotations(&metadata)?;
        let mut chosen = Vec::new();
        for ((index, object), about) in message.objects().enumerate().zip(metadata.objects()) {
            let about = about?;
            let structure = structure.of_object(index, object.as_ref().ok());
            if !only.has(index) || (*each && !among.has(&about, structure)?) {
                continue;
            }
            let object = object.map_err(TensogramError::from).and_then(|object| {
                spending.spend(&object, &self.decoding.options().limits)?;
                Ok(object)
            });
            chosen.push((index, object, about));
        }
        let threads = Threads::resolve(*threads, entry.length(), None)?;
        let Ok(found) = threads.map(&chosen, |(index, object, about)| {
            let found = object.as_ref().ok().map(|object| {
                check.check(*index, object.frame())?;
                let scope = Scope::Object(about, &asked, structure.of_object(*index, Some(object)));
                self.object((*index, object, about), scope, &metadata, (keys, show))
            });
            Ok::<_, Infallible>(found)
        });
        let mut lines = Vec::new();
        for ((index, object, _), found) in chosen.into_iter().zip(found) {
            match object.and_then(|_| found.unwrap_or_else(|| Ok(Vec::new()))) {
                Ok(found) => lines.extend(found.into_iter().map(|line| (index, Ok(line)))),
                Err(error) => lines.push((index, Err(error))),
            }
        }
        Ok(Some(lines))
    }

    /// The lines of one object.
    fn object<T>(
        &self,
        (index, object, about): (usize, &DataObject<'_>, &ObjectMetadata<'_>),
        scope: Scope<'_, '_>,
        metadata: &MessageMetadata<'_>,
        (columns, show): (&KeyColumns, impl Fn(&Line) -> T),
    ) -> Result<Vec<Found<T>>, TensogramError> {
        let options = self.decoding.options();
        let bytes = tgm_std::read(object).options(&options).bytes()?;
        let descriptor = object.descriptor();
        let unpacked = Unpacked::amounts(descriptor, about, bytes)?;
        let elements = unpacked.elements(descriptor.element_count());
        let name = scope.first(&NAME_KEYS)?;
        let keys = columns.values(&scope)?;
        let weights = if self.weigh_latitudes {
            Some(Weights::of(
                (metadata, index),
                descriptor,
                scope,
                (&options.limits, self.cube.open.known()?.as_deref()),
            )?)
        } else {
            None
        };
        let shape: Vec<u64> = descriptor.shape().iter().collect();
        let units = scope.first(&UNITS)?;
        let names: &[&str] = if parts(elements.dtype) == 2 { &["re", "im"] } else { &[""] };
        let found = names.iter().enumerate().map(|(part, name_of_part)| {
            let (content, sketch, quantiles) = self.content(&elements, part, weights.as_ref());
            let line = Line {
                object: index,
                part: name_of_part,
                name: name.clone(),
                keys: keys.clone(),
                dtype: unpacked.dtype.name(),
                shape: shape.clone(),
                content,
            };
            let shown = show(&line);
            Found { line, shown, sketch, quantiles, is_first: part == 0, units: units.clone() }
        });
        Ok(found.collect())
    }

    fn content(&self, elements: &Elements<'_>, part: usize, weights: Option<&Weights>) -> (Content, Sketch, Vec<f64>) {
        let values = elements.part(part);
        let moments = match weights {
            Some(weights) => Moments::weighted(&values, |index| weights.of_element(index)),
            None => Moments::of(&values),
        };
        let range = exact_range(elements, &moments);
        // Without finite values nothing is counted, whatever the bounds are.
        let bounds = moments.range().unwrap_or((0.0, 0.0));
        // What nobody sees is not counted.
        let bars = if self.files.json() { 0 } else { BARS };
        let mut bars = Histogram::over(bounds, bars);
        let mut counted = Histogram::over(bounds, self.histogram.unwrap_or(0));
        let mut counting = Counting::over(moments.range().filter(|_| !self.quantiles.is_empty()), moments.count);
        values.for_each_block(&mut |block| {
            counting.add(block);
            bars.add(block);
            counted.add(block);
        });
        let sketch = counting.sketch();
        let quantiles = quantiles::quantiles(&values, &sketch, &self.quantiles);
        let exact = exact_quantiles(elements, &self.quantiles);
        let numbers = exact.unwrap_or_else(|| quantiles.iter().copied().map(Number::Float).collect());
        let (bars, histogram) = (bars.counts(), counted.counts());
        (Content { moments, range, quantiles: numbers, bars, histogram }, sketch, quantiles)
    }
}
