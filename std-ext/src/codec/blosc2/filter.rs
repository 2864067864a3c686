//! Filters: how the bytes of a block were rearranged before it was compressed, and back.
//!
//! Both filters see a block as elements of S bytes; bytes after the last element they leave as they are.
//!
//! - *Shuffle* stores byte 0 of every element, then byte 1 of every element, and so on (`crate::kernels::shuffle`).
//! - *Bit shuffle* does the same with bits: row 8·k + t holds bit t of byte k of every element, eight elements a byte, the
//!   first in the lowest bit. It takes elements in multiples of eight and leaves the others too.

use super::{CodecError, Result};
use crate::kernels::shuffle::unshuffle_into;

/// Places for filters in a header.
const SLOTS: usize = 6;

/// The filters of a chunk that do something.
pub(super) struct Filters {
    filters: [Filter; SLOTS],
    count: usize,
}

/// A filter and the size of its elements, which is not 0.
#[derive(Clone, Copy)]
pub(super) enum Filter {
    Shuffle(u8),
    BitShuffle(u8),
}

impl Filters {
    /// The filters that a header names in the order they were applied in, for elements of the chunk's size.
    ///
    /// A parameter is refused: since c-blosc2 2.23.1 that of shuffle replaces the element size, before it meant nothing.
    pub(super) fn new(ids: [u8; SLOTS], parameters: [u8; SLOTS], element_size: u8) -> Result<Self> {
        let mut filters = Self { filters: [Filter::Shuffle(1); SLOTS], count: 0 };
        for (id, parameter) in ids.into_iter().zip(parameters).rev() {
            let filter = match (id, parameter) {
                (0, _) => continue,
                (1, 0) if element_size == 1 => continue,
                (1, 0) => Filter::Shuffle(element_size),
                (2, 0) => Filter::BitShuffle(element_size),
                (other, parameter) => return Err(CodecError::new(refusal(other, parameter))),
            };
            if let Some(slot) = filters.filters.get_mut(filters.count) {
                *slot = filter;
                filters.count += 1;
            }
        }
        Ok(filters)
    }

    /// The filters, in the order they are to be undone in.
    pub(super) fn undoing(&self) -> &[Filter] {
        self.filters.get(..self.count).unwrap_or_default()
    }
}

/// Why a filter is not undone.
fn refusal(id: u8, parameter: u8) -> String {
    let name = match id {
        1..=2 => return format!("filter {id} has the parameter {parameter}, which versions of c-blosc2 disagree on"),
        3 => "delta",
        4 => "truncated precision",
        _ => "a plug-in",
    };
    format!("filter {id} ({name}) is neither shuffle nor bit shuffle")
}

impl Filter {
    /// Undoes the filter for a block. `out` is as long as `filtered`, of which nothing is left.
    pub(super) fn undo(self, filtered: &mut [u8], out: &mut [u8]) -> Result<()> {
        let (size, unit) = match self {
            Self::Shuffle(size) => (usize::from(size), usize::from(size)),
            Self::BitShuffle(size) => (usize::from(size), 8 * usize::from(size)),
        };
        let whole = filtered.len() - filtered.len().checked_rem(unit).unwrap_or(0);
        let (filtered, left) = filtered.split_at_mut_checked(whole).unwrap_or_default();
        let (out, left_out) = out.split_at_mut_checked(whole).unwrap_or_default();
        left_out.copy_from_slice(left);
        match self {
            Self::Shuffle(_) => unshuffle(filtered, size, out),
            Self::BitShuffle(_) => unshuffle_bits(filtered, size, out),
        }
    }
}

/// Undoes the shuffle of whole elements.
fn unshuffle(filtered: &[u8], size: usize, out: &mut [u8]) -> Result<()> {
    unshuffle_into(filtered, size as u64, out).map_err(|error| CodecError::new(error.to_string()))
}

/// Undoes the bit shuffle of whole eights of elements: eight rows at a time to a plane of bytes, as shuffle leaves it, and
/// then the shuffle.
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

/// Bit e of byte t becomes bit t of byte e, by swapping bits, pairs and nibbles across the diagonal.
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
