//! The target that the page on fuzzing shows is the one in the documentation, which is compiled and run.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[test]
fn the_page_on_fuzzing_shows_the_example_that_is_compiled() {
    let page = include_str!("../../../fuzz/README.md");
    let shown = page.split_once("```rust\n").unwrap().1.split_once("```").unwrap().0;
    let module = include_str!("../../../fuzz/arbitrary/src/lib.rs");
    let example = module.split_once("//! ```\n//! # /*\n").unwrap().1.split_once("//! ```\n").unwrap().0;
    let lines = example.lines().map(|line| line.strip_prefix("//!").unwrap());
    let lines = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).filter(|line| !line.starts_with("# "));
    let compiled: Vec<&str> = lines.collect();
    assert_eq!(shown.trim(), compiled.join("\n").trim());
}
