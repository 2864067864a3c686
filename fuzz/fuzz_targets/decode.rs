//! See `tgm_fuzz::checks::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::decode::check(bytes));
