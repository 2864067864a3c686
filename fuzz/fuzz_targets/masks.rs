//! See `tgm_fuzz::checks::masks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::masks::check(bytes));
