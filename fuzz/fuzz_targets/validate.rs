//! See `tgm_fuzz::checks::validate`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::validate::check(bytes));
