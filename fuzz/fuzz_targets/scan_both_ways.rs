//! See `tgm_fuzz::checks::scan_both_ways`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_fuzz::checks::scan_both_ways::check(bytes));
