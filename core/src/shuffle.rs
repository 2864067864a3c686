//! The inverse of the shuffle filter: byte planes back to elements, whole or a range.
//!
//! A filter of element size S took N elements apart: first byte 0 of every element, then byte 1 of every element, and so
//! on. Undoing it transposes a matrix of bytes with S rows (planes) of N columns:
//!
//! ```text
//! shuffled  plane 0: a0 b0 c0 …   plane 1: a1 b1 c1 …      byte k of element i at k·N + i
//! out       a0 a1 … b0 b1 … c0 c1 …                        byte k of element i at i·S + k
//! ```
//!
//! # Plain way
//!
//! ```text
//! for each plane k:  for each element i:  out[i·S + k] = plane[i]
//! ```
//!
//! # Trick: transpose eight elements in registers
//!
//! Eight bytes of a plane fit one `u64`. A matrix of 8 × 8 bytes is then eight words, and it is transposed in three rounds
//! of `exchange`: swap the off-diagonal bytes in each 2 × 2 block, then the off-diagonal 2 × 2 blocks in each 4 × 4 block,
//! then the off-diagonal 4 × 4 blocks. Each round transposes blocks of twice the size, so after the third round the whole
//! matrix is transposed.
//!
//! Elements of 3, 4 and 8 bytes are made from all planes at once. Larger elements are made in blocks of 8 × 8. At most
//! eight places are read and eight are written at a time, which suits caches at any element size. Format: PIPELINE §4.

use core::array;
use core::num::NonZeroUsize;

use crate::error::{ErrorKind, Result};
use crate::target::IS_SMALL;

/// How many elements are put together at a time: one for each byte of `u64`.
const EIGHT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Undoes the filter for all of `shuffled`. O(`out.len()`), no memory except `out`.
///
/// ```
/// let mut out = [0; 6];
/// tgm_core::shuffle::unshuffle_into(b"ace123", 2, &mut out)?;
/// assert_eq!(&out, b"a1c2e3");
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::OutputLength`] if `out` is not as long as `shuffled`; [`ErrorKind::ElementSize`] if `element_size` is 0 or
/// does not divide the length.
pub fn unshuffle_into(shuffled: &[u8], element_size: u64, out: &mut [u8]) -> Result<()> {
    if out.len() != shuffled.len() {
        return Err(ErrorKind::OutputLength.at(0));
    }
    unshuffle_range_into(shuffled, element_size, 0, out)
}

/// Undoes the filter for `out.len()` bytes, beginning with byte `start` of the unfiltered data.
///
/// The range may begin and end inside an element. Only its bytes are read. O(`out.len()`), no memory except `out`.
///
/// # Errors
/// [`ErrorKind::ElementSize`] if `element_size` is 0 or does not divide the length of `shuffled`;
/// [`ErrorKind::RangeOutOfBounds`] if the range reaches beyond the data.
pub fn unshuffle_range_into(shuffled: &[u8], element_size: u64, start: u64, out: &mut [u8]) -> Result<()> {
    let (planes, start) = match Planes::of(shuffled, element_size)? {
        Some(planes) => (planes, checked_start(shuffled, start, out.len())?),
        None => return checked_start(shuffled, start, out.len()).map(|_| ()),
    };
    planes.range_into(start, out);
    Ok(())
}

/// The start of a range, after the check that it lies within `bytes`.
fn checked_start(bytes: &[u8], start: u64, len: usize) -> Result<usize> {
    let out_of_bounds = ErrorKind::RangeOutOfBounds.at(0);
    let start = usize::try_from(start).map_err(|_| out_of_bounds)?;
    let range = start..start.checked_add(len).ok_or(out_of_bounds)?;
    bytes.get(range).map(|_| start).ok_or(out_of_bounds)
}

/// Filtered bytes, at least one.
#[derive(Clone, Copy)]
struct Planes<'a> {
    bytes: &'a [u8],
    /// S, the number of planes.
    element_size: NonZeroUsize,
    /// N, the bytes of each plane.
    elements: NonZeroUsize,
}

impl<'a> Planes<'a> {
    /// The planes in `bytes`; `None` if there are no bytes.
    fn of(bytes: &'a [u8], element_size: u64) -> Result<Option<Self>> {
        let wrong = ErrorKind::ElementSize.at(0);
        if element_size == 0 {
            return Err(wrong);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let element_size = usize::try_from(element_size).ok().and_then(NonZeroUsize::new).ok_or(wrong)?;
        if bytes.len() % element_size != 0 {
            return Err(wrong);
        }
        let elements = NonZeroUsize::new(bytes.len() / element_size).ok_or(wrong)?;
        Ok(Some(Self { bytes, element_size, elements }))
    }

    /// Writes a range in three parts, each of which may be empty: the end of one element, whole elements, and the
    /// beginning of another.
    fn range_into(&self, start: usize, out: &mut [u8]) {
        let size = self.element_size;
        let (first, skipped) = (start / size, start % size);
        let head_len = if skipped == 0 { 0 } else { size.get().wrapping_sub(skipped).min(out.len()) };
        let (head, rest) = out.split_at_mut_checked(head_len).unwrap_or_default();
        self.part_into(first, skipped, head);

        let first = first.wrapping_add(usize::from(skipped != 0));
        let count = rest.len() / size;
        let whole_len = count.wrapping_mul(size.get());
        let (whole, tail) = rest.split_at_mut_checked(whole_len).unwrap_or_default();
        self.elements_into(first, whole);
        self.part_into(first.wrapping_add(count), 0, tail);
    }

    /// Writes bytes of one element, from its byte `skipped` on.
    fn part_into(&self, element: usize, skipped: usize, out: &mut [u8]) {
        let from = skipped.wrapping_mul(self.elements.get()).wrapping_add(element);
        let bytes = self.bytes.get(from..).unwrap_or_default();
        copy(bytes.iter().step_by(self.elements.get()), out.iter_mut());
    }

    /// Writes whole elements, from element `first` on.
    fn elements_into(&self, first: usize, out: &mut [u8]) {
        // Without 64-bit registers the transpositions are not faster, and they take 2 KiB of code.
        if IS_SMALL {
            return self.planes_into(first, out);
        }
        match self.element_size.get() {
            1 => copy(self.bytes.get(first..).unwrap_or_default().iter(), out.iter_mut()),
            2 => self.pairs_into(first, out),
            3 => self.eights_into(first, out, |[a, b, c]| transpose_4([a, b, c, 0]).map(|[a, b, c, _]| [a, b, c])),
            4 => self.eights_into(first, out, transpose_4),
            8 => self.eights_into(first, out, transpose_8),
            _ => self.tiles_into(first, out),
        }
    }

    /// Writes whole elements of any size, plane by plane.
    fn planes_into(&self, first: usize, out: &mut [u8]) {
        let size = self.element_size.get();
        for k in 0..size {
            let plane = self.run(k, first, out.len() / self.element_size).unwrap_or_default();
            let slots = out.get_mut(k..).unwrap_or_default();
            copy(plane.iter(), slots.iter_mut().step_by(size));
        }
    }

    /// Writes whole elements of two bytes. The compiler makes vector code of this loop.
    fn pairs_into(&self, first: usize, out: &mut [u8]) {
        let (pairs, _) = out.as_chunks_mut();
        let [low, high] = [0, 1].map(|k| self.run(k, first, pairs.len()).unwrap_or_default());
        for ((pair, &low), &high) in pairs.iter_mut().zip(low).zip(high) {
            *pair = [low, high];
        }
    }

    /// Writes whole elements of `SIZE` bytes: eight at a time with `transpose`, the last ones byte by byte.
    fn eights_into<const SIZE: usize>(
        &self,
        first: usize,
        out: &mut [u8],
        transpose: impl Fn([u64; SIZE]) -> [[u8; SIZE]; 8],
    ) {
        let (elements, _) = out.as_chunks_mut::<SIZE>();
        let mut planes = [[].as_slice(); SIZE];
        for (k, plane) in planes.iter_mut().enumerate() {
            *plane = self.run(k, first, elements.len()).unwrap_or_default();
        }
        let planes = planes.map(|plane| plane.as_chunks());
        let (blocks, rest) = elements.as_chunks_mut();
        for (i, block) in blocks.iter_mut().enumerate() {
            *block = transpose(planes.map(|(eights, _)| eights.get(i).map_or(0, |bytes| u64::from_le_bytes(*bytes))));
        }
        for (i, element) in rest.iter_mut().enumerate() {
            *element = planes.map(|(_, bytes)| bytes.get(i).copied().unwrap_or_default());
        }
    }

    /// Writes whole elements of any size: eight at a time, the last ones one by one.
    fn tiles_into(&self, first: usize, out: &mut [u8]) {
        let mut first = first;
        for tile in out.chunks_mut(self.element_size.saturating_mul(EIGHT).get()) {
            let mut elements = tile.chunks_exact_mut(self.element_size.get());
            if elements.len() == EIGHT.get() {
                self.tile_into(first, array::from_fn(|_| elements.next().unwrap_or_default()));
            } else {
                elements.enumerate().for_each(|(i, element)| self.part_into(first.wrapping_add(i), 0, element));
            }
            first = first.wrapping_add(EIGHT.get());
        }
    }

    /// Writes eight elements, eight bytes of each at a time.
    fn tile_into(&self, first: usize, elements: [&mut [u8]; 8]) {
        let mut parts = elements.map(|element| element.as_chunks_mut::<8>());
        for g in 0..self.element_size.get() / 8 {
            let rows = array::from_fn(|k| self.eight(g.wrapping_mul(8).wrapping_add(k), first));
            for ((eights, _), bytes) in parts.iter_mut().zip(transpose_8(rows)) {
                if let Some(slot) = eights.get_mut(g) {
                    *slot = bytes;
                }
            }
        }
        for (i, (eights, rest)) in parts.into_iter().enumerate() {
            self.part_into(first.wrapping_add(i), eights.len().wrapping_mul(8), rest);
        }
    }

    /// Byte `k` of the eight elements from element `first` on, little-endian.
    #[inline]
    fn eight(&self, k: usize, first: usize) -> u64 {
        let from = k.wrapping_mul(self.elements.get()).wrapping_add(first);
        self.bytes.get(from..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Byte `k` of `count` elements from element `first` on.
    #[inline]
    fn run(&self, k: usize, first: usize, count: usize) -> Option<&'a [u8]> {
        let from = k.wrapping_mul(self.elements.get()).wrapping_add(first);
        self.bytes.get(from..)?.get(..count)
    }
}

/// Eight elements of 4 bytes from eight bytes (little-endian) of each plane.
#[allow(clippy::many_single_char_names, reason = "rows of a matrix")]
fn transpose_4(planes: [u64; 4]) -> [[u8; 4]; 8] {
    let rows = transpose_halves(planes);
    let [[a, e], [b, f], [c, g], [d, h]] = rows.map(|row| {
        let [a, b, c, d, e, f, g, h] = row.to_le_bytes();
        [[a, b, c, d], [e, f, g, h]]
    });
    [a, b, c, d, e, f, g, h]
}

/// Eight elements of 8 bytes from eight bytes (little-endian) of each plane.
#[allow(clippy::many_single_char_names, reason = "rows of a matrix")]
fn transpose_8([a, b, c, d, e, f, g, h]: [u64; 8]) -> [[u8; 8]; 8] {
    let [a, b, c, d] = transpose_halves([a, b, c, d]);
    let [e, f, g, h] = transpose_halves([e, f, g, h]);
    let [a, e] = exchange(a, e, 32, 0x0000_0000_ffff_ffff);
    let [b, f] = exchange(b, f, 32, 0x0000_0000_ffff_ffff);
    let [c, g] = exchange(c, g, 32, 0x0000_0000_ffff_ffff);
    let [d, h] = exchange(d, h, 32, 0x0000_0000_ffff_ffff);
    [a, b, c, d, e, f, g, h].map(u64::to_le_bytes)
}

/// Transposes two matrices of 4 × 4 bytes at once. The lower halves of the four rows are one matrix, the upper halves the
/// other. The first round swaps bytes in each 2 × 2 block, the second round swaps 2 × 2 blocks.
#[allow(clippy::many_single_char_names, reason = "rows of a matrix")]
fn transpose_halves([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    let [a, b] = exchange(a, b, 8, 0x00ff_00ff_00ff_00ff);
    let [c, d] = exchange(c, d, 8, 0x00ff_00ff_00ff_00ff);
    let [a, c] = exchange(a, c, 16, 0x0000_ffff_0000_ffff);
    let [b, d] = exchange(b, d, 16, 0x0000_ffff_0000_ffff);
    [a, b, c, d]
}

/// Swaps the columns of `lower` in `mask` with the columns of `upper` that are `shift` bits higher.
///
/// This is the swap by three XORs, for many columns at once: `difference` holds what differs between two columns, and
/// applying that to both of them exchanges them.
fn exchange(upper: u64, lower: u64, shift: u32, mask: u64) -> [u64; 2] {
    let difference = (upper.wrapping_shr(shift) ^ lower) & mask;
    [upper ^ difference.wrapping_shl(shift), lower ^ difference]
}

/// Copies as many bytes as both sides have.
#[inline]
fn copy<'a, 'o>(from: impl Iterator<Item = &'a u8>, to: impl Iterator<Item = &'o mut u8>) {
    for (slot, &byte) in to.zip(from) {
        *slot = byte;
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// Byte k of element i from k·N + i to i·S + k.
    fn oracle(shuffled: &[u8], size: usize) -> Vec<u8> {
        let elements = shuffled.len() / size;
        (0..shuffled.len()).map(|at| shuffled[at % size * elements + at / size]).collect()
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower byte is meant")]
    fn noise(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
    }

    #[test]
    fn every_small_matrix_agrees_with_the_oracle() {
        for size in 1..40 {
            for elements in 0..40 {
                let shuffled = noise(size * elements);
                let mut out = vec![0; shuffled.len()];
                unshuffle_into(&shuffled, size as u64, &mut out).unwrap();
                assert_eq!(out, oracle(&shuffled, size), "{elements} elements of {size}");
                if let Some(planes) = Planes::of(&shuffled, size as u64).unwrap() {
                    out.fill(0);
                    planes.planes_into(0, &mut out);
                    assert_eq!(out, oracle(&shuffled, size), "{elements} elements of {size}, plane by plane");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_range_agrees_with_the_oracle(
            size in prop_oneof![1_usize..20, 1_usize..300],
            elements in 1_usize..60,
            from in 0.0..=1.0,
            to in 0.0..=1.0,
        ) {
            let shuffled = noise(size * elements);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small")]
            let at = |part: f64| (part * shuffled.len() as f64) as usize;
            let range = at(from).min(at(to))..at(from).max(at(to));
            let mut out = vec![0; range.len()];
            unshuffle_range_into(&shuffled, size as u64, range.start as u64, &mut out).unwrap();
            prop_assert_eq!(&out, &oracle(&shuffled, size)[range]);
        }

        #[test]
        fn no_request_panics(
            len in 0_usize..100,
            size in prop_oneof![0_u64..20, any::<u64>()],
            start in prop_oneof![0_u64..100, any::<u64>()],
            out_len in 0_usize..100,
        ) {
            let _ = unshuffle_range_into(&noise(len), size, start, &mut vec![0; out_len]);
        }
    }

    /// PIPELINE §10: float32 0, 1, 2, 3 little-endian.
    #[test]
    fn payload_of_the_reference_becomes_its_values() {
        let shuffled = [0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x80, 0x00, 0x40, 0x00, 0x3f, 0x40, 0x40];
        let mut out = [0; 16];
        unshuffle_into(&shuffled, 4, &mut out).unwrap();
        let values: Vec<f32> = out.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn element_size_must_divide_the_length() {
        for size in [0, 4, 7, u64::MAX] {
            assert_eq!(unshuffle_into(&[0; 6], size, &mut [0; 6]), Err(ErrorKind::ElementSize.at(0)), "{size}");
        }
    }

    #[test]
    fn nothing_can_be_unshuffled_at_any_size_but_zero() {
        assert_eq!(unshuffle_into(&[], u64::MAX, &mut []), Ok(()));
        assert_eq!(unshuffle_into(&[], 0, &mut []), Err(ErrorKind::ElementSize.at(0)));
        assert_eq!(unshuffle_range_into(&[], 4, 1, &mut []), Err(ErrorKind::RangeOutOfBounds.at(0)));
    }

    #[test]
    fn whole_output_has_the_length_of_the_input() {
        assert_eq!(unshuffle_into(&[0; 6], 2, &mut [0; 4]), Err(ErrorKind::OutputLength.at(0)));
    }

    #[test]
    fn range_beyond_the_end_is_out_of_bounds() {
        for start in [3, 6, 7, u64::MAX] {
            let result = unshuffle_range_into(&[0; 6], 2, start, &mut [0; 4]);
            assert_eq!(result, Err(ErrorKind::RangeOutOfBounds.at(0)), "{start}");
        }
        assert_eq!(unshuffle_range_into(&[0; 6], 2, 6, &mut []), Ok(()));
    }
}
