//! What the code asks of the machine that it is compiled for.

/// Whether this is a small machine: its addresses have fewer than 64 bits, as on a microcontroller.
///
/// Some work is written twice: once plainly, and once in a longer way that gives the same result in less time. A small
/// machine leaves the longer way out, because its flash holds tens of kilobytes. This is a constant, so the compiler
/// removes the branch that is not taken.
pub(crate) const IS_SMALL: bool = usize::BITS < u64::BITS;

/// Whether long arrays of integers are read one by one, to save code: on small machines, but not in WebAssembly, whose machines are
/// large. There they are most of what a range of an szip payload costs.
pub(crate) const READS_ONE_BY_ONE: bool = IS_SMALL && !cfg!(target_family = "wasm");
