//! `tgm cube`: what files are as datasets, as `ncdump -h` shows NetCDF.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value as Json, json};
use tgm_dataset::{Attribute, Attributes, Coordinate, Dataset, Values, Variable};

use crate::args::cube::OpenFlags;
use crate::args::listing::{Listed, TextFlags};
use crate::commands::Run;
use crate::read::cubes::{label_text, names, open_or_report};
use crate::read::digests::Digests;
use crate::show::json::{self, Document};
use crate::show::output::{Out, Style};
use crate::show::text::escape;

/// Show files as a dataset: variables over many messages, dimensions, attributes
///
/// Objects of one kind are a variable. Its dimensions are the keys whose values differ, such as times, steps, levels and
/// members, and behind them the dimensions of the grid. All files together are one dataset. What does not fit is listed, and
/// is a dataset of its own. Metadata are read, and no values but the labels of coordinates.
#[derive(Args, Debug)]
pub(crate) struct Cube {
    /// Files or addresses to read: together they are a dataset
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Show all datasets, not only the one with the most objects
    #[arg(long)]
    all: bool,
    /// Print up to N places without an object
    #[arg(long, value_name = "N", default_value_t = 10)]
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
                let item = self.to_json(dataset, out);
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
            let head = format!("{}{of}: {}", names(&self.paths), counted(objects, "object"));
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
        for (name, len) in dims(dataset) {
            writeln!(out, "  {} = {len}", escape(name))?;
        }
        let (coordinates, variables) = parted(dataset, out);
        if !coordinates.is_empty() {
            title(out, "coordinates")?;
        }
        for coordinate in &coordinates {
            let labels = escape(&labels(coordinate));
            let units =
                text_of(&coordinate.attributes, "units").filter(|units| !units.contains(" since ") && *units != "1");
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
            let holes = if holes > 0 { format!(", {} without one", counted_of(holes, "place")) } else { String::new() };
            let line = format!("{dtype} {}({})", variable.name, variable.dims.join(", "));
            write!(out, "  {}", escape(&line))?;
            if objects > 0 {
                write!(out, ": {}{holes}", counted(objects, "object"))?;
            }
            writeln!(out)?;
            print_attributes(out, &variable.attributes, "      ")?;
        }
        if !dataset.attributes.is_empty() {
            title(out, "attributes")?;
            print_attributes(out, &dataset.attributes, "  ")?;
        }
        // One more tells that there are others.
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

    fn to_json(&self, dataset: &Dataset, out: &mut Out) -> Json {
        let (coordinates, variables) = parted(dataset, out);
        let dims: Json = dims(dataset).into_iter().map(|(name, len)| json!({"name": name, "length": len})).collect();
        let left_out = dataset
            .left_out
            .iter()
            .map(|it| json!({"name": it.name, "what": it.what, "why": it.why, "objects": it.objects}));
        let of_variable = |it: &&Variable| {
            json::object([
                ("name", Some(it.name.as_str().into())),
                ("dtype", Some(it.dtype().map_or("text", |dtype| dtype.name()).into())),
                ("dimensions", Some(json!(it.dims))),
                ("shape", Some(json!(it.shape))),
                ("object_shape", Some(json!(it.piece_shape()))),
                ("objects", Some(it.object_count().into())),
                ("holes", Some(it.hole_count().into())),
                ("attributes", Some(attributes_json(&it.attributes))),
            ])
        };
        json::object([
            ("dimensions", Some(dims)),
            ("coordinates", Some(coordinates.iter().map(coordinate_json).collect())),
            ("variables", Some(variables.iter().map(of_variable).collect())),
            ("attributes", Some(attributes_json(&dataset.attributes))),
            ("holes", Some(json!(dataset.holes(self.holes)))),
            ("left_out", Some(left_out.collect())),
            ("notes", Some(json!(dataset.notes))),
        ])
    }
}

/// The coordinates, and what is not one. Coordinates of files on several dimensions stay among the variables. What cannot be read
/// is reported.
fn parted<'d>(dataset: &'d Dataset, out: &mut Out) -> (Vec<Coordinate>, Vec<&'d Variable>) {
    let mut coordinates = dataset.coordinates.clone();
    let mut variables = Vec::new();
    for variable in &dataset.variables {
        if variable.dims.len() > 1 || !dataset.is_coordinate(&variable.name) {
            variables.push(variable);
            continue;
        }
        match dataset.labels(&variable.name) {
            Ok(found) => coordinates.extend(found.map(std::borrow::Cow::into_owned)),
            Err(error) => {
                out.report(&variable.name, &error);
                variables.push(variable);
            }
        }
    }
    (coordinates, variables)
}

/// All dimensions with their lengths, in the order of variables.
fn dims(dataset: &Dataset) -> Vec<(&str, u64)> {
    let mut found: Vec<(&str, u64)> = Vec::new();
    // The variable with the most dimensions has them in order.
    let mut variables: Vec<&Variable> = dataset.variables.iter().collect();
    variables.sort_by_key(|it| std::cmp::Reverse(it.dims.len()));
    for (dim, len) in variables.iter().flat_map(|it| it.dims.iter().zip(&it.shape)) {
        if !found.iter().any(|(known, _)| known == dim) {
            found.push((dim, *len));
        }
    }
    found
}

fn title(out: &mut Out, text: &str) -> io::Result<()> {
    out.styled(Style::Heading, &format!("{text}:"))?;
    writeln!(out)
}

fn counted(count: usize, what: &str) -> String {
    counted_of(count as u64, what)
}

fn counted_of(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The labels of a coordinate in few words, and how many they are if not all are shown.
fn labels(coordinate: &Coordinate) -> String {
    let count = coordinate.values.len();
    let some = |range: std::ops::Range<usize>| -> String {
        range.map(|at| label_text(coordinate, at)).collect::<Vec<_>>().join(", ")
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
    }
}

fn text_of<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    let (_, found) = attributes.iter().find(|(known, _)| known == name)?;
    if let Attribute::Text(text) = found { Some(text) } else { None }
}

fn attributes_json(attributes: &Attributes) -> Json {
    let value = |attribute: &Attribute| match attribute {
        Attribute::Text(text) => json!(text),
        Attribute::Integer(number) => json!(number),
        Attribute::Float(number) => json::float_json(*number),
        Attribute::Integers(numbers) => json!(numbers),
        Attribute::Floats(numbers) => numbers.iter().map(|number| json::float_json(*number)).collect(),
        Attribute::Texts(texts) => json!(texts),
    };
    Json::Object(attributes.iter().map(|(name, it)| (name.clone(), value(it))).collect())
}

/// Times are texts, steps are seconds.
fn coordinate_json(coordinate: &Coordinate) -> Json {
    let (kind, values): (_, Json) = match &coordinate.values {
        Values::Integers(numbers) => ("integer", json!(numbers)),
        Values::Floats(numbers) => ("float", numbers.iter().map(|number| json::float_json(*number)).collect()),
        Values::Texts(texts) => ("text", json!(texts)),
        Values::Times(times) => {
            ("time", (0..times.len()).map(|at| Some(label_text(coordinate, at)).filter(|it| !it.is_empty())).collect())
        }
        Values::Durations(steps) => {
            ("seconds", steps.iter().map(|step| Some(*step).filter(|step| *step != i64::MIN)).collect())
        }
    };
    // Labels of an axis are all there; where points are on two dimensions, they are many.
    let is_axis = coordinate.dims.len() < 2;
    json::object([
        ("name", Some(coordinate.name.as_str().into())),
        ("dimensions", Some(json!(coordinate.dims))),
        ("kind", Some(kind.into())),
        ("values", is_axis.then_some(values)),
        ("attributes", Some(attributes_json(&coordinate.attributes))),
    ])
}
