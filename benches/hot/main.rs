//! Hot paths of both crates. Saves a baseline, and compares with it:
//!
//! ```sh
//! cargo bench -- --save-baseline before
//! cargo bench -- --baseline before
//! cargo bench -- --baseline before szip       # the benches with that in their names
//! ```

#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod data;
mod framing;
mod messages;
mod values;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};

/// Long enough for medians within a few per cent, and short enough for all of them in two minutes.
fn settings() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30)
}

criterion_group! {
    name = hot;
    config = settings();
    targets = framing::all, values::all, messages::all
}
criterion_main!(hot);
