//! See `tgm_fuzz::checks::grid`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::grid::check(bytes));
