//! See `tgm_fuzz::checks::scan`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::scan::check(bytes));
