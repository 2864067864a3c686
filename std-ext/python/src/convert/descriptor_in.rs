//! Descriptors from the mappings that Python programs pass.

use std::ffi::CString;

use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyMapping, PyString, PyTuple, PyType};
use tgm_std::core::descriptor::Key;
use tgm_std::{ByteOrder, DataObjectDescriptor as Described, Dtype, TensogramError};

use crate::convert::array_in::{Array, Data};
use crate::convert::{arguments, cbor_in};
use crate::descriptor::DataObjectDescriptor;
use crate::errors::{of_object, raise};

/// Which keys a mapping may have beside the fields of the descriptor and the parameters of stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// None: another name is a mistake.
    Known,
    /// Any, which become parameters, as programs for `tensogram` expect it.
    Any,
}

/// Keys of the descriptor itself. Others are parameters.
const FIELDS: [&str; 10] =
    ["type", "ndim", "shape", "strides", "dtype", "byte_order", "encoding", "filter", "compression", "hash"];

/// Keys that describe what the numbers mean. They belong into the metadata of the object.
const MEANINGS: [&str; 11] = [
    "name",
    "param",
    "shortName",
    "long_name",
    "description",
    "units",
    "dim_names",
    "mars",
    "cf",
    "product",
    "instrument",
];

/// The descriptor that `object` stands for: a mapping, a `DataObjectDescriptor`, or `None` for what the data says.
///
/// A mapping without `type`, `shape` and `dtype` gets all three from an array. A byte order that is not given is the
/// array's, or else this machine's. With [`Keys::Any`], parameters that look like metadata are kept, with one warning for
/// the descriptor.
///
/// # Errors
/// `ValueError` and `TypeError` for entries that are missing or wrong, and for unknown keys with [`Keys::Known`]; what the
/// filters of warnings raise.
pub(crate) fn descriptor(object: &Bound<'_, PyAny>, data: Option<&Data<'_>>, keys: Keys) -> PyResult<Described> {
    let array = data.and_then(Data::array);
    if let Ok(descriptor) = object.cast::<DataObjectDescriptor>() {
        return Ok(Described { masks: None, ..descriptor.get().described(descriptor.py())?.clone() });
    }
    let inferred = array.map(|array| Described::new(array.element().inferred(), array.order(), &array.shape()));
    if object.is_none() {
        return inferred.ok_or_else(|| PyValueError::new_err("descriptor may be None only with a numpy array"));
    }
    if !is_descriptor(object) {
        let class = object.get_type().name()?;
        return Err(PyValueError::new_err(format!("expected a descriptor dict, got {class}")));
    }
    let py = object.py();
    if keys == Keys::Known {
        cbor_in::for_each_item(object, |key, _| check_key(py, &cbor_in::text_key(&key)?))?;
    }
    let entry = |key: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        if object.contains(key)? { object.get_item(key).map(Some) } else { Ok(None) }
    };
    let missing = |key: &str| PyValueError::new_err(format!("descriptor missing '{key}'"));
    let parts = (entry("type")?, entry("shape")?, entry("dtype")?);
    let mut descriptor = match (parts, inferred) {
        ((None, None, None), Some(inferred)) if object.len()? > 0 => inferred,
        ((kind, shape, dtype), _) => {
            let obj_type = kind.ok_or_else(|| missing("type"))?.extract::<String>()?;
            let shape = arguments::items(&shape.ok_or_else(|| missing("shape"))?, "shape", |dim| dim.extract())?;
            let dtype = dtype_name(&dtype.ok_or_else(|| missing("dtype"))?)?;
            let known = Dtype::from_name(&dtype);
            let dtype = known.ok_or_else(|| PyValueError::new_err(format!("unknown dtype: {dtype:?}")))?;
            let order = array.map_or_else(ByteOrder::native, Array::order);
            Described { obj_type, ..Described::new(dtype, order, &shape) }
        }
    };
    check_extent(&descriptor).map_err(raise(py))?;
    if let Some(strides) = entry("strides")? {
        descriptor.strides = arguments::items(&strides, "strides", |stride| stride.extract())?;
        if descriptor.strides.len() != descriptor.shape.len() {
            return Err(PyValueError::new_err(format!(
                "MetadataError: strides.len() {} does not match shape.len() {}",
                descriptor.strides.len(),
                descriptor.shape.len()
            )));
        }
    }
    if let Some(order) = entry("byte_order")? {
        descriptor.byte_order = match &*order.extract::<String>()? {
            "little" => ByteOrder::Little,
            "big" => ByteOrder::Big,
            other => return Err(PyValueError::new_err(format!("unknown byte_order: {other:?}"))),
        };
    }
    let stage = |key: &str, slot: &mut String| -> PyResult<()> {
        if let Some(name) = entry(key)? {
            *slot = name.extract()?;
        }
        Ok(())
    };
    stage("encoding", &mut descriptor.encoding)?;
    stage("filter", &mut descriptor.filter)?;
    stage("compression", &mut descriptor.compression)?;

    let mut meanings = Vec::new();
    cbor_in::for_each_item(object, |key, item| {
        let key = cbor_in::text_key(&key)?;
        if FIELDS.contains(&&*key) {
            return Ok(());
        }
        if key == "masks" {
            return no_masks(&item);
        }
        if MEANINGS.contains(&&*key) {
            meanings.push(key.clone());
        }
        let value = cbor_in::value(&key, &item)?;
        descriptor.params.insert(key, value);
        Ok(())
    })?;
    if !meanings.is_empty() {
        warn(py, &meanings)?;
    }
    Ok(descriptor)
}

/// Checks that a key is one of a descriptor, or a parameter of a stage.
///
/// # Errors
/// `ValueError` with the nearest key that is, or with the place where what it means belongs.
fn check_key(py: Python<'_>, key: &str) -> PyResult<()> {
    let is_known = |key: &str| FIELDS.contains(&key) || Key::from_name(key).is_some_and(Key::is_parameter);
    if is_known(key) || key == "masks" {
        return Ok(());
    }
    let advice = if MEANINGS.contains(&key) {
        "it describes what the values mean, so it belongs in meta['base'][i]".to_owned()
    } else {
        let parameters = Key::ALL.iter().filter(|key| key.is_parameter()).map(|key| key.name());
        let known: Vec<&str> = FIELDS.into_iter().chain(parameters).collect();
        let nearest = py.import(intern!(py, "tgmio._encoding"))?.getattr(intern!(py, "_nearest"))?;
        nearest.call1((key, known, "its keys are"))?.extract()?
    };
    Err(PyValueError::new_err(format!("unknown key {key:?} of a descriptor: {advice}")))
}

/// The descriptor and the data that a `tgm.Encoding` makes of an array. `None` for a descriptor of another kind.
///
/// # Errors
/// What the encoding raises.
pub(crate) fn chosen<'py>(
    encoding: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = encoding.py();
    // Descriptors of other kinds are frequent.
    if encoding.is_none() || encoding.is_exact_instance_of::<PyDict>() {
        return Ok(None);
    }
    if !encoding.is_instance(CLASS.import(py, "tgmio._encoding", "Encoding")?)? {
        return Ok(None);
    }
    encoding.call_method1("descriptor", (data,))?.extract().map(Some)
}

/// The name of a dtype: text, or what `numpy.dtype` takes, such as `numpy.float32`. A truth value's is "bitmask".
fn dtype_name(dtype: &Bound<'_, PyAny>) -> PyResult<String> {
    if dtype.is_instance_of::<PyString>() {
        return dtype.extract();
    }
    let py = dtype.py();
    let numpy = py.import("numpy")?;
    let is_dtype = dtype.is_instance(&numpy.getattr("dtype")?)? || dtype.is_instance_of::<PyType>();
    if !is_dtype {
        let class = dtype.get_type().name()?;
        return Err(PyTypeError::new_err(format!("descriptor 'dtype': '{class}' object is not an instance of 'str'")));
    }
    let name: String = numpy.call_method1("dtype", (dtype,))?.getattr("name")?.extract()?;
    Ok(if name == "bool" { Dtype::Bitmask.name().to_owned() } else { name })
}

/// [`descriptor`] for methods, whose argument it is.
///
/// # Errors
/// The errors of [`descriptor`], with `TypeError` for an object that is not a descriptor.
pub(crate) fn argument(object: &Bound<'_, PyAny>, data: Option<&Data<'_>>, keys: Keys) -> PyResult<Described> {
    let is_inferred = object.is_none() && data.and_then(Data::array).is_some();
    if is_inferred || !object.is_none() && is_descriptor(object) {
        return descriptor(object, data, keys);
    }
    let class = object.get_type().name()?;
    let more = if object.is_none() { ": bytes need a descriptor; an array has its own" } else { "" };
    Err(PyTypeError::new_err(format!("argument 'descriptor': '{class}' object is not an instance of 'dict'{more}")))
}

fn is_descriptor(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.is_instance_of::<PyDict>()
        || object.is_instance_of::<DataObjectDescriptor>()
        || object.cast::<PyMapping>().is_ok()
}

/// Checks that an entry `masks` is empty. Only the encoder writes masks.
fn no_masks(item: &Bound<'_, PyAny>) -> PyResult<()> {
    if item.is_none() || item.cast::<PyDict>().is_ok_and(PyDictMethods::is_empty) {
        return Ok(());
    }
    Err(PyValueError::new_err(
        "MetadataError: failed to deserialize descriptor: 'masks' is written by the encoder alone",
    ))
}

/// Checks that the number of elements can be counted.
fn check_extent(descriptor: &Described) -> Result<(), TensogramError> {
    let strides = descriptor.shape.iter().rev().try_fold(1_u64, |stride, &dim| stride.checked_mul(dim.max(1)));
    match strides {
        Some(_) => Ok(()),
        None => Err(TensogramError::Metadata("strides overflow".into())),
    }
}

fn warn(py: Python<'_>, keys: &[String]) -> PyResult<()> {
    let listed = keys.iter().map(|key| format!("'{key}'")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "descriptor keys {listed} describe what the values mean, so they belong in meta['base'][i]; they are kept as \
         parameters of the descriptor"
    );
    let text = CString::new(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}

/// The pairs of descriptors and data that encoding takes, as Python passes them.
///
/// # Errors
/// `TypeError` unless it is a list; `ValueError` for an item that is not a pair.
pub(crate) fn pairs<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let Ok(list) = object.cast::<PyList>() else {
        let class = object.get_type().name()?;
        let text = format!("argument 'descriptors_and_data': '{class}' object is not an instance of 'list'");
        return Err(PyTypeError::new_err(text));
    };
    list.iter()
        .enumerate()
        .map(|(index, item)| {
            let wrong = |text: String| of_object(item.py(), PyValueError::new_err(text), index);
            let Ok(pair) = item.cast::<PyTuple>() else {
                let class = item.get_type().name()?;
                return Err(wrong(format!("expected a tuple (descriptor, data), got {class}")));
            };
            if pair.len() != 2 {
                return Err(wrong(format!(
                    "expected a tuple of length 2 (descriptor, data), got length {}",
                    pair.len()
                )));
            }
            Ok((pair.get_item(0)?, pair.get_item(1)?))
        })
        .collect()
}
