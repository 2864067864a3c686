//! Switches on one change after another, and runs the tests that call its function until one fails.

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::Mutex;
use std::time::Duration;

use crate::Result;
use crate::reach::{Ending, Test, in_parallel};
use crate::results::Results;
use crate::source::Numbered;

/// What came of a change.
#[derive(Clone, PartialEq, Eq)]
pub enum Outcome {
    /// This test failed.
    Noticed(String),
    /// This test took too long. Mostly it would never end.
    Slowed(String),
    /// All tests passed.
    Unnoticed,
    /// No test calls the function.
    Unreached,
}

impl Outcome {
    /// The test that noticed the change.
    pub fn noticed_by(&self) -> Option<&str> {
        match self {
            Self::Noticed(test) | Self::Slowed(test) => Some(test),
            Self::Unnoticed | Self::Unreached => None,
        }
    }
}

/// The time a test is given with a change: it may run beside others, and then it takes longer than it did.
fn longest(test: &Test<'_>) -> Duration {
    Duration::from_secs(3) + test.duration * 10
}

/// Tries changes, and keeps what comes of each. Tests that take more than `slowest` are left out.
///
/// # Errors
/// A test cannot be started, or a result cannot be kept.
pub fn attempt(changes: &[&Numbered], tests: &[Test<'_>], slowest: Duration, results: &Mutex<Results>) -> Result<()> {
    // Tests that noticed another change of a function. They are likely to notice the next one too.
    let noticed_by: Mutex<HashMap<usize, Vec<usize>>> = Mutex::default();
    let mut by_time: Vec<usize> = (0..tests.len()).filter(|index| tests[*index].duration <= slowest).collect();
    by_time.sort_by_key(|index| tests[*index].duration);
    in_parallel(changes.len(), |index| {
        let change = changes[index];
        let first =
            noticed_by.lock().map_err(|_| "a thread panicked")?.get(&change.function).cloned().unwrap_or_default();
        let rest = by_time.iter().copied().filter(|index| !first.contains(index));
        let reaching = |index: &usize| tests[*index].reached.contains(&change.function);
        let number = OsString::from(change.number.to_string());
        let mut outcome = Outcome::Unreached;
        for index in first.iter().copied().chain(rest).filter(reaching) {
            let test = &tests[index];
            outcome = Outcome::Unnoticed;
            let ending = test.run(("TGM_MUTANT", &number), longest(test))?;
            if ending != Ending::Passed {
                let outcome_of = if ending == Ending::Failed { Outcome::Noticed } else { Outcome::Slowed };
                outcome = outcome_of(test.name.clone());
                let mut noticed_by = noticed_by.lock().map_err(|_| "a thread panicked")?;
                let known = noticed_by.entry(change.function).or_default();
                known.retain(|known| *known != index);
                known.insert(0, index);
                break;
            }
        }
        results.lock().map_err(|_| "a thread panicked")?.keep(&change.key, outcome)
    })
}
