//! See `tgm_diff_reference::check`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tgm_diff_reference::check(bytes));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    tgm_diff_reference::mutate(data, size, max_size, seed)
});
