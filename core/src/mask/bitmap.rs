//! A mask in place in the bytes, and its runs.

use core::iter::FusedIterator;
use core::ops::Range;

use super::piece::{Piece, Word};
use super::raw::Raw;
use super::rle::Rle;
use super::roaring::Roaring;
use crate::error::{Error, ErrorKind, Result};

/// How a bitmap is written. Only the methods that need no general-purpose decompressor are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitmapForm {
    /// One bit for each element, most significant first, method `none`.
    Raw,
    /// Alternating runs, method `rle`.
    Rle,
    /// Roaring's portable format, method `roaring`.
    Roaring,
}

/// A bitmap over the elements of a tensor, borrowed from the bytes.
///
/// Making one checks nothing. The methods that read it report what is wrong.
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

    /// The form in which the bitmap is written.
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

    /// The set elements as ranges. They ascend, end at [`Mask::count`] at most, are not empty, and do not touch.
    ///
    /// Reading to the end costs O(bytes of the blob). If the blob has a defect, the last item is an error. Its offset
    /// counts from the blob's start:
    ///
    /// - raw: [`ErrorKind::MaskLength`] if the blob is not ⌈count / 8⌉ bytes long. Bits after the last element are ignored.
    /// - rle: [`ErrorKind::RleStart`], [`ErrorKind::RleRun`]; [`ErrorKind::MaskLength`] if the sum of the runs is not the
    ///   count, or if the blob is empty and the count is not 0, or the other way round.
    /// - roaring: [`ErrorKind::RoaringCookie`], [`ErrorKind::RoaringContainer`], [`ErrorKind::Truncated`]. Stored offsets
    ///   and bytes after the last container are ignored.
    ///
    /// ```
    /// use tgm_core::mask::{BitmapForm, Mask};
    ///
    /// let mask = Mask::new(BitmapForm::Raw, &[0b0111_0000, 0b1000_0000], 9);
    /// assert!(mask.runs().eq([Ok(1..4), Ok(8..9)]));
    /// ```
    pub fn runs(&self) -> Runs<'a> {
        Runs { source: Source::new(self), word: Word::default(), pending: None }
    }

    /// Checks the whole blob. O(bytes of the blob).
    ///
    /// # Errors
    /// The blob's defect, as listed at [`Mask::runs`].
    pub fn verify(&self) -> Result<()> {
        Source::new(self).try_for_each(|piece| piece.map(|_| ()))
    }

    /// The number of set elements. O(bytes of the blob).
    ///
    /// # Errors
    /// The blob's defect, as listed at [`Mask::runs`].
    pub fn count_set(&self) -> Result<u64> {
        // Cannot overflow: pieces do not overlap, so their sum is at most `count`.
        Source::new(self).try_fold(0_u64, |sum, piece| piece.map(|piece| sum.wrapping_add(len(&piece))))
    }

    /// Writes elements `start..start + count` to `out` as bits, most significant first. Pad bits are zero.
    ///
    /// Only the window of a raw bitmap is read, and the whole blob of other forms. O(bytes read + `out.len()`).
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if `out` is not ⌈count / 8⌉ bytes long; [`ErrorKind::RangeOutOfBounds`] if the window
    /// reaches beyond the mask; the blob's defect, as listed at [`Mask::runs`]. `out` is then partly written.
    pub fn bits_into(&self, start: u64, count: u64, out: &mut [u8]) -> Result<()> {
        if u64::try_from(out.len()) != Ok(count.div_ceil(8)) {
            return Err(ErrorKind::OutputLength.at(0));
        }
        out.fill(0);
        self.within(start, count)?.try_for_each(|piece| {
            match piece? {
                Piece::Run(run) => set_bits(out, &run),
                Piece::Word(mut word) => {
                    while let Some(run) = word.next_run() {
                        set_bits(out, &run);
                    }
                }
            }
            Ok(())
        })
    }

    /// What of each piece lies in the window of `count` elements from `start` on, relative to `start`.
    pub(super) fn within(&self, start: u64, count: u64) -> Result<impl Iterator<Item = Result<Piece>> + use<'a>> {
        let end = start.checked_add(count).filter(|&end| end <= self.count);
        let end = end.ok_or(ErrorKind::RangeOutOfBounds.at(0))?;
        let (mask, first) = self.around(start, end)?;
        let window = start..end;
        Ok(Source::new(&mask).filter_map(move |piece| match piece {
            Ok(piece) => piece.moved(first).within(&window).map(Ok),
            Err(error) => Some(Err(error)),
        }))
    }

    /// A smaller mask that covers the elements `start..end`, and its first element.
    ///
    /// A raw bitmap is cut to the bytes that hold these elements. Other forms must be read from their start, so they are
    /// returned unchanged.
    pub(super) fn around(&self, start: u64, end: u64) -> Result<(Self, u64)> {
        if self.form != BitmapForm::Raw {
            return Ok((*self, 0));
        }
        Raw::new(self.blob, self.count)?;
        let range = usize::try_from(start / 8).ok().zip(usize::try_from(end.div_ceil(8)).ok());
        let blob = range.and_then(|(from, to)| self.blob.get(from..to)).unwrap_or_default();
        let first = start & !7;
        // An empty window may begin after the last byte.
        let count = end.saturating_sub(first).min((blob.len() as u64).saturating_mul(8));
        Ok((Self { blob, count, ..*self }, first))
    }
}

/// The number of set elements of a piece. The end of a run is not less than its start.
fn len(piece: &Piece) -> u64 {
    match piece {
        Piece::Run(run) => run.end.wrapping_sub(run.start),
        Piece::Word(word) => word.bits.count_ones().into(),
    }
}

/// Sets the bits of a run, most significant first. Ignores positions beyond `out`.
fn set_bits(out: &mut [u8], run: &Range<u64>) {
    let (Ok(first), Ok(last)) = (usize::try_from(run.start / 8), usize::try_from(run.end / 8)) else { return };
    // Bits in the first byte from the run's start on, and bits in the last byte before the run's end.
    let (from_start, before_end) = (0xff_u8 >> (run.start % 8), !(0xff_u8 >> (run.end % 8)));
    if first == last {
        set_in(out, first, from_start & before_end);
        return;
    }
    set_in(out, first, from_start);
    out.get_mut(first.saturating_add(1)..last).unwrap_or_default().fill(0xff);
    set_in(out, last, before_end);
}

/// Sets bits in one byte, if that byte exists.
fn set_in(out: &mut [u8], index: usize, bits: u8) {
    if let Some(byte) = out.get_mut(index) {
        *byte |= bits;
    }
}

/// The runs of set elements of a [`Mask`]. It ends after an error.
#[derive(Clone, Debug)]
pub struct Runs<'a> {
    source: Source<'a>,
    /// The runs of a word that were not returned yet.
    word: Word,
    /// The run that was read last. The next one may continue it.
    pending: Option<Range<u64>>,
}

impl Runs<'_> {
    /// Checks the rest of the blob. O(bytes of the rest).
    ///
    /// # Errors
    /// The blob's defect, as listed at [`Mask::runs`], unless it was returned already.
    pub fn finish(mut self) -> Result<()> {
        self.source.try_for_each(|piece| piece.map(|_| ()))
    }
}

impl Iterator for Runs<'_> {
    type Item = Result<Range<u64>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let run = match self.word.next_run() {
                Some(run) => Some(run),
                None => match self.source.next() {
                    Some(Ok(Piece::Word(word))) => {
                        self.word = word;
                        continue;
                    }
                    Some(Ok(Piece::Run(run))) => Some(run),
                    Some(Err(error)) => {
                        self.pending = None;
                        return Some(Err(error));
                    }
                    None => None,
                },
            };
            match (run, self.pending.take()) {
                (Some(run), Some(pending)) if run.start == pending.end => self.pending = Some(pending.start..run.end),
                (Some(run), pending) => {
                    self.pending = Some(run);
                    if pending.is_some() {
                        return pending.map(Ok);
                    }
                }
                (None, pending) => return pending.map(Ok),
            }
        }
    }
}

impl FusedIterator for Runs<'_> {}

/// The set elements as the form's reader finds them, in ascending pieces. It ends after an error.
#[derive(Clone, Debug)]
enum Source<'a> {
    Raw(Raw<'a>),
    Rle(Rle<'a>),
    Roaring(Roaring<'a>),
    /// The beginning of the blob is wrong. The error was not returned yet.
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
    type Item = Result<Piece>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let step = match self {
            Self::Raw(raw) => Ok(raw.step().map(Piece::Word)),
            Self::Rle(rle) => rle.step().map(|run| run.map(Piece::Run)),
            Self::Roaring(roaring) => roaring.step(),
            Self::Defect(error) => Err(*error),
            Self::End => Ok(None),
        };
        let piece = step.transpose();
        if !matches!(piece, Some(Ok(_))) {
            *self = Self::End;
        }
        piece
    }
}
