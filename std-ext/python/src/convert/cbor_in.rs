//! Python values to CBOR.

use std::collections::BTreeMap;

use ciborium::Value;
use ciborium::value::Integer;
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple,
};

/// Containers within containers. Deeper ones could not be read again.
const MAX_DEPTH: usize = 96;

/// The CBOR value of a Python value.
///
/// | Python | CBOR |
/// |---|---|
/// | `None`, `bool`, `str` | null, bool, text |
/// | `int` from -2^64 to 2^64-1 | integer |
/// | `float`, and what has `__float__` | float of 64 bits |
/// | `bytes`, `bytearray` | byte string |
/// | `list`, `tuple` | array |
/// | `dict` and other mappings | map |
///
/// # Errors
/// `OverflowError` for other `int`; `ValueError` for other types; `RecursionError` for deep containers.
pub(crate) fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(object, MAX_DEPTH)
}

/// The entries of a mapping whose keys are text.
///
/// # Errors
/// `TypeError` for another key; the errors of [`value`].
pub(crate) fn entries(object: &Bound<'_, PyAny>) -> PyResult<BTreeMap<String, Value>> {
    let mut entries = BTreeMap::new();
    for_each_item(object, |key, item| {
        entries.insert(text_key(&key)?, value(&item)?);
        Ok(())
    })?;
    Ok(entries)
}

/// A key that must be text.
///
/// # Errors
/// `TypeError` for another type, `ValueError` for text that is not valid Unicode.
pub(crate) fn text_key(key: &Bound<'_, PyAny>) -> PyResult<String> {
    match key.cast::<PyString>() {
        Ok(text) => string(text),
        Err(_) => Err(PyTypeError::new_err(format!("key {} is not an instance of 'str'", key.repr()?))),
    }
}

/// Calls `visit` with each key and value of a mapping.
///
/// # Errors
/// The errors of the mapping and of `visit`.
pub(crate) fn for_each_item<'py>(
    object: &Bound<'py, PyAny>,
    mut visit: impl FnMut(Bound<'py, PyAny>, Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    if let Ok(dict) = object.cast::<PyDict>() {
        // A copy, because conversions may run code of Python that changes the dict.
        return dict.copy()?.iter().try_for_each(|(key, item)| visit(key, item));
    }
    for pair in object.cast::<PyMapping>()?.items()?.iter() {
        let (key, item) = pair.extract()?;
        visit(key, item)?;
    }
    Ok(())
}

fn value_at(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(string(text)?));
    }
    if object.is_instance_of::<PyInt>() {
        return integer(object);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(Value::Float(float.value()));
    }
    if object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        return Ok(Value::Bytes(bytes(object)?));
    }
    let is_dict = object.is_instance_of::<PyDict>();
    if is_dict || object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(PyRecursionError::new_err(format!("metadata is nested more than {MAX_DEPTH} levels deep")));
        };
        return if is_dict { map(object, depth) } else { array(object, depth) };
    }
    other(object, depth)
}

/// Values of types that are not builtin: numbers of numpy and their like, and other mappings.
fn other(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let class = object.get_type();
    let (name, module) = (class.name()?, class.module()?);
    // numpy's truth values have neither `__index__` nor `__float__` in every release.
    if module == "numpy" && name.to_str()?.starts_with("bool") {
        return Ok(Value::Bool(object.is_truthy()?));
    }
    let is_array = object.hasattr("shape")? && object.getattr("shape")?.len().is_ok_and(|rank| rank > 0);
    let is_number = !is_array && !object.is_instance_of::<PyComplex>() && !name.to_str()?.starts_with("complex");
    if is_number && let Ok(index) = object.call_method0("__index__") {
        return integer(&index);
    }
    if is_number && let Ok(float) = object.call_method0("__float__") {
        return Ok(Value::Float(float.extract()?));
    }
    if object.cast::<PyMapping>().is_ok()
        && let Some(depth) = depth.checked_sub(1)
    {
        return map(object, depth);
    }
    Err(PyValueError::new_err(format!("cannot convert {name} to CBOR")))
}

fn integer(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(small) = object.extract::<i64>() {
        return Ok(Value::Integer(small.into()));
    }
    let wide = object.extract::<i128>().ok().and_then(|wide| Integer::try_from(wide).ok());
    if let Some(integer) = wide {
        Ok(Value::Integer(integer))
    } else {
        let text = format!("an integer of metadata has up to 64 bits: {}", object.repr()?);
        Err(PyOverflowError::new_err(text))
    }
}

fn string(text: &Bound<'_, PyString>) -> PyResult<String> {
    match text.to_str() {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => Err(PyValueError::new_err(format!("text is not Unicode: {error}"))),
    }
}

fn bytes(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let bytes = object.py().get_type::<PyBytes>().call1((object,))?;
    Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
}

fn array(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    object.try_iter()?.map(|item| value_at(&item?, depth)).collect::<PyResult<_>>().map(Value::Array)
}

fn map(object: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let mut pairs = Vec::new();
    for_each_item(object, |key, item| {
        let item = value_at(&item, depth)?;
        match value_at(&key, depth)? {
            // A dict of Python cannot have such a key, so a reader in Python would fail.
            Value::Array(_) | Value::Map(_) => {
                Err(PyValueError::new_err(format!("cannot convert {} to a key of CBOR", key.get_type().name()?)))
            }
            key => {
                pairs.push((key, item));
                Ok(())
            }
        }
    })?;
    Ok(Value::Map(pairs))
}
