//! Answers as CBOR.

use ciborium::Value;

use crate::args::Args;
use crate::failure::Failure;
use crate::memory;

/// What becomes of a call.
pub(crate) type Answer = Result<Value, Failure>;

/// Runs a function on its arguments. Returns the buffer with its answer.
pub(crate) fn run(args: u32, work: impl FnOnce(Args) -> Answer) -> u32 {
    let answer = match Args::take(args).and_then(work) {
        Ok(value) => [Value::Bool(true), value],
        Err(failure) => [Value::Bool(false), failure.into_value()],
    };
    let mut bytes = Vec::new();
    // Writing to a vector fails only where the process has no memory, which ends it.
    match ciborium::into_writer(&answer, &mut bytes) {
        Ok(()) => memory::keep(bytes),
        Err(_) => 0,
    }
}

/// Bytes as a buffer of their own.
pub(crate) fn buffer(bytes: Vec<u8>) -> Value {
    memory::keep(bytes).into()
}
