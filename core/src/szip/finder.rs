//! Finding intervals one after the other, without reading any interval twice.

use core::num::NonZeroU64;

use super::block::{Blocks, Coded};
use super::params::Params;
use super::start::Start;
use crate::error::Result;

/// How many intervals in a row must lead from a stored offset to the next stored offset, before these are trusted.
const WITNESSES: u64 = 2;

/// Finds where intervals start, for a caller that asks for them in ascending order.
///
/// It remembers the last interval that it found, and reads on from there. If stored offsets prove to be right, it starts
/// closer to the wanted interval, as [`find_rsi_near`](super::find_rsi_near) does:
///
/// ```text
/// back = 2
/// while the interval `back` before the wanted one is after the last one found:
///     start at that interval's stored offset, and read
///     if the first two intervals end where the next stored offsets say, and not on zero blocks: trust this start
///     otherwise double `back`
/// if no stored offset is trusted: read from the last interval found
/// ```
///
/// All calls together read no interval twice, except those that test stored offsets. For an interval before the last one
/// found, it starts at the beginning of the stream.
///
/// ```
/// use tgm_core::szip::{Params, RsiFinder};
///
/// let stream = [0x00, 0x74, 0x01, 0xd0, 0x07, 0x80];
/// let params = Params::new(8, 8, 2, 8).map_err(|kind| kind.at(0))?;
/// let mut finder = RsiFinder::new(&stream, &params);
/// assert_eq!((finder.find(1, |_| None)?, finder.find(2, |_| None)?), (14, 28));
/// assert_eq!(finder.intervals_read(), 2);
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RsiFinder<'a> {
    stream: &'a [u8],
    params: Params,
    /// An interval whose start is known, and the bit where it is.
    known: (u64, u64),
    /// How far before the wanted interval the first stored offset is tried. It grows where they are wrong, and shrinks
    /// where they are right.
    back: u64,
    /// Intervals that were read.
    read: u64,
}

impl<'a> RsiFinder<'a> {
    /// A finder that knows the start of the stream.
    pub const fn new(stream: &'a [u8], params: &Params) -> Self {
        Self { stream, params: *params, known: (0, 0), back: WITNESSES, read: 0 }
    }

    /// The bit at which interval `index` starts. `stored` gives the stored offsets, which may be wrong or absent.
    ///
    /// # Errors
    /// The errors of [`find_rsi`](super::find_rsi), if the intervals before it have to be read.
    pub fn find(&mut self, index: u64, stored: impl Fn(u64) -> Option<u64>) -> Result<u64> {
        if index < self.known.0 {
            self.known = (0, 0);
        }
        let first_try = self.back;
        while self.back < index.saturating_sub(self.known.0) {
            if let Some(position) = self.follow(&stored, index.saturating_sub(self.back), index) {
                if self.back == first_try {
                    self.back = (self.back / 2).max(WITNESSES);
                }
                self.known = (index, position);
                return Ok(position);
            }
            self.back = self.back.saturating_mul(2);
        }
        let (from, position) = self.known;
        let mut blocks = Blocks::new(self.stream, &self.params, position)?;
        for _ in from..index {
            self.read = self.read.saturating_add(1);
            blocks.skip_rsi()?;
        }
        self.known = (index, blocks.position());
        Ok(blocks.position())
    }

    /// Where decoding must start to get to sample `sample`.
    ///
    /// # Errors
    /// The errors of [`Self::find`].
    pub fn find_sample(&mut self, sample: u64, stored: impl Fn(u64) -> Option<u64>) -> Result<Start> {
        let samples = NonZeroU64::from(self.params.samples_per_rsi());
        let bit_offset = self.find(sample / samples, stored)?;
        Ok(Start { bit_offset, skip: sample % samples })
    }

    /// Notes that decoding all samples before `sample` ended at bit `position`.
    ///
    /// If `sample` is the first of its interval, that interval starts there. Otherwise this changes nothing.
    pub fn decoded_to(&mut self, sample: u64, position: u64) {
        let samples = NonZeroU64::from(self.params.samples_per_rsi());
        if sample % samples == 0 && sample / samples >= self.known.0 {
            self.known = (sample / samples, position);
        }
    }

    /// The number of intervals that were read so far, including those that tested stored offsets.
    pub const fn intervals_read(&self) -> u64 {
        self.read
    }

    /// The start of interval `to`, read from the stored offset of interval `from`. `None` if the first two intervals do not
    /// confirm the stored offsets, or if there are fewer between `from` and `to`.
    ///
    /// [`Self::find`] reads on from what it knows if nothing is confirmed. This never does, so it is right for a part of a
    /// stream whose first bit is the start of no known interval.
    pub fn confirm(&mut self, stored: impl Fn(u64) -> Option<u64>, from: u64, to: u64) -> Option<u64> {
        (to.checked_sub(from)? >= WITNESSES).then(|| self.follow(stored, from, to)).flatten()
    }

    /// The start of interval `to`, read from the stored offset of interval `from`. `None` if the first intervals do not
    /// confirm the stored offsets.
    fn follow(&mut self, stored: impl Fn(u64) -> Option<u64>, from: u64, to: u64) -> Option<u64> {
        let mut blocks = Blocks::new(self.stream, &self.params, stored(from)?).ok()?;
        for (seen, index) in (from..to).enumerate() {
            self.read = self.read.saturating_add(1);
            let last = blocks.skip_rsi().ok()?;
            let must_agree = (seen as u64) < WITNESSES;
            let agrees = || stored(index.saturating_add(1)) == Some(blocks.position());
            if must_agree && (matches!(last, Coded::Zeros(_)) || !agrees()) {
                return None;
            }
        }
        Some(blocks.position())
    }
}
