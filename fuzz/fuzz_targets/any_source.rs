//! See `tgm_fuzz::checks::any_source`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::any_source::check(bytes));
