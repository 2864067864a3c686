//! The encoding side of `simple_packing`: the least and the greatest of some values, and their fields.
//!
//! ```text
//! extent   least, greatest, and whether every value is finite
//! pack     q = round((value − R) · factor), kept within 0 and 2^B − 1
//!          fields of B bits, one after the other, most significant bit first
//! ```
//!
//! The scalar code of `encode::packing` defines what is right, and does what is left over here. The trick is the size
//! of a block: 64 fields of B bits are B whole words of 64 bits, whatever B is, so no bits are carried from block to
//! block.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use tgm_core::descriptor::ByteOrder;

use super::simd::{Level, Simd};

/// Registers whose comparisons run side by side, so that they do not wait for each other.
#[cfg(target_arch = "x86_64")]
const SIDE: usize = 4;
/// Values that are packed at a time: their fields are whole words of 64 bits, whatever their width.
pub const BLOCK: usize = 64;

/// Values as they lie in memory.
#[derive(Clone, Copy, Debug)]
pub struct ValueBytes<'a> {
    /// The bytes of each value.
    pub bytes: &'a [[u8; 8]],
    /// Their order.
    pub order: ByteOrder,
}

/// The least and the greatest of some values. They mean something only if all values are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub greatest: f64,
    /// Whether all values are finite.
    pub finite: bool,
}

/// How values become fields: (value − reference) · factor, rounded, in `bits` bits.
#[derive(Clone, Copy, Debug)]
pub struct Quantisation {
    /// What is taken off each value.
    pub reference: f64,
    /// What the rest is multiplied by.
    pub factor: f64,
    /// Bits of a field.
    pub bits: u32,
}

/// The extent of the first values, and how many they are. `None` if the processor has no vector instructions for it.
#[allow(unsafe_code, reason = "instructions that not every processor has")]
pub fn extent(simd: Simd, values: ValueBytes<'_>) -> Option<(Extent, usize)> {
    match simd.level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        Level::Avx512 => Some(unsafe { avx512::extent(values) }),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        Level::Avx2 => Some(unsafe { avx2::extent(values) }),
        _ => {
            let _ = values;
            None
        }
    }
}

/// Packs values to the front of `out`, as many whole blocks of [`BLOCK`] as there are; returns how many values.
#[allow(unsafe_code, reason = "instructions that not every processor has")]
pub fn pack(simd: Simd, values: ValueBytes<'_>, quantisation: Quantisation, out: &mut [u8]) -> usize {
    match (simd.level(), quantisation.bits) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        (Level::Avx512, 1..=avx512::MAX_BITS) => unsafe { avx512::pack(values, quantisation, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        (Level::Avx2, 1..=avx2::MAX_BITS) => unsafe { avx2::pack(values, quantisation, out) },
        _ => {
            let _ = (values, out);
            0
        }
    }
}

/// Calls `pack` with each block of values and the bytes of its fields, as long as there are both; returns the number of
/// values.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for what the caller may use")]
fn each_block(
    values: ValueBytes<'_>,
    bits: u32,
    out: &mut [u8],
    mut pack: impl FnMut(&[[u8; 8]; BLOCK], &mut [u8]),
) -> usize {
    let (blocks, _) = values.bytes.as_chunks::<BLOCK>();
    let mut done = 0;
    for (block, out) in blocks.iter().zip(out.chunks_exact_mut(BLOCK / 8 * bits as usize)) {
        pack(block, out);
        done += BLOCK;
    }
    done
}

/// Where the lower `size` bytes of integers of four bytes lie, most significant first; `unused` for the bytes after
/// them.
#[cfg(target_arch = "x86_64")]
fn lower_bytes<const LEN: usize>(size: usize, unused: u8) -> [u8; LEN] {
    let mut bytes = [unused; LEN];
    let places = (0..LEN).step_by(4).flat_map(|integer| (0..size).map(move |byte| integer + size - 1 - byte));
    bytes.iter_mut().zip(places).for_each(|(slot, place)| *slot = u8::try_from(place).unwrap_or(0));
    bytes
}

/// Writes the fields of a block one after the other. `out` is as long as they are.
///
/// ```text
/// gathered = 0
/// for each pair of fields:
///     gathered = gathered, then both fields
///     if 64 bits or more are gathered: write the first 64 of them
/// ```
///
/// Two fields of up to 32 bits come to a word at a time, so that one test serves both.
#[cfg(target_arch = "x86_64")]
#[inline]
fn join(fields: &[u32; BLOCK], bits: u32, out: &mut [u8]) {
    let (words, _) = out.as_chunks_mut::<8>();
    let mut words = words.iter_mut();
    let (mut gathered, mut count) = (0_u128, 0);
    let (pairs, _) = fields.as_chunks::<2>();
    for [first, second] in pairs {
        gathered = gathered << (2 * bits) | u128::from(u64::from(*first) << bits | u64::from(*second));
        count += 2 * bits;
        if count >= 64 {
            count -= 64;
            #[expect(clippy::cast_possible_truncation, reason = "the bits above have been written")]
            let word = (gathered >> count) as u64;
            if let Some(slot) = words.next() {
                *slot = word.to_be_bytes();
            }
        }
    }
}
