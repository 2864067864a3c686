//! See `tgm_fuzz::checks::generated`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::generated::check(bytes));
