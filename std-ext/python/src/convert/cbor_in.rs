//! Python values to CBOR.

use std::collections::BTreeMap;

use ciborium::Value;
use ciborium::value::Integer;
use pyo3::exceptions::{PyOverflowError, PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyComplex, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType,
};

/// Containers within containers. Deeper ones could not be read again.
const MAX_DEPTH: usize = 96;
/// Steps of a place that errors name.
const SHOWN_STEPS: usize = 8;

/// A value that has no CBOR, and where it is: the steps from it outwards.
struct Refusal {
    error: PyErr,
    steps: Vec<String>,
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self { error, steps: Vec::new() }
    }
}

impl Refusal {
    fn within(mut self, step: String) -> Self {
        self.steps.push(step);
        self
    }

    /// The exception, with the place in its text. What the program's own code raised stays as it is.
    fn named(self, py: Python<'_>, place: &str) -> PyErr {
        let class = self.error.get_type(py);
        let is_ours = [
            py.get_type::<PyValueError>(),
            py.get_type::<PyOverflowError>(),
            py.get_type::<PyTypeError>(),
            py.get_type::<PyRecursionError>(),
        ];
        if !is_ours.iter().any(|ours| class.is(ours)) {
            return self.error;
        }
        let mut path = place.to_owned();
        for step in self.steps.iter().rev().take(SHOWN_STEPS) {
            path.push_str(step);
        }
        let more = if self.steps.len() > SHOWN_STEPS { "…" } else { "" };
        let named = PyErr::from_type(class, format!("{path}{more}: {}", self.error.value(py)));
        named.set_cause(py, self.error.cause(py));
        named
    }
}

type Converted = Result<Value, Refusal>;

/// The CBOR value of a Python value. `place` is what errors call it, such as its key.
///
/// | Python | CBOR |
/// |---|---|
/// | `None`, `bool`, `str` | null, bool, text |
/// | `int` from -2^64 to 2^64-1 | integer |
/// | `float`, and what has `__float__` and is equal to it | float of 64 bits |
/// | `bytes`, `bytearray` | byte string |
/// | `list`, `tuple`, arrays of numpy with truth values, integers, floats or text | array |
/// | `dict` and other mappings | map |
///
/// # Errors
/// `OverflowError` for other `int`; `ValueError` for other types; `RecursionError` for deep containers.
pub(crate) fn value(place: &str, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_at(object, MAX_DEPTH).map_err(|refusal| refusal.named(object.py(), place))
}

/// The entries of a mapping whose keys are text. `place` is what errors call the mapping; it may be empty.
///
/// # Errors
/// `TypeError` for another key; the errors of [`value`].
pub(crate) fn entries(place: &str, object: &Bound<'_, PyAny>) -> PyResult<BTreeMap<String, Value>> {
    let mut entries = BTreeMap::new();
    for_each_item(object, |key, item| {
        let key = text_key(&key)?;
        let item = value_at(&item, MAX_DEPTH)
            .map_err(|refusal| refusal.within(key_step(place.is_empty(), &key)).named(object.py(), place))?;
        entries.insert(key, item);
        Ok::<_, PyErr>(())
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
pub(crate) fn for_each_item<'py, E: From<PyErr>>(
    object: &Bound<'py, PyAny>,
    mut visit: impl FnMut(Bound<'py, PyAny>, Bound<'py, PyAny>) -> Result<(), E>,
) -> Result<(), E> {
    if let Ok(dict) = object.cast::<PyDict>() {
        // A copy, because conversions may run code of Python that changes the dict.
        return dict.copy()?.iter().try_for_each(|(key, item)| visit(key, item));
    }
    let mapping = object.cast::<PyMapping>().map_err(PyErr::from)?;
    for pair in mapping.items()?.iter() {
        let (key, item) = pair.extract()?;
        visit(key, item)?;
    }
    Ok(())
}

/// A key as a step of a place.
fn key_step(is_first: bool, key: &str) -> String {
    if is_first { key.to_owned() } else { format!(".{key}") }
}

fn value_at(object: &Bound<'_, PyAny>, depth: usize) -> Converted {
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
        return Ok(integer(object)?);
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
            let text = format!("metadata is nested more than {MAX_DEPTH} levels deep");
            return Err(PyRecursionError::new_err(text).into());
        };
        return if is_dict { map(object, depth) } else { array(object, depth) };
    }
    other(object, depth)
}

/// Values of types that are not builtin: numbers of numpy and their like, arrays, and other mappings.
fn other(object: &Bound<'_, PyAny>, depth: usize) -> Converted {
    let class = object.get_type();
    let (name, module) = (class.name()?, class.module()?);
    // numpy's truth values have neither `__index__` nor `__float__` in every release.
    if module == "numpy" && name.to_str()?.starts_with("bool") {
        return Ok(Value::Bool(object.is_truthy()?));
    }
    let is_array = object.hasattr("shape")? && object.getattr("shape")?.len().is_ok_and(|rank| rank > 0);
    let is_number = !is_array && !object.is_instance_of::<PyComplex>() && !name.to_str()?.starts_with("complex");
    if is_number && let Ok(index) = object.call_method0("__index__") {
        return Ok(integer(&index)?);
    }
    if is_number && let Ok(float) = object.call_method0("__float__") {
        return Ok(exact(object, &float)?);
    }
    if let Some(depth) = depth.checked_sub(1) {
        if object.cast::<PyMapping>().is_ok() {
            return map(object, depth);
        }
        if is_array && is_array_of_values(object) {
            return array(&object.call_method0("tolist")?, depth);
        }
    }
    Err(PyValueError::new_err(format!("cannot convert {name} to CBOR{}", advice(object)?)).into())
}

/// The float that stands for a number of another type.
///
/// # Errors
/// `ValueError` for a number that differs from its float, such as a third, and for a masked element.
fn exact(number: &Bound<'_, PyAny>, float: &Bound<'_, PyAny>) -> PyResult<Value> {
    let value: f64 = float.extract()?;
    let is_nan = value.is_nan() && number.ne(number)?;
    let equals = number.call_method1("__eq__", (value,))?;
    // What does not compare with floats has nothing else to say.
    if is_nan || equals.is(number.py().NotImplemented()) || equals.is_truthy()? {
        return Ok(Value::Float(value));
    }
    let name = number.get_type().name()?;
    let text = format!("cannot convert {name} to CBOR: {} is not a float of 64 bits: give float(value)", number.str()?);
    Err(PyValueError::new_err(text))
}

/// Whether an array has truth values, integers, floats or text.
fn is_array_of_values(array: &Bound<'_, PyAny>) -> bool {
    let kind = array.getattr("dtype").and_then(|dtype| dtype.getattr("kind")).and_then(|kind| kind.extract::<String>());
    kind.is_ok_and(|kind| matches!(kind.as_str(), "b" | "i" | "u" | "f" | "U" | "S" | "T"))
}

/// What to give instead of a value without a CBOR.
fn advice(object: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    Ok(if object.hasattr("isoformat")? {
        ": give value.isoformat()"
    } else if object.hasattr("__fspath__")? {
        ": give str(value)"
    } else if object.hasattr("dtype")? {
        ": give a list, or text"
    } else if object.hasattr("__iter__")? && !object.is_instance_of::<PyType>() {
        ": give list(value)"
    } else {
        ""
    })
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

fn array(object: &Bound<'_, PyAny>, depth: usize) -> Converted {
    let items = object
        .try_iter()?
        .enumerate()
        .map(|(index, item)| value_at(&item?, depth).map_err(|refusal| refusal.within(format!("[{index}]"))));
    items.collect::<Result<_, _>>().map(Value::Array)
}

fn map(object: &Bound<'_, PyAny>, depth: usize) -> Converted {
    let mut pairs = Vec::new();
    for_each_item(object, |key, item| {
        let step = || Ok::<_, PyErr>(key_step(false, &key.str()?.to_string_lossy()));
        let item = match value_at(&item, depth) {
            Ok(item) => item,
            Err(refusal) => return Err(refusal.within(step()?)),
        };
        match value_at(&key, depth)? {
            // A dict of Python cannot have such a key, so a reader in Python would fail.
            Value::Array(_) | Value::Map(_) => {
                let text = format!("cannot convert {} to a key of CBOR", key.get_type().name()?);
                Err(PyValueError::new_err(text).into())
            }
            key => {
                pairs.push((key, item));
                Ok(())
            }
        }
    })?;
    Ok(Value::Map(pairs))
}
