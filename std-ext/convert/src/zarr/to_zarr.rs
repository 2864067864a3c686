//! From Tensogram to Zarr: messages of arrays restore them, and other objects become arrays.

mod consolidated;
mod cubes;
mod dimensions;
mod records;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ciborium::Value;
use serde_json::{Map, Value as Json, json};
use tgm_core::Message;
use tgm_core::descriptor::{Dtype, MaskKind};
use tgm_core::object::DataObject;
use tgm_dataset::reading::{Reading, gather};
use tgm_std::codec::memory;
use tgm_std::file::SourceName;
use tgm_std::file::replace::make_folders;
use tgm_std::internal::reserve_more;
use tgm_std::metadata::json::from_cbor;
use tgm_std::read;
use tgm_std::{DecodeLimits, DecodeOptions, GlobalMetadata, TensogramError, check_message, decode_descriptors};
use zarrs::metadata::v3::MetadataV3;

use self::records::{Growing, Records};
use super::attributes::{self, teller};
use super::codecs::make_writable;
use super::describe::{Array, count, indices};
use super::element::{Element, TIMES};
use super::names::safe;
use super::store::directory;
use super::{DESCRIPTION, Result, ZARR};
use crate::arrays::{NAME, TIME, unpack_bools};
use crate::axes::{Axes, Objects};
use crate::dimensions::Dimensions;
use crate::error::{encoding, encoding_from, metadata};
use crate::names::{Names, of_object, unnamed};
use crate::note::Note;
use crate::pieces::{self, Piece};
use crate::texts::{Texts, Written};

/// Options of the conversion to Zarr.
#[derive(Clone, Debug)]
pub struct ToZarrOptions {
    /// The shape of chunks. `None` keeps the chunks that an array had, and makes one of any other object. Its last
    /// dimensions are taken where arrays have fewer; they have whole dimensions before it where they have more.
    pub chunks: Option<Vec<u64>>,
    /// The level of zstd for arrays without codecs of their own. `None` stores elements as they are.
    pub zstd_level: Option<i32>,
    /// The key of an object that names its array. `None` takes the first that it has of name, mars.param,
    /// mars.shortName, shortName, param and variable.
    pub name_key: Option<String>,
    /// Whether [`ZarrWriter::write_datasets`] writes packed values as `float64`. Otherwise they are rounded to `float32` where
    /// that tells all packed numbers apart.
    pub float64: bool,
    /// Options for decoding.
    pub decode: DecodeOptions,
}

impl Default for ToZarrOptions {
    fn default() -> Self {
        let decode = DecodeOptions::default();
        Self { chunks: None, zstd_level: Some(3), name_key: None, float64: false, decode }
    }
}

/// Writes messages to a directory as a Zarr group.
///
/// The directory is made by [`Self::create`] and is complete after [`Self::finish`].
#[derive(Debug)]
pub struct ZarrWriter {
    root: PathBuf,
    options: ToZarrOptions,
    names: Names,
    dimensions: Dimensions,
    /// The labels of the message that is written.
    axes: Axes,
    records: Records,
    texts: Written,
    /// Attributes of groups, by path.
    groups: BTreeMap<String, Map<String, Json>>,
    /// Whether the root is an array, which then is all there is.
    is_array: bool,
    messages: usize,
}

impl ZarrWriter {
    /// Makes the directory, which must not exist.
    ///
    /// # Errors
    /// [`TensogramError::Io`], as for an address: addresses are read, and not written.
    pub fn create(root: &Path, options: ToZarrOptions) -> Result<Self> {
        SourceName::of(root).to_write().and_then(fs::create_dir).map_err(|error| TensogramError::io(root, &error))?;
        let (names, groups) = (Names::new(safe), BTreeMap::new());
        Ok(Self {
            root: root.to_path_buf(),
            options,
            names,
            dimensions: Dimensions::default(),
            axes: Axes::default(),
            records: Records::default(),
            texts: Written::default(),
            groups,
            is_array: false,
            messages: 0,
        })
    }

    /// Writes the objects of a message. What cannot be written is left out and given to `report`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] and [`TensogramError::Metadata`] for bytes that are not a message; the errors of
    /// [`check_message`] with `verify_hash`; [`TensogramError::Io`] of the directory.
    pub fn write(&mut self, message: &[u8], report: &mut dyn FnMut(Note)) -> Result<()> {
        if self.options.decode.verify_hash {
            // Shapes and names come from metadata, so the digests of all frames count.
            check_message(message)?;
        }
        // The complete metadata: a streamed message has them in its footer.
        let (global, _) = decode_descriptors(message)?;
        let message = Message::parse(message)?;
        let number = self.messages;
        self.messages += 1;
        let objects = message.objects().map(|object| Ok(object?)).collect::<Result<Vec<_>>>()?;
        let pieces = pieces::of_objects(&global, &objects);
        let name_key = self.options.name_key.as_deref();
        self.axes =
            Axes::of(Objects { global: &global, objects: &objects, pieces: &pieces, name_key }, &self.options.decode);
        for (index, doubt) in &self.axes.doubts {
            report(Note::not_kept(format!("message {number}, object {index}"), doubt));
        }
        if global.extra.contains_key(ZARR) {
            match Recorded::of(&global, &self.options) {
                Ok(recorded) => match recorded.check(&objects, &global, &self.options.decode.limits) {
                    Ok(boxes) => {
                        self.take_groups(&global, number, report);
                        let place = format!("message {number}");
                        let attributes = recorded.attributes(&global, &mut teller(&place, report));
                        let written = self.restore((recorded, attributes), &objects, &boxes, number, report);
                        return told(written, &place, report);
                    }
                    Err(error) => report(Note::not_kept(format!("message {number}"), told_plainly(&error))),
                },
                Err(error) => {
                    let what = format!("the array it was: {}", told_plainly(&error));
                    report(Note::not_kept(format!("message {number}"), what));
                }
            }
        }
        self.take_groups(&global, number, report);
        self.come_to(&global);
        self.write_texts(&global, number, report)?;
        // A mask of one piece is a mask of its array.
        let mut with_nan = BTreeSet::new();
        for (index, (object, piece)) in objects.iter().zip(&pieces).enumerate() {
            if object.descriptor().masks().get(MaskKind::Nan).is_some() {
                with_nan.insert(piece.as_ref().map_or(index, |(first, _)| *first));
            }
        }
        let mut arrays = BTreeMap::new();
        for (index, (object, piece)) in objects.iter().zip(&pieces).enumerate() {
            let place = format!("message {number}, object {index}");
            let first = piece.as_ref().map_or(index, |(first, _)| *first);
            let has_nan = with_nan.contains(&first);
            let source =
                arrays.entry(first).or_insert(Source { has_nan, number, first, is_refused: false, made: None });
            let place_in = piece.as_ref().map(|(_, piece)| piece);
            let written = self.write_object((object, place_in), &global, source, &place, report);
            told(written, &place, report)?;
        }
        self.leave();
        Ok(())
    }

    /// Takes the attributes of groups that the message has. The first of a name counts.
    fn take_groups(&mut self, global: &GlobalMetadata, number: usize, report: &mut dyn FnMut(Note)) {
        let place = format!("message {number}");
        for (path, own) in attributes::of_groups(global, &mut teller(&place, report)) {
            let group = self.groups.entry(path).or_default();
            own.into_iter().for_each(|(key, value)| _ = group.entry(key).or_insert(value));
        }
    }

    /// Writes the descriptions of all groups. The description of the root has the ones of all nodes.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    pub fn finish(mut self) -> Result<()> {
        if self.is_array {
            return Ok(());
        }
        self.end_growth()?;
        let described = self.groups.keys().map(String::as_str).filter(|path| self.names.may_be_group(path));
        let paths: BTreeSet<&str> = std::iter::once("").chain(self.names.groups()).chain(described).collect();
        for path in paths {
            let attributes = self.groups.get(path).cloned().unwrap_or_default();
            let json = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
            describe(&directory(&self.root, path), &json)?;
        }
        consolidated::consolidate(&self.root)
    }

    /// Writes an array with its description from Zarr.
    fn restore(
        &mut self,
        (recorded, attributes): (Recorded, Map<String, Json>),
        objects: &[DataObject<'_>],
        boxes: &[Vec<u64>],
        number: usize,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        let Recorded { path, name, mut json, mut array, .. } = recorded;
        let place = format!("message {number}");
        let changed = json.get_mut("codecs").map(make_writable).unwrap_or_default();
        if !changed.is_empty() {
            array = Array::parse(&json)?;
            report(Note::not_kept(&place, format!("codec {}: zstd is written", changed.join(", "))));
        }
        if let Some(map) = json.as_object_mut().filter(|_| !attributes.is_empty()) {
            map.insert("attributes".into(), attributes.into());
        }
        // An array at the root is a store by itself, so nothing else fits beside it.
        let (is_root, is_first) = (path.is_empty(), number == 0 && path.is_empty());
        let path = name.unwrap_or(path);
        let taken = if is_first {
            String::new()
        } else {
            self.place_array(&path, (&mut json, &array.shape), &mut teller(&place, report))
        };
        if !is_first && (is_root || taken != path) {
            let path = if is_root { "" } else { &path };
            report(Note::not_kept(&place, format!("the array's path {path:?}: it becomes {taken:?}")));
        }
        self.is_array = is_first;
        let folder = directory(&self.root, &taken);
        describe(&folder, &json)?;
        let element = array.element;
        for (index, (object, origin)) in objects.iter().zip(boxes).enumerate() {
            let elements = match self.elements(object, element) {
                Ok(elements) => elements,
                Err(error) => {
                    report(Note::failed(format!("{place}, object {index}"), error));
                    continue;
                }
            };
            let shape: Vec<u64> = object.descriptor().shape().iter().collect();
            self.write_box(&folder, &array, (&shape, origin), &elements)?;
        }
        Ok(())
    }

    /// Writes an object as an array of its own, or to the array that it is a piece of.
    fn write_object(
        &mut self,
        (object, piece): (&DataObject<'_>, Option<&Piece>),
        global: &GlobalMetadata,
        source: &mut Source,
        place: &str,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        if self.is_array {
            report(Note::failed(place, encoding("the store is the array of the first message")));
            return Ok(());
        }
        let (number, index) = (source.number, source.first);
        let own: Vec<u64> = object.descriptor().shape().iter().collect();
        let origin = piece.map_or_else(|| vec![0; own.len()], |piece| piece.origin.clone());
        let shape = piece.map_or_else(|| own.clone(), |piece| piece.whole.clone());
        let name = of_object(global, index, self.options.name_key.as_deref());
        let wanted = name.unwrap_or_else(|| format!("object_{number}_{index}"));
        if let Some(texts) = global.base.get(index).and_then(|entry| Texts::of_object(entry, &shape)) {
            return self.write_text((&wanted, Some(index)), &texts, place, report);
        }
        let stored = Element { dtype: object.descriptor().dtype() };
        // Numbers of JSON calculate in float64: a scale that does so in float32 is obeyed here.
        let packed = global.base.get(index).and_then(|entry| Reading::of_entry(stored.dtype, entry));
        let packed = packed.filter(|reading| reading.dtype() == Dtype::Float32);
        let element = packed.as_ref().map_or(stored, |reading| Element { dtype: reading.dtype() });
        let elements = self.elements(object, stored).and_then(|elements| match &packed {
            Some(reading) => Ok(reading.cells(elements)?.bytes),
            None if stored.dtype == Dtype::Bfloat16 => widened(&elements),
            None => Ok(elements),
        });
        let element = element.readable();
        if element != stored && packed.is_none() && source.made.is_none() {
            report(Note::remark(
                place,
                format!("{} becomes {}, as zarr-python lacks it", stored.name(), element.name()),
            ));
        }
        let elements = match elements {
            Ok(elements) => elements,
            Err(error) => {
                report(Note::failed(place, error));
                return Ok(());
            }
        };
        if let Some((folder, array)) = &source.made {
            return self.write_box(folder, array, (&own, &origin), &elements);
        }
        let record = records::of_object(global, index);
        if let Some((record, _)) = record
            && self.add_record(&wanted, (record, &own, &elements), place, report)?
        {
            return Ok(());
        }
        if source.is_refused {
            return Ok(());
        }
        // What ends below is told once, and not of each piece.
        source.is_refused = true;
        // A record that does not come is missing.
        let has_nan = packed.is_some() || source.has_nan || record.is_some();
        let described = (global, index, &shape[..]);
        let (name, dimensions) = self.place_object(&wanted, described, record, &mut teller(place, report));
        let asked = self.options.chunks.as_deref();
        let (shape, chunk) = match record {
            Some((record, _)) => records::shape_of(record, &shape, element.size(), asked),
            None => (shape.clone(), chunk_shape(&shape, asked.or(piece.map(|it| &it.chunk[..])))),
        };
        if !name.starts_with(wanted.trim_matches('/')) {
            report(Note::not_kept(place, format!("the name {wanted:.80?}: it becomes {name:.80?}")));
        }
        let mut attributes =
            attributes::of_object(global, index, (element.dtype, packed.as_ref()), &mut teller(place, report));
        // The path says it.
        if attributes.get(NAME).and_then(Json::as_str) == Some(&name) {
            attributes.remove(NAME);
        }
        let time = data_type_of_times(global, index, element);
        if time.is_some() {
            attributes.remove(TIME);
        }
        let json = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": time.unwrap_or_else(|| element.name().into()),
            "chunk_grid": regular(&chunk),
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": element.usual_fill(has_nan),
            "codecs": usual_codecs(element, self.options.zstd_level),
            "attributes": attributes,
            "dimension_names": dimensions,
        });
        let array = Array::parse(&json)?;
        let folder = directory(&self.root, &name);
        describe(&folder, &json)?;
        if let Some((record, dimension)) = record {
            let dimension = self.dimension_of_records(dimension);
            self.grow(&wanted, Growing { dimension, folder, json, array, count: 0 });
            return self.add_record(&wanted, (record, &own, &elements), place, report).map(drop);
        }
        let (folder, array) = source.made.insert((folder, array));
        self.write_box(folder, array, (&own, &origin), &elements)
    }

    /// The elements of an object, in the byte order of the machine, and booleans in a byte each.
    fn elements(&self, object: &DataObject<'_>, element: Element) -> Result<Vec<u8>> {
        let descriptor = object.descriptor();
        let options = DecodeOptions { native_byte_order: true, ..self.options.decode.clone() };
        let bytes = memory::owned(read(object).options(&options).bytes()?)?;
        if element.dtype == Dtype::Bitmask {
            let count = descriptor.element_count();
            let mut booleans = Vec::new();
            reserve_more(&mut booleans, options.limits.check_bytes(bytes.len() as u64, count)?)?;
            unpack_bools(&bytes, count, |part| {
                booleans.extend_from_slice(part);
                Result::<()>::Ok(())
            })?;
            return Ok(booleans);
        }
        Ok(bytes)
    }

    /// Writes a box of an array: to all chunks that it touches. A chunk that has nothing but the fill value is not stored,
    /// unless it is the box.
    fn write_box(
        &self,
        folder: &Path,
        array: &Array,
        (shape, origin): (&[u64], &[u64]),
        elements: &[u8],
    ) -> Result<()> {
        if count(shape)? == 0 {
            return Ok(());
        }
        let failed = |error: TensogramError| error.within(SourceName::of(folder));
        let limits = &self.options.decode.limits;
        array.len(&array.chunk, elements.len(), limits).map_err(failed)?;
        let first: Vec<u64> = origin.iter().zip(&array.chunk).map(|(at, chunk)| at / chunk).collect();
        let ends = origin.iter().zip(shape).zip(&array.chunk);
        let counts: Vec<u64> =
            ends.zip(&first).map(|(((at, len), chunk), first)| (at + len).div_ceil(*chunk) - first).collect();
        for step in indices(&counts) {
            let index: Vec<u64> = first.iter().zip(&step).map(|(first, step)| first + step).collect();
            let (start, extent) = array.extent(&index);
            let low: Vec<u64> = start.iter().zip(origin).map(|(a, b)| *a.max(b)).collect();
            let ends = start.iter().zip(&extent).map(|(at, len)| at + len);
            let high: Vec<u64> = ends.zip(origin.iter().zip(shape)).map(|(end, (at, len))| end.min(at + len)).collect();
            let part: Vec<u64> = high.iter().zip(&low).map(|(high, low)| high - low).collect();
            let path = folder.join(array.key(&index));
            let buffer = match written_chunk(&path)? {
                Some(bytes) if part != extent => array.decode(&bytes, limits),
                _ => array.filled(&array.chunk),
            };
            let from: Vec<u64> = low.iter().zip(origin).map(|(low, at)| low - at).collect();
            let to: Vec<u64> = low.iter().zip(&start).map(|(low, at)| low - at).collect();
            let cut = array.cut(elements, shape, &from, &part).map_err(failed)?;
            let buffer = buffer.and_then(|buffer| array.paste(buffer, &array.chunk, (&to, &part), &cut));
            let buffer = buffer.map_err(failed)?;
            let is_box = part == extent && part == shape && array.shape != shape;
            if is_box || path.exists() || !array.is_filled(&buffer) {
                put(&path, &array.encode(buffer).map_err(failed)?)?;
            }
        }
        Ok(())
    }
}

/// What becomes an array: an object, or several.
struct Source {
    /// Whether any of them has a mask of NaN.
    has_nan: bool,
    /// The number of the message.
    number: usize,
    /// The number of the first object.
    first: usize,
    /// Whether the array cannot be made, which was told.
    is_refused: bool,
    /// The array, when an object has made it.
    made: Option<(PathBuf, Array)>,
}

/// Values of `bfloat16` as `float32`, each in the byte order of the machine.
fn widened(elements: &[u8]) -> Result<Vec<u8>> {
    let values = elements.as_chunks().0.iter();
    gather(values.map(|bytes| Ok(half::bf16::from_ne_bytes(*bytes).to_f32().to_ne_bytes())))
}

/// An array that a message was made of.
struct Recorded {
    path: String,
    /// What its first object is called, which may have got another name since then. An array at the root has that of its store.
    name: Option<String>,
    json: Json,
    array: Array,
    /// Whether the description says what stands for chunks that are missing. Saved datasets do not: all of theirs are there.
    has_fill: bool,
}

impl Recorded {
    fn of(global: &GlobalMetadata, options: &ToZarrOptions) -> Result<Self> {
        let get = |key: &str| global.get_value(&format!("extra.{ZARR}.{key}"));
        let path = get("path").and_then(Value::as_text).ok_or_else(|| metadata("extra.zarr has no path"))?;
        // Attributes may have what JSON lacks, and are asked for apart.
        let recorded = get("array").and_then(Value::as_map).ok_or_else(|| metadata("extra.zarr has no array"))?;
        let is_described = |(key, _): &&(Value, Value)| key.as_text() != Some("attributes");
        let recorded = Value::Map(recorded.iter().filter(is_described).cloned().collect());
        let mut json = from_cbor(&recorded, "extra.zarr.array")?;
        let has_fill = !json.get("fill_value").is_none_or(Json::is_null);
        if let (false, Some(name)) = (has_fill, json.get("data_type").and_then(Json::as_str)) {
            // A store has to name one. No chunk takes it.
            json["fill_value"] = Element::parse(&MetadataV3::new(name))?.usual_fill(true);
        }
        let mut array = Array::parse(&json)?;
        if options.chunks.is_some() {
            let chunk = chunk_shape(&array.shape, options.chunks.as_deref());
            let codecs = usual_codecs(array.element, options.zstd_level);
            let map = json.as_object_mut().ok_or_else(|| metadata("extra.zarr.array is not a map"))?;
            map.insert("chunk_grid".into(), regular(&chunk));
            map.insert("codecs".into(), codecs);
            array = Array::parse(&json)?;
        }
        let name = of_object(global, 0, options.name_key.as_deref()).filter(|name| !name.is_empty());
        Ok(Self { path: path.to_string(), name, json, array, has_fill })
    }

    /// The attributes of the array: of the first object that has some. A message without objects has them beside the description,
    /// where messages of older versions have them too.
    fn attributes(&self, global: &GlobalMetadata, tell: &mut dyn FnMut(String)) -> Map<String, Json> {
        let of_objects = global.base.iter().find_map(|entry| entry.get("attributes").and_then(Value::as_map));
        let beside = || global.get_value(&format!("extra.{ZARR}.array.attributes")).and_then(Value::as_map);
        let entries = of_objects.or_else(beside).map_or(&[][..], Vec::as_slice);
        attributes::of_map(entries, self.array.element.dtype, tell)
    }

    /// The first index of each object in the array.
    fn check(
        &self,
        objects: &[DataObject<'_>],
        global: &GlobalMetadata,
        limits: &DecodeLimits,
    ) -> Result<Vec<Vec<u64>>> {
        let array = &self.array;
        array.grid(limits)?;
        let place = |(index, object): (usize, &DataObject<'_>)| {
            let descriptor = object.descriptor();
            if descriptor.dtype() != array.element.dtype {
                let name = array.element.name();
                let found = descriptor.dtype();
                return Err(metadata(format!("data type {name} of the array: object {index} is {found}")));
            }
            let shape: Vec<u64> = descriptor.shape().iter().collect();
            let own = global.base.get(index).and_then(|entry| entry.get(ZARR));
            let origin = match own.map(|own| from_cbor(own, ZARR)).transpose()? {
                Some(zarr) => super::describe::numbers(zarr.get("origin").unwrap_or(&Json::Null), "origin")?,
                None if shape == array.shape => vec![0; shape.len()],
                None => return Err(metadata(format!("the array: object {index} has no origin in it"))),
            };
            let ends = origin.iter().zip(&shape).map(|(at, len)| at.checked_add(*len));
            let is_within = ends.zip(&array.shape).all(|(end, dim)| end.is_some_and(|end| end <= *dim));
            let dims = array.shape.len();
            if origin.len() != dims || shape.len() != dims || !is_within {
                let whole = &array.shape;
                return Err(metadata(format!("the array: object {index} is not within its shape {whole:?}")));
            }
            Ok(origin)
        };
        let boxes: Vec<Vec<u64>> = objects.iter().enumerate().map(place).collect::<Result<_>>()?;
        if !self.has_fill && !self.is_full(objects, &boxes) {
            return Err(metadata("the array: objects are missing, and it does not say which value stands for them"));
        }
        Ok(boxes)
    }

    /// Whether the objects, which begin at these indices, have all elements of the array.
    fn is_full(&self, objects: &[DataObject<'_>], boxes: &[Vec<u64>]) -> bool {
        let lens = objects.iter().map(|object| object.descriptor().element_count());
        let by_origin: BTreeMap<&Vec<u64>, u64> = boxes.iter().zip(lens).collect();
        let count = by_origin.values().try_fold(0_u64, |all, len| all.checked_add(*len));
        count.is_some() && count == self.array.shape.iter().try_fold(1_u64, |all, len| all.checked_mul(*len))
    }
}

/// The chunks of an array of `shape`. At least 1 in each dimension.
fn chunk_shape(shape: &[u64], wanted: Option<&[u64]>) -> Vec<u64> {
    let wanted = wanted.unwrap_or_default();
    let mut from_the_end: Vec<u64> =
        shape.iter().rev().zip(wanted.iter().rev()).map(|(dim, chunk)| *dim.min(chunk)).collect();
    from_the_end.extend(shape.iter().rev().skip(wanted.len()));
    from_the_end.iter().rev().map(|dim| (*dim).max(1)).collect()
}

fn regular(chunk: &[u64]) -> Json {
    json!({"name": "regular", "configuration": {"chunk_shape": chunk}})
}

/// The codecs of arrays that have none of their own.
pub(super) fn usual_codecs(element: Element, zstd_level: Option<i32>) -> Json {
    let bytes = if element.unit() == 1 {
        json!({"name": "bytes"})
    } else {
        json!({"name": "bytes", "configuration": {"endian": "little"}})
    };
    let zstd = zstd_level.map(|level| json!({"name": "zstd", "configuration": {"level": level, "checksum": false}}));
    [Some(bytes), zstd].into_iter().flatten().collect()
}

/// What an error says, without its kind: a note is not an error.
fn told_plainly(error: &TensogramError) -> String {
    match error {
        TensogramError::Metadata(reason) | TensogramError::Encoding(reason) => reason.to_string(),
        other => other.to_string(),
    }
}

/// Reports what ended one array. Only what ends the others too is an error.
fn told(written: Result<()>, place: &str, report: &mut dyn FnMut(Note)) -> Result<()> {
    match written {
        Err(TensogramError::Io(error)) if !is_of_name(&error) => Err(TensogramError::Io(error)),
        Err(error) => {
            report(Note::failed(place, error));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

/// Whether the system refuses a name.
fn is_of_name(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::InvalidFilename | std::io::ErrorKind::InvalidInput)
}

/// The data type of integers that are times of numpy.
fn data_type_of_times(global: &GlobalMetadata, index: usize, element: Element) -> Option<Json> {
    let entries = global.base.get(index)?.get(TIME)?.as_map().filter(|_| element.dtype == Dtype::Int64)?;
    let time: Json = from_cbor(&Value::Map(entries.clone()), TIME).ok()?;
    let name = format!("numpy.{}", time.get("dtype")?.as_str()?);
    let (unit, multiple) = (time.get("unit")?.as_str()?, time.get("multiple").map_or(Some(1), Json::as_u64)?);
    let configuration = json!({"unit": unit, "scale_factor": multiple});
    TIMES.contains(&name.as_str()).then(|| json!({"name": name, "configuration": configuration}))
}

/// Writes the description of a node, and its directory.
fn describe(folder: &Path, json: &Json) -> Result<()> {
    let text = serde_json::to_vec_pretty(json).map_err(|error| encoding_from("the description", error))?;
    put(&folder.join(DESCRIPTION), &text)
}

/// The bytes of a chunk that was written before. `None` if it was not.
fn written_chunk(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TensogramError::io(path, &error)),
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
            make_folders(folder)?;
        }
        fs::write(path, bytes)
    };
    write().map_err(|error| TensogramError::io(path, &error))
}
