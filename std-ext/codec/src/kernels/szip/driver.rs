//! The walk over blocks, the same at every level: a level supplies [`Vector`], and compiles the walk for itself.
//!
//! ```text
//! for each block, as long as it is a usual one:
//!     id     = its first bits: k + 1 for a split block, all ones for a plain one
//!     upper  = a unary code for each sample                  nothing in a plain block
//!     lower  = a field of k bits for each sample             of all bits in a plain block
//!     mapped = upper · 2^k + lower
//!     sample = the sample before ± half of mapped            by a prefix sum over the lanes
//! ```

#![allow(unsafe_code, reason = "instructions that not every processor has")]

use tgm_core::szip::{Params, Place, unmap_each};

use super::sink::Sink;

/// The fewest samples in a block that is decoded here.
const MIN_BLOCK: usize = 8;
/// Block sizes of which it is worth to compile the walk for itself: those that writers choose.
const COMMON_BLOCK: usize = 16;
const LONG_BLOCK: usize = 32;
/// Any block size, as a constant of [`decode_blocks`].
const ANY: usize = 0;
/// The widest field that lies within four bytes, wherever its first bit is: up to seven bits of a byte come before it.
pub(super) const MAX_NARROW: u32 = 25;

/// What a level does with samples in the lanes of a register.
///
/// # Safety
/// Every function needs a processor with the instructions of the level.
pub(super) trait Vector {
    /// A sample in each lane.
    type Lanes: Copy;
    /// Registers for the samples of the largest block.
    type Block: AsMut<[Self::Lanes]>;
    /// What it takes to read fields of one width.
    type Fields;

    /// Lanes of a register.
    const LEN: usize;
    /// Registers that [`Self::unary`] fills at once.
    const AT_ONCE: usize;
    /// Whether plain blocks are decoded here. Their differences go out of range all the time, which costs a level with
    /// few lanes more than it saves.
    const TAKES_PLAIN: bool;

    /// A block of zeros.
    unsafe fn zeros() -> Self::Block;

    /// The same sample in all lanes.
    unsafe fn splat(sample: u32) -> Self::Lanes;

    /// The sample in the first lane.
    unsafe fn first(lanes: Self::Lanes) -> u32;

    /// The sample of the last lane in all lanes.
    unsafe fn splat_last(lanes: Self::Lanes) -> Self::Lanes;

    /// Reads `count` unary codes from `bit` on, as many as the samples of [`Self::AT_ONCE`] registers or of a smaller
    /// block; returns their length in bits.
    ///
    /// `None` if a code is more than `most` or too long for the level, or if the stream ends too soon.
    unsafe fn unary(stream: &[u8], bit: u64, count: usize, most: u32, codes: &mut [Self::Lanes]) -> Option<u32>;

    /// Prepares for fields of `width` bits, 1 to 32, the first of which begins at `bit`.
    unsafe fn fields(width: u32, bit: u64) -> Self::Fields;

    /// Appends a field from `bit` on to each of the first `lanes` lanes of `upper`. `None` if the stream ends too soon.
    unsafe fn append(
        fields: &Self::Fields,
        upper: Self::Lanes,
        stream: &[u8],
        bit: u64,
        lanes: usize,
    ) -> Option<Self::Lanes>;

    /// Turns mapped differences into samples of 0 to `max`; all lanes of `before` are the sample before them.
    unsafe fn unmap(mapped: Self::Lanes, before: Self::Lanes, max: u32) -> Self::Lanes;

    /// Hands the first samples to `sink`, as many as there are slots.
    unsafe fn store<S: Sink>(samples: Self::Lanes, sink: &S, slots: &mut [S::Slot]);
}

/// Decodes blocks to the front of `out`, from `place` on, as long as they are usual; returns where it stopped.
///
/// # Safety
/// As [`Vector`].
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for what the caller may use")]
pub(super) unsafe fn decode<V: Vector, S: Sink>(
    stream: &[u8],
    params: &Params,
    place: Place,
    out: &mut [S::Slot],
    sink: &S,
) -> Place {
    // SAFETY: the caller's promise.
    unsafe {
        match params.block_size() as usize {
            COMMON_BLOCK => decode_blocks::<V, S, COMMON_BLOCK>(stream, params, place, out, sink),
            LONG_BLOCK => decode_blocks::<V, S, LONG_BLOCK>(stream, params, place, out, sink),
            _ => decode_blocks::<V, S, ANY>(stream, params, place, out, sink),
        }
    }
}

/// [`decode`] for blocks of `SIZE` samples, which is known when this is compiled, or of [`ANY`] size.
///
/// # Safety
/// As [`Vector`].
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for what the caller may use")]
unsafe fn decode_blocks<V: Vector, S: Sink, const SIZE: usize>(
    stream: &[u8],
    params: &Params,
    place: Place,
    out: &mut [S::Slot],
    sink: &S,
) -> Place {
    let block_size = if SIZE == ANY { params.block_size() as usize } else { SIZE };
    let (bits, id_bits, max) = (params.bits_per_sample(), params.id_bits(), params.max());
    let plain_id = u32::MAX >> (32 - id_bits);
    // Lanes of a register that hold samples: the smallest blocks leave some of them.
    let lanes = if V::LEN <= MIN_BLOCK { V::LEN } else { block_size.min(V::LEN) };
    let groups = block_size / lanes;
    // Unary codes are read in turns: how many turns, and the codes of each.
    let (turns, count) = (groups.div_ceil(V::AT_ONCE), groups.min(V::AT_ONCE) * lanes);

    let mut place = place;
    // SAFETY: the caller's promise.
    let mut before = unsafe { V::splat(place.before) };
    'blocks: for slots in out.chunks_exact_mut(block_size) {
        if place.blocks == 0 {
            break;
        }
        let Some(head) = window(stream, place.bit) else { break };
        #[expect(clippy::cast_possible_truncation, reason = "up to five bits")]
        let id = (head >> (64 - id_bits)) as u32;
        let mut at = place.bit + u64::from(id_bits);
        // SAFETY: the caller's promise.
        let mut block = unsafe { V::zeros() };
        let width = if V::TAKES_PLAIN && id == plain_id {
            bits
        } else {
            // ID 0, of zero blocks and pairs, wraps around to more than `bits`.
            let k = id.wrapping_sub(1);
            if k > bits || id == plain_id {
                break;
            }
            let most = (max >> k.min(31)).min(u64::BITS);
            for codes in block.as_mut().chunks_mut(V::AT_ONCE).take(turns) {
                // SAFETY: the caller's promise.
                let len = unsafe { V::unary(stream, at, count, most, codes) };
                let Some(len) = len else { break 'blocks };
                at += u64::from(len);
            }
            k
        };
        if width > 0 {
            // SAFETY: the caller's promise.
            let fields = unsafe { V::fields(width, at) };
            for register in block.as_mut().iter_mut().take(groups) {
                // SAFETY: the caller's promise.
                let both = unsafe { V::append(&fields, *register, stream, at, lanes) };
                let Some(both) = both else { break 'blocks };
                *register = both;
                at += lanes as u64 * u64::from(width);
            }
        }
        for (mapped, slots) in block.as_mut().iter().zip(slots.chunks_exact_mut(lanes)) {
            // SAFETY: the caller's promise.
            unsafe {
                let samples = V::unmap(*mapped, before, max);
                before = V::splat_last(samples);
                V::store(samples, sink, slots);
            }
        }
        place.bit = at;
        place.blocks -= 1;
    }
    // SAFETY: the caller's promise.
    Place { before: unsafe { V::first(before) }, ..place }
}

/// The 64 bits from `bit` on. `None` in the last 16 bytes of the stream, which are left to core.
#[inline]
pub(super) fn window(stream: &[u8], bit: u64) -> Option<u64> {
    let bytes = stream.get(usize::try_from(bit / 8).ok()?..)?.first_chunk()?;
    Some((u128::from_be_bytes(*bytes) << (bit % 8) >> 64) as u64)
}

/// [`Vector::unmap`] in memory, for registers in which a difference is out of range: one by one, by core.
///
/// Registers go in and out by way of `lanes`: were they arguments or results of a call, the usual way, on which each
/// register waits for the one before it, would lead through memory too.
#[cold]
#[inline(never)]
pub(super) fn unmap_slowly<const LEN: usize>(lanes: &mut [u32; LEN], before: u32, max: u32) {
    unmap_each(lanes, before, max);
}
