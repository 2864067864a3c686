//! Requests for the values of an object.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyEllipsis, PyList, PyTuple};
use tgm_std::DecodeOptions;

use super::facts::Facts;
use super::object::{Object, shaped};
use super::{out, select};
use crate::convert::arguments;

/// What is wanted of an object, and where it goes.
pub(super) struct Request<'py> {
    /// An index of numpy; all values if there is none.
    pub(super) key: Option<Bound<'py, PyAny>>,
    /// Pairs of a first value and a count, of the flat values.
    pub(super) ranges: Option<Bound<'py, PyAny>>,
    /// The dtype to convert to.
    pub(super) dtype: Option<Bound<'py, PyAny>>,
    /// The array to fill.
    pub(super) out: Option<Bound<'py, PyAny>>,
    pub(super) options: DecodeOptions,
}

/// Carries a request out.
///
/// # Errors
/// `ValueError` and `TypeError` for a request that contradicts itself or the object; `IndexError` where numpy raises it;
/// the errors of decoding.
pub(super) fn read<'py>(object: &Bound<'py, Object>, request: Request<'py>) -> PyResult<Bound<'py, PyAny>> {
    let Request { key, ranges, dtype, out, options } = request;
    let py = object.py();
    let dtype = dtype.map(|dtype| float(object, &dtype)).transpose()?;
    if let (Some(out), Some(dtype)) = (&out, &dtype)
        && !out.getattr(intern!(py, "dtype"))?.eq(dtype)?
    {
        return Err(PyValueError::new_err("argument 'out': its dtype is not the one that is asked for"));
    }
    if let Some(ranges) = ranges {
        if key.is_some() {
            return Err(PyTypeError::new_err("an index or ranges are expected, not both"));
        }
        return of_ranges(object, &ranges, dtype.as_ref(), out, &options);
    }
    let is_whole = |key: &Bound<'_, PyAny>| {
        key.is_instance_of::<PyEllipsis>() || key.cast::<PyTuple>().is_ok_and(pyo3::types::PyTupleMethods::is_empty)
    };
    match key.filter(|key| !is_whole(key)) {
        None => whole(object, dtype, out, &options),
        Some(key) => {
            if let Some(out) = &out
                && let Some((picks, shape)) = select::plain_box(object, &key)?
                && out::box_into(object, (&picks, &shape), out, &options)?
            {
                return Ok(out.clone());
            }
            let values = select::boxed(object, &key, &options)?;
            match out {
                Some(out) => copied(&out, &values).map(|()| out),
                None => converted(values, dtype.as_ref()),
            }
        }
    }
}

fn whole<'py>(
    object: &Bound<'py, Object>,
    dtype: Option<Bound<'py, PyAny>>,
    out: Option<Bound<'py, PyAny>>,
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let out = match (out, dtype) {
        (Some(out), _) => out,
        (None, Some(dtype)) => {
            let shape = object.get().facts().shape_tuple(py)?;
            py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "empty"), (shape, dtype))?
        }
        (None, None) => return object.get().decode_new(py, options),
    };
    out::decode_into(object, &out, options)?;
    Ok(out)
}

/// A dtype that values can be converted to: the object's own, or a float for real numbers.
fn float<'py>(object: &Bound<'py, Object>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let dtype = py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "dtype"), (dtype,))?;
    let own = object.get().descr(py)?;
    let name: String = dtype.getattr(intern!(py, "str"))?.extract()?;
    let is_real = !matches!(own.getattr(intern!(py, "kind"))?.extract()?, 'c' | 'b');
    let is_native_float = matches!(name.get(1..), Some("f4" | "f8")) && dtype.getattr("isnative")?.is_truthy()?;
    if dtype.eq(own)? || is_real && is_native_float {
        return Ok(dtype);
    }
    let own = own.str()?.to_string();
    let known = match own.as_str() {
        "float32" | "float64" => "float32 or float64".to_owned(),
        own if is_real => format!("{own}, float32 or float64"),
        own => own.to_owned(),
    };
    Err(PyValueError::new_err(format!(
        "argument 'dtype': values of dtype {own} can be read as {known}, not as {dtype}"
    )))
}

fn converted<'py>(values: Bound<'py, PyAny>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let Some(dtype) = dtype else { return Ok(values) };
    let keys = PyDict::new(values.py());
    keys.set_item("copy", false)?;
    values.call_method("astype", (dtype,), Some(&keys))
}

/// Copies values into an array of the same shape, and converts them.
fn copied(out: &Bound<'_, PyAny>, values: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = out.py();
    let shape = |array: &Bound<'_, PyAny>| array.getattr(intern!(py, "shape")).map(Bound::unbind);
    let numpy = py.import(intern!(py, "numpy"))?;
    let values = numpy.call_method1(intern!(py, "asarray"), (values,))?;
    let Ok(given) = shape(out) else {
        let class = out.get_type().name()?;
        return Err(PyTypeError::new_err(format!("argument 'out': a numpy array is expected, not {class}")));
    };
    let expected = shape(&values)?;
    if !given.bind(py).eq(&expected)? {
        return Err(PyValueError::new_err(format!("argument 'out': shape {expected} is expected, not {given}")));
    }
    let (own, wanted) = (values.getattr(intern!(py, "dtype"))?, out.getattr(intern!(py, "dtype"))?);
    let is_float = matches!(wanted.getattr(intern!(py, "str"))?.extract::<String>()?.get(1..), Some("f4" | "f8"));
    let is_real = !matches!(own.getattr(intern!(py, "kind"))?.extract()?, 'c' | 'b');
    if !(own.eq(&wanted)? || is_float && is_real) {
        return Err(PyValueError::new_err(format!("argument 'out': dtype {own} is expected, not {wanted}")));
    }
    let keys = PyDict::new(py);
    keys.set_item("casting", "unsafe")?;
    numpy.call_method(intern!(py, "copyto"), (out, values), Some(&keys)).map(drop)
}

/// The values of ranges: a flat array of each, or one after the other in `out`.
fn of_ranges<'py>(
    object: &Bound<'py, Object>,
    ranges: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    out: Option<Bound<'py, PyAny>>,
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let ranges = arguments::ranges(ranges)?;
    let Facts { dtype: own, .. } = object.get().facts();
    let found = object.get().ranges(py, &ranges, options)?;
    let arrays = found
        .into_iter()
        .zip(&ranges)
        .map(|(values, (_, count))| converted(shaped(py, *own, &[*count], values)?, dtype))
        .collect::<PyResult<Vec<_>>>()?;
    let list = PyList::new(py, arrays)?;
    let Some(out) = out else { return Ok(list.into_any()) };
    let joined = match list.len() {
        0 => return Err(PyValueError::new_err("argument 'out': there are no ranges")),
        1 => list.get_item(0)?,
        _ => py.import(intern!(py, "numpy"))?.call_method1(intern!(py, "concatenate"), (list,))?,
    };
    copied(&out, &joined)?;
    Ok(out)
}
