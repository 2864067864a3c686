//! `simple_packing`: parameters derived from values, and values packed into bit fields (PIPELINE §3.2, §3.3).
//!
//! ```text
//! R = the least value, E = ⌈log2((greatest − least) · 10^D / (2^B − 1))⌉
//! q = round((value − R) · 10^D · 2^(−E)), kept within 0 and 2^B − 1; fields of B bits, most significant first
//! ```
//!
//! Halves are rounded away from zero. The factor 10^D · 2^(−E) is multiplied once, before the values. The format's
//! other writers do the same, so the results are equal to the last bit.

mod check;
mod derive;
mod pack;
mod parameters;
mod values;

pub(crate) use check::{check_dtype, first_non_finite};
pub(crate) use derive::{derive, derive_within};
pub(crate) use pack::Packer;
pub(crate) use parameters::{complete, read};
pub(crate) use values::{BLOCK, Values, finite_values};

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests;
