//! Buffers of objects and messages, as arrays export them.
//!
//! An array over the same memory knows its format, shape and strides, and keeps them for as long as a buffer of it
//! lives. So the buffer is the array's own: Python gives it back to the array, and the array keeps the object.

use std::ffi::c_int;
use std::ptr;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Fills `view` with the buffer of a read-only array.
///
/// # Safety
/// `view` is null or leads to a struct that may be written.
///
/// # Errors
/// `BufferError` for a consumer that wants to write; the errors of the array.
#[allow(unsafe_code, reason = "the buffer protocol is unsafe by nature")]
pub(super) unsafe fn export<'py>(
    array: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("there is no place for the buffer"));
    }
    // SAFETY: the caller promises that the struct may be written. Python asks for a null owner in case of an error.
    unsafe { (*view).obj = ptr::null_mut() };
    if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
        return Err(PyBufferError::new_err("the values are read-only: decode() gives an array that can be changed"));
    }
    let array = array()?;
    // SAFETY: the array is alive, and the struct may be written. numpy puts the array into `obj`, which keeps it.
    match unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), view, flags) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(array.py())),
    }
}
