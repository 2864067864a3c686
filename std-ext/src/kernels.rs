//! Kernels of `tgm_core` once more, for what the processor at hand can do.
//!
//! ```text
//!                        ┌─ AVX-512 ─┐
//! arguments ─ checks ────┼─ AVX2 ────┼── the bulk ──┐
//!            (core's)    └───────────┘              ├─ the same values, to the bit
//!                        └─ core: beginning, end, every other machine ─┘
//! ```
//!
//! Functions have the names, arguments, results and errors of those in [`tgm_core`], which stay the definition of what is right:
//! tests compare both on every level that the machine has. Which one is taken is decided at run time, so that no build needs to know the
//! processor; [`ENV_SIMD`] keeps it from the better ones.

pub mod packing;
mod simd;
pub mod szip;

use std::ops::Range;

use tgm_core::descriptor::ByteOrder;
use tgm_core::stored::Stored;

pub use simd::ENV_SIMD;

/// [`Stored::decode_into`], as fast as the processor can.
///
/// # Errors
/// As there.
pub fn decode_stored_into(
    stored: &Stored<'_>,
    elements: Range<u64>,
    order: ByteOrder,
    out: &mut [u8],
) -> tgm_core::Result<()> {
    match stored.as_packed() {
        Some((bytes, packing)) if stored.output_len(&elements)? == out.len() as u64 => {
            packing::unpack_bytes_into(bytes, &packing, elements.start, order, out)
        }
        _ => stored.decode_into(elements, order, out),
    }
}
