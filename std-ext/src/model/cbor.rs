//! CBOR in the one form that the format writes (FORMAT §3.1): shortest heads and floats, definite lengths, and map
//! entries sorted by the encoded bytes of their keys. The same content always gives the same bytes.
//!
//! [`Writer`] appends to a buffer. An [`Item`] borrows what is written, so descriptors and metadata are not copied into
//! a `ciborium` value first. Map entries are written as they come. A map that turns out unsorted is sorted when it is
//! complete, which moves its bytes once.

mod head;
mod item;
mod value;
mod writer;

pub(crate) use head::{head_len, text_len};
pub(crate) use item::Item;
pub(crate) use writer::Writer;

use crate::base::error::Result;

/// A capacity that is enough for most bodies, in bytes.
const USUAL_LEN: usize = 512;

/// The bytes that `write` writes.
///
/// # Errors
/// The errors of `write`.
pub(crate) fn written(write: impl FnOnce(&mut Writer<'_>) -> Result<()>) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(USUAL_LEN);
    write(&mut Writer::new(&mut out))?;
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests;

/// The canonical CBOR of a value.
///
/// # Errors
/// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for values that are nested too deeply, or that CBOR does not
/// have.
pub fn canonical(value: &ciborium::Value) -> Result<Vec<u8>> {
    written(|writer| writer.value(value))
}
