//! See `tgm_fuzz::checks::bridge`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::bridge::check(bytes));
