//! See `tgm_fuzz::checks::cbor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::cbor::check(bytes));
