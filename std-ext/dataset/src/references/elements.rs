//! How elements are stored, as Zarr 2 tells it: types of numpy, filters of numcodecs, fill values.

use serde_json::{Value as Json, json};
use tgm_core::descriptor::{ByteOrder, Dtype};

use super::json::{fill_of_attribute, is_real, number_of};
use crate::model::{Hole, Variable};
use crate::pieces::Stored;

/// The kind and the bytes of a type, as numpy writes them. `None` for types that Zarr lacks.
pub(super) const fn letters(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::Bitmask => "b1",
        Dtype::Int8 => "i1",
        Dtype::Int16 => "i2",
        Dtype::Int32 => "i4",
        Dtype::Int64 => "i8",
        Dtype::Uint8 => "u1",
        Dtype::Uint16 => "u2",
        Dtype::Uint32 => "u4",
        Dtype::Uint64 => "u8",
        Dtype::Float16 => "f2",
        Dtype::Float32 => "f4",
        Dtype::Float64 => "f8",
        Dtype::Complex64 => "c8",
        Dtype::Complex128 => "c16",
        Dtype::Bfloat16 => return None,
    })
}

/// A type with its byte order, as numpy writes it.
pub(super) fn typed(order: &str, letters: &str) -> String {
    let order = if matches!(letters, "b1" | "i1" | "u1") { "|" } else { order };
    format!("{order}{letters}")
}

/// Bytes of an element in memory.
pub(super) fn width(dtype: Dtype) -> u64 {
    dtype.byte_width().max(1) as u64
}

/// The byte order of objects that are stored so, and the filters of numcodecs that decode them; or why there are none.
pub(super) fn filters(stored: &Stored, dtype: Dtype) -> Result<(&'static str, Vec<Json>), String> {
    if stored.encoding != "none" {
        return Err(format!("its values are packed by {}", stored.encoding));
    }
    if stored.has_masks {
        return Err("values that are missing lie in masks beside the others".into());
    }
    if stored.dtype != dtype {
        return Err(format!("places have no object, and {} has no NaN", stored.dtype.name()));
    }
    let mut found = Vec::new();
    match (&stored.filter[..], stored.shuffle_element_size) {
        ("none", _) => {}
        ("shuffle", Some(size)) => found.push(json!({"id": "shuffle", "elementsize": size})),
        (other, _) => return Err(format!("Zarr lacks its filter {other}")),
    }
    match &stored.compression[..] {
        "none" => {}
        "zstd" => found.push(json!({"id": "zstd", "level": 0})),
        "lz4" => found.push(json!({"id": "lz4", "acceleration": 1})),
        other => return Err(format!("Zarr lacks its compression {other}")),
    }
    Ok((if stored.byte_order == ByteOrder::Big { ">" } else { "<" }, found))
}

/// What stands where no object is. For readers of Zarr 2 it stands for missing values too, so whole numbers have one only where some
/// are missing, or where an attribute tells it.
pub(super) fn fill_of(variable: &Variable, dtype: Dtype) -> Result<Json, String> {
    let told = fill_of_attribute(&variable.attributes, dtype);
    if variable.hole_count() == 0
        && let Some(told) = told
    {
        return Ok(told);
    }
    Ok(match variable.hole() {
        Some(Hole::Fill(element)) if variable.hole_count() > 0 || is_real(dtype) => number_of(dtype, element),
        _ if is_real(dtype) => "NaN".into(),
        _ if dtype.is_float() && variable.hole_count() > 0 => json!(["NaN", "NaN"]),
        _ if variable.hole_count() > 0 => {
            return Err(format!("places have no object, and {} has no NaN", dtype.name()));
        }
        _ => Json::Null,
    })
}
