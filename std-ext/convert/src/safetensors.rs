//! The files of safetensors: tensors with names, little-endian.
//!
//! A file becomes one message, and each tensor one object, in the order of the file. Values are borrowed: of a mapped
//! file nothing but the header is read before they are written. Types that the format lacks stay bytes, and the object's
//! key [`DTYPE`] says what they are:
//!
//! | safetensors | object | its key `safetensors.dtype` |
//! |---|---|---|
//! | `F16` `BF16` `F32` `F64` `C64` `I8` to `I64` `U8` to `U64` | the same type | |
//! | `BOOL` | a bitmask, or `uint8` if the caller wants it | |
//! | `F8_E4M3`, `F8_E5M2` and all other types of 8 bits | `uint8` | the name of the type |
//! | types of 4 and 6 bits | listed in [`Arrays::not_kept`], by name | |
//!
//! The texts of `__metadata__` become annotations of the message, and back. Other metadata than these texts, names and
//! [`DTYPE`] has no place in a file: [`write()`] lists it.
//!
//! ```
//! use tgm_convert::arrays::{Array, Arrays, Bools};
//! use tgm_convert::safetensors;
//! use tgm_std::{ByteOrder, DecodeOptions, Dtype, EncodeOptions};
//!
//! let weights = Array::new(Dtype::Bfloat16, ByteOrder::Little, &[2], vec![0, 0x40, 0x80, 0x3f])?.named("w");
//! let mut arrays = Arrays { arrays: vec![weights], ..Arrays::default() };
//! arrays.metadata.insert("format".into(), "pt".into());
//! let mut file = Vec::new();
//! assert!(safetensors::write(&arrays, &mut file)?.is_empty());
//!
//! // The values are borrowed from the file, and go to the sink without another copy.
//! let read = safetensors::read(&file, Bools::Bitmask)?;
//! let message = read.write_to(Vec::new(), &EncodeOptions::default())?;
//! assert_eq!(Arrays::decode(&message, &DecodeOptions::default())?, arrays);
//! # Ok::<(), tgm_std::TensogramError>(())
//! ```

use std::collections::BTreeMap;
use std::io::Write;

use ciborium::Value;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype as Foreign, TensorInfo};
use serde_json::{Map, Value as Json, json};
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::Result;

use super::arrays::{Array, Arrays, Bools, NAME, NotKept, pack_bools, refused, refused_by, unpack_bools};

/// The key of an object's metadata, in the map `safetensors`, that names a type which the format lacks.
pub const DTYPE: &str = "dtype";
/// The key of the map with [`DTYPE`].
const MAP: &str = "safetensors";
/// The key of the texts in a header.
const TEXTS: &str = "__metadata__";
/// The text that holds the order of the objects, if the file has another one.
const ORDER: &str = "tensogram.order";
/// Types of one byte that the format lacks.
const BYTES: [&str; 5] = ["F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"];
/// Bytes of a header's length.
const LENGTH: usize = 8;
/// The most bytes that readers accept in a header.
const MAX_HEADER: u64 = 100_000_000;

/// Whether `start`, the first bytes of a file, can begin such a file: a length, and a header that begins with a
/// brace.
pub fn is_start(start: &[u8]) -> bool {
    matches!(start.split_first_chunk(), Some((len, [b'{', ..])) if u64::from_le_bytes(*len) <= MAX_HEADER)
}

/// Checks that a file of `len` bytes has room for the header that its first bytes announce.
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object).
pub fn check_len(start: &[u8], len: u64) -> Result<()> {
    let Some((header, _)) = start.split_first_chunk() else { return Ok(()) };
    let header = u64::from_le_bytes(*header);
    if header > MAX_HEADER || header.saturating_add(LENGTH as u64) > len {
        return Err(refused(format!("the header has {header} bytes, by the first bytes of a file of {len}")));
    }
    Ok(())
}

/// The tensors of a file, borrowed from it unless truth values become bits.
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object) for a header that is damaged or does not fit the file, and
/// for types that the format cannot hold.
pub fn read(bytes: &[u8], bools: Bools) -> Result<Arrays<'_>> {
    check_len(bytes, bytes.len() as u64)?;
    let (header, table) =
        SafeTensors::read_metadata(bytes).map_err(|error| refused_by("the header of the safetensors file", error))?;
    let values = bytes.get(LENGTH + header..).unwrap_or_default();
    let mut arrays = Arrays::default();
    let mut tensors: Vec<_> = table.tensors().into_iter().collect();
    // Empty tensors may share their place.
    tensors.sort_by(|(a, x), (b, y)| (x.data_offsets, a).cmp(&(y.data_offsets, b)));
    // Counted by the header itself, without the names that occur twice.
    let counted: BTreeMap<String, Json> =
        serde_json::from_slice(bytes.get(LENGTH..LENGTH + header).unwrap_or_default())
            .map_err(|error| refused_by("the header of the safetensors file", error))?;
    let counted = counted.keys().filter(|name| *name != TEXTS).count();
    for (name, info) in tensors {
        match tensor(values, info, bools) {
            Ok(array) => arrays.arrays.push(array.named(name)),
            Err(error) => arrays.not_kept.push(NotKept::array(format!("tensor {name:?}: {error}"))),
        }
    }
    let texts = table.metadata().iter().flatten();
    let mut texts: BTreeMap<String, String> = texts.map(|(key, text)| (key.clone(), text.clone())).collect();
    if let Some(sorted) = texts.get(ORDER).and_then(|order| in_order(order, &arrays.arrays)) {
        arrays.arrays = sorted;
        texts.remove(ORDER);
    }
    arrays.metadata = texts.into_iter().map(|(key, text)| (key, Value::Text(text))).collect();
    arrays.check_count(counted, "tensors")
}

/// The array of a tensor.
fn tensor<'a>(values: &'a [u8], info: &TensorInfo, bools: Bools) -> Result<Array<'a>> {
    let shape: Vec<u64> = info.shape.iter().map(|&dim| dim as u64).collect();
    let (start, end) = info.data_offsets;
    let values = values.get(start..end).ok_or_else(|| refused("its values are not in the file"))?;
    let little = ByteOrder::Little;
    let dtype = match info.dtype {
        Foreign::BOOL if bools == Bools::Bitmask => {
            return Array::new(Dtype::Bitmask, little, &shape, pack_bools(values));
        }
        Foreign::BOOL | Foreign::U8 => Dtype::Uint8,
        Foreign::I8 => Dtype::Int8,
        Foreign::I16 => Dtype::Int16,
        Foreign::U16 => Dtype::Uint16,
        Foreign::F16 => Dtype::Float16,
        Foreign::BF16 => Dtype::Bfloat16,
        Foreign::I32 => Dtype::Int32,
        Foreign::U32 => Dtype::Uint32,
        Foreign::F32 => Dtype::Float32,
        Foreign::C64 => Dtype::Complex64,
        Foreign::F64 => Dtype::Float64,
        Foreign::I64 => Dtype::Int64,
        Foreign::U64 => Dtype::Uint64,
        other => {
            let name = other.to_string();
            if !BYTES.contains(&name.as_str()) {
                return Err(refused(format!("its type {name} has no counterpart")));
            }
            let mut array = Array::new(Dtype::Uint8, little, &shape, values)?;
            let map = vec![(Value::Text(DTYPE.into()), Value::Text(name))];
            array.metadata.insert(MAP.into(), Value::Map(map));
            return Ok(array);
        }
    };
    Array::new(dtype, little, &shape, values)
}

/// The arrays in the order that a text names: numbers with commas between them. `None` if the text does not name each array
/// once.
fn in_order<'a>(order: &str, arrays: &[Array<'a>]) -> Option<Vec<Array<'a>>> {
    let places = order.split(',').map(|place| place.parse().ok()).collect::<Option<Vec<usize>>>()?;
    let mut slots = vec![None; arrays.len()];
    for (array, place) in arrays.iter().zip(&places) {
        *slots.get_mut(*place)? = Some(array.clone());
    }
    slots.into_iter().collect::<Option<Vec<_>>>().filter(|sorted| sorted.len() == places.len())
}

/// Writes arrays as a file. Returns what it has no room for: also arrays of texts and of `complex128`, which such files do not
/// have, and an array with the name `__metadata__`.
///
/// Wide elements come first, so that all of them are aligned, as readers of maps want it. If this changes the order of the
/// objects, a text of `__metadata__` tells the old order, and [`read`] restores it. Arrays without a name are called
/// `object_` and their number.
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object) if no array can be written; [`TensogramError::Io`](tgm_std::TensogramError::Io)
/// from the sink.
pub fn write(arrays: &Arrays<'_>, mut sink: impl Write) -> Result<Vec<NotKept>> {
    let (names, mut not_kept) = arrays.names();
    not_kept.extend(arrays.lost_texts());
    let mut all = Vec::new();
    for (index, (array, name)) in arrays.arrays.iter().zip(&names).enumerate() {
        if array.texts().is_some() {
            continue;
        }
        match foreign(array).filter(|_| name != TEXTS) {
            Some(dtype) => all.push((array, name, dtype)),
            None => not_kept.push(lost(index, array, name)),
        }
    }
    if let (true, Some(first)) = (all.is_empty(), not_kept.iter().find(|lost| lost.is_values)) {
        return Err(refused(format!("no array can be written: {first}")));
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    let width = |index: &usize| all.get(*index).map_or(0, |(array, ..)| array.descriptor.dtype.swap_unit_size().max(1));
    order.sort_by_key(|index| std::cmp::Reverse(width(index)));
    let sorted = || order.iter().filter_map(|&index| all.get(index).map(|found| (index, *found)));

    let mut tensors = Map::new();
    let mut places = Vec::new();
    let mut offset = 0_u64;
    for (index, (array, name, dtype)) in sorted() {
        let end = offset + written_len(array)?;
        let info = json!({"dtype": dtype, "shape": array.descriptor.shape, "data_offsets": [offset, end]});
        tensors.insert(name.clone(), info);
        places.push((offset, end, name, index));
        offset = end;
    }
    // As `read` finds them.
    places.sort();
    let places: Vec<_> = places.into_iter().map(|(_, _, _, index)| index).collect();
    let texts = texts(arrays, &places, &mut not_kept);
    let mut header = Map::new();
    if !texts.is_empty() {
        header.insert(TEXTS.into(), Json::Object(texts));
    }
    header.extend(tensors);
    let mut text = Json::Object(header).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(LENGTH), b' ');
    sink.write_all(&(text.len() as u64).to_le_bytes())?;
    sink.write_all(&text)?;
    for (_, (array, ..)) in sorted() {
        match array.descriptor.dtype {
            Dtype::Bitmask => {
                unpack_bools(&array.values, written_len(array)?, |bytes| sink.write_all(bytes))?;
            }
            _ => sink.write_all(&array.values_in(ByteOrder::Little))?,
        }
    }
    sink.flush()?;
    Ok(not_kept)
}

/// Why an array is not in the file.
fn lost(index: usize, array: &Array<'_>, name: &str) -> NotKept {
    let what = match foreign(array) {
        Some(_) => format!("the array: the name {name:?} has another meaning in safetensors"),
        None => format!("the array: {} has no counterpart in safetensors", array.descriptor.dtype),
    };
    NotKept { object: Some(index), what, is_values: true }
}

/// The texts of the header. What is not text is added to `not_kept`.
fn texts(arrays: &Arrays<'_>, order: &[usize], not_kept: &mut Vec<NotKept>) -> Map<String, Json> {
    let mut texts = Map::new();
    for (key, value) in &arrays.metadata {
        match value.as_text() {
            Some(text) if key != ORDER => _ = texts.insert(key.clone(), text.into()),
            _ => not_kept.push(NotKept::of_message(format!("extra.{key}, which is not text"))),
        }
    }
    for (index, array) in arrays.arrays.iter().enumerate().filter(|(_, array)| array.texts().is_none()) {
        let is_kept = |key: &str| key == NAME || (key == MAP && foreign_name(array).is_some());
        let keys = array.metadata.keys().chain(array.descriptor.params.keys());
        not_kept.extend(keys.filter(|key| !is_kept(key)).map(|key| NotKept::of(index, key.as_str())));
    }
    if !order.is_sorted() {
        let places: Vec<_> = order.iter().map(usize::to_string).collect();
        texts.insert(ORDER.into(), places.join(",").into());
    }
    texts
}

/// Bytes of an array in a file: a truth value takes one.
fn written_len(array: &Array<'_>) -> Result<u64> {
    match array.descriptor.dtype {
        Dtype::Bitmask => Ok(array.descriptor.num_elements()? as u64),
        _ => Ok(array.values.len() as u64),
    }
}

/// The type that the metadata of bytes names, and nothing beside it.
fn foreign_name<'n>(array: &'n Array<'_>) -> Option<&'n str> {
    let [(key, name)] = array.metadata.get(MAP)?.as_map()?.as_slice() else { return None };
    let is_bytes = array.descriptor.dtype == Dtype::Uint8 && key.as_text() == Some(DTYPE);
    name.as_text().filter(|name| is_bytes && BYTES.contains(name))
}

/// The name of an array's type in the header.
fn foreign<'n>(array: &'n Array<'_>) -> Option<&'n str> {
    let name = match array.descriptor.dtype {
        Dtype::Float16 => "F16",
        Dtype::Bfloat16 => "BF16",
        Dtype::Float32 => "F32",
        Dtype::Float64 => "F64",
        Dtype::Complex64 => "C64",
        Dtype::Complex128 => return None,
        Dtype::Int8 => "I8",
        Dtype::Int16 => "I16",
        Dtype::Int32 => "I32",
        Dtype::Int64 => "I64",
        Dtype::Uint8 => return Some(foreign_name(array).unwrap_or("U8")),
        Dtype::Uint16 => "U16",
        Dtype::Uint32 => "U32",
        Dtype::Uint64 => "U64",
        Dtype::Bitmask => "BOOL",
    };
    Some(name)
}
