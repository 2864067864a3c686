//! Arrays of numpy over memory that is not numpy's.

use std::ffi::c_int;
use std::ptr;

use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{PyArrayDescr, PyUntypedArray, npyffi};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tgm_std::Dtype;

use crate::convert::array_out::numpy_dtype;

/// A read-only array over the memory at `address`, which `owner` keeps. The array keeps `owner`.
///
/// # Safety
/// From `address` on lie as many bytes as an array of that shape and dtype has, for as long as `owner` lives.
///
/// # Errors
/// `ValueError` for more dimensions than numpy has.
#[allow(unsafe_code, reason = "numpy's C interface makes arrays over foreign memory")]
pub(super) unsafe fn array<'py>(
    owner: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyArrayDescr>,
    shape: &[u64],
    address: *const u8,
) -> PyResult<Bound<'py, PyAny>> {
    let py = owner.py();
    let dims = shape.iter().map(|&dim| npy_intp::try_from(dim)).collect::<Result<Vec<_>, _>>();
    let mut dims = dims.map_err(|_| PyValueError::new_err("a dimension is larger than numpy has"))?;
    let rank = c_int::try_from(dims.len()).unwrap_or(c_int::MAX);
    // SAFETY: `dims` has `rank` lengths. numpy takes over the reference to the dtype, which is why it is a new one. It
    // makes strides of its own, and checks rank and size. The flags leave out WRITEABLE, so nobody writes through the
    // array to memory that is `const` here. The result is a new reference, or null and an exception.
    let array = unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            dtype.clone().into_ptr().cast(),
            rank,
            dims.as_mut_ptr(),
            ptr::null_mut(),
            address.cast_mut().cast(),
            0,
            ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)?
    };
    // SAFETY: the array is new, and numpy takes over the new reference to its owner, also if it fails.
    let failed = unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), owner.clone().into_ptr()) };
    if failed < 0 { Err(PyErr::fetch(py)) } else { Ok(array) }
}

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
