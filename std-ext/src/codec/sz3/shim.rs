//! SZ3's compressor, called through `shim.cpp`.
#![allow(unsafe_code, reason = "C++ is called; each call says what is relied on")]

use std::ffi::c_int;

use super::super::CodecError;
use super::Defect;

unsafe extern "C" {
    /// Room that a container of `count` values needs while it is made; 0 if there was no memory to find out.
    safe fn tgm_sz3_capacity(count: usize) -> usize;

    /// Makes a container in `out`, and puts its length into `len` if it returns 0.
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

/// What `tgm_sz3_compress` returns.
const DONE: c_int = 0;
const OUT_OF_MEMORY: c_int = 1;

/// Compresses `values`, one at least, each within `bound`. `relative` is the bound over the range of values where it was
/// given so, else 0.
///
/// The caller has seen to it that SZ3's arithmetic is defined for `values` and `bound`.
pub(super) fn compress(values: &[f64], bound: f64, relative: f64) -> Result<Vec<u8>, CodecError> {
    if values.is_empty() {
        return Err(CodecError::new("no values to compress"));
    }
    let capacity = tgm_sz3_capacity(values.len());
    let mut out = Vec::new();
    out.try_reserve_exact(capacity).map_err(|_| Defect::OutOfMemory(capacity))?;
    let mut len = 0;
    // SAFETY: `values` are as many as said, read only, and one at least; `out` has room for `capacity` bytes and `len` for
    // one number, and neither is anybody else's. The shim catches all exceptions, keeps no pointer and checks `capacity`
    // against what SZ3 asks for.
    let status = unsafe {
        tgm_sz3_compress(values.as_ptr(), values.len(), bound, relative, out.as_mut_ptr(), capacity, &raw mut len)
    };
    match status {
        DONE if len <= capacity => {
            // SAFETY: the shim has written the first `len` bytes, and they are within the capacity.
            unsafe { out.set_len(len) };
            out.shrink_to_fit();
            Ok(out)
        }
        OUT_OF_MEMORY => Err(CodecError::new("out of memory in SZ3")),
        _ => Err(CodecError::new("SZ3 gave up")),
    }
}
