//! An array as `zarrs` describes it: shape, chunks, data type, fill value, codecs.

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::Value as Json;
use tgm_std::{DecodeLimits, Hint, Reason};
use zarrs::array::chunk_grid::RegularChunkGridConfiguration;
use zarrs::array::{
    ArrayBytes, ArrayMetadataV3, ArraySubset, ArrayToBytesCodecTraits as _, ChunkKeyEncoding, ChunkShape, CodecChain,
    CodecError, CodecOptions, DataType, FillValue, update_array_bytes,
};
use zarrs::metadata::v3::MetadataV3;

use super::codec_errors::from_codec;
use super::codecs::chain;
use super::element::{Element, TIMES};
use super::{DESCRIPTION, Result};
use crate::error::{encoding, metadata, reason_in, reason_of};

/// A product that `zarrs` calculates is at most this many times the bytes of a chunk: an index of 16 bytes for each
/// element, and checksums.
const ROOM: usize = 64;

/// An array. Its elements are in the byte order of the machine, and booleans take a byte.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) shape: Vec<u64>,
    pub(super) chunk: Vec<u64>,
    pub(super) element: Element,
    chunk_shape: ChunkShape,
    data_type: DataType,
    fill: FillValue,
    codecs: CodecChain,
    keys: ChunkKeyEncoding,
    /// How keys begin, and what stands between their numbers.
    key_form: (&'static str, char),
    is_sharded: bool,
    /// Whether keys leave out the last dimension: it is that of a text's characters.
    is_widened: bool,
}

impl Array {
    /// Reads a description.
    pub(super) fn parse(json: &Json) -> Result<Self> {
        let described = ArrayMetadataV3::deserialize(json).map_err(|error| metadata(reason_in(DESCRIPTION)(error)))?;
        if let Some((key, _)) = described.additional_fields.iter().find(|(_, field)| field.must_understand()) {
            return Err(metadata(format!("{key} of {DESCRIPTION} is not supported")));
        }
        if !described.storage_transformers.is_empty() {
            return Err(metadata("storage transformers are not supported"));
        }
        let (shape, grid, keys) = (described.shape, described.chunk_grid, described.chunk_key_encoding);
        if grid.name() != "regular" {
            return Err(metadata(format!("chunk grid {} is not supported", grid.name())));
        }
        let grid = grid.to_typed_configuration::<RegularChunkGridConfiguration>();
        let chunk_shape = grid.map_err(|error| metadata(reason_in("the chunk grid")(error)))?.chunk_shape;
        let chunk: Vec<u64> = chunk_shape.iter().map(|dim| dim.get()).collect();
        if chunk.len() != shape.len() {
            return Err(metadata(format!("chunks of {chunk:?} do not fit an array of {shape:?}")));
        }
        let separator = keys.configuration().and_then(|map| map.get("separator")?.as_str()?.chars().next());
        let key_form = match keys.name() {
            "default" => ("c", separator.unwrap_or('/')),
            "v2" => ("", separator.unwrap_or('.')),
            other => return Err(metadata(format!("chunk key encoding {other} is not supported"))),
        };
        let keys = ChunkKeyEncoding::from_metadata(&keys).map_err(|error| metadata(reason_of(error)))?;
        let element = Element::parse(&described.data_type)?;
        let is_time = TIMES.contains(&described.data_type.name());
        let data_type = if is_time { MetadataV3::new(element.name()) } else { described.data_type };
        let data_type = DataType::from_metadata(&data_type).map_err(|error| metadata(reason_of(error)))?;
        let fill = data_type.fill_value_v3(&described.fill_value);
        let fill = fill.map_err(|error| {
            let text = format!("fill value {} is not of type {}", described.fill_value, element.name());
            metadata(Reason::with_source(text, None, error))
        })?;
        if fill.as_ne_bytes().len() != element.size() {
            return Err(metadata(format!("data type {} has another size", element.name())));
        }
        let codecs = chain(&described.codecs, &chunk_shape, element, 0)?;
        let is_sharded = described.codecs.iter().any(|codec| codec.name() == "sharding_indexed");
        Ok(Self {
            shape,
            chunk,
            element,
            chunk_shape,
            data_type,
            fill,
            codecs,
            keys,
            key_form,
            is_sharded,
            is_widened: false,
        })
    }

    /// The array of the numbers of texts: its last dimension, which has one chunk, is not in keys.
    pub(super) fn of_texts(json: &Json) -> Result<Self> {
        Ok(Self { is_widened: true, ..Self::parse(json)? })
    }

    /// Chunks in each dimension.
    ///
    /// # Errors
    /// More chunks than a message may have objects.
    pub(super) fn grid(&self, limits: &DecodeLimits) -> Result<Vec<u64>> {
        let grid: Vec<u64> = self.shape.iter().zip(&self.chunk).map(|(dim, chunk)| dim.div_ceil(*chunk)).collect();
        let chunks = count(&grid)?;
        if chunks > limits.max_objects as u64 {
            let (limit, max) = (Hint::MaxObjects.text(), limits.max_objects);
            return Err(encoding(format!("the array has {chunks} chunks, which exceed {limit}, {max}")));
        }
        Ok(grid)
    }

    /// The first index of a chunk, and its shape within the array.
    pub(super) fn extent(&self, index: &[u64]) -> (Vec<u64>, Vec<u64>) {
        // A chunk of the grid begins within the shape. One beyond it has no elements, wherever that is.
        let origin: Vec<u64> =
            index.iter().zip(&self.chunk).map(|(index, chunk)| index.saturating_mul(*chunk)).collect();
        let ends = self.shape.iter().zip(&self.chunk).zip(&origin);
        let shape = ends.map(|((dim, chunk), origin)| dim.saturating_sub(*origin).min(*chunk)).collect();
        (origin, shape)
    }

    /// The path of a chunk from the array on.
    pub(super) fn key(&self, index: &[u64]) -> String {
        let index = match index.split_last() {
            Some((_, index)) if self.is_widened => index,
            _ => index,
        };
        self.keys.encode(index).as_str().to_string()
    }

    /// The index of the chunk at a path from the array on. `None` if no chunk of the array is there.
    pub(super) fn index(&self, key: &str, grid: &[u64]) -> Option<Vec<u64>> {
        let (start, separator) = self.key_form;
        let grid = match grid.split_last() {
            Some((_, grid)) if self.is_widened => grid,
            _ => grid,
        };
        let numbers = match key.strip_prefix(start)? {
            "" => Vec::new(),
            rest if start.is_empty() => rest.split(separator).collect(),
            rest => rest.strip_prefix(separator)?.split(separator).collect(),
        };
        let index = match numbers.as_slice() {
            // The one chunk of an array without dimensions.
            ["0"] if grid.is_empty() => Vec::new(),
            numbers => numbers.iter().map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?,
        };
        let is_within = index.len() == grid.len() && index.iter().zip(grid).all(|(at, chunks)| at < chunks);
        let index: Vec<u64> = index.into_iter().chain(self.is_widened.then_some(0)).collect();
        (is_within && self.key(&index) == key).then_some(index)
    }

    /// The most bytes that a stored chunk can have.
    pub(super) fn max_stored(&self) -> u64 {
        // A chunk with more bytes than there are numbers has no bound here; it is refused before it is decoded.
        let len = count(&self.chunk).unwrap_or(u64::MAX).saturating_mul(self.element.size() as u64);
        // What codecs add where they cannot compress: little to a block, and much to the small chunks of a shard.
        let more = if self.is_sharded { len.saturating_mul(ROOM as u64) } else { len / 8 };
        len.saturating_add(more).saturating_add(4096)
    }

    /// The fill value, in the byte order of the machine.
    pub(super) fn fill_bytes(&self) -> &[u8] {
        self.fill.as_ne_bytes()
    }

    /// Bytes of a tensor of `shape`, which `encoded` bytes hold.
    ///
    /// # Errors
    /// More bytes than the limits allow or than there is memory for. `zarrs` neither limits nor checks what it reserves.
    pub(super) fn len(&self, shape: &[u64], encoded: usize, limits: &DecodeLimits) -> Result<usize> {
        let bytes = count(shape)?.checked_mul(self.element.size() as u64);
        let too_large = || encoding(format!("shape {shape:?} is too large"));
        let len = limits.check_bytes(encoded as u64, bytes.ok_or_else(too_large)?)?;
        len.checked_mul(ROOM).ok_or_else(too_large)?;
        Vec::<u8>::new()
            .try_reserve_exact(len)
            .map_err(|error| encoding(Reason::with_source(format!("cannot allocate {len} bytes"), None, error)))?;
        Ok(len)
    }

    /// The elements of a whole chunk.
    pub(super) fn decode(&self, bytes: &[u8], limits: &DecodeLimits) -> Result<Vec<u8>> {
        self.len(&self.chunk, bytes.len(), limits)?;
        let elements =
            self.codecs.decode(Cow::Borrowed(bytes), &self.chunk_shape, &self.data_type, &self.fill, &options());
        fixed(elements)
    }

    /// The bytes of a whole chunk, whose length [`Self::len`] has found right.
    pub(super) fn encode(&self, elements: Vec<u8>) -> Result<Vec<u8>> {
        let elements = ArrayBytes::new_flen(elements);
        let bytes = self.codecs.encode(elements, &self.chunk_shape, &self.data_type, &self.fill, &options());
        bytes.map(Cow::into_owned).map_err(from_codec)
    }

    /// The fill value over and over: a tensor of `shape`, whose length [`Self::len`] has found right.
    pub(super) fn filled(&self, shape: &[u64]) -> Result<Vec<u8>> {
        let elements = ArrayBytes::new_fill_value(&self.data_type, count(shape)?, &self.fill);
        fixed(elements.map_err(CodecError::from))
    }

    /// Whether all elements are the fill value.
    pub(super) fn is_filled(&self, elements: &[u8]) -> bool {
        ArrayBytes::new_flen(elements).is_fill_value(&self.fill)
    }

    /// The box of `shape` at `origin` out of a tensor of the shape `whole`.
    pub(super) fn cut(&self, elements: &[u8], whole: &[u64], origin: &[u64], shape: &[u64]) -> Result<Vec<u8>> {
        let part = subset(whole, origin, shape)?;
        fixed(ArrayBytes::new_flen(elements).extract_array_subset(&part, whole, &self.data_type))
    }

    /// The tensor of the shape `whole`, with `part` as its box of `shape` at `origin`.
    pub(super) fn paste(
        &self,
        elements: Vec<u8>,
        whole: &[u64],
        (origin, shape): (&[u64], &[u64]),
        part: &[u8],
    ) -> Result<Vec<u8>> {
        let at = subset(whole, origin, shape)?;
        let (elements, part) = (ArrayBytes::new_flen(elements), ArrayBytes::new_flen(part));
        fixed(update_array_bytes(elements, whole, &at, &part, self.data_type.size()))
    }
}

/// All indices below `shape`, the last dimension fastest.
pub(super) fn indices(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> {
    let indices = ArraySubset::new_with_shape(shape.to_vec()).indices();
    indices.into_iter().map(|index| index.to_vec())
}

/// A box that lies within a tensor of the shape `whole`.
fn subset(whole: &[u64], origin: &[u64], shape: &[u64]) -> Result<ArraySubset> {
    let ends = origin.iter().zip(shape).map(|(origin, len)| origin.checked_add(*len));
    let is_within = ends.zip(whole).all(|(end, dim)| end.is_some_and(|end| end <= *dim));
    let subset = ArraySubset::new_with_start_shape(origin.to_vec(), shape.to_vec()).ok();
    let subset = subset.filter(|subset| is_within && subset.shape().len() == whole.len());
    subset.ok_or_else(|| encoding(format!("a box of {shape:?} at {origin:?} is not within {whole:?}")))
}

fn fixed(elements: Result<ArrayBytes<'_>, CodecError>) -> Result<Vec<u8>> {
    let bytes = elements.and_then(|elements| Ok(elements.into_fixed()?));
    bytes.map(Cow::into_owned).map_err(from_codec)
}

/// On one thread.
fn options() -> CodecOptions {
    CodecOptions::default().with_concurrent_target(1)
}

/// The product of the dimensions.
pub(super) fn count(shape: &[u64]) -> Result<u64> {
    let product = shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim));
    product.ok_or_else(|| encoding(format!("shape {shape:?} has more elements than there are numbers")))
}

/// A list of numbers that are not negative.
pub(super) fn numbers(json: &Json, what: &str) -> Result<Vec<u64>> {
    let numbers = json.as_array().and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<_>>>());
    numbers.ok_or_else(|| metadata(format!("{what} is not a list of numbers")))
}
