//! `tgm plot`: a picture of one object, in the terminal, as SVG or as PNG.

mod cube;
pub(crate) mod object;
mod size;
pub(crate) mod text;

use std::io;
use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use tgm_dataset::{Dataset, open_all};
use tgm_std::TensogramError;
use tgm_std::decode::Picks;

use crate::args::cube::{CubeFlags, Point};
use crate::args::decoding::Decoding;
use crate::args::files::usage;
use crate::args::listing::{Listed, ending};
use crate::commands::plot::cube::CubeWish;
use crate::commands::plot::object::Wish;
use crate::commands::plot::size::PixelSize;
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::cubes::{names, open_or_report};
use crate::read::entry::Entry;
use crate::read::messages::for_one_object;
use crate::read::pipes::is_once;
use crate::show::output::Out;
use crate::write::destination::Destination;
use tgm_plot::contour::Spacing;
use tgm_plot::drawing::Look;
use tgm_plot::palette::Palette;
use tgm_plot::picture::Picture;
use tgm_plot::png::Png;
use tgm_plot::projection::MapKind;
use tgm_plot::{chart, svg::Svg};

/// Draw values as a map, a field of two dimensions, a line, or a histogram
///
/// Where the grid is known, the picture is a map: north is up, the axes are latitude and longitude, and coastlines are drawn. Grids
/// that are not rows of latitude and columns of longitude are drawn by their nearest points. Other axes have the labels of
/// their dimensions, or numbers of rows and columns from 0. Fields are made smaller by the mean over areas. Missing values are
/// grey, or blank without colours.
///
/// Without -m, --at and -w, the object is one of message 0; with -w, the first that is selected in any message. More than two
/// dimensions need --slice, but for a histogram. --cube, --sel, --over and --nearest draw values over many messages: all files
/// together are a dataset.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm plot --width 60 field.tgm", "a field, in the terminal"),
    ("tgm plot --slice '90, :' field.tgm -O line.svg", "one of its rows, as a picture for a browser"),
    ("tgm plot --histogram field.tgm -O values.png", "how its values are distributed"),
]))]
pub(crate) struct Plot {
    /// File or address to read; "-" is standard input. Several are a dataset together
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
    /// Draw a series along this dimension of a dataset, or a field along two of them: step, "time,level" and others that `tgm cube`
    /// lists
    #[arg(long, value_name = "DIM,...", value_delimiter = ',')]
    over: Vec<String>,
    /// The value of a dataset nearest to this point, in degrees
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true, requires = "over")]
    nearest: Option<Point>,
    /// Other units for the values: degC, hPa, mm and others
    #[arg(long, value_name = "UNITS")]
    units: Option<String>,
    /// Draw how many values lie in each of N equal parts between the least and the greatest [20 without =N]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", require_equals = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=720))]
    histogram: Option<u16>,
    /// The values of the first and the last colour [default: the least and the greatest value]
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, value_parser = range)]
    range: Option<(f64, f64)>,
    /// Colours, by their name [default: coolwarm around 0 for winds, rates and differences, or viridis]
    #[arg(long, value_enum, value_name = "NAME")]
    palette: Option<Colours>,
    /// Map: plate-carree, mercator, orthographic or polar, of which round ones may have a middle, as orthographic:50,10 [default:
    /// plate-carree]
    #[arg(long, value_name = "NAME[:LAT,LON]")]
    projection: Option<MapKind>,
    /// Draw lines of equal value, one each STEP [round ones without =STEP]
    #[arg(long, value_name = "STEP", num_args = 0..=1, require_equals = true, value_parser = step)]
    #[expect(clippy::option_option, reason = "an option whose value may be left out")]
    contours: Option<Option<f64>>,
    /// Draw arrows of two variables, to the east and to the north, as u10,v10: over --cube, or over their speed
    #[arg(long, value_name = "U,V", value_parser = pair, conflicts_with_all = ["over", "nearest"])]
    arrows: Option<[String; 2]>,
    /// Width and height of SVG and PNG in pixels [default: what the values need]
    #[arg(long, value_name = "WxH")]
    size: Option<PixelSize>,
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
    decoding: Decoding,
    #[command(flatten)]
    cube: CubeFlags,
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

/// The name of a palette on the command line.
#[derive(Clone, Copy, Debug)]
struct Colours(Palette);

impl ValueEnum for Colours {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Colours; 5] = {
            let [a, b, c, d, e] = Palette::ALL;
            [Colours(a), Colours(b), Colours(c), Colours(d), Colours(e)]
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.about()))
    }
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

fn step(text: &str) -> Result<f64, &'static str> {
    let step = text.trim().parse().ok().filter(|step: &f64| step.is_finite() && *step > 0.0);
    step.ok_or("expected a number of more than 0")
}

fn pair(text: &str) -> Result<[String; 2], &'static str> {
    let names = text.split_once(',').map(|(east, north)| [east, north].map(|name| name.trim().to_string()));
    let is_pair = |names: &[String; 2]| names.iter().all(|name| !name.is_empty() && !name.contains(','));
    names.filter(is_pair).ok_or("expected U,V: two variables")
}

impl Run for Plot {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        if let Some(ending) = self.output.as_ref().and_then(ending)
            && self.form_of(&ending).is_none()
        {
            usage(&format!("pictures are text (.txt), SVG and PNG, not .{ending}: --format says which is meant"));
        }
        if self.form() == Form::Text && self.size.is_some() {
            usage("--size is of SVG and PNG; --width is of text");
        }
        if self.form() == Form::Text && (self.contours.is_some() || self.arrows.is_some()) {
            usage("--contours and --arrows are of SVG and PNG");
        }
        if self.dataset().is_asked_for() || self.paths.len() > 1 {
            return self.draw_dataset(out);
        }
        let Some(path) = self.paths.first() else { return Ok(()) };
        let one = (&self.chosen, self.cube.open.catalog());
        for_one_object(path, one, self.object, out, |out, entry, object| match self.picture(entry, object) {
            Ok(picture) => self.draw(out, &picture),
            Err(error) => {
                out.report(&entry.object_place(object), &error);
                Ok(())
            }
        })
    }

    fn listed(&self) -> Listed<'_> {
        Listed { output: self.output.as_ref(), reads: &self.paths, ..Listed::default() }
    }
}

impl Plot {
    fn look(&self) -> Look<'_> {
        Look {
            histogram: self.histogram,
            range: self.range,
            palette: self.palette.map(|Colours(palette)| palette),
            units: self.units.as_deref(),
            projection: self.projection,
            contours: self.contours.map(|step| step.map_or(Spacing::Round, Spacing::Each)),
        }
    }

    fn dataset(&self) -> CubeWish<'_> {
        CubeWish {
            cube: &self.cube,
            over: &self.over,
            nearest: self.nearest,
            arrows: self.arrows.as_ref(),
            look: self.look(),
        }
    }

    fn draw_dataset(&self, out: &mut Out) -> io::Result<()> {
        let is_of_one = !self.chosen.selection.is_empty()
            || self.object.is_some()
            || self.slice.is_some()
            || self.chosen.choice.is_one();
        if is_of_one {
            usage("a dataset is of all messages: -m, --at, -w, --object and --slice do not go with it");
        }
        let Some(datasets) = open_or_report(&self.paths, self.cube.options(&self.over), self.chosen.digests, out)
        else {
            return Ok(());
        };
        match self.dataset().picture(&datasets, &self.decoding.of_boxes()) {
            Ok(picture) => self.draw(out, &picture),
            Err(error) => {
                out.report(&names(&self.paths), &error);
                Ok(())
            }
        }
    }

    fn draw(&self, out: &mut Out, picture: &Picture) -> io::Result<()> {
        let size = self.size.map(|PixelSize(width, height)| (width, height));
        match self.form() {
            Form::Text => {
                let depth = match self.depth {
                    Depth::Auto => Depth::of_terminal(out.has_colours()),
                    asked => asked,
                };
                text::draw_text(out, picture, self.width(), depth)
            }
            Form::Svg => chart::draw(out, picture, size, |size, _| Svg::new(size)),
            Form::Png if self.output.as_ref().is_none_or(Destination::is_stdout) && Out::is_terminal() => {
                out.problem("PNG is not written to a terminal: name a file, or redirect standard output");
                Ok(())
            }
            Form::Png => chart::draw(out, picture, size, Png::new),
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

    /// The datasets of the file. Digests are checked as everywhere.
    fn datasets(&self) -> Result<Vec<Dataset>, TensogramError> {
        let mut options = self.cube.options(&self.over)?;
        options.decode.verify_metadata = !self.chosen.digests.are_ignored();
        open_all(&self.paths, &options)
    }

    fn picture(&self, entry: &Entry<'_>, object: usize) -> Result<Picture, TensogramError> {
        let grid = self.cube.open.known()?;
        let wish = Wish { object, slice: self.slice.as_ref(), look: self.look(), grid: grid.as_ref() };
        let mut selected = wish.selected(entry, self.chosen.digests, &self.decoding.options())?;
        // Coordinates of files are objects beside it.
        if self.histogram.is_none()
            && let Some(place) = selected.unplaced()
            && self.paths.iter().all(|path| !is_once(path))
            && let Ok(datasets) = self.datasets()
        {
            selected.place(place, datasets);
        }
        selected.picture()
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
