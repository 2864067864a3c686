//! `tgm cat`: the values of one object as text.

mod series;

use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use tgm_convert::csv::{Numbers, text_of};
use tgm_core::Message;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::selection::Pick;
use tgm_grid::{Area, Places, RegularGrid};
use tgm_std::TensogramError;
use tgm_std::decode::Picks;
use tgm_std::decode::selection;

use crate::args::cube::{CubeFlags, Point};
use crate::args::decoding::Decoding;
use crate::args::files::usage;
use crate::args::listing::{Listed, ending};
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::cubes::Cells;
use crate::read::elements::{Elements, parts};
use crate::read::entry::Entry;
use crate::read::messages::for_one_object;
use crate::read::objects::{find, no_object};
use crate::read::places::{no_places, places};
use crate::read::select::{Annotations, Scope};
use crate::read::structure::Structure;
use crate::read::unpacked::Unpacked;
use crate::show::form::{Form, Notation};
use crate::show::output::Out;
use crate::write::destination::Destination;

/// Print the values of one object as text, or a series over many messages
///
/// The last dimension fills a line, and a blank line separates planes. With --csv each value has a line of its own, with
/// its indices, and with latitude and longitude if the grid is known. Without -m, --at and -w, the object is one of
/// message 0; with -w, the first that is selected in any message. Numbers are printed with the digits that tell them apart from their neighbours.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm cat --slice '0, :5' field.tgm", "the first values"),
    ("tgm cat --nearest 51.5,-0.1 --area 90/0/-90/359 field.tgm", "the value at a place"),
    ("tgm cat --nearest 51.5,-0.1 --over step,number steps.tgm", "and over all steps and members"),
]))]
pub(crate) struct Cat {
    /// File or address to read; "-" is standard input. With --over, several: together they are a dataset
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    chosen: Chosen,
    /// Number of the object in the message, from 0 [default: the first that -w selects, or 0]
    #[arg(long, value_name = "N")]
    object: Option<usize>,
    /// Only these indices of each dimension, as in Python: "0, 10:20, 1:9:4, -1, .."
    #[arg(long, value_name = "PICKS", allow_hyphen_values = true)]
    slice: Option<Picks>,
    /// Only the value nearest to this point of a grid, in degrees
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true, conflicts_with = "slice")]
    nearest: Option<Point>,
    /// Print a line for each label of these dimensions of a dataset: step, "time,step" and others that `tgm cube` lists
    ///
    /// All files together are a dataset. The values of all variables that have the dimensions, or of the one of --cube, are columns.
    /// What --sel and --nearest leave must have one label of every other dimension. Only these values are read, so digests are
    /// not checked.
    #[arg(long, value_name = "DIM,...", value_delimiter = ',')]
    over: Vec<String>,
    #[command(flatten)]
    cube: CubeFlags,
    /// Bounds of a regular grid, in place of the grid that metadata say (GRIB, `mars.area` or `area`): 90/0/-90/359, say
    #[arg(long, value_name = "NORTH/WEST/SOUTH/EAST", allow_hyphen_values = true)]
    area: Option<Area>,
    /// One line for each value: indices, latitude and longitude if they are known, value
    #[arg(long)]
    csv: bool,
    /// How numbers are printed, as in C: "%.3f", "%.6e" or "%g"
    #[arg(long, value_name = "FORMAT")]
    format: Option<NumberFormat>,
    /// Write the text to this file, which appears when it is complete [short: -o too]
    #[arg(short = 'O', short_alias = 'o', long, value_name = "LISTING")]
    output: Option<Destination>,
    #[command(flatten)]
    decoding: Decoding,
}

/// How a number is printed.
#[derive(Clone, Copy, Debug)]
enum NumberFormat {
    /// With this number of decimals.
    Fixed(usize),
    /// With this number of decimals and an exponent.
    Exponent(usize),
    /// As short as it is exact.
    Shortest,
}

impl FromStr for NumberFormat {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected %g, or %f or %e with a number of decimals: %.3f";
        let inner = text.strip_prefix('%').ok_or(EXPECTED)?;
        let last = inner.char_indices().next_back().map_or(0, |(at, _)| at);
        let (decimals, kind) = inner.split_at_checked(last).ok_or(EXPECTED)?;
        let decimals = match decimals {
            "" => 6,
            more => {
                more.strip_prefix('.').and_then(|digits| digits.parse().ok()).filter(|&n| n <= 100).ok_or(EXPECTED)?
            }
        };
        match kind {
            "f" => Ok(Self::Fixed(decimals)),
            "e" => Ok(Self::Exponent(decimals)),
            "g" if inner == "g" => Ok(Self::Shortest),
            _ => Err(EXPECTED),
        }
    }
}

/// Decoded values that are to be printed.
struct Values<'f> {
    unpacked: Unpacked<'f>,
    /// For each dimension of the object, the indices that were picked; one of a dimension that was dropped.
    axes: Vec<Vec<u64>>,
    /// The dimensions of what is printed.
    shape: Vec<u64>,
    grid: Option<Places>,
}

impl Run for Cat {
    fn listed(&self) -> Listed<'_> {
        // Values of an object are written as they are, not as a table.
        let is_table = !self.over.is_empty() && self.is_csv();
        let notation = if is_table { Notation::Csv } else { Notation::default() };
        Listed { output: self.output.as_ref(), reads: &self.paths, form: Form { notation, ..Form::default() } }
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        if !self.over.is_empty() {
            let is_of_object =
                self.chosen.choice.is_one() || !self.chosen.selection.is_empty() || self.object.is_some();
            if is_of_object || self.slice.is_some() || self.area.is_some() {
                usage("--over is of all messages: -m, --at, -w, --object, --slice and --area do not go with it");
            }
            return self.print_series(&self.over, out);
        }
        if self.cube.cube.is_some() || !self.cube.selectors.is_empty() {
            usage("--cube and --sel go with --over DIM, which prints a line for each label of a dimension");
        }
        let [path] = self.paths.as_slice() else {
            usage("one file is read, unless --over DIM makes a dataset of several")
        };
        let one = (&self.chosen, self.cube.open.catalog());
        for_one_object(path, one, self.object, out, |out, entry, number| match self.decode(entry, number) {
            Ok(values) if self.is_csv() || self.nearest.is_some() => self.print_csv(&values, out),
            Ok(values) => self.print_lines(&values, out),
            Err(error) => {
                out.report(&entry.object_place(number), &error);
                Ok(())
            }
        })
    }
}

impl Cat {
    /// Whether each value has a line of its own: that is asked for, or the name of the file ends so.
    fn is_csv(&self) -> bool {
        self.csv || self.output.as_ref().and_then(ending).is_some_and(|ending| ending == "csv")
    }

    fn decode<'f>(&self, entry: &Entry<'f>, number: usize) -> Result<Values<'f>, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let metadata = self.chosen.digests.metadata(&message)?;
        let object = find(&message, number)?;
        let about = metadata.object(number)?.ok_or_else(|| no_object(metadata.object_count()))?;
        self.chosen.digests.of(&message)?.check(number, object.frame())?;
        let shape: Vec<u64> = object.descriptor().shape().iter().collect();
        let none = Annotations::new();
        let structure = Structure::new(&message, entry).of_object(number, Some(&object));
        let scope = Scope::Object(&about, &none, structure);
        // Other forms of output name no places, and places cost time.
        let is_placed = self.is_csv() || self.nearest.is_some();
        let limits = self.decoding.options().limits;
        let grid = match self.area {
            _ if !is_placed => None,
            Some(area) => RegularGrid::new(&shape, area).map(Places::Regular),
            None => places((&metadata, number), scope, &shape, (&limits, self.cube.open.known()?.as_deref()))?,
        };
        if self.nearest.is_some()
            && grid.is_none()
            && let Some(why) = no_places(&metadata, number)?
        {
            return Err(TensogramError::Metadata(why.into()));
        }
        let picks = self.picks(&shape, grid.as_ref())?;
        let options = self.decoding.options();
        let selected = selection(object.descriptor(), &picks)?.shape().collect();
        let bytes = tgm_std::read(&object).select(&picks).options(&options).bytes()?;
        let unpacked = Unpacked::of(object.descriptor(), &about, bytes)?;
        // There are as many values now, so the indices take no more memory than these.
        let axes = picks.iter().zip(&shape).map(|(pick, len)| indices(*pick, *len)).collect();
        Ok(Values { unpacked, axes, shape: selected, grid })
    }

    fn picks(&self, shape: &[u64], grid: Option<&Places>) -> Result<Vec<Pick>, TensogramError> {
        if let Some(Point(latitude, longitude)) = self.nearest {
            let wrong = |text: &str| TensogramError::Metadata(text.to_string().into());
            let grid = grid.ok_or_else(|| {
                wrong("the metadata names no grid (mars.area or area: north, west, south, east; grid: O640, H128, 1/1); --area gives one")
            })?;
            let found = grid.nearest(latitude, longitude);
            let found = found.ok_or_else(|| wrong(&format!("{latitude},{longitude} lies outside of the grid")))?;
            let outer = shape.len().saturating_sub(found.len());
            return Ok([vec![Pick::All; outer], found.into_iter().map(Pick::Index).collect()].concat());
        }
        match &self.slice {
            Some(picks) => Ok(picks.resolve(shape.iter().copied())?),
            None => Ok(vec![Pick::All; shape.len()]),
        }
    }

    /// The last dimension as a line.
    fn print_lines(&self, values: &Values<'_>, out: &mut Out) -> io::Result<()> {
        let len = |dim: Option<&u64>| dim.map_or(1, |&len| len).max(1);
        let mut dims = values.shape.iter().rev();
        let columns = len(dims.next());
        let rows = len(dims.next());
        let has_planes = values.shape.len() > 2;
        let mut count = 0_u64;
        self.for_each_text(values, |text| {
            let (row, column) = (count / columns, count % columns);
            if column > 0 {
                write!(out, " ")?;
            } else if has_planes && row > 0 && row % rows == 0 {
                writeln!(out)?;
            }
            count += 1;
            write!(out, "{text}")?;
            if column + 1 == columns { writeln!(out) } else { Ok(()) }
        })
    }

    /// A line for each value.
    fn print_csv(&self, values: &Values<'_>, out: &mut Out) -> io::Result<()> {
        for dim in 0..values.axes.len() {
            write!(out, "dim{dim},")?;
        }
        let grid_titles = if values.grid.is_some() { "latitude,longitude," } else { "" };
        writeln!(out, "{grid_titles}value")?;
        let mut places = vec![0_usize; values.axes.len()];
        self.for_each_text(values, |text| {
            let index = |(axis, place): (&Vec<u64>, &usize)| axis.get(*place).copied().unwrap_or(0);
            let indices: Vec<u64> = values.axes.iter().zip(&places).map(index).collect();
            for index in &indices {
                write!(out, "{index},")?;
            }
            if let Some((latitude, longitude)) = values.grid.as_ref().and_then(|grid| grid.place(&indices)) {
                write!(out, "{latitude},{longitude},")?;
            }
            writeln!(out, "{text}")?;
            // The last dimension counts up, and carries.
            for (place, axis) in places.iter_mut().zip(&values.axes).rev() {
                *place += 1;
                if *place < axis.len() {
                    break;
                }
                *place = 0;
            }
            Ok(())
        })
    }

    /// Calls `with` for each value as text, up to its first error.
    fn for_each_text(&self, values: &Values<'_>, mut with: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        let count = values.shape.iter().product();
        let elements = values.unpacked.elements(count);
        let Elements { dtype, order, bytes, .. } = elements;
        let Some(format) = self.format.filter(|format| !matches!(format, NumberFormat::Shortest)) else {
            let numbers = Numbers { dtype, order, count, bytes };
            return numbers.texts().try_for_each(|text| with(&text));
        };
        let (mut real, mut at, mut done) = (String::new(), 0, Ok(()));
        elements.for_each(|value| {
            if done.is_err() {
                return;
            }
            let index = usize::try_from(at).unwrap_or(usize::MAX);
            let text = match (format, elements.integer(index)) {
                // Integers of 64 bits are not rounded.
                (NumberFormat::Fixed(decimals), Some(integer)) => fixed(integer, decimals),
                _ => format.text(value, dtype),
            };
            match (parts(dtype), at % 2) {
                (2, 0) => real = text,
                (2, _) => {
                    let sign = if text.starts_with('-') { "" } else { "+" };
                    done = with(&format!("{real}{sign}{text}j"));
                }
                _ => done = with(&text),
            }
            at += 1;
        });
        done
    }
}

impl Cat {
    /// Each of the values of a box as text.
    fn texts_of(&self, cells: &Cells) -> Vec<String> {
        match self.format.filter(|format| !matches!(format, NumberFormat::Shortest)) {
            Some(format) if parts(cells.dtype) == 1 => {
                let elements =
                    Elements { dtype: cells.dtype, order: ByteOrder::NATIVE, count: cells.count, bytes: &cells.bytes };
                let mut texts = Vec::new();
                elements.for_each(|value| texts.push(format.text(value, cells.dtype)));
                texts
            }
            _ => cells.numbers().texts().collect(),
        }
    }
}

impl NumberFormat {
    fn text(self, value: f64, dtype: Dtype) -> String {
        match self {
            Self::Fixed(decimals) if value.is_finite() => format!("{value:.decimals$}"),
            Self::Exponent(decimals) if value.is_finite() => format!("{value:.decimals$e}"),
            _ => text_of(dtype, value),
        }
    }
}

/// An integer with this number of decimals.
fn fixed(integer: i128, decimals: usize) -> String {
    if decimals == 0 { integer.to_string() } else { format!("{integer}.{:0<decimals$}", "") }
}

/// The indices that a pick takes of a dimension.
fn indices(pick: Pick, len: u64) -> Vec<u64> {
    match pick {
        Pick::Index(index) => vec![index],
        Pick::All => (0..len).collect(),
        Pick::Range { start, end, step } => {
            (start..end.min(len)).step_by(usize::try_from(step.get()).unwrap_or(usize::MAX)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NumberFormat;

    #[test]
    fn formats_are_those_of_c() {
        assert!(matches!("%.3f".parse(), Ok(NumberFormat::Fixed(3))));
        assert!(matches!("%e".parse(), Ok(NumberFormat::Exponent(6))));
        assert!(matches!("%g".parse(), Ok(NumberFormat::Shortest)));
        for text in ["", "%", "f", "%.f", "%.1000f", "%d", "%.3g", "%5.3f"] {
            assert!(text.parse::<NumberFormat>().is_err(), "{text}");
        }
    }
}
