//! The description of an array: its `zarr.json`.

use serde_json::{Map, Value as Json};

use super::Result;
use super::boxes::count;
use super::codecs::Chain;
use super::element::Element;
use crate::base::hint::Hint;
use crate::base::limits::DecodeLimits;

/// The members of `zarr.json` that are known. Others are an error, unless they say that they need not be understood.
const MEMBERS: [&str; 11] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "storage_transformers",
    "dimension_names",
];

/// An array.
#[derive(Clone, Debug)]
pub(super) struct Array {
    pub(super) shape: Vec<u64>,
    pub(super) chunk: Vec<u64>,
    pub(super) element: Element,
    /// The bytes of the fill value.
    pub(super) fill: Vec<u8>,
    pub(super) codecs: Chain,
    keys: Keys,
}

/// How chunks are named.
#[derive(Clone, Debug)]
struct Keys {
    is_v2: bool,
    separator: char,
}

impl Array {
    /// Reads a description.
    pub(super) fn parse(json: &Json) -> Result<Self> {
        let get = |key: &str| json.get(key).ok_or_else(|| format!("zarr.json has no {key}"));
        if get("zarr_format")?.as_u64() != Some(3) || get("node_type")?.as_str() != Some("array") {
            return Err("zarr.json is of no array of version 3".into());
        }
        for (key, value) in json.as_object().into_iter().flatten() {
            let may_skip = value.get("must_understand") == Some(&Json::Bool(false));
            if !MEMBERS.contains(&key.as_str()) && !may_skip {
                return Err(format!("{key} of zarr.json is not supported"));
            }
        }
        if json.get("storage_transformers").and_then(Json::as_array).is_some_and(|list| !list.is_empty()) {
            return Err("storage transformers are not supported".into());
        }
        let shape = numbers(get("shape")?, "shape")?;
        let (grid, configuration) = of_extension(get("chunk_grid")?)?;
        if grid != "regular" {
            return Err(format!("chunk grid {grid} is not supported"));
        }
        let chunk = configuration.and_then(|map| map.get("chunk_shape")).ok_or("the chunk grid has no chunk_shape")?;
        let chunk = numbers(chunk, "chunk_shape")?;
        if chunk.len() != shape.len() || chunk.contains(&0) {
            return Err(format!("chunks of {chunk:?} do not fit an array of {shape:?}"));
        }
        let element = Element::parse(get("data_type")?)?;
        let fill = element.fill_value(get("fill_value")?)?;
        let codecs = Chain::parse(get("codecs")?, &chunk, element, 0)?;
        Ok(Self { shape, chunk, element, fill, codecs, keys: Keys::parse(get("chunk_key_encoding")?)? })
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
            return Err(format!("the array has {chunks} chunks, which exceed {limit}, {max}"));
        }
        Ok(grid)
    }

    /// The first index of a chunk, and its shape within the array.
    pub(super) fn extent(&self, index: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let origin: Vec<u64> =
            index.iter().zip(&self.chunk).map(|(index, chunk)| index.saturating_mul(*chunk)).collect();
        let ends = self.shape.iter().zip(&self.chunk).zip(&origin);
        let shape = ends.map(|((dim, chunk), origin)| dim.saturating_sub(*origin).min(*chunk)).collect();
        (origin, shape)
    }

    /// The path of a chunk from the array on.
    pub(super) fn key(&self, index: &[u64]) -> String {
        let Keys { is_v2, separator } = self.keys;
        let numbers = index.iter().map(u64::to_string);
        let parts: Vec<String> =
            if is_v2 { numbers.collect() } else { ["c".into()].into_iter().chain(numbers).collect() };
        if parts.is_empty() { "0".into() } else { parts.join(&separator.to_string()) }
    }
}

impl Keys {
    fn parse(json: &Json) -> Result<Self> {
        let (name, configuration) = of_extension(json)?;
        let is_v2 = match name {
            "default" => false,
            "v2" => true,
            other => return Err(format!("chunk key encoding {other} is not supported")),
        };
        let separator = match configuration.and_then(|map| map.get("separator")).map(Json::as_str) {
            None if is_v2 => '.',
            None | Some(Some("/")) => '/',
            Some(Some(".")) => '.',
            _ => return Err("the separator of chunk keys is neither / nor .".into()),
        };
        Ok(Self { is_v2, separator })
    }
}

/// Name and configuration of a codec, a grid or a key encoding.
pub(super) fn of_extension(json: &Json) -> Result<(&str, Option<&Map<String, Json>>)> {
    let name = json.as_str().or_else(|| json.get("name").and_then(Json::as_str));
    let name = name.ok_or_else(|| format!("{json} has no name"))?;
    Ok((name, json.get("configuration").and_then(Json::as_object)))
}

/// A list of numbers that are not negative.
pub(super) fn numbers(json: &Json, what: &str) -> Result<Vec<u64>> {
    let numbers = json.as_array().and_then(|list| list.iter().map(Json::as_u64).collect::<Option<Vec<_>>>());
    numbers.ok_or_else(|| format!("{what} is no list of numbers"))
}
