//! From Zarr to Tensogram: one message for each array.

mod chunks;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use ciborium::Value;
use serde_json::Value as Json;
use tgm_core::descriptor::Dtype;
#[cfg(doc)]
use tgm_std::TensogramError;
use tgm_std::file::SourceName;
use tgm_std::metadata::json::{from_cbor, to_cbor};
use tgm_std::{DecodeLimits, GlobalMetadata, StreamingEncoder};

use self::chunks::Made;
use super::attributes::with_words;
use super::cells::Values;
use super::describe::{Array, count};
use super::element::TIMES;
use super::fill;
use super::store::{Node, Store, directory};
use super::texts::{Described, Form};
use super::{DESCRIPTION, Result, ZARR};
use crate::arrays::{TIME, time};
use crate::error::metadata;
use crate::maps::{Entries, get};
use crate::names::{above, leaf};
use crate::note::Note;
use crate::pieces::Chunks;
use crate::streamed::{Chosen, ReadOptions as ZarrOptions, Subject};
use tgm_dataset::{are_codes, coordinates_by};

/// Bytes of the attributes of groups and arrays that are written more than once in a message or a file.
const REPEATED: usize = 4096;

/// Bytes of an array that becomes one object without being asked.
const WHOLE: u64 = 64 << 20;

/// Converts all arrays of a store, in the order of their paths, and returns how many messages were written.
///
/// What cannot be converted is left out and given to `report`: an array, or without [`Chunks::Join`] a chunk. So is each file of
/// the store that belongs to no array.
///
/// # Errors
/// [`TensogramError::Metadata`] if the directory is not a Zarr store, or holds no array; [`TensogramError::Io`] of the sink, with
/// which the last message has no end.
pub fn to_tensogram(
    store: &Path,
    options: &ZarrOptions,
    sink: &mut dyn Write,
    report: &mut dyn FnMut(Note),
) -> Result<u64> {
    let on_disk = Store::new(store)?;
    // Only the caller's stages differ for them.
    let coordinates = if options.stages.is_some() { coordinates(&on_disk)? } else { BTreeSet::new() };
    let (name, groups) = (root_name(store), BTreeMap::new());
    let mut reader = Reader { name, store: &on_disk, options, coordinates, groups, stored: 0, decoded: 0 };
    let (mut messages, mut arrays, mut is_empty) = (0, 0_u64, true);
    on_disk.walk(&mut |path, node| {
        is_empty = false;
        match node {
            Node::Array(description, attributes) => {
                arrays += 1;
                if reader.write(path, &description, attributes, sink, report)? {
                    messages += 1;
                }
            }
            Node::Group(attributes) => _ = reader.groups.insert(path.to_string(), Group::new(attributes)),
            Node::Failed(error) if path.is_empty() => return Err(error),
            Node::Failed(error) => {
                arrays += 1;
                report(Note::failed(path, error));
            }
            Node::Beside(what) => report(Note::not_kept(path, what)),
        }
        Ok(())
    })?;
    if is_empty {
        let store = SourceName::of(store);
        return Err(metadata(format!("{store} has no {DESCRIPTION}, .zarray or .zgroup: it is not a Zarr store")));
    }
    if arrays == 0 {
        return Err(metadata("the store holds no arrays"));
    }
    for (path, group) in reader.groups {
        if !group.is_told {
            let what = if group.attributes.is_empty() {
                "the group, which has no array"
            } else {
                "the group and its attributes: it has no array"
            };
            report(Note::not_kept(if path.is_empty() { "the root" } else { &path }, what));
        }
    }
    Ok(messages)
}

/// The names of the arrays that are coordinates, without the groups that have them.
fn coordinates(store: &Store) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    store.walk(&mut |path, node| {
        if let Node::Array(description, attributes) = node {
            let dims = get(&description, "dimension_names").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let dims: Vec<_> = dims.iter().map(|dim| dim.as_text().unwrap_or_default()).collect();
            let text = |key: &str| get(&attributes, key)?.as_text();
            names.extend(coordinates_by(leaf(path), &dims, text).map(str::to_string));
        }
        Ok::<_, tgm_std::TensogramError>(())
    })?;
    Ok(names)
}

/// What an array at the root is called.
fn root_name(store: &Path) -> String {
    store.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A group of a store.
struct Group {
    attributes: Entries,
    /// Whether the attributes are in each message below, and not in the first alone.
    is_repeated: bool,
    /// Whether a message has them.
    is_told: bool,
}

impl Group {
    fn new(attributes: Entries) -> Self {
        Self { is_repeated: encoded_len(&attributes) <= REPEATED, attributes, is_told: false }
    }
}

/// Bytes of attributes in a message.
fn encoded_len(attributes: &Entries) -> usize {
    let mut bytes = Vec::new();
    let written = ciborium::into_writer(&Value::Map(attributes.clone()), &mut bytes);
    written.map_or(usize::MAX, |()| bytes.len())
}

/// What reads a store.
struct Reader<'a> {
    /// What an array at the root is called.
    name: String,
    store: &'a Store,
    options: &'a ZarrOptions,
    coordinates: BTreeSet<String>,
    groups: BTreeMap<String, Group>,
    /// Bytes of chunks so far, on disk and decoded.
    stored: u64,
    decoded: u64,
}

/// An array that is about to be written.
struct Source {
    array: Array,
    subject: Subject,
    values: Values,
    /// The description of an array with these values.
    json: Json,
    /// The kind, the unit and the multiple, if the elements are times.
    time: Option<Value>,
    /// Indices of the chunks that are stored, in order.
    chunks: Vec<Vec<u64>>,
    /// What makes texts of the numbers, if the array is of texts.
    texts: Option<Described>,
    /// The stages of its chunks.
    stages: Chosen,
}

impl Reader<'_> {
    /// Writes the message of an array, unless it is reported.
    fn write(
        &mut self,
        path: &str,
        description: &[(Value, Value)],
        attributes: Entries,
        sink: &mut dyn Write,
        report: &mut dyn FnMut(Note),
    ) -> Result<bool> {
        let place = if path.is_empty() { "the root" } else { path };
        let prepared = self.prepare(path, description, attributes, report).and_then(|source| {
            if source.texts.is_some() {
                return Ok((source, None));
            }
            let whole = match self.options.chunks {
                Chunks::Join => Some(self.join(path, &source)?),
                Chunks::Fit if source.len() <= WHOLE => self.join_if_sound(path, &source),
                Chunks::Keep | Chunks::Fit => None,
            };
            Ok((source, whole))
        });
        let (source, whole) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                report(Note::failed(place, error));
                return Ok(false);
            }
        };
        if let Some(texts) = &source.texts {
            return match self.texts(path, &source, texts) {
                Ok(values) => self.write_texts(path, &source, (texts, values), sink),
                Err(error) => {
                    report(Note::failed(place, error));
                    Ok(false)
                }
            };
        }
        for told in source.values.reading.not_applied() {
            report(Note::not_kept(place, format!("what {} says: {}", told.name, told.why)));
        }
        let options = self.options;
        // Before the message begins, so that an array that cannot be encoded leaves none.
        let whole = match whole.map(|whole| source.made(&source.array.shape, whole, options)).transpose() {
            Ok(whole) => whole,
            Err(error) => {
                report(Note::failed(place, error));
                return Ok(false);
            }
        };
        let objects = if whole.is_some() { 1 } else { source.chunks.len() };
        let global = GlobalMetadata { extra: self.extra(path, &source, objects), ..GlobalMetadata::default() };
        let mut encoder = StreamingEncoder::new(sink, &global, &options.encode)?;
        let is_repeated = encoded_len(&source.values.attributes).saturating_mul(objects) <= REPEATED.max(1 << 20);
        let name = if path.is_empty() { self.name.clone() } else { path.to_string() };
        let (mut altered, mut written) = (0, 0);
        let mut write = |made: Made, at: Option<(&[u64], &[u64])>| {
            altered += made.altered;
            let mut entry = source.entry(&name, at);
            let Values { attributes, of_each, .. } = &source.values;
            let attributes = if written == 0 || is_repeated { attributes } else { of_each };
            if !attributes.is_empty() {
                entry.insert("attributes".into(), Value::Map(attributes.clone()));
            }
            written += 1;
            encoder.write_preceder(entry)?;
            encoder.write_region(&made.descriptor, &made.region)
        };
        if let Some(whole) = whole {
            write(whole, None)?;
        } else {
            let threads = self.threads()?;
            for group in source.groups(threads) {
                let made = self.side_by_side((path, &source, group), threads, |shape, elements| {
                    source.made(shape, source.values.reading.cells(elements)?.bytes, options)
                });
                for (index, made) in made {
                    match made {
                        Ok(made) => write(made, Some((index, &source.array.extent(index).0)))?,
                        Err(error) => {
                            report(Note::failed(format!("{place}, chunk {}", source.array.key(index)), error));
                        }
                    }
                }
            }
        }
        encoder.finish()?;
        self.note_told(path);
        if altered > 0 {
            let what = format!("parts of {altered} complex values: both are NaN or infinite now, because one was");
            report(Note::not_kept(place, what));
        }
        Ok(true)
    }

    /// Notes that a message has the attributes of the groups above an array.
    fn note_told(&mut self, path: &str) {
        for path in std::iter::once("").chain(above(path)) {
            if let Some(group) = self.groups.get_mut(path) {
                group.is_told = true;
            }
        }
    }

    /// Reads the description of an array, and finds its chunks. Other files of its directory are reported.
    fn prepare(
        &self,
        path: &str,
        description: &[(Value, Value)],
        attributes: Entries,
        report: &mut dyn FnMut(Note),
    ) -> Result<Source> {
        let description = Value::Map(description.to_vec());
        let mut json = from_cbor(&with_words(&description, &mut 0), DESCRIPTION)?;
        let names = json.get("dimension_names").cloned();
        let texts = Described::take(&mut json)?;
        let time = time_of(&json);
        let data_type = json.get("data_type").map(|name| name.get("name").unwrap_or(name));
        let dtype = match data_type.and_then(Json::as_str) {
            Some("bool") => Some(Dtype::Bitmask),
            Some(name) if TIMES.contains(&name) => Some(Dtype::Int64),
            name => name.and_then(Dtype::from_name),
        };
        if let Some(fill) = dtype.zip(json.get("fill_value")).and_then(|(dtype, fill)| fill::normal(dtype, fill)) {
            json["fill_value"] = fill;
        }
        let is_wide = texts.as_ref().is_some_and(|texts| !matches!(texts.form, Form::Lengths(_)));
        let array = if is_wide { Array::of_texts(&json)? } else { Array::parse(&json)? };
        let grid = array.grid(&self.options.limits)?;
        let mut chunks = Vec::new();
        self.store.files(&directory(Path::new(""), path), &mut |key| {
            if let Some(index) = array.index(key, &grid) {
                chunks.push(index);
            } else {
                let place = if path.is_empty() { key.to_string() } else { format!("{path}/{key}") };
                report(Note::not_kept(place, "the file, which is not a chunk of the array"));
            }
            Ok(())
        })?;
        chunks.sort_unstable();
        let attribute = |key: &str| get(&attributes, key).map(Value::as_text);
        let is_exact = self.coordinates.contains(leaf(path))
            || time.is_some()
            || dtype.is_some_and(|dtype| are_codes(dtype, attribute));
        // Attributes of texts say nothing of numbers.
        let (attributes, beside) = if texts.is_some() { (Vec::new(), attributes) } else { (attributes, Vec::new()) };
        let mut values = Values::of(&array, attributes, self.options.keep_packed);
        values.describe(&array, &mut json).map_err(|error| error.within("the fill value"))?;
        if texts.is_some() {
            values.attributes = beside;
            json["dimension_names"] = names.unwrap_or_default();
        }
        let subject = if is_exact { Subject::Exact } else { Subject::Data };
        Ok(Source { array, subject, values, json, time, chunks, texts, stages: Chosen::default() })
    }

    /// Takes a chunk of so many bytes on disk from the budget of the store: as the limits allow it to one object, but for their
    /// greatest size.
    fn take(&mut self, on_disk: u64, array: &Array) -> Result<()> {
        // Sums beyond all numbers are beyond all limits.
        let len = count(&array.chunk)?.saturating_mul(array.element.size() as u64);
        self.stored = self.stored.saturating_add(on_disk);
        self.decoded = self.decoded.saturating_add(len);
        let limits = DecodeLimits { max_decoded_bytes: u64::MAX, ..self.options.limits };
        limits.check_bytes(self.stored, self.decoded).map(drop).map_err(|error| error.within("the chunks so far"))
    }

    /// The values of the array, if all chunks can be read and decoded within the limits.
    fn join_if_sound(&mut self, path: &str, source: &Source) -> Option<Vec<u8>> {
        let before = (self.stored, self.decoded);
        let joined = self.join(path, source);
        if joined.is_err() {
            // They are read again, one by one.
            (self.stored, self.decoded) = before;
        }
        joined.ok()
    }

    /// The values of the array.
    fn join(&mut self, path: &str, source: &Source) -> Result<Vec<u8>> {
        let array = &source.array;
        let folder = directory(Path::new(""), path);
        // What is stored bounds the memory that the array may take.
        let stored = source.chunks.iter().map(|index| self.store.len(&folder.join(array.key(index))));
        // More bytes than there are numbers allow as much as the limits do.
        let stored = stored.fold(0, u64::saturating_add);
        array.len(&array.shape, usize::try_from(stored).unwrap_or(usize::MAX), &self.options.limits)?;
        let mut whole = array.filled(&array.shape)?;
        let threads = self.threads()?;
        for group in source.groups(threads) {
            for (index, elements) in self.side_by_side((path, source, group), threads, |_, elements| Ok(elements)) {
                let elements = elements.map_err(|error| error.within(format_args!("chunk {}", array.key(index))))?;
                let (origin, shape) = array.extent(index);
                whole = array.paste(whole, &array.shape, (&origin, &shape), &elements)?;
            }
        }
        source.values.reading.cells(whole).map(|cells| cells.bytes)
    }

    /// The metadata of the message: the array's description and the attributes of the groups above it.
    fn extra(&self, path: &str, source: &Source, objects: usize) -> BTreeMap<String, Value> {
        let mut array = to_cbor(&source.json);
        if let (Value::Map(entries), 0) = (&mut array, objects) {
            // No object is there to have them.
            entries.push(("attributes".into(), Value::Map(source.values.attributes.clone())));
        }
        let mut zarr = vec![("path".into(), path.into()), ("array".into(), array)];
        if !source.values.packing.is_empty() {
            zarr.push(("packing".into(), Value::Map(source.values.packing.clone())));
        }
        let mut extra = BTreeMap::from([(ZARR.to_string(), Value::Map(zarr))]);
        let attributes = |path: &str| {
            let group = self.groups.get(path).filter(|group| !group.is_told || group.is_repeated)?;
            (!group.attributes.is_empty()).then(|| Value::Map(group.attributes.clone()))
        };
        if let Some(attributes) = attributes("") {
            extra.insert("attributes".into(), attributes);
        }
        let groups: Entries = above(path).filter_map(|path| Some((path.into(), attributes(path)?))).collect();
        if !groups.is_empty() {
            extra.insert("groups".into(), Value::Map(groups));
        }
        extra
    }
}

impl Source {
    /// Bytes of all values.
    fn len(&self) -> u64 {
        let width = self.values.reading.dtype().byte_width().max(self.array.element.size());
        count(&self.array.shape).map_or(u64::MAX, |count| count.saturating_mul(width as u64))
    }

    /// The metadata of an object: of a chunk at an index, which begins at an origin, or of the whole array.
    fn entry(&self, name: &str, at: Option<(&[u64], &[u64])>) -> BTreeMap<String, Value> {
        let mut entry = BTreeMap::from([("name".to_string(), Value::from(name))]);
        if let Some(names) = self.json.get("dimension_names").filter(|names| names.is_array()) {
            entry.insert("dimensions".to_string(), to_cbor(names));
        }
        if let Some(time) = &self.time {
            entry.insert(TIME.to_string(), time.clone());
        }
        if let Some((index, origin)) = at {
            let list = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| (*number).into()).collect());
            let place = vec![("chunk".into(), list(index)), ("origin".into(), list(origin))];
            entry.insert(ZARR.to_string(), Value::Map(place));
        }
        entry
    }
}

/// What the metadata says of elements that are times. `None` for a multiple of the unit that is not a whole number: they are
/// numbers then.
fn time_of(json: &Json) -> Option<Value> {
    let data_type = json.get("data_type")?;
    let name = data_type.get("name")?.as_str().filter(|name| TIMES.contains(name))?;
    let unit = data_type.pointer("/configuration/unit").and_then(Json::as_str)?;
    let multiple = data_type.pointer("/configuration/scale_factor").map_or(Some(1), Json::as_u64)?;
    Some(time(name.trim_start_matches("numpy."), unit, multiple))
}
