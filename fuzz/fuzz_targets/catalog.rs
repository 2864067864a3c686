//! See `tgm_fuzz::checks::catalog`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::catalog::check(bytes));
