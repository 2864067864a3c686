//! See `tgm_fuzz::checks::payload_range`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::payload_range::check(bytes));
