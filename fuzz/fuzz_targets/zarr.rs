//! See `tgm_fuzz::checks::zarr`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::zarr::check(bytes));
