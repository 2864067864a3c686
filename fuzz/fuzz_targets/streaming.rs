//! See `tgm_fuzz::checks::streaming`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::streaming::check(bytes));
