//! See `tgm_fuzz::checks::unpack`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::unpack::check(bytes));
