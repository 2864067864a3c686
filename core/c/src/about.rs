//! What this library is: version, features, layout, names; and functions of bytes alone.

use crate::abi::{Fault, Status};
use crate::kinds;
use crate::layout::LAYOUT;
use crate::pointers::{output, status};

/// `TGMC_VERSION`.
const VERSION: u32 = 0x0000_0100;

/// The version: major, minor and patch, in two, one and one bytes.
#[cfg_attr(any(not(chosen), only = "tgmc_version"), unsafe(no_mangle))]
pub extern "C" fn tgmc_version() -> u32 {
    VERSION
}

/// What is compiled in, as bits.
#[cfg_attr(any(not(chosen), only = "tgmc_features"), unsafe(no_mangle))]
pub extern "C" fn tgmc_features() -> u32 {
    let features = [
        cfg!(feature = "hash"),
        cfg!(feature = "masks"),
        cfg!(feature = "packing"),
        cfg!(feature = "push"),
        cfg!(feature = "shuffle"),
        cfg!(feature = "szip"),
        cfg!(feature = "names"),
        cfg!(feature = "details"),
    ];
    features.iter().rev().fold(0, |bits, feature| bits << 1 | u32::from(*feature))
}

/// Whether the program's header is this library's.
#[cfg_attr(any(not(chosen), only = "tgmc_layout_check"), unsafe(no_mangle))]
pub extern "C" fn tgmc_layout_check(layout: u32) -> Status {
    if layout == LAYOUT { 0 } else { kinds::LAYOUT.number }
}

/// The name of a status.
#[cfg(feature = "names")]
#[cfg_attr(any(not(chosen), only = "tgmc_kind_name"), unsafe(no_mangle))]
pub extern "C" fn tgmc_kind_name(kind: Status) -> *const core::ffi::c_char {
    let name = match kind {
        0 => c"OK",
        1 => c"END",
        _ => {
            kinds::CORE.iter().chain(kinds::BOUNDARY).find(|row| row.number == kind).map_or(c"UNKNOWN", |row| row.name)
        }
    };
    name.as_ptr()
}

/// The digest of some bytes.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg(feature = "hash")]
#[cfg_attr(any(not(chosen), only = "tgmc_xxh3"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_xxh3(data: *const u8, len: usize) -> u64 {
    // SAFETY: the header asks the caller for what this function needs.
    unsafe { crate::pointers::bytes(data, len) }.map_or(0, tgm_core::hash::digest)
}

/// Reverses the bytes of each element.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_swap"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_swap(data: *mut u8, len: usize, unit: usize, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        let result = output(data, len, &[]).and_then(|data| Ok(tgm_core::byteswap::swap_in_place(data, unit)?));
        status(error, result)
    }
}

/// Panics for some arguments.
#[cfg(feature = "planted")]
#[unsafe(no_mangle)]
#[allow(clippy::indexing_slicing, reason = "this is the planted panic")]
pub extern "C" fn tgmc_planted(index: usize) -> u8 {
    [1, 2, 3][index]
}
