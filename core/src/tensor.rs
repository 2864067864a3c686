//! Typed elements of a payload that needs no decoding, where they lie in the message.
//!
//! A payload whose encoding, filter and compression are all `none` *is* the tensor: scalars in row-major order, without
//! padding, in the byte order that the descriptor names, at whatever address the message was loaded to. So a view is the
//! payload cut into `[u8; N]` once, which has no alignment, and each access picks the cheapest way that is left:
//!
//! ```text
//! payload ──► &[[u8; N]] ─┬─► as_slice: &[T]       native order and aligned: nothing is touched
//!    (length checked)     ├─► get, iter: T         one load each, swapped in a register if need be
//!                         └─► copy_into: &mut [T]  memcpy, or a vectorised swap
//! ```
//!
//! | type | is |
//! |---|---|
//! | [`Shape`] | dimensions, borrowed from the descriptor or from a slice |
//! | [`Element`] | a Rust type that stands for a [`Dtype`](crate::descriptor::Dtype) |
//! | [`Elements`] | a flat run of elements |
//! | [`TensorView`] | elements with a shape: coordinates, rows |
//! | [`BitView`], [`Bits`] | the same for `bitmask`, whose elements are bits |
//! | [`AnyView`] | one of the above, by dtype |
//!
//! Making a view checks the payload's length against shape and dtype and reads no byte of it; after that no access can
//! meet malformed bytes, only requests out of range. Errors carry offset 0, the payload's start. Format: PIPELINE §1.

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
