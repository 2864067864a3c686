//! See `tgm_fuzz::checks::frame`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::frame::check(bytes));
