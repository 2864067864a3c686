//! See `tgm_fuzz::checks::pre_encoded`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::pre_encoded::check(bytes));
