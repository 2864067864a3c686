//! See `tgm_fuzz::checks::framing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::framing::check(bytes));
