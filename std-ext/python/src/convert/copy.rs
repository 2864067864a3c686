//! Copies of memory that other threads of Python may write to.

use pyo3::prelude::*;
use tgm_std::codec::memory::huge_pages;

use crate::work::detached;

/// Fewer bytes than this are copied with the GIL held.
const SMALL: usize = 256 << 10;

/// A copy of `len` elements at `data`. The GIL is not held while many are copied.
///
/// # Errors
/// `RuntimeError` for a panic.
///
/// # Safety
/// As for [`copied`].
#[allow(unsafe_code, reason = "Python gives addresses")]
pub(super) unsafe fn copy<T: Copy + Send>(py: Python<'_>, data: *const T, len: usize) -> PyResult<Vec<T>> {
    let address = data as usize;
    // SAFETY: as the caller says.
    let copy = move || unsafe { copied(address as *const T, len) };
    if len.saturating_mul(size_of::<T>()) < SMALL { Ok(copy()) } else { detached(py, copy) }
}

/// A copy of `len` elements at `data`.
///
/// Another thread may write to them meanwhile. Then the copy holds some old and some new bytes, as the copies of numpy
/// do that run without the GIL. What follows works on the copy alone.
///
/// # Safety
/// `data` leads to `len` elements, which stay there until this function returns: the caller holds the object that they
/// belong to, and its buffer is exported or its array referenced. Every pattern of bits is a value of `T`.
#[allow(unsafe_code, reason = "Python gives addresses")]
pub(crate) unsafe fn copied<T: Copy>(data: *const T, len: usize) -> Vec<T> {
    let mut copy: Vec<T> = Vec::with_capacity(len);
    huge_pages(&mut copy);
    // SAFETY: the caller says that there are `len` elements; the vector has room for them, and is new.
    unsafe {
        std::ptr::copy_nonoverlapping(data, copy.as_mut_ptr(), len);
        copy.set_len(len);
    }
    copy
}
