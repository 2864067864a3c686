//! The lines of messages as rows of the table and as JSON, and the line of all objects.

use std::io;

use serde_json::{Value as Json, json};
use tgm_std::TensogramError;
use tgm_std::metadata::query::compare::Number;

use super::Stats;
use super::found::{Content, Found, Line, Total, Units};
use super::numbers::{float_cell, float_text, number_text};
use crate::commands::key_columns::KeyColumns;
use crate::read::elements::json_of;
use crate::read::entry::Entry;
use crate::read::quantiles::SKETCH_ERROR;
use crate::read::select::text;
use crate::read::statistics::{Moments, sparkline};
use crate::show::json::{self, error_json};
use crate::show::output::Out;
use crate::show::summary::shape_text;
use crate::show::table::{Cell, Table};
use crate::show::text::shorten;

/// A run over files.
pub(super) struct Work<'s> {
    pub(super) stats: &'s Stats,
    pub(super) total: Total,
}

/// The lines of the selected objects of a message, as they are printed, each with the object's number. `None` if nothing is
/// selected.
pub(super) type Lines<T> = Result<Option<Vec<(usize, Result<Found<T>, TensogramError>)>>, TensogramError>;

impl Work<'_> {
    pub(super) fn message_rows(
        &mut self,
        out: &mut Out,
        entry: &Entry<'_>,
        lines: Lines<Vec<Cell>>,
        table: &mut Table,
    ) -> io::Result<()> {
        let many = self.stats.files.paths.len() > 1;
        let place = many.then(|| Cell::from(entry.file)).into_iter().chain([Cell::from(entry.index)]);
        let place: Vec<_> = place.collect();
        let Ok(Some(lines)) = lines.inspect_err(|error| out.report(&entry.place(), error)) else {
            return Ok(());
        };
        for (object, found) in lines {
            match found {
                Ok(found) => {
                    let (line, cells) = self.total.add(found);
                    table.row(out, place.iter().cloned().chain(cells).collect())?;
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

    pub(super) fn message_json(&mut self, out: &mut Out, entry: &Entry<'_>, lines: Lines<Json>) -> Option<Json> {
        let lines = lines.inspect_err(|error| out.report(&entry.place(), error)).transpose()?;
        let error = lines.as_ref().err().map(error_json);
        let objects = lines.ok().map(|lines| {
            let lines = lines.into_iter().map(|(object, found)| match found {
                Ok(found) => self.total.add(found).1,
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

    pub(super) fn total_cells(&self) -> Vec<Cell> {
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

    pub(super) fn total_json(&self) -> Json {
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

impl Stats {
    /// A line as cells.
    pub(super) fn cells(&self, line: &Line, keys: &KeyColumns) -> Vec<Cell> {
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
        cells.extend((0..self.quantiles.len()).map(quantile));
        cells.push(if moments.count > 0 { sparkline(bars).into() } else { "".into() });
        cells.extend(keys.cells(&line.keys).into_iter().flatten());
        cells
    }

    /// A line as JSON.
    pub(super) fn line_json(&self, line: &Line, keys: &KeyColumns) -> Json {
        let Content { moments, range, quantiles, histogram, .. } = &line.content;
        let named = self.quantiles.iter().zip(quantiles);
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
            ("histogram", self.histogram.map(|_| json!(histogram))),
            ("values", keys.json(&line.keys)),
        ];
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

/// The title of a quantile's column.
pub(super) fn quantile_name(share: f64) -> String {
    if share.to_bits() == 0.5_f64.to_bits() { "median".to_string() } else { format!("q{share}") }
}
