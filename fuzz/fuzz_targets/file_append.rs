//! See `tgm_fuzz::checks::file_append`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::file_append::check(bytes));
