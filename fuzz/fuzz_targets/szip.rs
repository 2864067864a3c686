//! See `tgm_fuzz::checks::szip`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::szip::check(bytes));
