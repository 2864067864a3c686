//! What this library is.

use std::ffi::c_char;

use crate::args;
use crate::call::get;

/// The version of the interface: the one of the reference that it has the functions of, as `MAJOR << 16 | MINOR`.
const ABI: u32 = 24;

/// The version of this library.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_version_string() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_abi_version() -> u32 {
    ABI
}

/// Whether this library can do something: a codec in both directions, threads, maps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_has_feature(name: *const c_char) -> bool {
    // SAFETY: the header's contract.
    get(false, || Some(has(unsafe { args::text(name, "name") }.ok()?)))
}

fn has(name: &str) -> bool {
    match name {
        "lz4" | "zstd" | "szip" | "zfp" | "roaring" | "rle" | "threads" | "mmap" | "blosc2-decode" | "sz3-decode" => {
            true
        }
        // sz3 without this feature encodes without loss, and decodes everything.
        "blosc2" => cfg!(feature = "blosc2"),
        "sz3" => cfg!(feature = "sz3"),
        _ => false,
    }
}
