//! How much tests try.
//!
//! Other tests use it by `#[path = "…/tests/src/scale.rs"] mod scale;`.
#![allow(dead_code, unreachable_pub, reason = "each of them uses a part, as its own")]

use std::env;

/// How many cases a test tries: as many as it usually does, times `TGM_TEST_SCALE`, and one at least.
///
/// # Panics
/// If the variable is not a number.
pub fn cases(usual: u32) -> u32 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast to an integer saturates")]
    let cases = (f64::from(usual) * scale()) as u32;
    cases.max(1)
}

/// Which of all cases a test tries: each of so many. Usually each `usual`-th; all with `TGM_TEST_SCALE=usual`.
///
/// # Panics
/// If the variable is not a number.
pub fn stride(usual: u8) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast to an integer saturates")]
    let stride = (f64::from(usual) / scale()) as usize;
    stride.max(1)
}

fn scale() -> f64 {
    env::var("TGM_TEST_SCALE").map_or(1.0, |scale| scale.parse().expect("TGM_TEST_SCALE: a number"))
}
