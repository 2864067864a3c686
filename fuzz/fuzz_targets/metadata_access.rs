//! See `tgm_fuzz::checks::metadata_access`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::metadata_access::check(bytes));
