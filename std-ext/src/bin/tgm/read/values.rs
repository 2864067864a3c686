//! Decoded values in the byte order that is wanted, on their way to whoever takes bytes.

use std::io;

use tgm_core::byteswap::swap_into;
use tgm_core::descriptor::{ByteOrder, Descriptor};
use tgm_std::DecodeOptions;

/// Bytes that are swapped together: a multiple of every scalar.
const CHUNK: usize = 64 << 10;

/// Options that leave values in the order they are stored in, so that what needs no decoding is borrowed; [`in_order`]
/// swaps on the way out.
pub(crate) fn as_stored() -> DecodeOptions {
    DecodeOptions { native_byte_order: false, ..DecodeOptions::default() }
}

/// Hands the `bytes` of an object, which are in its stored order, to `sink` in `order`: as they are, or swapped a chunk at
/// a time.
pub(crate) fn in_order(
    bytes: &[u8],
    descriptor: &Descriptor<'_>,
    order: ByteOrder,
    mut sink: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let unit = descriptor.dtype().swap_unit_size();
    if descriptor.byte_order() == order || unit <= 1 {
        return sink(bytes);
    }
    let mut swapped = vec![0; CHUNK.min(bytes.len())];
    for chunk in bytes.chunks(CHUNK) {
        let out = swapped.get_mut(..chunk.len()).unwrap_or_default();
        swap_into(chunk, unit, out).map_err(io::Error::other)?;
        sink(out)?;
    }
    Ok(())
}
