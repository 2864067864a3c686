//! The selected values, decoded in ascending order into one buffer after the other.
//!
//! ```text
//! selection ─ Pending ─► windows ─ RangeBytes, AscendingMasks ─► values of a window ─ gather ─► out
//!                                                    └─ if all of the window is selected ─────► out
//! ```
//!
//! Values that lie in memory as they were given are gathered from there, without windows.

use std::iter;
use std::ops::Range;

use tgm_codec::kernels::{byteswap, gather};
use tgm_codec::memory::at_least;
use tgm_codec::memory::prefetch;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::ByteOrder;
use tgm_core::selection::{Row, Selection};

use super::super::bounds::values_len;
use super::super::cost::is_whole_cheaper;
use super::super::masks::{AscendingMasks, Masks};
use super::super::plan::Plan;
use super::super::range_bytes::RangeBytes;
use super::super::scratch::Scratch;
use super::super::trust::Trusted;
use super::pending::{Pending, Reach, Window};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::base::span::head;

/// Elements that are decoded for nothing rather than have a window more: about as many as take the time of a window.
const GAP: u64 = 32;
/// The same for packed values in memory: the kernels unpack that many in the time of a window.
const GAP_OF_PACKED: u64 = 256;
/// Elements of a window with gaps: their values stay in the first cache.
const SPAN: u64 = 2048;
/// Elements side by side that are decoded to their place, even if others are near.
const ALONE: u64 = 256;
/// Elements of a window without gaps out of a payload in parts, whose stored bytes lie in memory at once.
const MOST_OF_PARTS: u64 = 1 << 16;

/// Rows whose bytes are prefetched before they are copied.
const ROWS_AHEAD: usize = 8;
/// Bytes of a row that are prefetched. The processor foresees what follows them.
const PREFETCHED: usize = 1 << 10;
/// Blocks of a codec that are looked at together, to find out whether all of them are wanted.
const BLOCKS_A_RANGE: u64 = 64;

/// Writes the selected values of an object, in the order of the result.
pub(super) struct Filler<'f, 's, 'a, 'p> {
    plan: &'f Plan<'s, 'a>,
    source: RangeBytes<'s>,
    /// `None` if nothing is to be restored.
    masks: Option<AscendingMasks<'f>>,
    pending: Pending<'p>,
    /// Values of a window.
    buffer: &'f mut Vec<u8>,
}

/// Opens an object for a selection that is not empty, and lets `fill` take the values.
///
/// # Errors
/// The errors of [`Plan`], the codec, the masks and `fill`.
pub(super) fn with_filler(
    object: Trusted<'_, '_>,
    selection: &Selection<'_>,
    order: ByteOrder,
    options: &DecodeOptions,
    threads: Threads,
    scratch: &mut Scratch,
    fill: impl FnOnce(&mut Filler<'_, '_, '_, '_>) -> Result<()>,
) -> Result<()> {
    let Scratch { bytes, masks, runs, work, window: buffer, .. } = scratch;
    let plan = Plan::new(object, options, order, threads)?;
    let descriptor = object.descriptor();
    let out_len = values_len(descriptor, selection.element_count())?;
    let source = RangeBytes::open_unless(&plan, selection.hull().end, bytes, work, |parts, total| {
        let wanted = |block: u64| {
            // A length to stay below: all of the object, where it has more than 64 bits.
            let span = block.saturating_mul(BLOCKS_A_RANGE);
            let reach = Reach { gap: block, span, alone: u64::MAX, most: u64::MAX };
            Pending::new(selection).windows(reach).map(|window| window.elements)
        };
        is_whole_cheaper(parts, descriptor, wanted, total, out_len)
    })?;
    let masks = if plan.must_restore() { Some(Masks::read(object, options, masks)?) } else { None };
    let masks = masks.as_ref().map(|masks| masks.in_order(runs));
    let mut filler = Filler { plan: &plan, source, masks, pending: Pending::new(selection), buffer };
    fill(&mut filler)?;
    // A defect after the last selected element is an error too, so that the answer does not depend on the selection.
    filler.masks.map_or(Ok(()), AscendingMasks::finish)
}

impl Filler<'_, '_, '_, '_> {
    /// Writes the values of the next `count` selected elements to all of `out`. Bits begin with the first bit of `out`.
    ///
    /// # Errors
    /// The errors of the codec, the stages and the masks.
    pub(super) fn fill(&mut self, count: u64, out: &mut [u8]) -> Result<()> {
        let width = self.plan.object.descriptor().dtype().byte_width();
        if width == 0 {
            // Bits are added one run after the other.
            out.fill(0);
        }
        let mut target = Target { out, width, done: 0 };
        if self.masks.is_none()
            && let RangeBytes::All(stored) = &self.source
            && let Some(values) = stored.as_values()
        {
            // Rows lie apart, where the processor does not foresee them.
            let mut ahead = self.pending.clone();
            let mut prefetch_next = || {
                if let Some(row) = ahead.take_row(u64::MAX) {
                    prefetch(bytes_of(values, &row.hull(), width, PREFETCHED));
                }
            };
            (0..ROWS_AHEAD).for_each(|_| prefetch_next());
            while target.done < count {
                prefetch_next();
                let row = self.pending.take_row(count - target.done).ok_or_else(too_short)?;
                target.put(values, 0, &row, self.plan.swap_unit())?;
            }
            return Ok(());
        }
        while target.done < count {
            self.fill_window(count - target.done, &mut target)?;
        }
        Ok(())
    }

    /// Decodes the next window, with `most` selected elements or fewer, and writes these to their place.
    fn fill_window(&mut self, most: u64, target: &mut Target<'_>) -> Result<()> {
        let reach = self.reach();
        let mut rows = self.pending.clone();
        let window = self.pending.take_window(&Reach { most: most.min(reach.most), ..reach }).ok_or_else(too_short)?;
        if window.is_dense()
            && let Some(place) = target.place(window.selected)
        {
            return self.decode(&window, reach, place);
        }
        let mut buffer = std::mem::take(self.buffer);
        let filled = byte_len(self.plan, window.len()).and_then(|len| {
            let values = at_least(&mut buffer, len)?;
            self.decode(&window, reach, values)?;
            let end = target.done + window.selected;
            while target.done < end {
                let row = rows.take_row(end - target.done).ok_or_else(too_short)?;
                target.put(values, window.elements.start, &row, None)?;
            }
            Ok(())
        });
        *self.buffer = buffer;
        filled
    }

    /// Writes all values of a window to all of `out`.
    fn decode(&mut self, window: &Window, reach: Reach, out: &mut [u8]) -> Result<()> {
        let elements = window.elements.clone();
        let later = self.pending.clone().windows(reach).map(|window| window.elements);
        self.source.decode_into(self.plan, &elements, iter::once(elements.clone()).chain(later), out)?;
        match &mut self.masks {
            Some(masks) => masks.restore_into(&elements, self.pending.next_element(), self.plan.order, out),
            None => Ok(()),
        }
    }

    /// How far windows reach.
    fn reach(&self) -> Reach {
        let (gap, most) = match &self.source {
            RangeBytes::Parts(_) => (GAP, MOST_OF_PARTS),
            RangeBytes::All(stored) if stored.as_packed_from().is_some() => (GAP_OF_PACKED, u64::MAX),
            RangeBytes::All(_) => (GAP, u64::MAX),
        };
        Reach { gap, span: SPAN, alone: ALONE, most }
    }
}

/// Where selected values are written to.
struct Target<'o> {
    out: &'o mut [u8],
    /// Bytes of an element; 0 for bits.
    width: usize,
    /// Elements that were written.
    done: u64,
}

impl Target<'_> {
    /// The place of the next `count` elements, which count as written. `None` if they do not begin with a byte.
    fn place(&mut self, count: u64) -> Option<&mut [u8]> {
        let done = usize::try_from(self.done).ok()?;
        let count_here = usize::try_from(count).ok()?;
        let place = match self.width {
            0 if done.is_multiple_of(8) => done / 8..done.checked_add(count_here)?.div_ceil(8),
            0 => return None,
            width => done.checked_mul(width)?..done.checked_add(count_here)?.checked_mul(width)?,
        };
        let place = self.out.get_mut(place)?;
        self.done += count;
        Some(place)
    }

    /// Copies the elements of `row` from values that begin with element `origin`, and reverses the bytes of each
    /// `unit`.
    fn put(&mut self, values: &[u8], origin: u64, row: &Row, unit: Option<usize>) -> Result<()> {
        let start = row.start.checked_sub(origin).ok_or_else(too_short)?;
        if self.width == 0 {
            let copied = gather::bits_into(values, start, row.step, row.count, self.out, self.done);
            self.done += row.count;
            return copied.ok_or_else(too_short);
        }
        let width = self.width;
        let place = self.place(row.count).ok_or_else(too_short)?;
        if let Some(unit) = unit.filter(|_| row.step == 1) {
            let from = usize::try_from(start).ok().and_then(|start| start.checked_mul(width));
            let source = from.and_then(|from| values.get(from..)?.get(..place.len())).ok_or_else(too_short)?;
            return Ok(byteswap::swap_into(source, unit, place)?);
        }
        gather::elements_into(values, start, row.step, width, place).ok_or_else(too_short)?;
        Ok(unit.map_or(Ok(()), |unit| byteswap::swap_in_place(place, unit))?)
    }
}

/// The first `most` bytes of the `elements` of `values`, whose elements have `width` bytes; none if they are bits.
fn bytes_of<'v>(values: &'v [u8], elements: &Range<u64>, width: usize, most: usize) -> &'v [u8] {
    let place = |element: u64| usize::try_from(element).ok()?.checked_mul(width);
    let bytes = place(elements.start).zip(place(elements.end)).and_then(|(start, end)| values.get(start..end));
    head(bytes.unwrap_or(&[]), most as u64)
}

/// Bytes of the values of `count` elements.
fn byte_len(plan: &Plan<'_, '_>, count: u64) -> Result<usize> {
    plan.options.limits.check_bytes(u64::MAX, values_len(plan.object.descriptor(), count)?)
}

/// Never returned for a selection of this object and a buffer of its length.
fn too_short() -> TensogramError {
    TensogramError::encoding("a selection reaches beyond the values or the output")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_row_are_prefetched_as_far_as_there_are_some() {
        let values: Vec<u8> = (0..40).collect();
        assert_eq!(bytes_of(&values, &(2..5), 4, 100), &values[8..20]);
        assert_eq!(bytes_of(&values, &(2..5), 4, 7), &values[8..15]);
        assert_eq!(bytes_of(&values, &(8..11), 4, 100), [0; 0], "not all of it is there");
        assert_eq!(bytes_of(&values, &(2..5), 0, 100), [0; 0], "bits");
    }
}
