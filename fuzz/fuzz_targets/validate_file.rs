//! See `tgm_fuzz::checks::validate_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::validate_file::check(bytes));
