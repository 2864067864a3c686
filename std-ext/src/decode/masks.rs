//! The masks of an object: found, decompressed where they are, applied.

use std::collections::VecDeque;
use std::iter::{self, Peekable};
use std::ops::Range;

use tgm_core::ErrorKind;
use tgm_core::descriptor::{ByteOrder, Dtype, MaskDescriptor, MaskKind, MaskMethod};
use tgm_core::mask::{BitmapForm, Mask, Runs, fill_runs, restore_into};

use crate::base::error::{Result, TensogramError};
use crate::base::limits::at_least;
use crate::base::options::DecodeOptions;
use crate::codec;
use crate::decode::trust::Trusted;
use crate::model::types::DecodedMaskSet;

/// Room for what compressed masks decompress to, one of each kind.
pub(crate) type MaskBuffers = [Vec<u8>; MaskKind::ALL.len()];

/// The masks of an object, none of them compressed any more.
pub(crate) struct Masks<'a> {
    dtype: Dtype,
    element_count: u64,
    masks: [Option<ReadMask<'a>>; MaskKind::ALL.len()],
}

/// One mask.
struct ReadMask<'a> {
    kind: MaskKind,
    form: BitmapForm,
    bits: &'a [u8],
    /// Where the blob starts, in bytes from the start of the message.
    offset: u64,
}

impl<'a> Masks<'a> {
    /// No masks, whatever the object has.
    pub(crate) const fn none(object: Trusted<'_, '_>) -> Self {
        let descriptor = object.descriptor();
        Self {
            dtype: descriptor.dtype(),
            element_count: descriptor.element_count(),
            masks: [const { None }; MaskKind::ALL.len()],
        }
    }

    /// Finds the blobs, and decompresses those that are compressed into `buffers`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] for masks of a bitmask, [`TensogramError::Encoding`] for an unknown method or a blob
    /// that does not decompress.
    pub(crate) fn read(object: Trusted<'_, 'a>, options: &DecodeOptions, buffers: &'a mut MaskBuffers) -> Result<Self> {
        let mut read = Self::none(object);
        let places = read.masks.iter_mut().zip(buffers);
        for ((kind, entry), (slot, buffer)) in object.descriptor().masks().iter().zip(places) {
            *slot = Some(ReadMask::read(object, kind, &entry, options, buffer)?);
        }
        Ok(read)
    }

    /// The masks for values that became those of another dtype.
    pub(crate) fn of_dtype(self, dtype: Dtype) -> Self {
        Self { dtype, ..self }
    }

    /// The masks for windows in ascending order, which together cost one pass over each blob and what they restore; `runs`
    /// is memory to work in.
    pub(crate) fn in_order<'m>(&'m self, runs: &'m mut MaskRuns) -> AscendingMasks<'m> {
        let walks = self.iter().zip(runs).map(|(mask, at_hand)| {
            at_hand.clear();
            let bitmap = Mask::new(mask.form, mask.bits, self.element_count);
            // A window of a raw bitmap is found at once.
            let walk = (mask.form != BitmapForm::Raw).then(|| Walk { runs: bitmap.runs(), read_to: 0, at_hand });
            (mask, bitmap, walk)
        });
        let mut ascending = AscendingMasks { dtype: self.dtype, masks: [const { None }; MaskKind::ALL.len()] };
        ascending.masks.iter_mut().zip(walks).for_each(|(slot, walk)| *slot = Some(walk));
        ascending
    }

    fn iter(&self) -> impl Iterator<Item = &ReadMask<'a>> {
        self.masks.iter().flatten()
    }

    /// Writes NaN and infinities into values that were decoded from element `start` on.
    ///
    /// # Errors
    /// Those of [`tgm_core::mask::restore_into`].
    pub(crate) fn restore_into(&self, start: u64, order: ByteOrder, out: &mut [u8]) -> Result<()> {
        self.iter().try_for_each(|mask| {
            let bitmap = Mask::new(mask.form, mask.bits, self.element_count);
            restore_into(&bitmap, mask.kind, self.dtype, order, start, out).map_err(|e| e.shift(mask.offset).into())
        })
    }

    /// Reads every blob to its end; with `check_dtype`, masks of a type that has nothing to restore and no width are wrong
    /// as well, as they are for whoever restores them.
    ///
    /// # Errors
    /// The first defect.
    pub(crate) fn verify(&self, check_dtype: bool) -> Result<()> {
        self.iter().try_for_each(|mask| {
            if check_dtype && self.dtype == Dtype::Bitmask {
                return Err(ErrorKind::MaskDtype(self.dtype).at(mask.offset).into());
            }
            Mask::new(mask.form, mask.bits, self.element_count).verify().map_err(|e| e.shift(mask.offset).into())
        })
    }

    /// Which elements are masked, to be asked for in ascending order.
    pub(crate) fn coverage(&self) -> Coverage<'_> {
        let bitmaps = self.iter().map(|mask| Mask::new(mask.form, mask.bits, self.element_count));
        Coverage { runs: bitmaps.map(|bitmap| bitmap.runs().peekable()).collect() }
    }

    /// The masks as one truth value for each element.
    ///
    /// # Errors
    /// Defects of the blobs.
    pub(crate) fn to_bools(&self, options: &DecodeOptions) -> Result<DecodedMaskSet> {
        let mut set = DecodedMaskSet::default();
        for mask in self.iter() {
            let values = Some(self.bools(mask, options)?);
            match mask.kind {
                MaskKind::Nan => set.nan = values,
                MaskKind::PosInf => set.pos_inf = values,
                MaskKind::NegInf => set.neg_inf = values,
            }
        }
        Ok(set)
    }

    fn bools(&self, mask: &ReadMask<'_>, options: &DecodeOptions) -> Result<Vec<bool>> {
        let count = options.limits.check_bytes(mask.bits.len() as u64, self.element_count)?;
        let mut bools = Vec::new();
        bools.try_reserve_exact(count).map_err(|_| TensogramError::encoding("cannot allocate a mask"))?;
        bools.resize(count, false);
        for run in Mask::new(mask.form, mask.bits, self.element_count).runs() {
            let run = run.map_err(|e| e.shift(mask.offset))?;
            // Runs lie below `element_count`, which has just been found to fit.
            let (Ok(start), Ok(end)) = (usize::try_from(run.start), usize::try_from(run.end)) else { continue };
            bools.get_mut(start..end).unwrap_or_default().fill(true);
        }
        Ok(bools)
    }
}

/// Runs of set elements that several windows may need, for each mask.
pub(crate) type MaskRuns = [VecDeque<Range<u64>>; MaskKind::ALL.len()];

/// The masks of an object, for windows whose starts ascend.
pub(crate) struct AscendingMasks<'m> {
    dtype: Dtype,
    masks: [Option<(&'m ReadMask<'m>, Mask<'m>, Option<Walk<'m>>)>; MaskKind::ALL.len()],
}

/// One walk over a mask's runs.
struct Walk<'m> {
    runs: Runs<'m>,
    /// All runs that end here or before were read, and none that starts behind.
    read_to: u64,
    /// Of the runs that were read those that end behind the start of the window at hand.
    at_hand: &'m mut VecDeque<Range<u64>>,
}

impl AscendingMasks<'_> {
    /// Writes NaN and infinities into the values of `window`. `next` is where the next window starts, not before this one.
    ///
    /// # Errors
    /// Those of [`tgm_core::mask::restore_into`], as far as the blobs were read: [`Self::finish`] reads the rest.
    pub(crate) fn restore_into(
        &mut self,
        window: &Range<u64>,
        next: Option<u64>,
        order: ByteOrder,
        out: &mut [u8],
    ) -> Result<()> {
        let dtype = self.dtype;
        self.masks.iter_mut().flatten().try_for_each(|(mask, bitmap, walk)| {
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
        for (mask, _, walk) in self.masks.into_iter().flatten() {
            let Some(walk) = walk else { continue };
            walk.runs.finish().map_err(|e| e.shift(mask.offset))?;
        }
        Ok(())
    }
}

impl Walk<'_> {
    fn restore_into(
        &mut self,
        kind: MaskKind,
        dtype: Dtype,
        window: &Range<u64>,
        next: Option<u64>,
        order: ByteOrder,
        out: &mut [u8],
    ) -> tgm_core::Result<()> {
        let part = |run: &Range<u64>| {
            let part = run.start.max(window.start)..run.end.min(window.end);
            (part.start < part.end).then(|| part.start - window.start..part.end - window.start)
        };
        while self.at_hand.pop_front_if(|run| run.end <= window.start).is_some() {}
        let known = self.at_hand.iter().take_while(|run| run.start < window.end).filter_map(part);
        fill_runs(known, kind, dtype, order, out)?;
        let mut defect = None;
        let further = iter::from_fn(|| {
            while self.read_to < window.end {
                let run = match self.runs.next() {
                    Some(Ok(run)) => run,
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
    /// Runs that walks have read so far, for tests to hold against what there is.
    pub(crate) static RUNS_READ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The masked elements of an object, whatever the kind of mask.
pub(crate) struct Coverage<'m> {
    runs: Vec<Peekable<Runs<'m>>>,
}

impl Coverage<'_> {
    /// Whether a mask has `element`, which must not lie before one asked for already. A defective mask ends at its defect.
    pub(crate) fn covers(&mut self, element: u64) -> bool {
        self.runs.iter_mut().any(|runs| {
            while runs.next_if(|run| matches!(run, Ok(run) if run.end <= element)).is_some() {}
            matches!(runs.peek(), Some(Ok(run)) if run.contains(&element))
        })
    }
}

impl<'a> ReadMask<'a> {
    fn read(
        object: Trusted<'_, 'a>,
        kind: MaskKind,
        entry: &MaskDescriptor<'a>,
        options: &DecodeOptions,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Self> {
        let blob = object.mask_blob(entry)?;
        let offset = object.region_offset().saturating_add(entry.offset());
        let (form, bits) = match entry.method().known() {
            None => return Err(TensogramError::encoding(format!("unknown mask method: {}", entry.method()))),
            Some(MaskMethod::None) => (BitmapForm::Raw, blob),
            Some(MaskMethod::Rle) => (BitmapForm::Rle, blob),
            Some(MaskMethod::Roaring) => (BitmapForm::Roaring, blob),
            Some(method) => (BitmapForm::Raw, decompress(object, kind, method, blob, options, buffer)?),
        };
        Ok(Self { kind, form, bits, offset })
    }
}

/// The packed bits of a mask whose method needs a decompressor, in `buffer`.
fn decompress<'b>(
    object: Trusted<'_, '_>,
    kind: MaskKind,
    method: MaskMethod,
    blob: &[u8],
    options: &DecodeOptions,
    buffer: &'b mut Vec<u8>,
) -> Result<&'b [u8]> {
    let decompress = codec::mask_decompressor(method)?;
    let len = object.descriptor().element_count().div_ceil(8);
    let bits = at_least(buffer, options.limits.check_bytes(blob.len() as u64, len)?)?;
    decompress(blob, bits)
        .map_err(|error| TensogramError::encoding(format!("mask {} of method {method}: {error}", kind.name())))?;
    Ok(bits)
}
