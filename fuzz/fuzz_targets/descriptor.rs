//! See `tgm_fuzz::checks::descriptor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::descriptor::check(bytes));
