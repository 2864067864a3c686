//! Interoperability of tgm-std with the crate `tensogram`, the format's reference, which is a black box here.
//!
//! A [`case::Case`] is a message to be written, in the format's words. [`reference`] and [`ours`] write and read it with the
//! one library and the other, and give what they read in words that can be compared ([`plain`]). Where the reference is
//! known to be wrong, [`known`] says so, and why.
//!
//! `TGM_INTEROP_CASES=n` makes every property try n cases instead of a few hundred, `TGM_INTEROP_SEED=n` other ones.

pub mod agree;
pub mod case;
pub mod known;
mod library;
pub mod metadata;
pub mod ours;
pub mod plain;
pub mod reference;
pub mod strategy;
pub mod values;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Whether this build's reference has blosc2 (and then nothing else in C: see Cargo.toml).
pub const READS_BLOSC2: bool = cfg!(feature = "reference-blosc2");

/// Tries `property` on many cases.
///
/// # Panics
/// With the smallest case found that fails.
pub fn try_cases<S: Strategy>(strategy: &S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let cases = std::env::var("TGM_INTEROP_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 5000, ..Config::default() };
    let seed: u64 = std::env::var("TGM_INTEROP_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let rng =
        TestRng::from_seed(RngAlgorithm::ChaCha, &std::array::from_fn::<u8, 32, _>(|at| (seed >> (at % 8 * 8)) as u8));
    if let Err(error) = TestRunner::new_with_rng(config, rng).run(strategy, property) {
        panic!("{error}");
    }
}
