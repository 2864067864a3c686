//! See `tgm_fuzz::checks::scratch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::scratch::check(bytes));
