//! See `tgm_fuzz::checks::grib`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::grib::check(bytes));
