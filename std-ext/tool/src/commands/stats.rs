//! `tgm stats`: extremes, mean, deviation, quantiles and distribution of values.

mod over;

use std::cmp::Ordering;
use std::convert::Infallible;
use std::io;
use std::mem;

use clap::Args;
use serde_json::{Value as Json, json};
use tgm_core::Message;
use tgm_core::descriptor::Descriptor;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_core::object::DataObject;
use tgm_grid::{Area, Places, RegularGrid};
use tgm_std::internal::Threads;
use tgm_std::internal::query::Number;
use tgm_std::{DecodeLimits, Spending, TensogramError};

use crate::args::cube::CubeFlags;
use crate::args::decoding::Decoding;
use crate::args::files::{Files, usage};
use crate::args::limits::SumLimits;
use crate::args::listing::Listed;
use crate::args::object_numbers::ObjectNumbers;
use crate::commands::Run;
use crate::commands::key_columns::{KeyColumns, Keys};
use crate::read::about::{NAME_KEYS, UNITS};
use crate::read::choice::MessageChoice;
use crate::read::digests::Digests;
use crate::read::elements::{Elements, json_of, parts};
use crate::read::entry::Entry;
use crate::read::in_order::{Means, Messages, Worked};
use crate::read::input::MessagePart;
use crate::read::places::{area, places};
use crate::read::select::{Scope, Selection, text};
use crate::read::statistics::{self, Blocks as _, Histogram, Moments, SKETCH_ERROR, Sketch, sparkline};
use crate::read::structure::Structure;
use crate::read::unpacked::Unpacked;
use crate::show::json::{self, Document, error_json};
use crate::show::output::Out;
use crate::show::summary::shape_text;
use crate::show::table::{Cell, Column, Table};
use crate::show::text::shorten;

/// Print statistics of the values of every object, and of all of them
///
/// NaN and infinities are counted, and left out of everything else. The deviation is that of a whole population, and
/// quantiles lie between neighbouring values on a straight line. All objects together have statistics if their units are the
/// same. Quantiles of all objects together are within 0.5 % of
/// a value. Of complex numbers, the real and the imaginary parts have a line each; bits of a bitmask are 0 and 1.
/// Each thread decodes one object at a time.
#[derive(Args, Debug)]
pub(crate) struct Stats {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    choice: MessageChoice,
    #[command(flatten)]
    only: ObjectNumbers,
    #[command(flatten)]
    selection: Selection,
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
    /// Weigh each row of a grid of latitudes by longitudes by the cosine of its latitude
    ///
    /// Rows run evenly from the first to the third number of `mars.area` (or `area`). Without these numbers, values that
    /// come from GRIB lie where its grid says, and rows of others run from 90 to -90 degrees.
    /// Mean and deviation are weighted; quantiles and counts are not.
    #[arg(long)]
    weigh_latitudes: bool,
    /// Statistics over these dimensions of a dataset, with a line for each place of the others: number, "number,grid"
    ///
    /// All files together are a dataset (`tgm cube` shows it). `grid` stands for the dimensions of latitudes and longitudes. NaN
    /// and places without an object are left out. Of all variables that have the dimensions, or of the one of --cube.
    #[arg(long, value_name = "DIM,...", value_delimiter = ',', conflicts_with_all = ["histogram", "weigh_latitudes", "objects"])]
    over: Vec<String>,
    #[command(flatten)]
    cube: CubeFlags,
    #[command(flatten)]
    digests: Digests,
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

/// The statistics of one object, or of one part of its complex numbers.
struct Line {
    /// Object, and which part of its numbers.
    object: usize,
    part: &'static str,
    name: Option<Json>,
    /// The values of the keys that the user asks for.
    keys: Vec<Option<Json>>,
    dtype: &'static str,
    shape: Vec<u64>,
    content: Content,
}

/// What is found of one object, or of one part of its complex numbers.
struct Found {
    line: Line,
    sketch: Sketch,
    /// The quantiles as floats.
    quantiles: Vec<f64>,
    /// Whether it is the first part of its object.
    is_first: bool,
    units: Option<Json>,
}

/// The lines of the selected objects of a message, each with the object's number. `None` if nothing is selected.
type Lines = Result<Option<Vec<(usize, Result<Found, TensogramError>)>>, TensogramError>;

/// What is known of values.
struct Content {
    moments: Moments,
    /// Least and greatest value. Exact for integers of 64 bits.
    range: Option<(Number, Number)>,
    quantiles: Vec<Number>,
    bars: Vec<u64>,
    histogram: Vec<u64>,
}

/// The units of the objects so far.
#[derive(Default)]
enum Units {
    #[default]
    OfNone,
    /// The same for all, or missing from all.
    Same(Option<Json>),
    Different,
}

impl Units {
    fn and(self, next: Option<Json>) -> Self {
        match self {
            Self::OfNone => Self::Same(next),
            Self::Same(units) if units == next => Self::Same(next),
            _ => Self::Different,
        }
    }
}

/// What all objects so far have in common.
#[derive(Default)]
struct Total {
    objects: usize,
    moments: Moments,
    /// Least and greatest value.
    range: Option<(Number, Number)>,
    sketch: Sketch,
    /// For each share that is asked for, the least and the greatest quantile of an object.
    bounds: Vec<(f64, f64)>,
    /// The units of the objects so far.
    units: Units,
}

impl Total {
    fn add_range(&mut self, range: Option<(Number, Number)>) {
        self.range = match (self.range, range) {
            (Some((least, most)), Some((low, high))) => Some((lesser(least, low), greater(most, high))),
            (found, range) => found.or(range),
        };
    }

    /// A quantile of all objects. The sketch is not exact; between the quantiles of the objects it lies for sure.
    fn quantile(&self, number: usize, share: f64) -> Option<f64> {
        let found = self.sketch.quantile(share)?;
        Some(self.bounds.get(number).map_or(found, |(least, greatest)| found.clamp(*least, greatest.max(*least))))
    }

    /// Adds an object, or a part of its complex numbers.
    fn add(&mut self, found: Found) -> Line {
        let Found { line, sketch, quantiles, is_first, units } = found;
        if is_first {
            self.objects += 1;
            self.units = mem::take(&mut self.units).and(units);
        }
        self.moments.join(&line.content.moments);
        self.sketch.join(&sketch);
        self.add_range(line.content.range);
        self.add_quantiles(&quantiles);
        line
    }

    fn add_quantiles(&mut self, quantiles: &[f64]) {
        for (number, found) in quantiles.iter().enumerate() {
            match self.bounds.get_mut(number) {
                Some((least, greatest)) => (*least, *greatest) = (least.min(*found), greatest.max(*found)),
                None => self.bounds.push((*found, *found)),
            }
        }
    }
}

/// A run over files.
struct Work<'s> {
    stats: &'s Stats,
    keys: &'s KeyColumns,
    total: Total,
}

impl Run for Stats {
    fn listed(&self) -> Listed<'_> {
        self.files.listed()
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        if !self.over.is_empty() {
            if self.choice.is_one() || !self.selection.is_empty() || !self.only.numbers().is_empty() {
                usage("--over is of all messages: -m, --at, -w and --object do not go with it");
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
        let look = |state: &mut (Spending, u32), entry: &Entry<'_>| self.lines(entry, &keys, state);
        let mut work = Work { stats: self, keys: &keys, total: Total::default() };
        let messages = Messages { paths: &self.files.paths, choice: self.choice, wanted: MessagePart::Whole, threads };
        if self.files.json() {
            let mut document = Document::begin(out, "tgm.stats/1", "messages")?;
            messages.for_each(out, state, look, |out, worked| {
                let Worked::Message(entry, lines) = worked else { return Ok(()) };
                work.message_json(out, entry, lines).map_or(Ok(()), |item| document.item(out, &item))
            })?;
            return document.end_with(out, "all", &work.total_json());
        }
        let mut table = self.table(work.keys);
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
    fn lines(&self, entry: &Entry<'_>, keys: &KeyColumns, (spending, threads): &mut (Spending, u32)) -> Lines {
        let Stats { selection, objects: each, only, .. } = self;
        let message = Message::parse(entry.bytes)?;
        let metadata = self.digests.metadata(&message)?;
        let structure = Structure::new(&message, entry);
        if !each && !selection.has(&metadata, structure)? {
            return Ok(None);
        }
        only.check(metadata.object_count())?;
        spending.begin_message(entry.length());
        let check = self.digests.of(&message)?;
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
                self.object((*index, object, about), scope, &metadata, keys)
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
    fn object(
        &self,
        (index, object, about): (usize, &DataObject<'_>, &ObjectMetadata<'_>),
        scope: Scope<'_, '_>,
        metadata: &MessageMetadata<'_>,
        keys: &KeyColumns,
    ) -> Result<Vec<Found>, TensogramError> {
        let options = self.decoding.options();
        let bytes = tgm_std::read(object).options(&options).bytes()?;
        let descriptor = object.descriptor();
        let unpacked = Unpacked::of(descriptor, about, bytes)?;
        let elements = unpacked.elements(descriptor.element_count());
        let name = scope.first(&NAME_KEYS)?;
        let keys = keys.values(&scope)?;
        let weights = if self.weigh_latitudes {
            Some(Weights::of((metadata, index), descriptor, scope, &options.limits)?)
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
            Found { line, sketch, quantiles, is_first: part == 0, units: units.clone() }
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
        let mut sketch = Sketch::over(moments.range().filter(|_| !self.quantiles.is_empty()));
        values.for_each_block(&mut |block| {
            sketch.add(block);
            bars.add(block);
            counted.add(block);
        });
        let quantiles = statistics::quantiles(&values, &sketch, &self.quantiles);
        let exact = exact_quantiles(elements, &self.quantiles);
        let numbers = exact.unwrap_or_else(|| quantiles.iter().copied().map(Number::Float).collect());
        let (bars, histogram) = (bars.counts(), counted.counts());
        (Content { moments, range, quantiles: numbers, bars, histogram }, sketch, quantiles)
    }
}

impl Work<'_> {
    fn message_rows(&mut self, out: &mut Out, entry: &Entry<'_>, lines: Lines, table: &mut Table) -> io::Result<()> {
        let many = self.stats.files.paths.len() > 1;
        let place = many.then(|| Cell::from(entry.file)).into_iter().chain([Cell::from(entry.index)]);
        let place: Vec<_> = place.collect();
        let Ok(Some(lines)) = lines.inspect_err(|error| out.report(&entry.place(), error)) else {
            return Ok(());
        };
        for (object, found) in lines {
            match found {
                Ok(found) => {
                    let line = self.total.add(found);
                    table.row(out, [place.clone(), self.cells(&line)].concat())?;
                    if self.stats.histogram.is_some() {
                        table.pause(out)?;
                        line.content.print_histogram(out)?;
                    }
                }
                Err(error) => {
                    out.report(&entry.object_place(object), &error);
                    let mut cells = place.clone();
                    cells.extend([object.into(), Cell::unreadable()]);
                    table.row(out, cells)?;
                }
            }
        }
        Ok(())
    }

    fn message_json(&mut self, out: &mut Out, entry: &Entry<'_>, lines: Lines) -> Option<Json> {
        let lines = lines.inspect_err(|error| out.report(&entry.place(), error)).transpose()?;
        let error = lines.as_ref().err().map(error_json);
        let objects = lines.ok().map(|lines| {
            let lines = lines.into_iter().map(|(object, found)| match found {
                Ok(found) => {
                    let line = self.total.add(found);
                    self.line_json(&line)
                }
                Err(error) => {
                    out.report(&entry.object_place(object), &error);
                    json!({"object": object, "error": error_json(&error)})
                }
            });
            lines.collect::<Json>()
        });
        Some(json::object([
            ("file", Some(entry.file.into())),
            ("message", Some(entry.index.into())),
            ("offset", Some(entry.offset.into())),
            ("objects", objects),
            ("error", error),
        ]))
    }

    fn cells(&self, line: &Line) -> Vec<Cell> {
        let dtype = [line.dtype, line.part].join(" ");
        let mut cells = vec![
            Cell::from(line.object),
            line.name.as_ref().map_or("".into(), |name| shorten(&text(name), 20).into()),
            dtype.trim().into(),
            shape_text(&line.shape).into(),
        ];
        let Content { moments, range, quantiles, bars, .. } = &line.content;
        cells.extend(moment_cells(moments, *range));
        let quantile = |at| quantiles.get(at).map_or("".into(), |number| number_text(*number).into());
        cells.extend((0..self.stats.quantiles.len()).map(quantile));
        cells.push(if moments.count > 0 { sparkline(bars).into() } else { "".into() });
        cells.extend(self.keys.cells(&line.keys).into_iter().flatten());
        cells
    }

    fn total_cells(&self) -> Vec<Cell> {
        let mut cells = vec![Cell::from("all")];
        cells.extend((self.stats.files.paths.len() > 1).then(|| Cell::from("")));
        cells.extend(["", "", "", ""].map(Cell::from));
        let Total { moments, range, .. } = &self.total;
        cells.extend(moment_cells(moments, *range));
        let quantiles = self.stats.quantiles.iter().enumerate();
        cells.extend(quantiles.map(|(number, q)| {
            self.total.quantile(number, *q).map_or("".into(), |value| format!("≈{value:.4}").into())
        }));
        cells
    }

    fn line_json(&self, line: &Line) -> Json {
        let Content { moments, range, quantiles, histogram, .. } = &line.content;
        let named = self.stats.quantiles.iter().zip(quantiles);
        let quantiles: Json = named.map(|(share, value)| json!({"share": share, "value": json_of(*value)})).collect();
        let about = [
            ("object", Some(line.object.into())),
            ("part", (!line.part.is_empty()).then(|| line.part.into())),
            ("name", line.name.clone()),
            ("dtype", Some(line.dtype.into())),
            ("shape", Some(json!(line.shape))),
        ];
        let rest = [
            ("quantiles", Some(quantiles)),
            ("histogram", self.stats.histogram.map(|_| json!(histogram))),
            ("values", self.keys.json(&line.keys)),
        ];
        json::object(about.into_iter().chain(moments_json(moments, *range)).chain(rest))
    }

    fn total_json(&self) -> Json {
        let Total { objects, moments, range, .. } = &self.total;
        if matches!(self.total.units, Units::Different) {
            return json!({"objects": objects, "units": "not the same"});
        }
        let shares = self.stats.quantiles.iter().enumerate();
        let quantiles: Json = shares
            .filter_map(|(number, q)| self.total.quantile(number, *q).map(|value| json!({"share": q, "value": value})))
            .collect();
        let about = [("objects", Some((*objects).into()))];
        let rest = [("quantiles", Some(quantiles)), ("quantile_error", Some(SKETCH_ERROR.into()))];
        json::object(about.into_iter().chain(moments_json(moments, *range)).chain(rest))
    }
}

impl Content {
    fn print_histogram(&self, out: &mut Out) -> io::Result<()> {
        use std::io::Write as _;
        const WIDTH: u64 = 40;
        let Some((low, high)) = self.moments.range() else { return Ok(()) };
        let most = self.histogram.iter().copied().max().unwrap_or(0).max(1);
        let bins = self.histogram.len();
        for (bin, &count) in self.histogram.iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "at most 10000 bins")]
            let from = low + (high / bins as f64 - low / bins as f64) * bin as f64;
            // A bar is no longer than the width.
            let bar = usize::try_from(u128::from(count) * u128::from(WIDTH) / u128::from(most)).unwrap_or(0);
            writeln!(out, "  from {:>14} {count:>12} {}", float_text(from), "█".repeat(bar))?;
        }
        Ok(())
    }
}

/// Least and greatest value. Integers of 64 bits, which floats round, are compared as they are.
fn exact_range(elements: &Elements<'_>, moments: &Moments) -> Option<(Number, Number)> {
    if elements.integer(0).is_none() {
        return moments.range().map(|(min, max)| (Number::Float(min), Number::Float(max)));
    }
    let integers = (0..).map_while(|index| elements.integer(index));
    let range = integers.fold(None, |range: Option<(i128, i128)>, value| {
        Some(range.map_or((value, value), |(min, max)| (min.min(value), max.max(value))))
    });
    range.map(|(min, max)| (Number::Integer(min), Number::Integer(max)))
}

/// The quantiles of integers of 64 bits, if one of them is rounded as a float. Between two integers a quantile is a float.
fn exact_quantiles(elements: &Elements<'_>, shares: &[f64]) -> Option<Vec<Number>> {
    const EXACT: i128 = 1 << 53;
    elements.integer(0)?;
    let mut integers: Vec<i128> = (0..).map_while(|index| elements.integer(index)).collect();
    let is_rounded = integers.iter().any(|integer| !(-EXACT..=EXACT).contains(integer));
    if !is_rounded {
        return None;
    }
    let last = integers.len().checked_sub(1)?;
    integers.sort_unstable();
    let found = shares.iter().filter_map(|share| {
        let (below, part) = statistics::split(last as u64, *share);
        let below = usize::try_from(below).ok()?;
        let (low, high) = (*integers.get(below)?, *integers.get(below + 1).unwrap_or(integers.get(below)?));
        #[expect(clippy::cast_precision_loss, reason = "it lies between two integers")]
        let between = || low as f64 + (high - low) as f64 * part;
        Some(if part > 0.0 && low != high { Number::Float(between()) } else { Number::Integer(low) })
    });
    Some(found.collect())
}

fn lesser(one: Number, other: Number) -> Number {
    if other.order(one).is_some_and(Ordering::is_lt) { other } else { one }
}

fn greater(one: Number, other: Number) -> Number {
    if other.order(one).is_some_and(Ordering::is_gt) { other } else { one }
}

fn moment_cells(moments: &Moments, range: Option<(Number, Number)>) -> Vec<Cell> {
    let (min, max) = range.map(|(min, max)| (number_text(min), number_text(max))).unwrap_or_default();
    let some = |count: u64| if count > 0 { Cell::from(count) } else { "".into() };
    vec![
        moments.count.into(),
        some(moments.nan),
        some(moments.pos_inf + moments.neg_inf),
        min.into(),
        float_cell(moments.mean()),
        max.into(),
        float_cell(moments.deviation()),
    ]
}

fn moments_json(moments: &Moments, range: Option<(Number, Number)>) -> [(&'static str, Option<Json>); 8] {
    let (min, max) = range.map(|(min, max)| (json_of(min), json_of(max))).unwrap_or_default();
    [
        ("count", Some(moments.count.into())),
        ("nan", Some(moments.nan.into())),
        ("pos_inf", Some(moments.pos_inf.into())),
        ("neg_inf", Some(moments.neg_inf.into())),
        ("min", min),
        ("max", max),
        ("mean", moments.mean().map(Json::from)),
        ("sd", moments.deviation().map(Json::from)),
    ]
}

fn quantile_name(share: f64) -> String {
    if share.to_bits() == 0.5_f64.to_bits() { "median".to_string() } else { format!("q{share}") }
}

fn float_cell(value: Option<f64>) -> Cell {
    value.map_or("".into(), |value| float_text(value).into())
}

/// Integers with all digits, floats with seven.
fn number_text(number: Number) -> String {
    match number {
        Number::Integer(integer) => integer.to_string(),
        Number::Float(float) => float_text(float),
    }
}

/// A number with seven significant digits, which float32 has.
fn float_text(value: f64) -> String {
    let magnitude = value.abs();
    if value != 0.0 && !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.6e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from -4 to 7")]
    let decimals = if magnitude > 0.0 { (6.0 - magnitude.log10().floor()).max(0.0) as usize } else { 0 };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// The weights of a grid's values: the cosine of the latitude of their row.
struct Weights {
    of_rows: Vec<f64>,
    columns: usize,
}

impl Weights {
    /// The weights of an object whose values are in memory, so its rows are no more than these.
    fn of(
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
        let found = places(metadata, index, &shape, area(scope)?, limits)?;
        let found = found.or_else(|| RegularGrid::new(&shape, Area::GLOBE).map(Places::Regular)).ok_or_else(short)?;
        let (latitudes, columns) = found.latitudes();
        // The cosine at a pole is 6e-17, not 0.
        let of_rows: Vec<f64> = latitudes.iter().map(|latitude| latitude.to_radians().cos().max(0.0)).collect();
        let of_grid = (of_rows.len() as u64).checked_mul(columns);
        if !of_grid.is_some_and(|points| points > 0 && descriptor.element_count().is_multiple_of(points)) {
            let text = format!("{} rows of {columns} places are not the grid of {shape:?}", of_rows.len());
            return Err(TensogramError::Metadata(text.into()));
        }
        Ok(Self { of_rows, columns: usize::try_from(columns).map_err(|_| short())? })
    }

    fn of_element(&self, index: usize) -> f64 {
        // An object without elements has no rows, and is asked for no weight. Any other has a row for each element.
        let row = (index / self.columns.max(1)) % self.of_rows.len().max(1);
        self.of_rows.get(row).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::float_text;

    #[test]
    fn numbers_have_seven_digits() {
        let texts = [(0.0, "0"), (1.5, "1.5"), (-273.15, "-273.15"), (1.0 / 3.0, "0.3333333"), (1e-9, "1.000000e-9")];
        for (value, text) in texts {
            assert_eq!(float_text(value), text);
        }
        assert_eq!((float_text(123_456.789), float_text(2e8)), ("123456.8".to_string(), "2.000000e8".to_string()));
    }
}
