//! See `tgm_fuzz::checks::message`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::message::check(bytes));
