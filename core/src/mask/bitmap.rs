//! A mask as it lies in the bytes, and its runs.

use core::iter::FusedIterator;
use core::ops::Range;

use super::raw::Raw;
use super::rle::Rle;
use super::roaring::Roaring;
use crate::error::{Error, ErrorKind, Result};

/// How a bitmap is written, of the ways that need no general-purpose decompressor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitmapForm {
    /// One bit an element, most significant first, method `none`.
    Raw,
    /// Alternating runs, method `rle`.
    Rle,
    /// Roaring's portable format, method `roaring`.
    Roaring,
}

/// A bitmap over the elements of a tensor, as it lies in the bytes.
///
/// Nothing is checked when it is made: defects are reported by what reads it.
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    form: BitmapForm,
    blob: &'a [u8],
    count: u64,
}

impl<'a> Mask<'a> {
    /// The bitmap over `count` elements that `blob` holds in `form`.
    pub const fn new(form: BitmapForm, blob: &'a [u8], count: u64) -> Self {
        Self { form, blob, count }
    }

    /// How the bitmap is written.
    pub const fn form(&self) -> BitmapForm {
        self.form
    }

    /// The bytes.
    pub const fn blob(&self) -> &'a [u8] {
        self.blob
    }

    /// The number of elements, set or not.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The set elements as ranges: ascending, below [`Mask::count`], not empty, and with unset elements between them.
    ///
    /// Reading to the end costs O(bytes of the blob) and reports every defect, as the last item. Errors count bytes from
    /// the blob's start:
    ///
    /// - raw: [`ErrorKind::MaskLength`] if the blob is not ⌈count / 8⌉ bytes long; bits beyond are ignored;
    /// - rle: [`ErrorKind::RleStart`], [`ErrorKind::RleRun`], and [`ErrorKind::MaskLength`] unless the runs' sum is the
    ///   count and the blob is empty exactly if that is 0;
    /// - roaring: [`ErrorKind::RoaringCookie`], [`ErrorKind::RoaringContainer`], [`ErrorKind::Truncated`]; bytes after
    ///   the last container are ignored, and so are stored offsets.
    ///
    /// ```
    /// use tgm_core::mask::{BitmapForm, Mask};
    ///
    /// let mask = Mask::new(BitmapForm::Raw, &[0b0111_0000, 0b1000_0000], 9);
    /// assert!(mask.runs().eq([Ok(1..4), Ok(8..9)]));
    /// ```
    pub fn runs(&self) -> Runs<'a> {
        Runs { source: Source::new(self), pending: None }
    }

    /// Reads the whole blob. O(bytes of the blob).
    ///
    /// # Errors
    /// The defect, as listed at [`Mask::runs`].
    pub fn verify(&self) -> Result<()> {
        Source::new(self).try_for_each(|run| run.map(|_| ()))
    }

    /// The number of set elements. O(bytes of the blob).
    ///
    /// # Errors
    /// A defect of the blob, as listed at [`Mask::runs`].
    pub fn count_set(&self) -> Result<u64> {
        // Runs are disjoint, so that their sum is not above `count`.
        Source::new(self).try_fold(0_u64, |sum, run| run.map(|run| sum.wrapping_add(len(&run))))
    }

    /// Writes elements `start..start + count` as bits, most significant first; pad bits become zero.
    ///
    /// Of a raw bitmap only the window is read, of the others the whole blob. O(bytes read + `out.len()`).
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `out` is not ⌈count / 8⌉ bytes long; [`ErrorKind::RangeOutOfBounds`] if the window
    /// reaches beyond the mask; a defect of the blob, as listed at [`Mask::runs`], with `out` partly written.
    pub fn bits_into(&self, start: u64, count: u64, out: &mut [u8]) -> Result<()> {
        if u64::try_from(out.len()) != Ok(count.div_ceil(8)) {
            return Err(ErrorKind::OutputLength.at(0));
        }
        out.fill(0);
        self.within(start, count)?.try_for_each(|run| run.map(|run| set_bits(out, &run)))
    }

    /// Each run's part in the window of `count` elements from `start`, relative to `start`.
    pub(super) fn within(&self, start: u64, count: u64) -> Result<impl Iterator<Item = Result<Range<u64>>> + use<'a>> {
        let end = start.checked_add(count).filter(|&end| end <= self.count);
        let end = end.ok_or(ErrorKind::RangeOutOfBounds.at(0))?;
        let (mask, first) = self.around(start, end)?;
        Ok(mask.runs().filter_map(move |run| match run {
            Ok(run) => {
                let (from, to) = (run.start.saturating_add(first).max(start), run.end.saturating_add(first).min(end));
                (from < to).then(|| Ok(from.wrapping_sub(start)..to.wrapping_sub(start)))
            }
            Err(error) => Some(Err(error)),
        }))
    }

    /// A mask that has all elements of `start..end`, which the mask has, and the element with which it begins: of a raw
    /// bitmap the bytes that hold them, of others, where nothing is found without what stands before it, the whole.
    pub(super) fn around(&self, start: u64, end: u64) -> Result<(Self, u64)> {
        if self.form != BitmapForm::Raw {
            return Ok((*self, 0));
        }
        Raw::new(self.blob, self.count)?;
        let range = usize::try_from(start / 8).ok().zip(usize::try_from(end.div_ceil(8)).ok());
        let blob = range.and_then(|(from, to)| self.blob.get(from..to)).unwrap_or_default();
        let first = start & !7;
        // An empty window may begin behind all bytes.
        let count = end.saturating_sub(first).min((blob.len() as u64).saturating_mul(8));
        Ok((Self { blob, count, ..*self }, first))
    }
}

/// The number of elements in a run, whose end is not below its start.
const fn len(run: &Range<u64>) -> u64 {
    run.end.wrapping_sub(run.start)
}

/// Sets the bits of a run, most significant first; positions beyond `out` are left out.
fn set_bits(out: &mut [u8], run: &Range<u64>) {
    let (Ok(first), Ok(last)) = (usize::try_from(run.start / 8), usize::try_from(run.end / 8)) else { return };
    // Bits of the first byte from the run's start on, and of the last byte before the run's end.
    let (from_start, before_end) = (0xff_u8 >> (run.start % 8), !(0xff_u8 >> (run.end % 8)));
    if first == last {
        set_in(out, first, from_start & before_end);
        return;
    }
    set_in(out, first, from_start);
    out.get_mut(first.saturating_add(1)..last).unwrap_or_default().fill(0xff);
    set_in(out, last, before_end);
}

/// Sets bits of one byte, if it is there.
fn set_in(out: &mut [u8], index: usize, bits: u8) {
    if let Some(byte) = out.get_mut(index) {
        *byte |= bits;
    }
}

/// Iterator over the runs of set elements, made by [`Mask::runs`]. After an error it is at its end.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    source: Source<'a>,
    /// The run read last, which the next may continue.
    pending: Option<Range<u64>>,
}

impl Runs<'_> {
    /// Reads the rest of the blob, for the defects that it may have. O(bytes of the rest).
    ///
    /// # Errors
    /// The defect, as listed at [`Mask::runs`], unless it was yielded already.
    pub fn finish(mut self) -> Result<()> {
        self.source.try_for_each(|run| run.map(|_| ()))
    }
}

impl Iterator for Runs<'_> {
    type Item = Result<Range<u64>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match (self.source.next(), self.pending.take()) {
                (Some(Ok(run)), Some(pending)) if run.start == pending.end => {
                    self.pending = Some(pending.start..run.end);
                }
                (Some(Ok(run)), pending) => {
                    self.pending = Some(run);
                    if pending.is_some() {
                        return pending.map(Ok);
                    }
                }
                (Some(Err(error)), _) => return Some(Err(error)),
                (None, pending) => return pending.map(Ok),
            }
        }
    }
}

impl FusedIterator for Runs<'_> {}

/// Runs as a form's reader finds them: one may end where the next begins. Fused, and at its end after an error.
#[derive(Clone, Debug)]
enum Source<'a> {
    Raw(Raw<'a>),
    Rle(Rle<'a>),
    Roaring(Roaring<'a>),
    /// The blob is wrong from its first bytes on.
    Defect(Error),
    End,
}

impl<'a> Source<'a> {
    fn new(mask: &Mask<'a>) -> Self {
        let source = match mask.form {
            BitmapForm::Raw => Raw::new(mask.blob, mask.count).map(Self::Raw),
            BitmapForm::Rle => Rle::new(mask.blob, mask.count).map(Self::Rle),
            BitmapForm::Roaring => Roaring::new(mask.blob, mask.count).map(Self::Roaring),
        };
        source.unwrap_or_else(Self::Defect)
    }
}

impl Iterator for Source<'_> {
    type Item = Result<Range<u64>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let step = match self {
            Self::Raw(raw) => Ok(raw.step()),
            Self::Rle(rle) => rle.step(),
            Self::Roaring(roaring) => roaring.step(),
            Self::Defect(error) => Err(*error),
            Self::End => Ok(None),
        };
        let run = step.transpose();
        if !matches!(run, Some(Ok(_))) {
            *self = Self::End;
        }
        run
    }
}
