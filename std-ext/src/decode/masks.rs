//! The masks of an object: found, decompressed if need be, and applied to values (PIPELINE §6).
//!
//! ```text
//! region ─ mask_blob ─► blob ─ ReadMask::read ─► bits of one kind ─┬─ restore_into      a window of values
//!                              (decompressed, if                   ├─ in_order          windows in ascending order
//!                               its method needs it)               ├─ coverage          is this element masked?
//!                                                                  └─ to_bools          all elements
//! ```

pub(super) mod ascending;

use std::iter::Peekable;

use tgm_codec::memory::at_least;
use tgm_core::ErrorKind;
use tgm_core::descriptor::{ByteOrder, Dtype, MaskDescriptor, MaskKind, MaskMethod};
use tgm_core::mask::{BitmapForm, Mask, Runs, restore_into};
use tgm_core::object::DataObject;

pub(super) use self::ascending::{AscendingMasks, MaskRuns};
use super::trust::Trusted;
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::base::span::index;
use crate::model::types::DecodedMaskSet;

/// Memory for decompressed masks, one buffer for each kind.
pub(crate) type MaskBuffers = [Vec<u8>; MaskKind::ALL.len()];

/// The masks of an object, all of them decompressed.
pub(crate) struct Masks<'a> {
    dtype: Dtype,
    element_count: u64,
    masks: [Option<ReadMask<'a>>; MaskKind::ALL.len()],
}

/// The masks of an object, with a truth value for each element.
///
/// # Errors
/// [`TensogramError::Encoding`] for masks that cannot be read, and beyond the limits.
pub fn mask_set(object: Trusted<'_, '_>, options: &DecodeOptions) -> Result<DecodedMaskSet> {
    let mut buffers = MaskBuffers::default();
    Masks::read(object, options, &mut buffers)?.to_bools(options)
}

/// Restores the masked ones of all values of an object, which are in `order`.
///
/// # Errors
/// The errors of the masks.
pub(crate) fn restore(
    object: &DataObject<'_>,
    order: ByteOrder,
    options: &DecodeOptions,
    values: &mut [u8],
) -> Result<()> {
    Masks::read(Trusted::new(object, options)?, options, &mut MaskBuffers::default())?.restore_into(0, order, values)
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

    /// Finds the blobs, and decompresses into `buffers` those that are compressed.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for an unknown method, for a blob that does not decompress, and for bits beyond the
    /// limits.
    pub(crate) fn read(object: Trusted<'_, 'a>, options: &DecodeOptions, buffers: &'a mut MaskBuffers) -> Result<Self> {
        let mut read = Self::none(object);
        let places = read.masks.iter_mut().zip(buffers);
        for ((kind, entry), (slot, buffer)) in object.descriptor().masks().iter().zip(places) {
            *slot = Some(ReadMask::read(object, kind, &entry, options, buffer)?);
        }
        Ok(read)
    }

    /// The masks for values that were converted to another dtype.
    pub(crate) fn of_dtype(self, dtype: Dtype) -> Self {
        Self { dtype, ..self }
    }

    /// The masks for windows of values in ascending order. All windows together cost one pass over each blob, and what
    /// they restore. Runs that several windows need are kept in `runs`.
    pub(crate) fn in_order<'m>(&'m self, runs: &'m mut MaskRuns) -> AscendingMasks<'m> {
        AscendingMasks::new(self, runs)
    }

    fn iter(&self) -> impl Iterator<Item = &ReadMask<'a>> {
        self.masks.iter().flatten()
    }

    /// Writes NaN and infinities into values that were decoded from element `start` on.
    ///
    /// # Errors
    /// The errors of [`tgm_core::mask::restore_into`]: a framing error for masks of a bitmask, and defects of the blobs.
    pub(crate) fn restore_into(&self, start: u64, order: ByteOrder, out: &mut [u8]) -> Result<()> {
        self.iter().try_for_each(|mask| {
            let bitmap = mask.bitmap(self.element_count);
            restore_into(&bitmap, mask.kind, self.dtype, order, start, out).map_err(|e| e.shift(mask.offset).into())
        })
    }

    /// Reads every blob to its end. With `check_dtype`, masks of a bitmask are an error, as they are when restored.
    ///
    /// # Errors
    /// The first defect.
    pub(crate) fn verify(&self, check_dtype: bool) -> Result<()> {
        self.iter().try_for_each(|mask| {
            if check_dtype && self.dtype == Dtype::Bitmask {
                return Err(ErrorKind::MaskDtype(self.dtype).at(mask.offset).into());
            }
            mask.bitmap(self.element_count).verify().map_err(|e| e.shift(mask.offset).into())
        })
    }

    /// Which elements are masked, for questions in ascending order.
    pub(crate) fn coverage(&self) -> Coverage<'_> {
        let bitmaps = self.iter().map(|mask| mask.bitmap(self.element_count));
        Coverage { runs: bitmaps.map(|bitmap| bitmap.runs().peekable()).collect() }
    }

    /// The masks as one truth value for each element.
    ///
    /// # Errors
    /// Defects of the blobs; [`TensogramError::Encoding`] beyond the limits, or without memory.
    pub(crate) fn to_bools(&self, options: &DecodeOptions) -> Result<DecodedMaskSet> {
        let mut set = DecodedMaskSet::default();
        for mask in self.iter() {
            if self.dtype == Dtype::Bitmask {
                return Err(ErrorKind::MaskDtype(self.dtype).at(mask.offset).into());
            }
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
        for run in mask.bitmap(self.element_count).runs() {
            let run = run.map_err(|e| e.shift(mask.offset))?;
            // Never returned: the runs of a mask lie below the element count that it was given.
            let beyond = || TensogramError::encoding("a run of a mask ends after the object's elements");
            bools.get_mut(index(run.start)..index(run.end)).ok_or_else(beyond)?.fill(true);
        }
        Ok(bools)
    }
}

/// The masked elements of an object, of all kinds together.
pub(crate) struct Coverage<'m> {
    runs: Vec<Peekable<Runs<'m>>>,
}

impl Coverage<'_> {
    /// Whether a mask covers `element`, which must not lie before the element of an earlier call. A defective mask ends
    /// at its defect.
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
        // The blob lies in the region, which lies in memory.
        let offset = object.region_offset() + entry.offset();
        let (form, bits) = match entry.method().known() {
            None => return Err(TensogramError::encoding(format!("unknown mask method: {}", entry.method()))),
            Some(MaskMethod::None) => (BitmapForm::Raw, blob),
            Some(MaskMethod::Rle) => (BitmapForm::Rle, blob),
            Some(MaskMethod::Roaring) => (BitmapForm::Roaring, blob),
            Some(method) => (BitmapForm::Raw, decompress(object, kind, method, blob, options, buffer)?),
        };
        Ok(Self { kind, form, bits, offset })
    }

    /// The mask as core reads it.
    fn bitmap(&self, element_count: u64) -> Mask<'_> {
        Mask::new(self.form, self.bits, element_count)
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
    let decompress = tgm_codec::mask_decompressor(method)?;
    let len = object.descriptor().element_count().div_ceil(8);
    let bits = at_least(buffer, options.limits.check_bytes(blob.len() as u64, len)?)?;
    decompress(blob, bits)
        .map_err(|error| TensogramError::encoding(format!("mask {} of method {method}: {error}", kind.name())))?;
    Ok(bits)
}
