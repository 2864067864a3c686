//! See `tgm_fuzz::checks::zio`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::zio::check(bytes));
