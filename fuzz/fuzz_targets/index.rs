//! See `tgm_fuzz::checks::index`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::index::check(bytes));
