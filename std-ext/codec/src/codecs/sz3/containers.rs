//! Containers of SZ3 3.3.2.
//!
//! They are read here without SZ3, and written without loss. With feature `sz3`, SZ3 itself writes them with loss.
//!
//! ```text
//! container = magic version length body trailer      the trailer says how many values, and by which algorithm
//! body      = raw-length zstd-frame
//! raw       = values                                 algorithm 4, lossless: little-endian
//!           | header quantizer code symbols          algorithm 2, interpolation: coarse to fine
//!           | selectors quantizer code symbols       algorithm 0, Lorenzo: first to last
//! value     = prediction + 2 · (symbol − radius) · bound, or stored as it was where the symbol is 0
//! ```
//!
//! `container` splits and checks the container, `huffman` turns bits into symbols, and `quantizer` turns symbols and
//! predictions into values. `interpolation` and `lorenzo` predict, each in its own order. `encode` decides what is
//! given to SZ3, and `shim` calls it.
//!
//! SZ3 trusts its input. Here every count is compared with the number of values in the descriptor, or with the bytes
//! that are present, before anything is reserved or looped for it. Beside the output, memory is the raw body, no longer
//! than that number of values can make it, and the tree of its code. Whatever a writer has no choice in is checked too,
//! so that damage shows: every symbol, stored value, bit and byte must be used.

mod container;
mod defect;
mod encode;
#[cfg(all(test, feature = "sz3"))]
mod encode_tests;
mod huffman;
mod interpolation;
mod lorenzo;
mod quantizer;
mod reader;
#[cfg(test)]
mod samples;
#[cfg(feature = "sz3")]
mod shim;
mod slot;
#[cfg(test)]
mod tests;

use tgm_core::byteswap;
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype, Encoding, Filter};
use zerocopy::FromZeros;

use crate::error::CodecError;
use crate::memory;
use container::{Algorithm, Container};
use defect::Defect;
pub use encode::compress;
use reader::Reader;
use slot::Slot;

/// The release of SZ3 that is compiled in.
#[cfg(feature = "sz3")]
pub(super) const VERSION: &str = env!("TGM_SZ3_VERSION");

/// The level of zstd for writing: the one that SZ3 uses.
const LEVEL: i32 = 3;

/// Decompresses the payload of an object into the bytes of its values.
pub(super) fn decompress_into(payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
    check_descriptor(descriptor)?;
    let (slots, []) = out.as_chunks_mut() else {
        return Err(CodecError::new(format!("{} bytes are not a whole number of values", out.len())));
    };
    decompress(payload, slots)?;
    if descriptor.byte_order() == ByteOrder::NATIVE {
        return Ok(());
    }
    byteswap::swap_in_place(out, size_of::<f64>()).map_err(|error| error.kind().into())
}

/// Decompresses into all of `out`; a payload of more or fewer values is an error.
///
/// Beside `out` it takes the memory of the raw body: about 10 bytes a value at worst, and 4 MiB.
///
/// # Errors
/// [`CodecError`] for a payload that is damaged, or of a kind that Tensogram's writers do not produce.
pub fn decompress_values(payload: &[u8], out: &mut [f64]) -> Result<(), CodecError> {
    decompress(payload, out)
}

/// Compresses without loss, by algorithm 4. Every reader of sz3 knows it, and it keeps any error bound.
///
/// # Errors
/// [`CodecError`] for no values at all, as SZ3 has no container for them, and for want of memory.
pub fn compress_lossless(values: &[f64]) -> Result<Vec<u8>, CodecError> {
    keep(values, 0.0)
}

/// Compresses without loss, and records an error bound in the container.
fn keep(values: &[f64], bound: f64) -> Result<Vec<u8>, CodecError> {
    if values.is_empty() {
        return Err(CodecError::new("no values to compress"));
    }
    let mut raw = Vec::new();
    let raw_len = size_of_val(values);
    raw.try_reserve_exact(raw_len).map_err(|_| Defect::OutOfMemory(raw_len))?;
    raw.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let frame = zstd::bulk::compress(&raw, LEVEL).map_err(|error| CodecError::new(error.to_string()))?;
    Ok(container::lossless(values.len() as u64, bound, &frame))
}

/// Checks that the payload holds plain doubles. sz3 compresses numbers, so no stage that turns values into other bytes
/// can come before it. The reference's writer accepts such stages, and corrupts the values.
fn check_descriptor(descriptor: &Descriptor<'_>) -> Result<(), CodecError> {
    if descriptor.dtype() != Dtype::Float64 {
        return Err(CodecError::new(format!(
            "values are {}: only float64 can be compressed by it",
            descriptor.dtype()
        )));
    }
    if descriptor.encoding().known() != Some(Encoding::None) {
        return Err(CodecError::new(format!("encoding {}: none can stand before it", descriptor.encoding())));
    }
    if descriptor.filter().known() != Some(Filter::None) {
        return Err(CodecError::new(format!("filter {}: none can stand before it", descriptor.filter())));
    }
    descriptor.sz3().map(|_| ()).map_err(CodecError::of_descriptor)
}

fn decompress<S: Slot>(payload: &[u8], out: &mut [S]) -> Result<(), CodecError> {
    if out.is_empty() {
        return if payload.is_empty() { Ok(()) } else { Err(Defect::NoValues.into()) };
    }
    let container = Container::parse(payload, out.len() as u64)?;
    let decode = match container.algorithm {
        Algorithm::Lossless => return S::fill(out, |bytes| crate::codecs::zstd::decompress(container.frame, bytes)),
        Algorithm::Interpolation => interpolation::decode,
        Algorithm::Lorenzo => lorenzo::decode,
    };
    let mut raw = zeroed(container.raw_len)?;
    crate::codecs::zstd::decompress(container.frame, &mut raw)?;
    let mut raw = Reader::new(&raw);
    decode(&mut raw, &container, out)?;
    Ok(raw.finish("raw body")?)
}

/// `count` zeros, or an error if there is no memory for them.
fn zeroed<T: FromZeros>(count: usize) -> Result<Vec<T>, Defect> {
    memory::zeros(count).map_err(|_| Defect::OutOfMemory(count.saturating_mul(size_of::<T>())))
}
