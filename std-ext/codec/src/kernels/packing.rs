//! `simple_packing`: bit fields to `f64` and `f32`.
//!
//! ```text
//! for each element i of the request:
//!     q     = bits [i·B, (i+1)·B) of the packed bytes, most significant bit first
//!     value = R + scale · q
//! ```
//!
//! The trick: eight fields of B bits are B bytes, whatever B is. So every group of eight fields that begins with an
//! element whose number is a multiple of eight lies in its B bytes in the same way. One permutation of bytes and one
//! set of shifts, made once a call, take eight fields out of B bytes at a time. Elements before the first such group,
//! and fewer than eight after the last one, are left to [`tgm_core::packing`].
//!
//! Stores are the limit: values are made about as fast as memory can be filled. Output that is larger than the caches
//! is written past them (`Uncached`).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
pub(super) mod lanes;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
pub(super) mod store;
#[cfg(test)]
mod tests;

use tgm_core::Result;
use tgm_core::descriptor::ByteOrder;
use tgm_core::packing::{self, Packing, Unpack};
use tgm_core::szip::Formula;

use self::store::{BigEndian, HasStore, LittleEndian, Store};
use super::simd::{Level, Simd};
use super::uncached::{Uncached, Work};
use crate::memory::prefetch;

/// A type that packed values can be unpacked to here: `f64` and `f32`.
pub trait Value: Unpack + HasStore {}

impl Value for f64 {}
impl Value for f32 {}

/// Fewer values than this are left to core: preparing the permutation costs more than it saves.
const WORTH_IT: usize = 32;
/// Fields that take a whole number of bytes at every width.
const GROUP: usize = 8;

/// The formula that makes values of the fields.
#[inline]
pub const fn formula(packing: &Packing) -> Formula {
    Formula { reference: packing.reference_value, scale: packing.scale() }
}

/// [`tgm_core::packing::unpack_into`], as fast as the processor can.
///
/// # Errors
/// As there.
pub fn unpack_into<T: Value>(packed: &[u8], packing: &Packing, start: u64, out: &mut [T]) -> Result<()> {
    unpack_by(Simd::best(), packed, packing, start, out)
}

fn unpack_by<T: Value>(simd: Simd, packed: &[u8], packing: &Packing, start: u64, out: &mut [T]) -> Result<()> {
    let core = |start, slots: &mut [T]| packing::unpack_into(packed, packing, start, slots);
    let bulk = |bytes: &[u8], slots: &mut [T]| unpack_bulk::<T::Store>(simd, bytes, packing, slots);
    split(simd, packed, packing, start, out, core, bulk)
}

/// [`tgm_core::packing::unpack_bytes_into`], as fast as the processor can.
///
/// # Errors
/// As there.
#[inline]
pub fn unpack_bytes_into(packed: &[u8], packing: &Packing, start: u64, order: ByteOrder, out: &mut [u8]) -> Result<()> {
    unpack_bytes_by(Simd::best(), packed, packing, start, order, out)
}

fn unpack_bytes_by(
    simd: Simd,
    packed: &[u8],
    packing: &Packing,
    start: u64,
    order: ByteOrder,
    out: &mut [u8],
) -> Result<()> {
    let core = |start, slots: &mut [[u8; 8]]| {
        packing::unpack_bytes_into(packed, packing, start, order, slots.as_flattened_mut())
    };
    let (slots, []) = out.as_chunks_mut() else {
        return packing::unpack_bytes_into(packed, packing, start, order, out);
    };
    let bulk = |bytes: &[u8], slots: &mut [[u8; 8]]| match order {
        ByteOrder::Big => unpack_bulk::<BigEndian>(simd, bytes, packing, slots),
        ByteOrder::Little => unpack_bulk::<LittleEndian>(simd, bytes, packing, slots),
    };
    split(simd, packed, packing, start, slots, core, bulk)
}

/// Unpacks up to the first group by `core`, from there by `bulk`, and the rest by `core` again.
///
/// `bulk` gets the bytes from its first group on, and returns how many values it has made.
fn split<S>(
    simd: Simd,
    packed: &[u8],
    packing: &Packing,
    start: u64,
    out: &mut [S],
    core: impl Fn(u64, &mut [S]) -> Result<()>,
    bulk: impl FnOnce(&[u8], &mut [S]) -> usize,
) -> Result<()> {
    let bits = packing.bits_per_value;
    let Some(last) = out.len().checked_sub(1).filter(|_| out.len() >= WORTH_IT && simd.level() > Level::Base) else {
        return core(start, out);
    };
    if start > 0 {
        prefetch_range(packed, packing, start, last);
    }
    // The last value first: it can be unpacked only if all can, so an error comes before anything else is written.
    match (start.checked_add(last as u64), out.get_mut(last..)) {
        (Some(element), Some(slot)) => core(element, slot)?,
        _ => return core(start, out),
    }
    let first = start.next_multiple_of(GROUP as u64);
    let bytes = usize::try_from(first / GROUP as u64 * u64::from(bits)).ok().and_then(|byte| packed.get(byte..));
    let head = usize::try_from(first - start).unwrap_or(usize::MAX);
    let (Some(bytes), Some((head, body))) = (bytes, out.split_at_mut_checked(head)) else { return core(start, out) };
    core(start, head)?;
    let done = bulk(bytes, body);
    core(first.wrapping_add(done as u64), body.get_mut(done..).unwrap_or_default())
}

/// Bytes of a range that are prefetched before it is read. After them the processor prefetches by itself.
const AHEAD: usize = 4 << 10;

/// Prefetches the first bytes of the `count` values from element `start` on, at a place that the processor cannot
/// foresee.
fn prefetch_range(packed: &[u8], packing: &Packing, start: u64, count: usize) {
    let bits = u64::from(packing.bits_per_value);
    let place = |element: u64| usize::try_from(element.saturating_mul(bits) / 8).unwrap_or(usize::MAX);
    let (first, last) = (place(start), place(start.saturating_add(count as u64)));
    let bytes = packed.get(first..).unwrap_or_default();
    prefetch(bytes.get(..last.saturating_sub(first).min(AHEAD)).unwrap_or(bytes));
}

/// Unpacks from the front of `bytes` to the front of `out`, eight values at a time; returns how many.
fn unpack_bulk<S: Store>(simd: Simd, bytes: &[u8], packing: &Packing, out: &mut [S::Slot]) -> usize {
    let Some(uncached) = Uncached::new(simd, size_of_val(out), Work::Computing) else {
        return unpack_groups::<S>(simd, bytes, packing, out);
    };
    let group_len = packing.bits_per_value as usize;
    uncached.fill::<_, GROUP>(out, |first, block| {
        let fields = bytes.get(first / GROUP * group_len..).unwrap_or_default();
        unpack_groups::<S>(simd, fields, packing, block) == block.len()
    })
}

/// [`unpack_bulk`] straight to where the values go.
fn unpack_groups<S: Store>(simd: Simd, bytes: &[u8], packing: &Packing, out: &mut [S::Slot]) -> usize {
    let (groups, _) = out.as_chunks_mut::<GROUP>();
    match (simd.level(), packing.bits_per_value) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        #[allow(unsafe_code, reason = "instructions that not every processor has")]
        (Level::Avx512, bits @ 1..=avx512::MAX_BITS) => unsafe {
            avx512::unpack::<S>(bytes, bits, formula(packing), groups)
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        #[allow(unsafe_code, reason = "instructions that not every processor has")]
        (Level::Avx2, bits @ 1..=avx2::MAX_BITS) => unsafe { avx2::unpack::<S>(bytes, bits, formula(packing), groups) },
        #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
        // SAFETY: the processor has the level.
        #[allow(unsafe_code, reason = "instructions that not every processor has")]
        (Level::Neon, bits @ 1..=neon::MAX_BITS) => unsafe { neon::unpack::<S>(bytes, bits, formula(packing), groups) },
        _ => {
            let _ = (bytes, groups);
            0
        }
    }
}

/// Calls `unpack` with the bytes of each group and the group's slots, until there are no more of either or `unpack`
/// finds too few bytes; returns the number of values.
///
/// The loop of every level: `unpack` is a closure of a function with the level's instructions, into which this is
/// inlined.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for what the caller may use")]
fn each_group<'b, S>(
    groups: impl Iterator<Item = &'b [u8]>,
    out: &mut [[S; GROUP]],
    mut unpack: impl FnMut(&'b [u8], &mut [S; GROUP]) -> Option<()>,
) -> usize {
    let mut done = 0;
    for (slots, bytes) in out.iter_mut().zip(groups) {
        if unpack(bytes, slots).is_none() {
            break;
        }
        done += GROUP;
    }
    done
}
