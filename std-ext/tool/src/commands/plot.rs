//! `tgm plot`: a picture of one object, in the terminal, as SVG or as PNG.

mod chart;
mod oriented;
pub(crate) mod picture;
mod png;
mod svg;
pub(crate) mod text;

use std::io;
use std::path::PathBuf;
use std::slice;

use clap::{Args, ValueEnum};
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_core::selection::Pick;
use tgm_grid::Area;
use tgm_std::decode::{Picks, selection};
use tgm_std::{DecodeOptions, TensogramError};

use crate::args::decoding::Decoding;
use crate::args::files::usage;
use crate::args::listing::{Listed, ending};
use crate::commands::Run;
use crate::commands::plot::oriented::{Oriented, on_axes, scanned};
use crate::commands::plot::picture::{Counts, Drawn, Picture};
use crate::commands::plot::png::Png;
use crate::commands::plot::svg::Svg;
use crate::read::about::{NAME_KEYS, UNITS};
use crate::read::choice::MessageChoice;
use crate::read::digests::Digests;
use crate::read::elements::parts;
use crate::read::entry::Entry;
use crate::read::messages::for_one_object;
use crate::read::objects::{find, no_object};
use crate::read::picture::Field;
use crate::read::places::{area, places};
use crate::read::select::{Scope, Selection, annotations, text};
use crate::read::statistics::histogram;
use crate::read::structure::Structure;
use crate::read::unpacked::Unpacked;
use crate::show::output::Out;
use crate::show::summary::shape_text;
use crate::show::text::escape;
use crate::write::destination::Destination;

/// Draw the values of one object: a field of two dimensions, a line, or a histogram
///
/// Fields are made smaller by the mean over areas. Missing values are grey, or blank without colours. Without -m, --at and
/// -w, the object is one of message 0; with -w, the first that is selected in any message. More than two dimensions need --slice, but for a histogram. Where the
/// grid is known, the axes are latitude and longitude; else numbers at the axes of a field count its rows and columns from 0.
/// Fields from GRIB have north above and west at the left, in whatever order their values were scanned.
#[derive(Args, Debug)]
pub(crate) struct Plot {
    /// File or address to read; "-" is standard input
    #[arg(value_name = "FILE")]
    path: PathBuf,
    #[command(flatten)]
    choice: MessageChoice,
    #[command(flatten)]
    selection: Selection,
    /// Number of the object in the message, from 0 [default: the first that -w selects, or 0]
    #[arg(long, value_name = "N")]
    object: Option<usize>,
    /// Only these indices of each dimension, as in Python: "0, 10:20, 1:9:4, -1, .."
    #[arg(long, value_name = "PICKS", allow_hyphen_values = true)]
    slice: Option<Picks>,
    /// Draw how many values lie in each of N equal parts between the least and the greatest [20 without =N]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", require_equals = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=720))]
    histogram: Option<u16>,
    /// The values of the first and the last colour [default: the least and the greatest value]
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, value_parser = range)]
    range: Option<(f64, f64)>,
    /// Characters in a line [default: the width of the terminal, or 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(8..=1000))]
    width: Option<u16>,
    /// Colours of the terminal
    #[arg(long, value_enum, default_value_t = Depth::Auto, hide_default_value = true)]
    depth: Depth,
    /// Form of the picture [default: that which the name of --output ends with, or text]
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// Print SVG: --format svg
    #[arg(long, conflicts_with = "format")]
    svg: bool,
    /// Write the picture to this file, which appears when it is complete [short: -o too]
    #[arg(short = 'O', short_alias = 'o', long, value_name = "LISTING")]
    output: Option<Destination>,
    #[command(flatten)]
    digests: Digests,
    #[command(flatten)]
    decoding: Decoding,
}

/// Forms of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Characters, for terminals
    Text,
    /// Vectors
    Svg,
    /// Pixels
    Png,
}

/// How many colours there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Depth {
    /// As many as the terminal says that it has
    Auto,
    /// 24 bits
    True,
    /// 256
    #[value(name = "256")]
    Few,
    /// None: characters from light to dense
    Plain,
}

fn range(text: &str) -> Result<(f64, f64), &'static str> {
    let number = |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite());
    let bounds = text.split_once(',').and_then(|(low, high)| Some((number(low)?, number(high)?)));
    bounds.filter(|(low, high)| low < high).ok_or("expected LOW,HIGH: two numbers, the less one first")
}

impl Run for Plot {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if let Some(ending) = self.output.as_ref().and_then(ending)
            && self.form_of(&ending).is_none()
        {
            usage(&format!("pictures are text (.txt), SVG and PNG, not .{ending}: --format says which is meant"));
        }
        let choice = (self.choice, &self.selection, self.digests);
        for_one_object(&self.path, choice, self.object, out, |out, entry, object| match self.picture(entry, object) {
            Ok(picture) => self.draw(out, &picture),
            Err(error) => {
                out.report(&entry.object_place(object), &error);
                Ok(())
            }
        })
    }

    fn listed(&self) -> Listed<'_> {
        Listed { output: self.output.as_ref(), reads: slice::from_ref(&self.path), ..Listed::default() }
    }
}

impl Plot {
    fn draw(&self, out: &mut Out, picture: &Picture) -> io::Result<()> {
        match self.form() {
            Form::Text => {
                let depth = match self.depth {
                    Depth::Auto => Depth::of_terminal(out.has_colours()),
                    asked => asked,
                };
                text::draw_text(out, picture, self.width(), depth)
            }
            Form::Svg => chart::draw(out, picture, Svg::new),
            Form::Png if self.output.as_ref().is_none_or(Destination::is_stdout) && Out::is_terminal() => {
                out.problem("PNG is not written to a terminal: name a file, or redirect standard output");
                Ok(())
            }
            Form::Png => chart::draw(out, picture, Png::new),
        }
    }

    fn form(&self) -> Form {
        let ending = self.output.as_ref().and_then(ending).unwrap_or_default();
        self.form_of(&ending).unwrap_or(Form::Text)
    }

    /// The form that is asked for, or that the name of the file ends with. `None` for an ending of no picture.
    fn form_of(&self, ending: &str) -> Option<Form> {
        match (self.format, ending) {
            (Some(form), _) => Some(form),
            (None, _) if self.svg => Some(Form::Svg),
            (None, "svg") => Some(Form::Svg),
            (None, "png") => Some(Form::Png),
            (None, "" | "txt" | "text" | "ans") => Some(Form::Text),
            _ => None,
        }
    }

    fn width(&self) -> usize {
        self.width.map_or_else(|| Out::columns().unwrap_or(80).clamp(8, 1000), usize::from)
    }

    fn picture(&self, entry: &Entry<'_>, object: usize) -> Result<Picture, TensogramError> {
        let slice = self.slice.as_ref();
        let wanted = Wish { object, slice, histogram: self.histogram, range: self.range };
        wanted.picture(entry, self.digests, &self.decoding.options())
    }
}

impl Depth {
    /// The depth of a terminal that has colours, or has none.
    pub(crate) fn of_terminal(has_colours: bool) -> Self {
        let says_true = || std::env::var_os("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
        match has_colours {
            false => Self::Plain,
            true if says_true() => Self::True,
            true => Self::Few,
        }
    }
}

/// What a picture is to show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish<'a> {
    /// The number of the object in its message.
    pub(crate) object: usize,
    /// The part of the object.
    pub(crate) slice: Option<&'a Picks>,
    /// The parts of a histogram, which is drawn instead of the values.
    pub(crate) histogram: Option<u16>,
    /// The range of the colours, if it is not to be found.
    pub(crate) range: Option<(f64, f64)>,
}

impl Wish<'_> {
    /// The picture.
    ///
    /// # Errors
    /// The errors of finding, checking and decoding the object; complex numbers; more than two dimensions.
    pub(crate) fn picture(
        &self,
        entry: &Entry<'_>,
        digests: Digests,
        options: &DecodeOptions,
    ) -> Result<Picture, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let metadata = digests.metadata(&message)?;
        let object = find(&message, self.object)?;
        let about = metadata.object(self.object)?.ok_or_else(|| no_object(metadata.object_count()))?;
        digests.of(&message)?.check(self.object, object.frame())?;
        let descriptor = object.descriptor();
        let wrong = |text: String| TensogramError::Object(text.into());
        if parts(descriptor.dtype()) == 2 {
            return Err(wrong("complex numbers have no picture".to_string()));
        }
        let (shape, bytes) = match self.slice {
            Some(picks) => {
                let picks = picks.resolve(descriptor.shape().iter())?;
                let shape: Vec<u64> = selection(descriptor, &picks)?.shape().collect();
                (shape, tgm_std::read(&object).select(&picks).options(options).bytes()?)
            }
            None => (descriptor.shape().iter().collect(), tgm_std::read(&object).options(options).bytes()?),
        };
        let mut values = Vec::new();
        let unpacked = Unpacked::of(descriptor, &about, bytes)?;
        unpacked.elements(shape.iter().product()).for_each(|value| values.push(value));
        let known = Area::KEYS.iter().copied();
        let annotations = annotations(&metadata, NAME_KEYS.into_iter().chain(UNITS).chain(known))?;
        let scope = Scope::Object(&about, &annotations, Structure::new(&message, entry));
        let mut drawn_shape = shape.clone();
        let mut axes = None;
        // A line of a field is drawn as it is. A picture needs no places, so that wrong ones do not matter.
        if self.histogram.is_none() && (shape.len() == 2 || self.slice.is_none()) {
            let whole: Vec<u64> = descriptor.shape().iter().collect();
            let area = area(scope).unwrap_or(None);
            let places = places(&metadata, self.object, &whole, area, &options.limits).unwrap_or(None);
            let picks = match self.slice {
                Some(picks) => picks.resolve(whole.iter().copied())?,
                None => vec![Pick::All; whole.len()],
            };
            let on_axes = places.and_then(|places| on_axes(&places, &whole, &picks, &values));
            let is_whole = self.slice.is_none();
            let found = on_axes.or_else(|| scanned(&metadata, self.object, &values).filter(|_| is_whole));
            if let Some(Oriented { rows, columns, values: oriented, axes: found }) = found {
                drawn_shape = vec![rows as u64, columns as u64];
                (values, axes) = (oriented, Some(found));
            }
        }
        let (drawn, range) = self.drawn(&drawn_shape, values).map_err(wrong)?;
        let shown = |value: Option<Json>| value.map_or(String::new(), |value| escape(&text(&value)));
        let name = shown(scope.first(&NAME_KEYS)?);
        let place = format!("message {}, object {}, {}", entry.index, self.object, shape_text(&shape));
        let title = if name.is_empty() { place } else { format!("{name}: {place}") };
        let units = shown(scope.first(&UNITS)?);
        Ok(Picture { drawn, range, title, units, axes })
    }

    /// What is drawn of values of this shape, and their range; or why there is no picture.
    fn drawn(&self, shape: &[u64], values: Vec<f64>) -> Result<(Drawn, (f64, f64)), String> {
        // Values in memory are fewer: a field refuses sides that are not theirs.
        let len = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        let (rows, columns) = match *shape {
            _ if self.histogram.is_some() => (1, values.len()),
            [columns] => (1, len(columns)),
            [rows, columns] => (len(rows), len(columns)),
            _ => {
                let shape = shape_text(shape);
                return Err(format!("{shape} is not a field or line: --slice picks one or two dimensions"));
            }
        };
        let field = Field::new(rows, columns, values).ok_or("there are no values")?;
        let found = field.range().ok_or("all values are missing")?;
        let range = match (self.range, self.histogram, found) {
            (Some(range), _, _) => range,
            // Equal values stand in the middle.
            (None, Some(_), (low, high)) if low >= high => {
                let around = if low == 0.0 { 0.5 } else { low.abs() / 2.0 };
                (low - around, high + around)
            }
            (None, _, found) => found,
        };
        let drawn = match self.histogram {
            Some(parts) => Drawn::Histogram(counts(&field, range, parts.into())),
            None if shape.len() == 1 => Drawn::Line(field),
            None => Drawn::Field(field),
        };
        Ok((drawn, range))
    }
}

/// The counts of a histogram of all values of a field.
fn counts(field: &Field, range: (f64, f64), parts: usize) -> Counts {
    let finite: Vec<_> = field.cells().flatten().collect();
    let inside: Vec<_> = finite.iter().copied().filter(|value| (range.0..=range.1).contains(value)).collect();
    let count = |from: usize, of: usize| (from - of) as u64;
    let (missing, outside) = (count(field.cells().count(), finite.len()), count(finite.len(), inside.len()));
    Counts { counts: histogram(&inside, range, parts), missing, outside }
}
