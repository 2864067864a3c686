//! Bytes as `bytes` objects of Python.

use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tgm_std::codec::memory::huge_pages_in;

use crate::work::detached;

/// Fewer bytes than this are copied with the GIL held.
const SMALL: usize = 256 << 10;

/// A `bytes` object with the content of `bytes`. The GIL is not held while many bytes are copied and given back.
///
/// # Errors
/// `MemoryError`.
#[allow(unsafe_code, reason = "only the C function makes a bytes object without writing to it")]
pub(crate) fn bytes(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Bound<'_, PyBytes>> {
    if bytes.len() < SMALL {
        return Ok(PyBytes::new(py, &bytes));
    }
    let len = ffi::Py_ssize_t::try_from(bytes.len())?;
    // SAFETY: a null pointer asks for an object of that length whose content is written afterwards. The result is a new
    // reference, or null with an exception set.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), len)) }?;
    let object = object.cast_into::<PyBytes>()?;
    // SAFETY: `object` is a bytes object.
    let address = unsafe { ffi::PyBytes_AsString(object.as_ptr()) } as usize;
    detached(py, move || {
        // SAFETY: the object has `len` bytes there. Nobody else knows it yet, and it lives until this function ends.
        let content = unsafe { std::slice::from_raw_parts_mut(address as *mut MaybeUninit<u8>, bytes.len()) };
        huge_pages_in(content);
        content.write_copy_of_slice(&bytes);
        drop(bytes);
    })?;
    Ok(object)
}
