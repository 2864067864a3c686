//! See `tgm_fuzz::checks::parse_equals_push`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::parse_equals_push::check(bytes));
