//! See `tgm_fuzz::checks::arrays`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::arrays::check(bytes));
