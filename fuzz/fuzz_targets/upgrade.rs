//! See `tgm_fuzz::checks::upgrade`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::upgrade::check(bytes));
