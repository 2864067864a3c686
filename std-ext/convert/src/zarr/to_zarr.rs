//! From Tensogram to Zarr: messages of arrays restore them, and other objects become arrays.

mod boxes;
mod consolidated;
mod restored;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json, json};
use tgm_core::descriptor::{Dtype, MaskKind};
use tgm_core::object::DataObject;
use tgm_dataset::reading::{FILL, Reading};
use tgm_dataset::{Dataset, zarr_form};
use tgm_std::codec::threads::Threads;
use tgm_std::file::SourceName;
use tgm_std::metadata::json::from_cbor;
use tgm_std::{GlobalMetadata, TensogramError};

use self::boxes::{put, write_description};
use super::attributes::{self, of_map};
use super::bounded::Bounded;
use super::describe;
use super::element::{Element, TIMES};
use super::names::safe;
use super::store::directory;
use super::texts::STRING;
use super::{DESCRIPTION, Result};
use crate::arrays::{NAME, TIME};
use crate::cubes::Boxed;
use crate::error::{encoding, encoding_from};
use crate::given::{Given, elements, widened};
use crate::note::{Note, Notes};
use crate::texts::Texts;
use crate::tree::{
    Array, ArrayWriter, BoxOf, Made, OfField, OfObject, Recorded, Target, Tree, WriteOptions, Writer, settle,
};

/// Writes messages to a directory as a Zarr group.
///
/// The directory is made by [`Self::create`] and is complete after [`ArrayWriter::finish`].
#[derive(Debug)]
pub struct ZarrWriter(Writer<Folder>);

/// A directory that is written.
#[derive(Debug)]
struct Folder {
    root: PathBuf,
    options: WriteOptions,
    /// Attributes of groups, by path.
    groups: BTreeMap<String, Map<String, Json>>,
    /// Whether the root is an array, which then is all there is.
    is_array: bool,
    /// Lengths of dimensions of records, by their names.
    lens: BTreeMap<String, u64>,
}

/// An array that is described.
#[derive(Debug)]
struct Handle {
    folder: PathBuf,
    json: Json,
    /// `None` for texts.
    array: Option<describe::Array>,
    /// The dimension of records along which it grows.
    records: Option<String>,
}

/// The values of an object.
struct Elements {
    element: Element,
    shape: Vec<u64>,
    /// In the byte order of the machine, and booleans in a byte each.
    bytes: Vec<u8>,
    /// How they were packed, if that was undone.
    packed: Option<Reading>,
}

/// The convention that a store of datasets follows.
const CONVENTIONS: (&str, &str) = ("Conventions", "CF-1.7");
/// Bytes of a chunk of small records. Each record that is added writes its chunk again.
const CHUNK: u64 = 64 << 10;
/// Why nothing is written beside an array at the root.
const FULL: &str = "the store is the array of the first message";

impl ZarrWriter {
    /// Makes the directory, which must not exist.
    ///
    /// # Errors
    /// [`TensogramError::Io`], as for an address: addresses are read, and not written.
    pub fn create(root: &Path, options: WriteOptions) -> Result<Self> {
        SourceName::of(root).to_write().and_then(fs::create_dir).map_err(|error| TensogramError::io(root, &error))?;
        let (root, groups, lens) = (root.to_path_buf(), BTreeMap::new(), BTreeMap::new());
        Ok(Self(Writer::new(Folder { root, options, groups, is_array: false, lens }, safe)))
    }
}

impl ArrayWriter for ZarrWriter {
    fn write(&mut self, message: &[u8], report: &mut dyn FnMut(Note)) -> Result<()> {
        self.0.write(message, report)
    }

    fn write_datasets(&mut self, datasets: &[Dataset], report: &mut dyn FnMut(Note)) -> Result<()> {
        if self.0.target.is_array {
            report(Note::failed("the fields", encoding(FULL)));
            return Ok(());
        }
        let root = self.0.target.groups.entry(String::new()).or_default();
        root.entry(CONVENTIONS.0).or_insert_with(|| CONVENTIONS.1.into());
        self.0.write_datasets(datasets, report)
    }

    fn finish(self) -> Result<()> {
        let Writer { mut target, tree } = self.0;
        if target.is_array {
            return Ok(());
        }
        target.end_growth(tree.records.into_all())?;
        let described = target.groups.keys().map(String::as_str).filter(|path| tree.names.may_be_group(path));
        let paths: BTreeSet<&str> = std::iter::once("").chain(tree.names.groups()).chain(described).collect();
        for path in paths {
            let attributes = target.groups.get(path).cloned().unwrap_or_default();
            let json = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
            write_description(&directory(&target.root, path), &json)?;
        }
        consolidated::consolidate(&target.root)
    }
}

impl Target for Folder {
    type Handle = Handle;
    type Values<'m> = Elements;
    const OWN_GROUPS: bool = true;
    const NO_LINKS: &'static str = "links: Zarr has one name for each array";

    fn options(&self) -> &WriteOptions {
        &self.options
    }

    fn begin(&mut self, tree: &mut Tree<Self>, given: &Given<'_>, notes: &mut Notes<'_>) -> Result<bool> {
        let restored = self.restored(given, notes);
        for (path, own) in attributes::of_groups(given.global, &mut |what| notes.not_kept(what)) {
            // The first of a name counts.
            let group = self.groups.entry(path).or_default();
            own.into_iter().for_each(|(key, value)| _ = group.entry(key).or_insert(value));
        }
        match restored {
            Some((restored, boxes)) => {
                let written = self.restore(tree, (restored, &boxes), given, notes);
                settle::<Self>(written, true, notes).map(|()| true)
            }
            None => Ok(false),
        }
    }

    fn is_renamed(wanted: &str, path: &str) -> bool {
        !path.starts_with(wanted)
    }

    fn dtype(dtype: Dtype) -> Option<Dtype> {
        Some(Element { dtype }.readable().dtype)
    }

    /// Only what ends the others too is an error.
    fn is_end(error: &TensogramError, _: bool) -> bool {
        matches!(error, TensogramError::Io(error) if !is_of_name(error))
    }

    fn add_records(&mut self, name: &str, known: Option<u64>) -> Result<()> {
        self.lens.insert(name.to_string(), known.unwrap_or_default());
        Ok(())
    }

    fn values(
        &self,
        given: &Given<'_>,
        (array, index): (&mut Array<Self>, usize),
        notes: &mut Notes<'_>,
    ) -> Result<Elements> {
        let object = given.objects.get(index).filter(|_| !self.is_array).ok_or_else(|| encoding(FULL))?;
        let stored = Element { dtype: object.descriptor().dtype() };
        // Numbers of JSON calculate in float64: a scale that does so in float32 is obeyed here.
        let packed = given.entry(array.first).and_then(|entry| Reading::of_entry(stored.dtype, entry));
        let packed = packed.filter(|reading| reading.dtype() == Dtype::Float32);
        let element = packed.as_ref().map_or(stored.readable(), |reading| Element { dtype: reading.dtype() });
        if element != stored && packed.is_none() && array.made.is_none() {
            notes.remark(format!("{} becomes {}, as zarr-python lacks it", stored.name(), element.name()));
        }
        let bytes = elements(object, given.decode)?;
        let bytes = match &packed {
            Some(reading) => reading.cells(bytes)?.bytes,
            None if element != stored => widened(stored.dtype, bytes)?,
            None => bytes,
        };
        Ok(Elements { element, shape: given.shape(index), bytes, packed })
    }

    fn form(values: &Elements) -> (Dtype, &[u64]) {
        (values.element.dtype, &values.shape)
    }

    fn define(&mut self, made: &Made<'_>, of: OfObject<'_, '_, Self>, notes: &mut Notes<'_>) -> Result<Handle> {
        let (global, first, asked) = (of.given.global, of.first, self.options.chunks.as_deref());
        let (element, packed) = (of.values.element, of.values.packed.as_ref());
        // A mask of one piece is a mask of its array. A record that does not come is missing.
        let has_mask = |object: &DataObject<'_>| object.descriptor().masks().get(MaskKind::Nan).is_some();
        let has_nan = packed.is_some() || of.record.is_some() || of.given.objects_of(first).any(has_mask);
        let (shape, chunk) = match of.record {
            Some(record) => shape_of(record, made.shape, element.size(), asked),
            None => (made.shape.to_vec(), chunk_shape(made.shape, asked.or(made.chunk))),
        };
        let tell = &mut |what| notes.not_kept(what);
        let mut attributes = attributes::of_object(global, first, (element.dtype, packed), tell);
        // The path says it.
        if attributes.get(NAME).and_then(Json::as_str) == Some(made.path) {
            attributes.remove(NAME);
        }
        let time = data_type_of_times(global, first, element);
        if time.is_some() {
            attributes.remove(TIME);
        }
        let numbers = (time.unwrap_or_else(|| element.name().into()), element.usual_fill(has_nan));
        let codecs = usual_codecs(element, self.options.zstd_level);
        let handle = self.described((made, &shape, &chunk), numbers, &codecs, &attributes)?;
        Ok(Handle { records: of.record.and_then(|_| made.dims.first().cloned()), ..handle })
    }

    fn put(&mut self, handle: &mut Handle, place: BoxOf<'_>, values: Elements) -> Result<()> {
        let len = handle.array.as_mut().filter(|_| handle.records.is_some()).and_then(|array| array.shape.first_mut());
        if let (Some(len), Some(record)) = (len, place.origin.first()) {
            *len = record.saturating_add(1);
        }
        self.write_box(handle, place, &values.bytes)
    }

    fn define_field(&mut self, made: &Made<'_>, of: OfField<'_>, notes: &mut Notes<'_>) -> Result<Handle> {
        let element = Element { dtype: of.dtype };
        let chunk = made.chunk.map_or_else(|| chunk_shape(made.shape, None), <[u64]>::to_vec);
        let attributes = of_map(of.attributes, element.dtype, &mut |what| notes.not_kept(what));
        let numbers = (element.name().into(), element.usual_fill(true));
        self.described(
            (made, made.shape, &chunk),
            numbers,
            &usual_codecs(element, self.options.zstd_level),
            &attributes,
        )
    }

    fn chunk_of_field(&self, shape: &[u64], usual: &[u64]) -> Vec<u64> {
        self.options.chunks.as_deref().map_or_else(|| usual.to_vec(), |own| chunk_shape(shape, Some(own)))
    }

    fn put_boxes(&mut self, handle: &Handle, _: Dtype, boxes: &[Boxed], threads: Threads) -> Result<()> {
        let write = |Boxed { origin, shape, bytes }: &Boxed| self.write_box(handle, BoxOf { origin, shape }, bytes);
        threads.map(boxes, write).map(drop)
    }

    fn define_texts(
        &mut self,
        _: &mut Tree<Self>,
        made: &Made<'_>,
        texts: &Texts<'_>,
        notes: &mut Notes<'_>,
    ) -> Result<Handle> {
        // xarray opens no store in which texts have a fill value.
        let (fills, entries): (Vec<_>, Vec<_>) =
            texts.attributes().cloned().partition(|(key, _)| key.as_text() == Some(FILL));
        if !fills.is_empty() {
            notes.not_kept(format!("attribute {FILL} of the texts {}", made.path));
        }
        let attributes = of_map(&entries, Dtype::Uint8, &mut |what| notes.not_kept(what));
        let codecs =
            std::iter::once(json!({"name": zarr_form::TEXTS})).chain(self.options.zstd_level.map(zstd)).collect();
        let chunk = chunk_shape(made.shape, None);
        self.described((made, made.shape, &chunk), (STRING.into(), "".into()), &codecs, &attributes)
    }

    /// Writes all texts as one chunk.
    fn put_texts(&mut self, handle: &Handle, texts: &Texts<'_>, _: &mut Notes<'_>) -> Result<()> {
        if texts.values.is_empty() {
            return Ok(());
        }
        let bytes = zarr_form::joined(&texts.values).ok_or_else(|| encoding("a text is too long"))?;
        let bytes = match self.options.zstd_level {
            Some(level) => Bounded::Zstd(level).compress(&bytes)?,
            None => bytes,
        };
        let key: String = std::iter::once("c").chain(texts.shape.iter().map(|_| "/0")).collect();
        put(&handle.folder.join(key), &bytes)
    }
}

impl Folder {
    /// Describes an array, without values.
    fn described(
        &self,
        (Made { path, dims, .. }, shape, chunk): (&Made<'_>, &[u64], &[u64]),
        (data_type, fill): (Json, Json),
        codecs: &Json,
        attributes: &Map<String, Json>,
    ) -> Result<Handle> {
        self.handle(
            path,
            json!({
                "zarr_format": 3,
                "node_type": "array",
                "shape": shape,
                "data_type": data_type,
                "chunk_grid": zarr_form::regular(chunk),
                "chunk_key_encoding": zarr_form::keys(),
                "fill_value": fill,
                "codecs": codecs,
                "attributes": attributes,
                "dimension_names": dims,
            }),
        )
    }

    /// Writes the description of an array.
    fn handle(&self, path: &str, json: Json) -> Result<Handle> {
        if self.is_array {
            return Err(encoding(FULL));
        }
        let is_text = json.get("data_type").and_then(Json::as_str) == Some(STRING);
        let array = if is_text { None } else { Some(describe::Array::parse(&json)?) };
        let folder = directory(&self.root, path);
        write_description(&folder, &json)?;
        Ok(Handle { folder, json, array, records: None })
    }

    /// Describes the arrays that have grown. Those along one dimension have one length.
    fn end_growth(&mut self, all: Vec<Recorded<Handle>>) -> Result<()> {
        for (records, count) in all.iter().filter_map(|it| Some((it.handle.records.clone()?, it.count))) {
            let len = self.lens.entry(records).or_default();
            *len = (*len).max(count);
        }
        for Recorded { handle: Handle { folder, mut json, records, .. }, .. } in all {
            if let Some((first, len)) = json.pointer_mut("/shape/0").zip(self.lens.get(&records.unwrap_or_default())) {
                *first = json!(len);
            }
            write_description(&folder, &json)?;
        }
        Ok(())
    }
}

/// The shape of an array of records, and of its chunks.
fn shape_of(record: u64, own: &[u64], width: usize, chunks: Option<&[u64]>) -> (Vec<u64>, Vec<u64>) {
    let joined = |first: u64, rest: &[u64]| std::iter::once(first).chain(rest.iter().copied()).collect::<Vec<u64>>();
    let bytes = own.iter().fold(width as u64, |bytes, len| bytes.saturating_mul(*len)).max(1);
    let asked = chunks.and_then(|chunks| chunks.len().checked_sub(own.len() + 1).and_then(|at| chunks.get(at)));
    let rows = asked.copied().unwrap_or(CHUNK / bytes).max(1);
    (joined(record.saturating_add(1), own), joined(rows, &chunk_shape(own, chunks)))
}

/// The chunks of an array of `shape`. At least 1 in each dimension.
fn chunk_shape(shape: &[u64], wanted: Option<&[u64]>) -> Vec<u64> {
    let wanted = wanted.unwrap_or_default();
    let mut from_the_end: Vec<u64> =
        shape.iter().rev().zip(wanted.iter().rev()).map(|(dim, chunk)| *dim.min(chunk)).collect();
    from_the_end.extend(shape.iter().rev().skip(wanted.len()));
    from_the_end.iter().rev().map(|dim| (*dim).max(1)).collect()
}

/// The codecs of arrays that have none of their own.
pub(super) fn usual_codecs(element: Element, zstd_level: Option<i32>) -> Json {
    std::iter::once(zarr_form::bytes(element.unit(), "little")).chain(zstd_level.map(zstd)).collect()
}

fn zstd(level: i32) -> Json {
    json!({"name": "zstd", "configuration": {"level": level, "checksum": false}})
}

/// Whether the system refuses a name.
fn is_of_name(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::InvalidFilename | std::io::ErrorKind::InvalidInput)
}

/// The data type of integers that are times of numpy.
fn data_type_of_times(global: &GlobalMetadata, index: usize, element: Element) -> Option<Json> {
    let entries = global.base.get(index)?.get(TIME)?.as_map().filter(|_| element.dtype == Dtype::Int64)?;
    let time: Json = from_cbor(&ciborium::Value::Map(entries.clone()), TIME).ok()?;
    let name = format!("numpy.{}", time.get("dtype")?.as_str()?);
    let (unit, multiple) = (time.get("unit")?.as_str()?, time.get("multiple").map_or(Some(1), Json::as_u64)?);
    let configuration = json!({"unit": unit, "scale_factor": multiple});
    TIMES.contains(&name.as_str()).then(|| json!({"name": name, "configuration": configuration}))
}
