//! See `tgm_fuzz::checks::tree`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::tree::check(bytes));
