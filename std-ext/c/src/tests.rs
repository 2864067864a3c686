//! Tests of what C cannot see.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod encode_errors;
mod metadata_digests;

use std::ffi::CStr;

use crate::call::{call, get};
use crate::error::ENCODING;
use crate::last_error::{tgm_last_error, tgm_last_error_code};

#[test]
fn a_panic_becomes_an_error() {
    assert_eq!(call(|| panic!("a defect")), ENCODING);
    assert_eq!(tgm_last_error_code(), ENCODING);
    // SAFETY: there is a last error, and no call comes between.
    assert_eq!(unsafe { CStr::from_ptr(tgm_last_error()) }, c"internal error");
    assert_eq!(get(7, || -> Option<i32> { panic!("a defect") }), 7);
}
