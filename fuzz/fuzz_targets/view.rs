//! See `tgm_fuzz::checks::view`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::view::check(bytes));
