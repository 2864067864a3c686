//! See `tgm_fuzz::checks::threads`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::threads::check(bytes));
