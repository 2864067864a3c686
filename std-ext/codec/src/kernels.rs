//! Kernels: loops over values, by the vector instructions that the processor at hand has.
//!
//! ```text
//!                        ┌─ AVX-512 ─┐
//!                        ├─ AVX2 ────┤
//! arguments ─ checks ────┼─ NEON ────┼── the bulk ──┐
//!            (core's)    └───────────┘              ├─ the same values, to the bit
//!                        └─ core: beginning, end, every other machine ─┘
//! ```
//!
//! Functions have the names, arguments, results and errors of those in [`tgm_core`], which define what is right: tests
//! compare both on every level that the machine has. The level is chosen at run time (`simd`), so a build needs to
//! know no processor. Every `AArch64` processor has NEON, so there nothing has to be asked. The environment variable
//! [`ENV_SIMD`] limits the choice.
//!
//! How a level is compiled: the body of a kernel is an `#[inline(always)]` function, generic over the steps that differ
//! between levels. Each level has an entry point with `#[target_feature]`, into which the body is inlined. All loads
//! and stores of registers are in `registers`, and for NEON in `neon`.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, unused_imports, reason = "other machines use core's kernels alone")
)]

pub mod byteswap;
pub mod finite;
pub mod gather;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
pub mod pack;
pub mod packing;
#[cfg(target_arch = "x86_64")]
mod registers;
pub mod shuffle;
pub mod simd;
pub mod szip;
mod uncached;

use std::ops::Range;

use tgm_core::descriptor::ByteOrder;
use tgm_core::stored::Stored;

pub use simd::ENV_SIMD;

/// [`Stored::decode_into`], as fast as the processor can.
///
/// # Errors
/// As there.
#[inline]
pub fn decode_stored_into(
    stored: &Stored<'_>,
    elements: Range<u64>,
    order: ByteOrder,
    out: &mut [u8],
) -> tgm_core::Result<()> {
    if stored.output_len(&elements)? != out.len() as u64 {
        return stored.decode_into(elements, order, out);
    }
    let unit = if order == stored.byte_order() { 1 } else { stored.dtype().swap_unit_size().max(1) };
    let width = stored.dtype().byte_width() as u64;
    if let Some((bytes, packing, first)) = stored.as_packed_from()
        && let Some(start) = elements.start.checked_sub(first)
    {
        return packing::unpack_bytes_into(bytes, &packing, start, order, out);
    }
    if let Some((bytes, element_size)) = stored.as_shuffled().filter(|_| width > 0) {
        shuffle::unshuffle_range_into(bytes, element_size, elements.start.saturating_mul(width), out)?;
        return if unit > 1 { byteswap::swap_in_place(out, unit) } else { Ok(()) };
    }
    let is_whole = |bytes: &&[u8]| stored.dtype().byte_len(stored.element_count()) == Some(bytes.len() as u64);
    if let Some(values) = stored.as_values().filter(is_whole).filter(|_| width > 0) {
        let start = usize::try_from(elements.start.saturating_mul(width)).ok();
        if let Some(part) = start.and_then(|start| values.get(start..)?.get(..out.len())) {
            return byteswap::swap_into(part, unit, out);
        }
    }
    stored.decode_into(elements, order, out)
}
