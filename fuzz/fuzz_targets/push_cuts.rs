//! See `tgm_fuzz::checks::push_cuts`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::push_cuts::check(bytes));
