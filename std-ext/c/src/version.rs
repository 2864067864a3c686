//! What this library is.

use std::ffi::c_char;

use tgm_std::codec::about::Support;
use tgm_std::codec::{self, Codec};
use tgm_std::core::descriptor::Compression;

use crate::args;
use crate::call::get;

/// The version of the interface: the one of the reference that it has the functions of, as `MAJOR << 16 | MINOR`.
const ABI: u32 = 24;

/// The version of this library.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_version_string() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of this library as `MAJOR << 16 | MINOR << 8 | PATCH`. Numbers that do not fit become the largest that do.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_version_number() -> u32 {
    let [major, minor, patch] =
        [env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"), env!("CARGO_PKG_VERSION_PATCH")]
            .map(|part| part.parse::<u8>().map_or(u32::from(u8::MAX), u32::from));
    major << 16 | minor << 8 | patch
}

/// The version of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_abi_version() -> u32 {
    ABI
}

/// Whether this library can do something: a codec in both directions, threads, maps, asynchronous calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_has_feature(name: *const c_char) -> bool {
    // SAFETY: the header's contract.
    get(false, || Some(has(unsafe { args::text(name, "name") }.ok()?)))
}

fn has(name: &str) -> bool {
    match name {
        "threads" | "mmap" => return true,
        "async" => return cfg!(feature = "async"),
        "async-remote" => return cfg!(feature = "async-remote"),
        "dataset" => return cfg!(feature = "dataset"),
        _ => {}
    }
    let about = |name| Compression::from_name(name).and_then(codec::find).map(Codec::about);
    match name.strip_suffix("-decode") {
        Some(codec) => about(codec).is_some_and(|about| about.decoding.is_any()),
        // sz3 may encode without loss only, and decode everything: then it is not there in both directions.
        None => about(name).is_some_and(|about| about.decoding == Support::Whole && about.encoding == Support::Whole),
    }
}
