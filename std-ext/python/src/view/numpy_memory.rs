//! The types and the memory of arrays of numpy.

use numpy::{PyArrayDescr, PyUntypedArray, npyffi};
use pyo3::prelude::*;
use tgm_std::Dtype;

use crate::convert::array_out::numpy_dtype;

/// The dtype of numpy in this machine's byte order, or in the other one.
pub(super) fn descr(py: Python<'_>, dtype: Dtype, is_swapped: bool) -> PyResult<Bound<'_, PyArrayDescr>> {
    let native = numpy_dtype(py, dtype)?;
    let descr = if is_swapped { &native.call_method1("newbyteorder", ("S",))? } else { native };
    Ok(descr.clone().cast_into()?)
}

/// Where the elements of a contiguous array are.
///
/// # Errors
/// `ValueError` if they are not contiguous.
#[allow(unsafe_code, reason = "numpy gives the address in a field of its struct")]
pub(super) fn address_of(array: &Bound<'_, PyUntypedArray>) -> *mut u8 {
    use numpy::PyUntypedArrayMethods as _;
    // SAFETY: the pointer leads to the struct of the array that the caller holds, which numpy keeps valid.
    unsafe { (*npyffi::_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast() }
}
