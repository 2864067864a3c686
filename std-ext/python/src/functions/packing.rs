//! Parameters of packing.

use numpy::{PyArray1, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tgm_std::simple_packing::SimplePackingParams;

use crate::convert::array_in;
use crate::errors::without_prefix;
use crate::work::detached;

/// The widest field.
const MAX_BITS: u32 = 64;

/// The parameters with which fields of `bits_per_value` bits hold all values, for descriptors with the encoding
/// "simple_packing".
///
/// `values` is a contiguous array of float64 with one dimension. `decimal_scale_factor` D scales the values by 10 to
/// the power of D first; 0 is usual. Returns a dict with `sp_reference_value`, `sp_binary_scale_factor`,
/// `sp_decimal_scale_factor` and `sp_bits_per_value`.
///
/// Raises TypeError for another array; ValueError for NaN, infinities and more than 64 bits.
///
/// >>> import numpy, tgmio as tgm
/// >>> values = numpy.array([250.0, 251.3, 252.7])
/// >>> packing = tgm.compute_packing_params(values, 16, 0)
/// >>> packing["sp_reference_value"], packing["sp_binary_scale_factor"]
/// (250.0, -14)
/// >>> descriptor = {"type": "ntensor", "shape": [3], "dtype": "float64", "encoding": "simple_packing", **packing}
/// >>> tgm.decode(tgm.encode({}, [(descriptor, values)])).objects[0][1].round(2)
/// array([250. , 251.3, 252.7])
#[pyfunction]
pub(crate) fn compute_packing_params<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    bits_per_value: u32,
    decimal_scale_factor: i32,
) -> PyResult<Bound<'py, PyDict>> {
    let values = float64s(values)?;
    if bits_per_value > MAX_BITS {
        return Err(PyValueError::new_err(format!("bits_per_value {bits_per_value} exceeds maximum of {MAX_BITS}")));
    }
    let run = || tgm_std::simple_packing::compute_params(&values, bits_per_value, decimal_scale_factor);
    as_dict(py, &detached(py, run)?.map_err(|error| without_prefix(py, &error))?)
}

/// [`compute_packing_params`] with the fewest bits with which every value stays within an error.
#[pyfunction]
pub(crate) fn _packing_within<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    error: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let values = float64s(values)?;
    let run = || tgm_std::simple_packing::params_within(&values, error);
    as_dict(py, &detached(py, run)?.map_err(|error| without_prefix(py, &error))?)
}

fn as_dict<'py>(py: Python<'py>, params: &SimplePackingParams) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("sp_reference_value", params.reference_value)?;
    dict.set_item("sp_binary_scale_factor", params.binary_scale_factor)?;
    dict.set_item("sp_decimal_scale_factor", params.decimal_scale_factor)?;
    dict.set_item("sp_bits_per_value", params.bits_per_value)?;
    Ok(dict)
}

/// A copy of the values, which other threads may not change while they are looked at.
fn float64s(values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let refused = |found: String| {
        let text = format!("argument 'values': expected a numpy array of float64 with one dimension, got {found}");
        PyTypeError::new_err(text)
    };
    let Ok(array) = values.cast::<PyUntypedArray>() else {
        return Err(refused(format!("'{}'", values.get_type().name()?)));
    };
    let dtype = array.dtype();
    let Ok(array) = values.cast::<PyArray1<f64>>() else {
        return Err(refused(format!("dtype {dtype} and {} dimensions", array.ndim())));
    };
    if dtype.is_native_byteorder() == Some(false) {
        return Err(refused(format!("dtype {dtype}")));
    }
    array_in::float64s(array)
}
