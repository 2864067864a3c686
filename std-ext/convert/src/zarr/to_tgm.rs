//! From Zarr to Tensogram: one message for each array.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use ciborium::Value;
use serde_json::{Map, Value as Json};
use tgm_codec::kernels::byteswap::swap_in_place;
use tgm_core::descriptor::{ByteOrder, Dtype};
#[cfg(doc)]
use tgm_std::TensogramError;
use tgm_std::file::SourceName;
use tgm_std::internal::to_cbor;
use tgm_std::{DataObjectDescriptor, DecodeLimits, EncodeOptions, GlobalMetadata, StreamingEncoder, error};

use super::describe::{Array, count, indices};
use super::store::{Node, chunk, chunk_len, directory, walk};
use super::{DESCRIPTION, Result, ZARR};
use crate::arrays::pack_bools;
use crate::error::{encoding, metadata};
use crate::names::above;
use crate::note::Note;
use crate::streamed::{compress, encode_options};

/// What becomes an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chunks {
    /// Each chunk that is stored. Those at the edge are cut to the array's shape.
    #[default]
    Keep,
    /// Each array.
    Join,
}

/// Options of the conversion from Zarr.
#[derive(Clone, Debug)]
pub struct ZarrOptions {
    /// Whether the chunks of an array are joined.
    pub chunks: Chunks,
    /// The level of zstd for the objects, whose bytes are shuffled before. `None` stores values as they are.
    pub zstd_level: Option<i32>,
    /// Options for encoding. NaN and infinities are always allowed.
    pub encode: EncodeOptions,
    /// Limits on decoding a chunk, and on the number of chunks of an array.
    pub limits: DecodeLimits,
}

impl Default for ZarrOptions {
    fn default() -> Self {
        Self { chunks: Chunks::Keep, zstd_level: Some(3), encode: encode_options(), limits: DecodeLimits::default() }
    }
}

/// Converts all arrays of a store, in the order of their paths, and returns how many messages were written.
///
/// What cannot be converted is left out and given to `report`: an array, or with [`Chunks::Keep`] a chunk.
///
/// # Errors
/// [`TensogramError::Metadata`] if the directory is not a Zarr store of version 3; [`TensogramError::Io`] of the sink, with
/// which the last message has no end.
pub fn to_tensogram(
    store: &Path,
    options: &ZarrOptions,
    sink: &mut dyn Write,
    report: &mut dyn FnMut(Note),
) -> error::Result<u64> {
    let (mut messages, mut groups) = (0, BTreeMap::new());
    let mut is_empty = true;
    walk(store, &mut |path, node| {
        is_empty = false;
        match node {
            Node::Array(json) => {
                let source = Source { store, path, options, groups: &groups };
                if source.write(&json, sink, report)? {
                    messages += 1;
                }
            }
            Node::Group(mut json) => {
                if let Some(Json::Object(attributes)) = json.get_mut("attributes").map(Json::take) {
                    groups.insert(path.to_string(), attributes);
                }
            }
            Node::Other(error) if path.is_empty() => return Err(error),
            Node::Other(error) => report(Note::failed(path, error)),
        }
        Ok(())
    })?;
    if is_empty {
        return Err(metadata(format!("{} has no {DESCRIPTION}: it is not a Zarr store", SourceName::of(store))));
    }
    Ok(messages)
}

/// An array of a store.
struct Source<'a> {
    store: &'a Path,
    path: &'a str,
    options: &'a ZarrOptions,
    /// The attributes of groups.
    groups: &'a BTreeMap<String, Map<String, Json>>,
}

impl Source<'_> {
    /// Writes the message of an array, unless it is reported.
    fn write(&self, json: &Json, sink: &mut dyn Write, report: &mut dyn FnMut(Note)) -> error::Result<bool> {
        let place = if self.path.is_empty() { "the root" } else { self.path };
        let prepared = Array::parse(json).and_then(|array| {
            let grid = array.grid(&self.options.limits)?;
            let whole = if self.options.chunks == Chunks::Join { Some(self.join(&array, &grid)?) } else { None };
            Ok((array, grid, whole))
        });
        let (array, grid, whole) = match prepared {
            Ok(prepared) => prepared,
            Err(what) => {
                report(Note::failed(place, metadata(what)));
                return Ok(false);
            }
        };
        let options = EncodeOptions { allow_nan: true, allow_inf: true, ..self.options.encode.clone() };
        let global = GlobalMetadata { extra: self.extra(json), ..GlobalMetadata::default() };
        let mut encoder = StreamingEncoder::new(sink, &global, &options)?;
        let mut altered = 0;
        let mut write = |shape: &[u64], mut elements: Vec<u8>, at: Option<(&[u64], &[u64])>| {
            if ByteOrder::NATIVE == ByteOrder::Big {
                swap_in_place(&mut elements, array.element.unit())?;
            }
            altered += array.element.altered(&elements);
            let descriptor = self.descriptor(array.element.dtype, shape);
            let values = if array.element.dtype == Dtype::Bitmask { pack_bools(&elements) } else { elements };
            encoder.write_preceder(self.entry(json, at))?;
            encoder.write_object(&descriptor, &values)
        };
        if let Some(whole) = whole {
            write(&array.shape, whole, None)?;
        } else {
            for index in indices(&grid) {
                let (origin, shape) = array.extent(&index);
                match self.chunk(&array, &index, &shape) {
                    Ok(Some(elements)) => write(&shape, elements, Some((&index, &origin)))?,
                    Ok(None) => {}
                    Err(what) => {
                        let place = format!("{place}, chunk {}", array.key(&index));
                        report(Note::failed(place, encoding(what)));
                    }
                }
            }
        }
        encoder.finish()?;
        if altered > 0 {
            let what = format!("parts of {altered} complex values: both are NaN or infinite now, because one was");
            report(Note::not_kept(place, what));
        }
        Ok(true)
    }

    /// The elements of a chunk that lie within the array. `None` if it is not stored.
    fn chunk(&self, array: &Array, index: &[u64], shape: &[u64]) -> Result<Option<Vec<u8>>> {
        let path = directory(self.store, self.path).join(array.key(index));
        let Some(bytes) = chunk(&path)? else { return Ok(None) };
        let elements = array.decode(bytes, &self.options.limits)?;
        if shape == array.chunk {
            return Ok(Some(elements));
        }
        array.cut(&elements, &array.chunk, &vec![0; shape.len()], shape).map(Some)
    }

    /// The elements of the array.
    fn join(&self, array: &Array, grid: &[u64]) -> Result<Vec<u8>> {
        let folder = directory(self.store, self.path);
        // What is stored bounds the memory that the array may take.
        let stored = indices(grid).map(|index| chunk_len(&folder.join(array.key(&index)))).fold(0, u64::saturating_add);
        array.len(&array.shape, usize::try_from(stored).unwrap_or(usize::MAX), &self.options.limits)?;
        let mut whole = array.filled(&array.shape)?;
        if count(&array.shape)? == 0 {
            return Ok(whole);
        }
        for index in indices(grid) {
            let (origin, shape) = array.extent(&index);
            let found = self.chunk(array, &index, &shape);
            if let Some(elements) = found.map_err(|what| format!("chunk {}: {what}", array.key(&index)))? {
                whole = array.paste(whole, &array.shape, (&origin, &shape), &elements)?;
            }
        }
        Ok(whole)
    }

    fn descriptor(&self, dtype: Dtype, shape: &[u64]) -> DataObjectDescriptor {
        let mut descriptor = DataObjectDescriptor::new(dtype, ByteOrder::Little, shape);
        if let Some(level) = self.options.zstd_level {
            compress(&mut descriptor, level, dtype.byte_width() as u64);
        }
        descriptor
    }

    /// The metadata of an object: of a chunk at an index, which begins at an origin, or of the whole array.
    fn entry(&self, json: &Json, at: Option<(&[u64], &[u64])>) -> BTreeMap<String, Value> {
        let root = self.store.file_stem().map(|name| name.to_string_lossy().into_owned());
        let name = if self.path.is_empty() { root.unwrap_or_default() } else { self.path.to_string() };
        let mut entry = BTreeMap::from([("name".to_string(), Value::from(name))]);
        if let Some(names) = json.get("dimension_names").filter(|names| names.is_array()) {
            entry.insert("dimensions".to_string(), to_cbor(names));
        }
        if let Some((index, origin)) = at {
            let list = |numbers: &[u64]| Value::Array(numbers.iter().map(|number| (*number).into()).collect());
            let place = vec![("chunk".into(), list(index)), ("origin".into(), list(origin))];
            entry.insert(ZARR.to_string(), Value::Map(place));
        }
        entry
    }

    /// The metadata of the message: the array's description and the attributes of the groups above it.
    fn extra(&self, json: &Json) -> BTreeMap<String, Value> {
        let groups = std::iter::once("").chain(above(self.path)).filter_map(|path| {
            let attributes =
                self.groups.get(path).filter(|attributes| !attributes.is_empty() && !self.path.is_empty())?;
            Some((path.into(), to_cbor(&Json::Object(attributes.clone()))))
        });
        let groups: Vec<_> = groups.collect();
        let mut zarr = vec![("path".into(), self.path.into()), ("array".into(), to_cbor(json))];
        if !groups.is_empty() {
            zarr.push(("groups".into(), Value::Map(groups)));
        }
        BTreeMap::from([(ZARR.to_string(), Value::Map(zarr))])
    }
}
