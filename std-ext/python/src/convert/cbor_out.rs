//! CBOR to Python values.

use std::collections::BTreeMap;

use ciborium::Value;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

/// Tags of integers that do not fit 64 bits, written as bytes: not negative, and negative.
const POSITIVE_BIG_INTEGER: u64 = 2;
const NEGATIVE_BIG_INTEGER: u64 = 3;

/// The Python value of a CBOR value.
///
/// Maps become `dict`, in their order; arrays become `list`. A tag is left out: the value is what it marks. Tagged
/// integers of any size become `int`.
///
/// # Errors
/// `TypeError` for a map whose key is an array or a map.
pub(crate) fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Integer(integer) => i128::from(*integer).into_pyobject(py)?.into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Float(float) => PyFloat::new(py, *float).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Tag(tag, marked) => tagged(py, *tag, marked)?,
        Value::Array(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(object(py, item)?))?;
            list.into_any()
        }
        Value::Map(pairs) => {
            let dict = PyDict::new(py);
            pairs.iter().try_for_each(|(key, item)| dict.set_item(object(py, key)?, object(py, item)?))?;
            dict.into_any()
        }
        _ => py.None().into_bound(py),
    })
}

/// A fresh `dict` of entries, sorted by key.
///
/// # Errors
/// The errors of [`object`].
pub(crate) fn dict<'py>(py: Python<'py>, entries: &BTreeMap<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    entries.iter().try_for_each(|(key, value)| dict.set_item(key, object(py, value)?))?;
    Ok(dict)
}

fn tagged<'py>(py: Python<'py>, tag: u64, marked: &Value) -> PyResult<Bound<'py, PyAny>> {
    let Value::Bytes(bytes) = marked else {
        return object(py, marked);
    };
    let number = || py.get_type::<PyInt>().call_method1("from_bytes", (PyBytes::new(py, bytes), "big"));
    match tag {
        POSITIVE_BIG_INTEGER => number(),
        NEGATIVE_BIG_INTEGER => number()?.call_method0("__invert__"),
        _ => object(py, marked),
    }
}
