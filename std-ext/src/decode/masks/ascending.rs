//! Masks for windows of values that come in ascending order: each blob is read once for all of them.
//!
//! ```text
//! runs of a mask   ═══   ═════════   ══      ════ …
//! windows            │─a─│
//!                        │────b────│
//!                          │──c──│
//! ```
//!
//! A run is read when a window reaches it. It is kept while a later window may need it: the second run above is read
//! for `b`, and kept for `c`.

use std::collections::VecDeque;
use std::iter;
use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Dtype, MaskKind};
use tgm_core::mask::{BitmapForm, Mask, Runs, fill_runs, restore_into};

use super::{Masks, ReadMask};
use crate::base::error::Result;

/// Runs of set elements that several windows may need, for each mask.
pub(crate) type MaskRuns = [VecDeque<Range<u64>>; MaskKind::ALL.len()];

/// The masks of an object, for windows whose starts ascend.
pub(crate) struct AscendingMasks<'m> {
    dtype: Dtype,
    masks: [Option<AscendingMask<'m>>; MaskKind::ALL.len()],
}

/// One mask, and how far it was read.
struct AscendingMask<'m> {
    mask: &'m ReadMask<'m>,
    bitmap: Mask<'m>,
    /// `None` for a raw bitmap, in which any window is found at once.
    walk: Option<RunWalk<'m>>,
}

/// One walk over a mask's runs.
struct RunWalk<'m> {
    runs: Runs<'m>,
    /// The end of the last run that was read.
    read_to: u64,
    /// The runs that were read and end after the start of the current window.
    at_hand: &'m mut VecDeque<Range<u64>>,
}

impl<'m> AscendingMasks<'m> {
    pub(super) fn new(masks: &'m Masks<'m>, runs: &'m mut MaskRuns) -> Self {
        let walks = masks.iter().zip(runs).map(|(mask, at_hand)| {
            at_hand.clear();
            let bitmap = mask.bitmap(masks.element_count);
            let walk = (mask.form != BitmapForm::Raw).then(|| RunWalk { runs: bitmap.runs(), read_to: 0, at_hand });
            AscendingMask { mask, bitmap, walk }
        });
        let mut ascending = Self { dtype: masks.dtype, masks: [const { None }; MaskKind::ALL.len()] };
        ascending.masks.iter_mut().zip(walks).for_each(|(slot, walk)| *slot = Some(walk));
        ascending
    }

    /// Writes NaN and infinities into the values of `window`. `next` is the start of the next window, which is not
    /// before this one.
    ///
    /// # Errors
    /// The errors of [`tgm_core::mask::restore_into`], as far as the blobs were read: [`Self::finish`] reads the rest.
    pub(crate) fn restore_into(
        &mut self,
        window: &Range<u64>,
        next: Option<u64>,
        order: ByteOrder,
        out: &mut [u8],
    ) -> Result<()> {
        let dtype = self.dtype;
        self.masks.iter_mut().flatten().try_for_each(|AscendingMask { mask, bitmap, walk }| {
            let restored = match walk {
                Some(walk) => walk.restore_into(mask.kind, dtype, window, next, order, out),
                None => restore_into(bitmap, mask.kind, dtype, order, window.start, out),
            };
            restored.map_err(|e| e.shift(mask.offset).into())
        })
    }

    /// Reads the blobs to their ends, so that a defect is reported wherever it is.
    ///
    /// # Errors
    /// The first defect.
    pub(crate) fn finish(self) -> Result<()> {
        for AscendingMask { mask, walk, .. } in self.masks.into_iter().flatten() {
            let Some(walk) = walk else { continue };
            walk.runs.finish().map_err(|e| e.shift(mask.offset))?;
        }
        Ok(())
    }
}

impl RunWalk<'_> {
    fn restore_into(
        &mut self,
        kind: MaskKind,
        dtype: Dtype,
        window: &Range<u64>,
        next: Option<u64>,
        order: ByteOrder,
        out: &mut [u8],
    ) -> tgm_core::Result<()> {
        // What of a run lies in the window, counted from the window's start.
        let part = |run: &Range<u64>| {
            let part = run.start.max(window.start)..run.end.min(window.end);
            (part.start < part.end).then(|| part.start - window.start..part.end - window.start)
        };
        // Starts ascend, so no later window needs these either.
        while self.at_hand.pop_front_if(|run| run.end <= window.start).is_some() {}
        let known = self.at_hand.iter().take_while(|run| run.start < window.end).filter_map(part);
        fill_runs(known, kind, dtype, order, out)?;
        let mut defect = None;
        let further = iter::from_fn(|| {
            while self.read_to < window.end {
                let run = match self.runs.next() {
                    Some(Ok(run)) => run,
                    // The runs have ended, well or badly. No later window is to ask again.
                    end => {
                        defect = end.and_then(Result::err);
                        self.read_to = u64::MAX;
                        return None;
                    }
                };
                self.read_to = run.end;
                #[cfg(test)]
                RUNS_READ.set(RUNS_READ.get() + 1);
                if next.is_some_and(|next| run.end > next) {
                    self.at_hand.push_back(run.clone());
                }
                if let Some(part) = part(&run) {
                    return Some(part);
                }
            }
            None
        });
        fill_runs(further, kind, dtype, order, out)?;
        defect.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
thread_local! {
    /// Runs that walks have read so far, which tests compare with the number of runs.
    pub(crate) static RUNS_READ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}
