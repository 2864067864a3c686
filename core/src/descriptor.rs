//! What a data object is: its type, shape, pipeline and parameters, read from the descriptor's CBOR map without copying.
//!
//! A descriptor is one flat map (FORMAT §3.5): ten fields, and parameters under every other key. [`Descriptor`] is made in
//! one pass. The pass decodes the fields, checks that every item is well-formed, and notes where each parameter of the
//! format is. A parameter is decoded when the caller asks for it.

mod in_order;
mod masks;
mod named;
mod params;
mod reading;
#[cfg(test)]
mod tests;
mod view;

pub use crate::names::{ByteOrder, Compression, Dtype, Encoding, Filter, Key, MaskMethod, Stage, szip_flags};
pub use masks::{MaskDescriptor, MaskKind, Masks};
pub use named::Named;
pub use params::{Sz3Params, SzipParams, ZfpMode};
pub use view::Descriptor;
