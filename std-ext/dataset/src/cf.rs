//! The profile of files: variables, dimensions and attributes as NetCDF and Zarr have them.
//!
//! An object is a variable, a record of one, or a piece of one:
//!
//! | what | its place |
//! |---|---|
//! | a variable | its `dimensions` are the variable's |
//! | a record | `netcdf.record` names the first dimension, and the message has the number under `_extra_.record` |
//! | a piece | `netcdf.origin` is its first index, `netcdf.shape` the shape of the array, `netcdf.chunk_shape` that of its pieces |
//! | a chunk | `zarr.origin` is its first index; the message has the description of the array under `_extra_.zarr` |
//!
//! Texts lie in `_extra_.texts`. What was appended to a dataset later has `_extra_.part`: its number, from 1 on, and the dimension
//! along which it goes on. Each file and each part is a dataset, as its times may have other units, and its chunks other lengths:
//! [`crate::join`] makes one of them.

mod arrays;
mod files;
mod texts;

use std::collections::BTreeMap;
use std::sync::Arc;

use tgm_core::cbor::Array;

use self::arrays::variable;
use self::texts::texts;
use crate::archive::Archive;
use crate::attributes::of_map;
use crate::dataset::Dataset;
use crate::gather::{About, Cells, EXTRA, Gathered, Row};
use crate::model::{Attributes, LeftOut, Variable};
use crate::options::OpenOptions;

pub(crate) use self::files::Starts;
pub(crate) use crate::times::NUMPY_DTYPE;

/// Whether the objects were made from files: they have dimensions by name, or are chunks.
pub(crate) fn is_of_files(gathered: &Gathered) -> bool {
    let has = |key: &str| gathered.keys.find(key.as_bytes()).is_some();
    let of_fields = ["mars.param", "grib.paramId", "grib.discipline", "mars.step", "mars.levelist"];
    let of_files = ["netcdf", "zarr", "dimensions", "_extra_.zarr", "_extra_.netcdf", "_extra_.texts"];
    of_files.into_iter().any(has) && !of_fields.into_iter().any(has)
}

/// A variable in the making.
#[derive(Default)]
struct Growing {
    rows: Vec<usize>,
    /// What the message says of the array that its objects are chunks of.
    array: Option<Box<[u8]>>,
}

/// What belongs to one file, or to one part that was appended to it.
#[derive(Default)]
struct Share<'g> {
    rows: Vec<usize>,
    abouts: Vec<&'g About>,
}

/// The place of a share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    source: u32,
    /// The number of its file, where several follow each other in a source.
    file: usize,
    /// Its number in the file. What was written first has no dimension along which it goes on.
    part: u64,
}

/// The shares of an archive in their order, each with the dimension along which it goes on, if it was appended.
fn shares<'g>(gathered: &'g Gathered, starts: &Starts) -> BTreeMap<Place, (Option<String>, Share<'g>)> {
    let key = format!("{EXTRA}part");
    let has_parts = gathered.keys.find(key.as_bytes()).is_some();
    let place = |source: u32, message: u32, cells: Option<&Cells>| {
        let found = cells.filter(|_| has_parts).map(|cells| part_of(gathered, cells));
        // What is malformed is noted by the dataset that it is counted to.
        let (part, along) = found.and_then(Result::ok).flatten().map_or((0, None), |(part, along)| (part, Some(along)));
        (Place { source, file: starts.file(source, message), part }, along)
    };
    let mut found: BTreeMap<Place, (Option<String>, Share<'_>)> = BTreeMap::new();
    for about in &gathered.abouts {
        let (place, along) = place(about.source, about.message, Some(&about.cells));
        let (known, share) = found.entry(place).or_default();
        *known = along;
        share.abouts.push(about);
    }
    for (number, row) in gathered.rows.iter().enumerate() {
        let (place, along) = place(row.entry.source, row.entry.message, gathered.about(&row.entry));
        let (known, share) = found.entry(place).or_default();
        *known = along;
        share.rows.push(number);
    }
    found
}

/// The number of the part that a message is of, and the dimension along which it was appended. `None` for a message of what was written
/// first, and an error for one whose key is not as this project writes it.
fn part_of(gathered: &Gathered, cells: &Cells) -> Result<Option<(u64, String)>, ()> {
    let Some(part) = gathered.value(cells, &format!("{EXTRA}part")) else { return Ok(None) };
    let read = || -> Option<(u64, String)> {
        let map = part.as_map().ok()?;
        let number = map.get("number").ok().flatten()?.as_u64().ok()?;
        let dimension = map.get("dimension").ok().flatten()?.as_str().ok()?;
        Some((number, dimension.to_string()))
    };
    read().map(Some).ok_or(())
}

/// What a file has: the dataset that was written first, and those that were appended, each with its dimension.
pub(crate) struct OfFile {
    pub(crate) source: u32,
    pub(crate) first: Dataset,
    pub(crate) parts: Vec<(String, Dataset)>,
}

/// The datasets of all variables of a group, for each file by itself.
pub(crate) fn datasets(
    gathered: &Gathered,
    archive: &Arc<Archive>,
    options: &OpenOptions,
    starts: &Starts,
) -> Vec<OfFile> {
    let mut found: Vec<(usize, OfFile)> = Vec::new();
    for (Place { source, file, .. }, (along, share)) in shares(gathered, starts) {
        let dataset = dataset(gathered, archive, options, &share);
        match (along, found.last_mut().filter(|(number, known)| (known.source, *number) == (source, file))) {
            (Some(along), Some((_, known))) => known.parts.push((along, dataset)),
            // A part whose beginning is not there stands for itself.
            _ => found.push((file, OfFile { source, first: dataset, parts: Vec::new() })),
        }
    }
    found.into_iter().map(|(_, file)| file).collect()
}

/// The variables of a share in the making, in the order in which their names are met.
#[derive(Default)]
struct Variables {
    growing: BTreeMap<String, Growing>,
    order: Vec<String>,
}

impl Variables {
    fn entry(&mut self, name: String) -> &mut Growing {
        if !self.growing.contains_key(&name) {
            self.order.push(name.clone());
        }
        self.growing.entry(name).or_default()
    }

    /// Counts the objects of a share to the variables that they name.
    fn add_objects(&mut self, gathered: &Gathered, share: &Share<'_>) {
        for (number, row) in share.rows.iter().filter_map(|number| Some((*number, gathered.rows.get(*number)?))) {
            let name = name_of(gathered, row).unwrap_or_else(|| format!("object_{}", row.entry.object));
            self.entry(name).rows.push(number);
        }
    }

    /// Takes the arrays that messages describe: only messages of arrays of Zarr describe one.
    fn add_arrays(&mut self, gathered: &Gathered, share: &Share<'_>, notes: &mut Notes) {
        for about in &share.abouts {
            if part_of(gathered, &about.cells).is_err() {
                notes.add(
                    "part",
                    "it lacks a number and a dimension, so the message is not of a part that was appended",
                );
            }
            let Some(zarr) = gathered.value(&about.cells, &format!("{EXTRA}zarr")) else { continue };
            let of_map = |key: &str| zarr.as_map().ok()?.get(key).ok().flatten();
            let Some((path, array)) = of_map("path").and_then(|path| path.as_str().ok()).zip(of_map("array")) else {
                notes.add("zarr", "it lacks the path or the description of an array");
                continue;
            };
            // An array at the root is called by its store, which its objects know.
            let place = (about.source, about.message);
            let first = gathered.rows.partition_point(|row| (row.entry.source, row.entry.message) < place);
            let own = gathered.rows.get(first).filter(|row| (row.entry.source, row.entry.message) == place);
            let name = own.and_then(|row| name_of(gathered, row)).unwrap_or_else(|| path.to_string());
            self.entry(name).array = Some(array.as_encoded().into());
        }
    }

    /// The variables of the group that is asked for. The others are left out, each with a reason.
    fn finish(
        mut self,
        gathered: &Gathered,
        options: &OpenOptions,
        notes: &mut Notes,
    ) -> (Vec<Variable>, Vec<LeftOut>) {
        let (mut variables, mut left_out) = (Vec::new(), Vec::new());
        let order = std::mem::take(&mut self.order);
        for (name, growing) in order.into_iter().filter_map(|name| self.growing.remove(&name).map(|one| (name, one))) {
            let rows = growing.rows.iter().filter_map(|number| gathered.rows.get(*number));
            let attributes = { rows }.find_map(|row| gathered.value(&row.cells, "attributes"));
            if attributes.is_some_and(|attributes| attributes.as_map().is_err()) {
                notes.add("attributes", NO_MAP);
            }
            let found = own_name(&name, options.group.as_deref())
                .ok_or_else(|| "it is in another group".to_string())
                .and_then(|own| variable(gathered, own, &growing, options));
            match found {
                Ok(found) => variables.push(found),
                Err(why) => left_out.push(LeftOut { what: String::new(), why, objects: growing.rows.len(), name }),
            }
        }
        (variables, left_out)
    }
}

/// The name that an object has.
fn name_of(gathered: &Gathered, row: &Row) -> Option<String> {
    gathered.value(&row.cells, "name")?.as_str().ok().map(str::to_string)
}

/// The dataset of one part.
fn dataset(gathered: &Gathered, archive: &Arc<Archive>, options: &OpenOptions, share: &Share<'_>) -> Dataset {
    let (mut growing, mut notes) = (Variables::default(), Notes::default());
    growing.add_objects(gathered, share);
    growing.add_arrays(gathered, share, &mut notes);
    let (mut variables, mut left_out) = growing.finish(gathered, options, &mut notes);
    let group = options.group.as_deref();
    variables.extend(texts(gathered, &share.abouts, group, &mut left_out));
    let attributes = group_attributes(gathered, &share.abouts, group, &mut notes);
    let unlimited = unlimited(gathered, &share.abouts, group, &mut notes);
    Dataset {
        attributes,
        coordinates: Vec::new(),
        projection: Vec::new(),
        variables,
        left_out,
        notes: notes.0,
        unused_keys: Vec::new(),
        unlimited,
        appended: 0,
        is_of_files: true,
        archive: Arc::clone(archive),
    }
}

/// Why a key is not used that has attributes.
const NO_MAP: &str = "it is not a map";

/// What messages say of a file that nothing can be made of. Each message of a file may say the same, so it is noted once.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn add(&mut self, key: &str, why: &str) {
        let note = format!("the key {key} of a message is not used: {why}");
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }
}

/// The names of all groups. What [`Notes`] of a dataset say is passed over here.
pub(crate) fn groups(gathered: &Gathered) -> Vec<String> {
    let mut found = std::collections::BTreeSet::new();
    let names =
        gathered.rows.iter().filter_map(|row| gathered.value(&row.cells, "name")?.as_str().ok().map(str::to_string));
    let mut add = |path: &str| {
        for (at, _) in path.match_indices('/') {
            found.extend(path.get(..at).map(str::to_string));
        }
    };
    names.for_each(|name| add(&name));
    for about in &gathered.abouts {
        for key in ["groups", "texts"] {
            let Some(map) = gathered.value(&about.cells, &format!("{EXTRA}{key}")) else { continue };
            let Ok(map) = map.as_map() else { continue };
            for (name, _) in map.iter().filter_map(Result::ok) {
                if let Ok(name) = name.as_str() {
                    // A group is a path by itself, and a text lies in one.
                    add(&if key == "groups" { format!("{name}/") } else { name.to_string() });
                }
            }
        }
    }
    found.remove("");
    found.into_iter().collect()
}

/// The name of a variable within a group. `None` for a variable of another group.
fn own_name<'n>(name: &'n str, group: Option<&str>) -> Option<&'n str> {
    let own = match group.map(|group| group.trim_matches('/')).filter(|group| !group.is_empty()) {
        Some(group) => name.strip_prefix(group)?.strip_prefix('/')?,
        None => name,
    };
    (!own.contains('/') && !own.is_empty()).then_some(own)
}

fn group_attributes(gathered: &Gathered, abouts: &[&About], group: Option<&str>, notes: &mut Notes) -> Attributes {
    let group = group.map(|group| group.trim_matches('/')).filter(|group| !group.is_empty());
    let key = if group.is_some() { "groups" } else { "attributes" };
    for about in abouts {
        let Some(found) = gathered.value(&about.cells, &format!("{EXTRA}{key}")) else { continue };
        let Ok(map) = found.as_map() else {
            notes.add(key, NO_MAP);
            continue;
        };
        match group.map(|group| map.get(group)) {
            None => return of_map(&found),
            Some(Ok(Some(own))) if own.as_map().is_ok() => return of_map(&own),
            Some(Ok(Some(_)) | Err(_)) => notes.add(key, "the attributes of the group are not a map"),
            // Another message has the group.
            Some(Ok(None)) => {}
        }
    }
    Vec::new()
}

/// The dimensions of a group that have no fixed length.
fn unlimited(gathered: &Gathered, abouts: &[&About], group: Option<&str>, notes: &mut Notes) -> Vec<String> {
    let mut found = std::collections::BTreeSet::new();
    for about in abouts {
        let Some(paths) = gathered.value(&about.cells, &format!("{EXTRA}unlimited")) else { continue };
        let texts = |list: Array<'_>| list.iter().map(|path| Some(path.ok()?.as_str().ok()?.to_string())).collect();
        let Some(paths) = paths.as_array().ok().and_then(texts) else {
            notes.add("unlimited", "it is not a list of names of dimensions");
            continue;
        };
        let paths: Vec<String> = paths;
        found.extend(paths.iter().filter_map(|path| own_name(path, group)).map(str::to_string));
    }
    found.into_iter().collect()
}
