//! Interoperability of tgm-std with the crate `tensogram`, the format's reference, which is a black box here.
//!
//! A [`case::Case`] is a message to be written, in the format's terms. [`reference`] and [`ours`] write and read it
//! with the two libraries, and give results that can be compared ([`plain`], [`agree`]). [`known`] lists where the
//! reference is known to be wrong, and why. [`damage`] gives any bytes to both.
//!
//! `TGM_INTEROP_CASES=n` makes every property try n cases instead of 300. `TGM_INTEROP_SEED=n` makes it try others.

pub mod agree;
pub mod case;
pub mod damage;
pub mod known;
mod library;
pub mod metadata;
pub mod ours;
pub mod plain;
pub mod reference;
pub mod strategy;
pub mod values;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

/// Whether this build's reference has blosc2, and no other codec in C (see Cargo.toml).
pub const HAS_BLOSC2: bool = cfg!(feature = "reference-blosc2");

/// Tries `property` on many cases.
///
/// # Panics
/// With the smallest case found that fails.
pub fn try_cases<S: Strategy>(strategy: &S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    if let Err(error) = runner().run(strategy, property) {
        panic!("{error}");
    }
}

/// The same cases in every process with the same seed.
///
/// # Panics
/// If the strategy gives none.
pub fn some_cases<S: Strategy>(strategy: &S) -> impl Iterator<Item = S::Value> {
    let mut runner = runner();
    (0..runner.config().cases).map(move |_| strategy.new_tree(&mut runner).expect("a case").current())
}

fn runner() -> TestRunner {
    let number = |name: &str| std::env::var(name).ok().map(|number| number.parse::<u64>().expect("a number"));
    let cases = number("TGM_INTEROP_CASES").map_or(300, |cases| cases as u32);
    let seed = number("TGM_INTEROP_SEED").unwrap_or(1).to_le_bytes();
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 5000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 4].concat()))
}
