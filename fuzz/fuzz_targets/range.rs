//! See `tgm_fuzz::checks::range`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::range::check(bytes));
