//! How many cases tests try.

use std::env;

/// How many cases a test tries: as many as it usually does, times `TGM_TEST_SCALE`, and one at least.
///
/// # Panics
/// If the variable is not a number.
pub fn cases(usual: u32) -> u32 {
    let scale = env::var("TGM_TEST_SCALE").map_or(1.0, |scale| scale.parse::<f64>().expect("TGM_TEST_SCALE: a number"));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast to an integer saturates")]
    let cases = (f64::from(usual) * scale) as u32;
    cases.max(1)
}
