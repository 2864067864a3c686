//! A program as users of the reference crate `tensogram` write it, with calls of all of its API.
//!
//! The same source compiles with both crates and prints the same. `expected.txt` holds what it printed with the
//! reference. A test compares: in the workspace with our crate, in `reference/` with the other. [`names`] only has to
//! compile.

#![allow(clippy::pedantic, reason = "written as users write their programs")]

mod fields;
mod files;
mod frames;
mod lookup;
mod mistakes;
mod names;
mod streams;

use std::error::Error;

use tensogram::wire::{
    DATA_OBJECT_FOOTER_SIZE, END_MAGIC, FRAME_COMMON_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE, FRAME_MAGIC, MAGIC,
    POSTAMBLE_SIZE, PREAMBLE_SIZE,
};
use tensogram::{DEFAULT_PARALLEL_THRESHOLD_BYTES, DEFAULT_SIMPLE_PACKING_BITS, ENV_THREADS, HASH_ALGORITHM_NAME};
use tensogram::{RESERVED_KEY, WIRE_VERSION};

fn main() -> Result<(), Box<dyn Error>> {
    println!("== constants");
    println!("{WIRE_VERSION} {HASH_ALGORITHM_NAME} {RESERVED_KEY} {ENV_THREADS}");
    println!("{DEFAULT_PARALLEL_THRESHOLD_BYTES} {DEFAULT_SIMPLE_PACKING_BITS}");
    println!(
        "{PREAMBLE_SIZE} {FRAME_HEADER_SIZE} {POSTAMBLE_SIZE} {FRAME_COMMON_FOOTER_SIZE} {DATA_OBJECT_FOOTER_SIZE}"
    );
    println!("{MAGIC:?} {END_MAGIC:?} {FRAME_MAGIC:?} {FRAME_END:?}");
    names::functions();
    names::methods();
    names::of_values();
    names::fields();
    names::bounds();
    fields::run()?;
    streams::run()?;
    files::run()?;
    lookup::run()?;
    frames::run()?;
    mistakes::run();
    Ok(())
}
