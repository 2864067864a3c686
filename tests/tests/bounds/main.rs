//! What bad input, many threads and large numbers can do: errors that say what is wrong, in bounded time and memory.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

mod advice;
mod allocations;
mod amplification;
#[path = "../shared/counted.rs"]
mod counted;
mod encode_memory;
mod error_texts;
mod every_error_kind;
mod exhaustive;
mod files;
mod limits;
mod malformed;
#[path = "../shared/mapped.rs"]
mod mapped;
mod payloads;
mod readers;
mod scan_work;
mod stream_memory;
mod validate;
mod warm;

use tgm_tests::alloc::Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
