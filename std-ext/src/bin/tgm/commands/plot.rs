//! `tgm plot`: a picture of one object, in the terminal or as SVG.

use std::io;
use std::path::{Path, PathBuf};
use std::slice;

use clap::{Args, ValueEnum};
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_std::TensogramError;
use tgm_std::decode::{Picks, Selected};

use crate::args::decoding::Decoding;
use crate::args::listing::Listed;
use crate::commands::Run;
use crate::commands::plot_draw::{Picture, draw_svg, draw_text};
use crate::read::digests::Digests;
use crate::read::elements::{Elements, parts};
use crate::read::input::{Entry, Wanted};
use crate::read::messages::{Which, for_one_message};
use crate::read::objects::{find, no_object};
use crate::read::picture::Field;
use crate::read::select::{NAME_KEYS, Scope, Selection, annotations, text};
use crate::read::structure::Structure;
use crate::show::output::Out;
use crate::show::summary::shape_text;
use crate::show::text::escape;
use crate::write::destination::Destination;

/// Draw the values of one object: a field of two dimensions, or a line
///
/// Fields are made smaller by the mean over areas. Missing values are grey, or blank without colours. Without -m, --at and
/// -w, the object is one of message 0. More than two dimensions need --slice.
#[derive(Args, Debug)]
pub(crate) struct Plot {
    /// File or address to read; "-" is standard input
    #[arg(value_name = "FILE")]
    path: PathBuf,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    selection: Selection,
    /// Number of the object in the message, from 0
    #[arg(long, value_name = "N", default_value_t = 0)]
    object: usize,
    /// Only these indices of each dimension, as in Python: "0, 10:20, 1:9:4, -1, .."
    #[arg(long, value_name = "PICKS", allow_hyphen_values = true)]
    slice: Option<Picks>,
    /// The values of the first and the last colour [default: the least and the greatest value]
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, value_parser = range)]
    range: Option<(f64, f64)>,
    /// Characters in a line [default: the width of the terminal, or 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(8..=1000))]
    width: Option<u16>,
    /// Colours of the terminal
    #[arg(long, value_enum, default_value_t = Depth::Auto, hide_default_value = true)]
    depth: Depth,
    /// Print SVG; also done if the name of OUT ends with .svg
    #[arg(long)]
    svg: bool,
    /// Write the picture to this file, which appears when it is complete [short: -o too]
    #[arg(short = 'O', short_alias = 'o', long, value_name = "LISTING")]
    output: Option<Destination>,
    #[command(flatten)]
    digests: Digests,
    #[command(flatten)]
    decoding: Decoding,
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
        for_one_message(&self.path, (self.which, &self.selection), Wanted::Object(self.object), out, |out, entry| {
            match self.picture(entry) {
                Ok(picture) if self.is_svg() => draw_svg(out, &picture),
                Ok(picture) => draw_text(out, &picture, self.width(), self.depth(out)),
                Err(error) => {
                    out.report(&entry.object_place(self.object), &error);
                    Ok(())
                }
            }
        })
    }

    fn listed(&self) -> Listed<'_> {
        Listed { output: self.output.as_ref(), reads: slice::from_ref(&self.path), ..Listed::default() }
    }
}

impl Plot {
    fn is_svg(&self) -> bool {
        let path = self.output.as_ref().and_then(Destination::path).and_then(Path::extension);
        self.svg || path.is_some_and(|extension| extension.eq_ignore_ascii_case("svg"))
    }

    fn width(&self) -> usize {
        self.width.map_or_else(|| Out::columns().unwrap_or(80).clamp(8, 1000), usize::from)
    }

    fn depth(&self, out: &Out) -> Depth {
        let says_true = || std::env::var_os("COLORTERM").is_some_and(|value| value == "truecolor" || value == "24bit");
        match self.depth {
            Depth::Auto if !out.has_colours() => Depth::Plain,
            Depth::Auto if says_true() => Depth::True,
            Depth::Auto => Depth::Few,
            asked => asked,
        }
    }

    fn picture(&self, entry: &Entry<'_>) -> Result<Picture, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let metadata = message.metadata()?;
        let object = find(&message, self.object)?;
        let about = metadata.object(self.object)?.ok_or_else(|| no_object(metadata.object_count()))?;
        self.digests.of(&message)?.check(self.object, object.frame())?;
        let descriptor = object.descriptor();
        let wrong = |text: String| TensogramError::Object(text.into());
        if parts(descriptor.dtype()) == 2 {
            return Err(wrong("complex numbers have no picture".to_string()));
        }
        let options = self.decoding.options();
        let (shape, bytes) = match &self.slice {
            Some(picks) => {
                let picks = picks.resolve(descriptor.shape().iter())?;
                let Selected { shape, bytes } = tgm_std::decode::select(&object, &picks, &options)?;
                (shape, bytes)
            }
            None => (descriptor.shape().iter().collect(), tgm_std::values(&object, &options)?),
        };
        let (rows, columns) = match *shape.as_slice() {
            [columns] => (1, columns),
            [rows, columns] => (rows, columns),
            _ => {
                let shape = shape_text(&shape);
                return Err(wrong(format!("{shape} is no field or line: --slice picks one or two dimensions")));
            }
        };
        let mut values = Vec::new();
        let elements = Elements { count: shape.iter().product(), ..Elements::of(descriptor, &bytes) };
        elements.for_each(|value| values.push(value));
        let len = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        let field = Field::new(len(rows), len(columns), values).ok_or_else(|| wrong("there are no values".into()))?;
        let found = field.range().ok_or_else(|| wrong("all values are missing".into()))?;
        let annotations = annotations(&metadata, NAME_KEYS.into_iter().chain(UNITS))?;
        let scope = Scope::Object(&about, &annotations, Structure::new(&message, entry));
        let shown = |value: Option<Json>| value.map_or(String::new(), |value| escape(&text(&value)));
        let name = shown(scope.first(&NAME_KEYS)?);
        let place = format!("message {}, object {}, {}", entry.index, self.object, shape_text(&shape));
        let title = if name.is_empty() { place } else { format!("{name}: {place}") };
        let units = shown(scope.first(&UNITS)?);
        Ok(Picture { field, is_line: shape.len() == 1, range: self.range.unwrap_or(found), title, units })
    }
}

/// Keys under which units stand.
const UNITS: [&str; 3] = ["units", "mars.units", "unit"];
