//! `simple_packing`: bit fields to `f64` and `f32`.
//!
//! Eight fields of B bits are B bytes, whatever B is. So from any element whose number is a multiple of eight on, the
//! same permutation of bytes and the same shifts take eight fields out of B bytes at a time; they are prepared once
//! per call. What comes before such an element, and fewer than eight behind the last one, are left to
//! [`tgm_core::packing`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(super) mod store;
#[cfg(test)]
mod tests;

use tgm_core::Result;
use tgm_core::descriptor::ByteOrder;
use tgm_core::packing::{self, Packing, Unpack};

use self::store::{BigEndian, HasStore, LittleEndian, Store};
use super::simd::{Level, Simd};
use super::stream::Stream;
use crate::base::memory::prefetch;

/// A type that packed values can be unpacked to here: `f64` and `f32`.
pub trait Value: Unpack + HasStore {}

impl Value for f64 {}
impl Value for f32 {}

/// Fewer values than this are core's: nothing is to be won.
const WORTH_IT: usize = 32;
/// Fields that take a whole number of bytes at every width.
const GROUP: usize = 8;

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

/// Unpacks by `core` up to an element whose number is a multiple of eight, from there by `bulk`, which gets the bytes
/// from that element on and says how many values it has made, and the rest by `core` again.
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
        expect(packed, packing, start, last);
    }
    // The last value can be had only if all can: whatever is wrong shows before anything else is written.
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

/// Bytes of a range that are asked for before it is read. Behind them the processor has noticed by itself.
const AHEAD: usize = 4 << 10;

/// The `count` values from element `start` on are read soon, at a place that nobody could foresee.
fn expect(packed: &[u8], packing: &Packing, start: u64, count: usize) {
    let bits = u64::from(packing.bits_per_value);
    let place = |element: u64| usize::try_from(element.saturating_mul(bits) / 8).unwrap_or(usize::MAX);
    let (first, last) = (place(start), place(start.saturating_add(count as u64)));
    let bytes = packed.get(first..).unwrap_or_default();
    prefetch(bytes.get(..last.saturating_sub(first).min(AHEAD)).unwrap_or(bytes));
}

/// Unpacks from the front of `bytes` to the front of `out`, eight values at a time; returns how many.
fn unpack_bulk<S: Store>(simd: Simd, bytes: &[u8], packing: &Packing, out: &mut [S::Slot]) -> usize {
    let Some(stream) = Stream::new(simd, size_of_val(out)) else {
        return unpack_groups::<S>(simd, bytes, packing, out);
    };
    let group = packing.bits_per_value as usize;
    stream.fill::<_, GROUP>(out, |first, block| {
        let fields = bytes.get(first / GROUP * group..).unwrap_or_default();
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
        (Level::Avx512, 1..=avx512::MAX_BITS) => unsafe { avx512::unpack::<S>(bytes, packing, groups) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has the level.
        #[allow(unsafe_code, reason = "instructions that not every processor has")]
        (Level::Avx2, 1..=avx2::MAX_BITS) => unsafe { avx2::unpack::<S>(bytes, packing, groups) },
        _ => {
            let _ = (bytes, groups);
            0
        }
    }
}
