//! How Zarr spells types, numbers and texts: for stores and references of datasets, and for converters.

use serde_json::{Number, Value as Json, json};
use tgm_core::descriptor::Dtype;

/// The codec of texts: their number, and each with its length before it.
pub const TEXTS: &str = "vlen-utf8";

/// The word for a float that JSON lacks, as Python writes and reads it.
pub const fn word(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// A float as a fill value. One that JSON lacks is a word.
pub fn float(number: f64) -> Json {
    Number::from_f64(number).map_or_else(|| word(number).into(), Json::Number)
}

/// The name of a type.
pub const fn name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bitmask => "bool",
        dtype => dtype.name(),
    }
}

/// The type that every reader knows. zarr-python and xarray refuse a whole store for one array of `bfloat16`.
pub const fn readable(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::Bfloat16 => Dtype::Float32,
        dtype => dtype,
    }
}

/// The codec that makes bytes of elements whose scalars have so many bytes.
pub fn bytes(width: usize, endian: &str) -> Json {
    if width <= 1 { json!({"name": "bytes"}) } else { json!({"name": "bytes", "configuration": {"endian": endian}}) }
}

/// Regular chunks of this shape.
pub fn regular(chunk: &[u64]) -> Json {
    json!({"name": "regular", "configuration": {"chunk_shape": chunk}})
}

/// The names of chunks, such as `c/0/1`.
pub fn keys() -> Json {
    json!({"name": "default", "configuration": {"separator": "/"}})
}

/// Texts as the codec [`TEXTS`] has them. `None` for lengths beyond 2^32, which it cannot write.
pub fn joined<T: AsRef<str>>(texts: &[T]) -> Option<Vec<u8>> {
    let length = |len: usize| u32::try_from(len).ok().map(u32::to_le_bytes);
    let mut bytes = length(texts.len())?.to_vec();
    for text in texts {
        bytes.extend(length(text.as_ref().len())?);
        bytes.extend(text.as_ref().as_bytes());
    }
    Some(bytes)
}
