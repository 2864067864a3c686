//! Output of decoded values in a chosen byte order.

use std::io;

use tgm_core::byteswap::swap_into;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::DecodeOptions;

/// Bytes that are swapped at a time: a multiple of every scalar's size.
const CHUNK: usize = 64 << 10;

/// Options that keep the stored byte order, so that plain values are borrowed. [`in_order`] swaps at output.
pub(crate) fn as_stored() -> DecodeOptions {
    DecodeOptions { native_byte_order: false, ..DecodeOptions::default() }
}

/// Hands `bytes`, which are of this type in this byte order, to `sink` in `order`. Bytes of that order are passed as they are,
/// others are swapped in chunks.
pub(crate) fn in_order(
    bytes: &[u8],
    (dtype, own): (Dtype, ByteOrder),
    order: ByteOrder,
    mut sink: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let unit = dtype.swap_unit_size();
    if own == order || unit <= 1 {
        return sink(bytes);
    }
    swapped(bytes, unit, sink)
}

/// Hands bytes to `sink` in the other order, in chunks.
pub(crate) fn swapped(bytes: &[u8], unit: usize, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut swapped = vec![0; CHUNK.min(bytes.len())];
    for chunk in bytes.chunks(CHUNK) {
        // A chunk is no longer than the buffer. Swapping refuses another length.
        let out = swapped.get_mut(..chunk.len()).unwrap_or_default();
        swap_into(chunk, unit, out).map_err(io::Error::other)?;
        sink(out)?;
    }
    Ok(())
}
