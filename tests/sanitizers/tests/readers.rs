//! The tests of readers that threads share, by themselves.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

#[path = "../../tests/shared/mapped.rs"]
mod mapped;
#[path = "../../tests/bounds/readers.rs"]
mod readers;
