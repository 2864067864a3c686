//! `tgm cube`: what files are as datasets, as `ncdump -h` shows NetCDF.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use tgm_dataset::{Attribute, Attributes, Coordinate, Dataset, Parts, Values, Variable, text_attribute};

use crate::args::RARE;
use crate::args::cube::OpenFlags;
use crate::args::listing::{Listed, TextFlags};
use crate::commands::{Run, examples};
use crate::read::cubes::{names, open_or_report};
use crate::read::digests::Digests;
use crate::show::advice::in_our_words;
use crate::show::json::Document;
use crate::show::output::{Out, Style};
use crate::show::text::{counted, escape};

/// Show files as a dataset: variables over many messages, dimensions, attributes
///
/// Objects of one kind are a variable. Its dimensions are the keys whose values differ, such as times, steps, levels and
/// members, and after them the dimensions of the grid. All files together are one dataset: fields have their places by their
/// keys, and what came from NetCDF and Zarr is joined along the dimensions whose labels differ. What does not fit is listed,
/// and is a dataset of its own. Metadata are read, and no values but the labels of coordinates.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm cube steps.tgm", "variables, dimensions, coordinates, and what does not fit"),
    ("tgm cube --json steps.tgm", "the same for programs"),
]))]
pub(crate) struct Cube {
    /// Files or addresses to read: together they are a dataset
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Show all datasets, not only the one with the most objects
    #[arg(long)]
    all: bool,
    /// Print up to N places without an object
    #[arg(long, help_heading = RARE, value_name = "N", default_value_t = 10)]
    holes: usize,
    #[command(flatten)]
    open: OpenFlags,
    #[command(flatten)]
    digests: Digests,
    #[command(flatten)]
    text: TextFlags,
}

/// Labels of a coordinate that are shown at each end.
const ENDS: usize = 3;

impl Run for Cube {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&self.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let Some(datasets) = open_or_report(&self.paths, self.open.options(), self.digests, out) else { return Ok(()) };
        if self.text.json() {
            let mut document = Document::begin(out, "tgm.cube/1", "datasets")?;
            for dataset in &datasets {
                let (item, parts) = dataset.to_json(self.holes);
                report(&parts, out);
                document.item(out, &item)?;
            }
            return document.end(out);
        }
        let shown = if self.all { datasets.len() } else { 1 };
        for (number, dataset) in datasets.iter().take(shown).enumerate() {
            if number > 0 {
                writeln!(out)?;
            }
            let of =
                if datasets.len() > 1 { format!(", dataset {number} of {}", datasets.len()) } else { String::new() };
            let objects: usize = dataset.variables.iter().map(Variable::object_count).sum();
            let head = format!("{}{of}: {}", names(&self.paths), counted(objects as u64, "object"));
            out.styled(Style::Heading, &escape(&head))?;
            writeln!(out)?;
            self.print(dataset, out)?;
        }
        Ok(())
    }
}

impl Cube {
    fn print(&self, dataset: &Dataset, out: &mut Out) -> io::Result<()> {
        title(out, "dimensions")?;
        for (name, len) in dataset.dims() {
            writeln!(out, "  {} = {len}", escape(name))?;
        }
        let parts = dataset.parts();
        report(&parts, out);
        let Parts { coordinates, variables, .. } = parts;
        if !coordinates.is_empty() {
            title(out, "coordinates")?;
        }
        for coordinate in &coordinates {
            let labels = escape(&labels(coordinate));
            let is_told = |units: &&str| *units != "1" && !matches!(coordinate.values, Values::Times(_));
            let units = text_attribute(&coordinate.attributes, "units").filter(is_told);
            let units = units.map_or_else(String::new, |units| format!(" {}", escape(units)));
            let dims =
                if coordinate.dims.is_empty() { String::new() } else { format!("({})", coordinate.dims.join(", ")) };
            writeln!(out, "  {}{}: {labels}{units}", escape(&coordinate.name), escape(&dims))?;
        }
        title(out, "variables")?;
        for variable in variables {
            let dtype = variable.dtype().map_or("text", |dtype| dtype.name());
            let objects = variable.object_count();
            let holes = variable.hole_count();
            let holes = if holes > 0 { format!(", {} without one", counted(holes, "place")) } else { String::new() };
            let line = format!("{dtype} {}({})", variable.name, variable.dims.join(", "));
            write!(out, "  {}", escape(&line))?;
            if objects > 0 {
                write!(out, ": {}{holes}", counted(objects as u64, "object"))?;
            }
            writeln!(out)?;
            print_attributes(out, &variable.attributes, "      ")?;
        }
        if !dataset.attributes.is_empty() {
            title(out, "attributes")?;
            print_attributes(out, &dataset.attributes, "  ")?;
        }
        // One more says that there are others.
        let mut holes = dataset.holes(self.holes.saturating_add(1));
        if !holes.is_empty() && self.holes > 0 {
            title(out, "without an object")?;
            let is_more = holes.len() > self.holes;
            holes.truncate(self.holes);
            for hole in holes {
                writeln!(out, "  {}", escape(&hole))?;
            }
            if is_more {
                writeln!(out, "  … (--holes N shows more)")?;
            }
        }
        let rest = dataset.left_out.iter().map(|it| ("left out", it.to_string()));
        let rest: Vec<_> = rest.chain(dataset.notes.iter().map(|note| ("note", note.clone()))).collect();
        let mut before = "";
        for (what, text) in &rest {
            if *what != before {
                title(out, what)?;
                before = what;
            }
            writeln!(out, "  {}", escape(text))?;
        }
        Ok(())
    }
}

/// Reports coordinates whose labels cannot be read.
fn report(parts: &Parts<'_>, out: &mut Out) {
    parts.unread.iter().for_each(|(name, error)| out.report(name, error));
}

fn title(out: &mut Out, text: &str) -> io::Result<()> {
    out.styled(Style::Heading, &format!("{text}:"))?;
    writeln!(out)
}

/// The labels of a coordinate in few words, and how many they are if not all are shown.
fn labels(coordinate: &Coordinate) -> String {
    let count = coordinate.values.len();
    let some = |range: std::ops::Range<usize>| -> String {
        range.map(|at| coordinate.label_text(at)).collect::<Vec<_>>().join(", ")
    };
    let are_hours = matches!(&coordinate.values, Values::Durations(all) if all.iter().all(|step| step % 3600 == 0));
    let unit = if are_hours { " hours" } else { "" };
    if count <= 2 * ENDS + 1 {
        return format!("{}{unit}", some(0..count));
    }
    format!("{} … {} ({count}){unit}", some(0..ENDS), some(count - ENDS..count))
}

fn print_attributes(out: &mut Out, attributes: &Attributes, indent: &str) -> io::Result<()> {
    for (name, value) in attributes {
        writeln!(out, "{indent}{}: {}", escape(name), escape(&attribute_text(value)))?;
    }
    Ok(())
}

fn attribute_text(attribute: &Attribute) -> String {
    fn list<T: ToString>(all: &[T]) -> String {
        all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
    }
    match attribute {
        Attribute::Text(text) => text.clone(),
        Attribute::Integer(number) => number.to_string(),
        Attribute::Float(number) => number.to_string(),
        Attribute::Integers(numbers) => list(numbers),
        Attribute::Floats(numbers) => list(numbers),
        Attribute::Texts(texts) => list(texts),
        Attribute::Nested(value) => {
            tgm_std::metadata::json::from_cbor(value, "").map_or_else(in_our_words, |json| json.to_string())
        }
    }
}
