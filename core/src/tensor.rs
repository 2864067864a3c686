//! Typed elements of a payload that needs no decoding, in place in the message.
//!
//! If encoding, filter and compression are all `none`, the payload *is* the tensor: scalars in row-major order, without
//! padding, in the byte order that the descriptor names. The message may be at any address, so the scalars may be unaligned.
//! A view therefore holds the payload as a slice of `[u8; N]`, which needs no alignment. There are three ways to the values:
//!
//! ```text
//! payload ──► &[[u8; N]] ─┬─► as_slice: &[T]       if native order and aligned; reads nothing
//!    (length checked)     ├─► get, iter: T         one load each, and a swap in a register if needed
//!                         └─► copy_into: &mut [T]  a memory copy, or a vectorised swap
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`Shape`] | dimensions, borrowed from the descriptor or from a slice |
//! | [`Element`] | the trait of Rust types that correspond to a [`Dtype`](crate::descriptor::Dtype) |
//! | [`Elements`] | a flat run of elements |
//! | [`TensorView`] | elements with a shape: coordinates, rows |
//! | [`BitView`], [`Bits`] | the same for `bitmask`, whose elements are bits |
//! | [`AnyView`] | one of the above, by dtype |
//!
//! Making a view compares the payload's length with shape and dtype, and reads none of its bytes. After that, only the
//! request can be wrong: an index or range beyond the end, an output of another length, or a native slice of elements that
//! are swapped or unaligned. Errors have offset 0, the payload's start. Format: PIPELINE §1.

mod any;
mod bits;
mod element;
mod elements;
mod shape;
mod view;

#[cfg(test)]
mod tests;

pub use any::AnyView;
pub use bits::{BitView, Bits};
pub use element::{Complex, Element};
pub use elements::{Elements, TensorIter};
pub use shape::{Dims, Shape};
pub use view::{Rows, TensorView};
