//! See `tgm_diff_reference::check`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_diff_reference::check(bytes));
