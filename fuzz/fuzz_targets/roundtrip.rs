//! See `tgm_fuzz::checks::roundtrip`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::roundtrip::check(bytes));
