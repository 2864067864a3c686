//! Filters: they rearrange the bytes of a block before it is compressed. Here they are undone.
//!
//! Both filters see a block as elements of S bytes, and leave the bytes after the last element as they are.
//!
//! - *Shuffle* stores byte 0 of every element, then byte 1 of every element, and so on (`crate::kernels::shuffle`).
//! - *Bit shuffle* does the same with bits: row 8·k + t holds bit t of byte k of every element, eight elements a byte,
//!   the first in the lowest bit. It takes elements in multiples of eight, and leaves the elements after them as they
//!   are.

use super::ids::filter;
use super::{CodecError, Result};
use crate::kernels::shuffle::unshuffle_into;

/// Slots for filters in a header.
const SLOTS: usize = 6;

/// The filters of a chunk that change something.
pub(super) struct Filters {
    filters: [Filter; SLOTS],
    count: usize,
}

/// A filter, and the size of its elements, which is not 0.
#[derive(Clone, Copy)]
pub(super) enum Filter {
    Shuffle(u8),
    BitShuffle(u8),
    /// The bit shuffle of Blosc 1: blocks that are not whole multiples of eight elements stay as they are.
    BitShuffleWhole(u8),
}

impl Filters {
    /// The filters that a header names, in the order in which they were applied, for elements of the chunk's size.
    ///
    /// A parameter is refused: since c-blosc2 2.23.1 the parameter of shuffle replaces the element size; before, it had
    /// no meaning.
    pub(super) fn new(ids: [u8; SLOTS], parameters: [u8; SLOTS], element_size: u8) -> Result<Self> {
        let mut filters = Self { filters: [Filter::Shuffle(1); SLOTS], count: 0 };
        for (id, parameter) in ids.into_iter().zip(parameters).rev() {
            let filter = match (id, parameter) {
                (filter::NONE, _) => continue,
                (filter::SHUFFLE, 0) if element_size == 1 => continue,
                (filter::SHUFFLE, 0) => Filter::Shuffle(element_size),
                (filter::BIT_SHUFFLE, 0) => Filter::BitShuffle(element_size),
                (other, parameter) => return Err(CodecError::new(refusal(other, parameter))),
            };
            if let Some(slot) = filters.filters.get_mut(filters.count) {
                *slot = filter;
                filters.count += 1;
            }
        }
        Ok(filters)
    }

    /// The filter of Blosc 1, at most one.
    pub(super) fn of_blosc1(is_shuffled: bool, is_bit_shuffled: bool, element_size: u8) -> Self {
        let (filter, is_used) = match (is_bit_shuffled, is_shuffled) {
            (true, _) => (Filter::BitShuffleWhole(element_size), true),
            (_, is_shuffled) => (Filter::Shuffle(element_size), is_shuffled && element_size > 1),
        };
        Self { filters: [filter; SLOTS], count: usize::from(is_used) }
    }

    /// The filters, in the order in which they are undone.
    pub(super) fn undoing(&self) -> &[Filter] {
        self.filters.get(..self.count).unwrap_or_default()
    }
}

/// The reason why a filter is not undone.
fn refusal(id: u8, parameter: u8) -> String {
    let name = match id {
        filter::SHUFFLE | filter::BIT_SHUFFLE => {
            return format!("filter {id} has the parameter {parameter}, which versions of c-blosc2 disagree on");
        }
        filter::DELTA => "delta",
        filter::TRUNCATED_PRECISION => "truncated precision",
        _ => "a plug-in",
    };
    format!("filter {id} ({name}) is neither shuffle nor bit shuffle")
}

impl Filter {
    /// Undoes the filter for a block. `out` is as long as `filtered`, whose content is overwritten too.
    pub(super) fn undo(self, filtered: &mut [u8], out: &mut [u8]) -> Result<()> {
        let (size, unit) = match self {
            Self::Shuffle(size) => (usize::from(size), usize::from(size)),
            Self::BitShuffle(size) => (usize::from(size), 8 * usize::from(size)),
            Self::BitShuffleWhole(size) if filtered.len().is_multiple_of(8 * usize::from(size)) => {
                return unshuffle_bits(filtered, usize::from(size), out);
            }
            Self::BitShuffleWhole(_) => {
                out.copy_from_slice(filtered);
                return Ok(());
            }
        };
        let whole = filtered.len() - filtered.len().checked_rem(unit).unwrap_or(0);
        let (filtered, left) = filtered.split_at_mut_checked(whole).unwrap_or_default();
        let (out, left_out) = out.split_at_mut_checked(whole).unwrap_or_default();
        left_out.copy_from_slice(left);
        match self {
            Self::Shuffle(_) => unshuffle(filtered, size, out),
            Self::BitShuffle(_) => unshuffle_bits(filtered, size, out),
            // Returned above.
            Self::BitShuffleWhole(_) => Ok(()),
        }
    }
}

/// Undoes the shuffle of whole elements.
fn unshuffle(filtered: &[u8], size: usize, out: &mut [u8]) -> Result<()> {
    unshuffle_into(filtered, size as u64, out).map_err(|error| error.kind().into())
}

/// Undoes the bit shuffle of elements in multiples of eight.
///
/// ```text
/// for each byte k of an element: unshuffle its eight rows of bits as if they were elements of eight bytes
///                                transpose each 8 × 8 bits: byte k of eight elements
/// then undo the shuffle of bytes
/// ```
fn unshuffle_bits(filtered: &mut [u8], size: usize, out: &mut [u8]) -> Result<()> {
    let plane_len = filtered.len().checked_div(size).unwrap_or(0).max(1);
    for (rows, plane) in filtered.chunks_exact(plane_len).zip(out.chunks_exact_mut(plane_len)) {
        unshuffle(rows, 8, plane)?;
    }
    let (columns, _) = out.as_chunks_mut();
    if size == 1 {
        for column in columns {
            *column = transpose_bits(*column);
        }
        return Ok(());
    }
    let (eights, _) = filtered.as_chunks_mut();
    eights.iter_mut().zip(columns).for_each(|(eight, column)| *eight = transpose_bits(*column));
    unshuffle(filtered, size, out)
}

/// Bit e of byte t becomes bit t of byte e.
///
/// The matrix of 8 × 8 bits is transposed in three steps: in each square of 2 × 2, then 4 × 4, then 8 × 8, the upper
/// right part changes places with the lower left part. A step is one exchange of masked bits with those a fixed
/// distance higher.
fn transpose_bits(rows: [u8; 8]) -> [u8; 8] {
    let swap = |bits: u64, distance: u32, mask: u64| {
        let differ = (bits ^ (bits >> distance)) & mask;
        bits ^ differ ^ (differ << distance)
    };
    let bits = u64::from_le_bytes(rows);
    let bits = swap(bits, 7, 0x00aa_00aa_00aa_00aa);
    let bits = swap(bits, 14, 0x0000_cccc_0000_cccc);
    swap(bits, 28, 0x0000_0000_f0f0_f0f0).to_le_bytes()
}
