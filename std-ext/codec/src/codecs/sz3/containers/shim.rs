//! SZ3's compressor, called through `shim.cpp`.
#![allow(unsafe_code, reason = "calls of C++; each block says what is relied on")]

use std::ffi::c_int;

use super::Defect;
use crate::error::CodecError;

unsafe extern "C" {
    /// The room that a container of `count` values needs while it is made. 0 if there is no memory to find out.
    safe fn tgm_sz3_capacity(count: usize) -> usize;

    /// Makes a container in `out`. Writes its length to `len` if it returns 0.
    fn tgm_sz3_compress(
        values: *const f64,
        count: usize,
        bound: f64,
        relative: f64,
        out: *mut u8,
        cap: usize,
        len: *mut usize,
    ) -> c_int;
}

/// `tgm_sz3_compress` has made a container.
const DONE: c_int = 0;
/// `tgm_sz3_compress` had no memory.
const OUT_OF_MEMORY: c_int = 1;

/// Compresses at least one value, each within `bound`. `relative` is the bound over the range of values if it was given
/// so, and 0 otherwise.
///
/// The caller has checked that SZ3's arithmetic is defined for `values` and `bound`.
pub(super) fn compress(values: &[f64], bound: f64, relative: f64) -> Result<Vec<u8>, CodecError> {
    if values.is_empty() {
        return Err(CodecError::new("no values to compress"));
    }
    let capacity = tgm_sz3_capacity(values.len());
    let mut out = Vec::new();
    out.try_reserve_exact(capacity).map_err(|_| Defect::OutOfMemory(capacity))?;
    let mut len = 0;
    // SAFETY: `values` holds the number of values that is passed, at least one, and is only read. `out` has room for
    // `capacity` bytes and `len` for one number; both are borrowed mutably. The shim catches all exceptions, keeps no
    // pointer, and compares `capacity` with what SZ3 asks for.
    let status = unsafe {
        tgm_sz3_compress(values.as_ptr(), values.len(), bound, relative, out.as_mut_ptr(), capacity, &raw mut len)
    };
    match status {
        DONE if len <= capacity => {
            // SAFETY: the shim has written the first `len` bytes, which are within the capacity.
            unsafe { out.set_len(len) };
            out.shrink_to_fit();
            Ok(out)
        }
        OUT_OF_MEMORY => Err(CodecError::new("out of memory in SZ3")),
        _ => Err(CodecError::new("SZ3 gave up")),
    }
}
