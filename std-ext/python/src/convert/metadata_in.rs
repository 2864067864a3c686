//! Metadata of messages from the mappings that Python programs pass.

use std::collections::BTreeMap;

use ciborium::Value;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};
use tgm_std::GlobalMetadata;

use crate::convert::cbor_in;
use crate::metadata::Metadata;

const RESERVED: &str = "_reserved_";
const EXTRA: &str = "_extra_";

/// The metadata that `object` stands for: a mapping with text as keys.
///
/// `base` is a list with a mapping for each object. `_extra_`, or else `extra`, holds annotations of the message. All
/// other entries are annotations too. What was read from a message, a `Metadata`, is taken without what the library
/// wrote.
///
/// # Errors
/// `TypeError` unless it is a mapping; `ValueError` for entries of a wrong type, and for `_reserved_`, which the
/// library writes.
pub(crate) fn metadata(object: &Bound<'_, PyAny>) -> PyResult<GlobalMetadata> {
    if let Ok(metadata) = object.cast::<Metadata>() {
        return metadata.get().without_reserved(metadata.py());
    }
    if !is_mapping(object) {
        let class = object.get_type().name()?;
        let text = format!("argument 'global_meta_dict': '{class}' object is not an instance of 'dict'");
        return Err(PyTypeError::new_err(text));
    }
    let has_extra = object.contains(EXTRA)?;
    let mut metadata = GlobalMetadata::default();
    let mut loose = BTreeMap::new();
    cbor_in::for_each_item(object, |key, item| {
        match &*cbor_in::text_key(&key)? {
            "base" => metadata.base = base(&item)?,
            RESERVED => return Err(is_reserved("metadata")),
            EXTRA => metadata.extra = section(&item, EXTRA)?,
            // The one with underscores of both names counts.
            "extra" if has_extra => {}
            "extra" => metadata.extra = section(&item, "extra")?,
            other => {
                loose.insert(other.to_owned(), cbor_in::value(other, &item)?);
            }
        }
        Ok(())
    })?;
    // What stands in `_extra_` counts before what stands beside it.
    loose.append(&mut metadata.extra);
    metadata.extra = loose;
    Ok(metadata)
}

/// The metadata of one object. `place` is what errors call it; it may be empty.
///
/// # Errors
/// `ValueError` unless it is a mapping, and for `_reserved_`.
pub(crate) fn entry(place: &str, object: &Bound<'_, PyAny>) -> PyResult<BTreeMap<String, Value>> {
    if !is_mapping(object) {
        let class = object.get_type().name()?;
        return Err(PyValueError::new_err(format!("entry of 'base': expected a dict, got {class}")));
    }
    let entries = cbor_in::entries(place, object)?;
    if entries.contains_key(RESERVED) { Err(is_reserved("an entry of 'base'")) } else { Ok(entries) }
}

fn base(object: &Bound<'_, PyAny>) -> PyResult<Vec<BTreeMap<String, Value>>> {
    let Ok(list) = object.cast::<PyList>() else {
        let class = object.get_type().name()?;
        return Err(PyValueError::new_err(format!("'base' must be a list, got {class}")));
    };
    list.iter().enumerate().map(|(index, item)| entry(&format!("base[{index}]"), &item)).collect()
}

fn section(object: &Bound<'_, PyAny>, name: &str) -> PyResult<BTreeMap<String, Value>> {
    if is_mapping(object) {
        return cbor_in::entries("", object);
    }
    let class = object.get_type().name()?;
    Err(PyValueError::new_err(format!("'{name}' must be a dict, got {class}")))
}

fn is_mapping(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyDict>() || object.cast::<PyMapping>().is_ok()
}

fn is_reserved(place: &str) -> PyErr {
    PyValueError::new_err(format!("'{RESERVED}' in {place}: the library writes this entry, programs may not"))
}
