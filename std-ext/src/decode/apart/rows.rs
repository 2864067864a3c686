//! Boxes of tensors by way of ranges: each row of a box is a range, and what a row passes over is left out afterwards.

use std::borrow::Cow;

use tgm_core::descriptor::Descriptor;
use tgm_core::selection::{Pick, Selection};

use crate::base::error::Result;
use crate::base::limits::reserve;
use crate::decode::select::{Selected, selection};

/// The most rows that are read row by row. Of a box of more rows, all of the frame is read.
const MOST_ROWS: u64 = 1 << 16;

/// The rows of a box as ranges, each a first element and a count. `None` if there are too many.
///
/// # Errors
/// Those of [`selection`].
pub(crate) fn spans(descriptor: &Descriptor<'_>, picks: &[Pick]) -> Result<Option<Vec<(u64, u64)>>> {
    let selection = selection(descriptor, picks)?;
    if selection.row_count() > MOST_ROWS {
        return Ok(None);
    }
    let hulls = selection.rows().map(|row| row.hull());
    Ok(Some(hulls.map(|hull| (hull.start, hull.end.saturating_sub(hull.start))).collect()))
}

/// The selected values, out of the values of [`spans`].
///
/// # Errors
/// Those of [`selection`]; [`TensogramError::Encoding`](crate::TensogramError::Encoding) if there is no memory.
pub(crate) fn gathered(descriptor: &Descriptor<'_>, picks: &[Pick], rows: &[Vec<u8>]) -> Result<Selected<'static>> {
    let selection = selection(descriptor, picks)?;
    let width = descriptor.dtype().byte_width();
    let bytes = if width == 0 { bits(&selection, rows)? } else { elements(&selection, width, rows)? };
    Ok(Selected { shape: selection.shape().collect(), bytes: Cow::Owned(bytes) })
}

fn elements(selection: &Selection<'_>, width: usize, rows: &[Vec<u8>]) -> Result<Vec<u8>> {
    let len = usize::try_from(selection.element_count()).unwrap_or(usize::MAX).saturating_mul(width);
    let mut bytes = reserve(len)?;
    bytes.clear();
    for (row, values) in selection.rows().zip(rows) {
        let step = usize::try_from(row.step).unwrap_or(usize::MAX).saturating_mul(width);
        if row.step == 1 {
            bytes.extend_from_slice(values);
        } else {
            values.chunks(step).for_each(|chunk| bytes.extend_from_slice(chunk.get(..width).unwrap_or_default()));
        }
    }
    Ok(bytes)
}

/// Bits of all rows side by side. Each row of `rows` begins with a byte of its own.
fn bits(selection: &Selection<'_>, rows: &[Vec<u8>]) -> Result<Vec<u8>> {
    let len = usize::try_from(selection.element_count().div_ceil(8)).unwrap_or(usize::MAX);
    let mut bytes = reserve(len)?;
    let mut at = 0_u64;
    for (row, values) in selection.rows().zip(rows) {
        for number in 0..row.count {
            let from = number.saturating_mul(row.step);
            let is_set =
                byte_of(from).and_then(|byte| values.get(byte)).is_some_and(|byte| byte << (from % 8) & 0x80 != 0);
            if let Some(byte) = byte_of(at).and_then(|byte| bytes.get_mut(byte)).filter(|_| is_set) {
                *byte |= 0x80 >> (at % 8);
            }
            at = at.saturating_add(1);
        }
    }
    Ok(bytes)
}

fn byte_of(bit: u64) -> Option<usize> {
    usize::try_from(bit / 8).ok()
}
