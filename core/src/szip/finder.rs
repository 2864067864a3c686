//! Intervals found one after the other, so that nothing is read again for the next one.

use core::num::NonZeroU64;

use super::block::{Blocks, Coded};
use super::params::Params;
use super::start::Start;
use crate::error::Result;

/// How many intervals must lead from stored offset to stored offset before one of those is believed.
const WITNESSES: u64 = 2;

/// Finds where intervals start, for a caller who asks for them in ascending order.
///
/// It remembers the last interval that it found. The way to a later one begins there or, if stored offsets prove to be
/// right, near the later one, as [`find_rsi_near`](super::find_rsi_near) has it. So all calls together read no interval
/// twice, but for those that bear witness to stored offsets; offsets that are wrong everywhere are tried about once for each
/// doubling of the distance. An interval before the last one is found from the start of the stream.
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
    /// How far before an interval the first stored offset is tried. Grows where they are wrong, shrinks where they are right.
    back: u64,
    read: u64,
}

impl<'a> RsiFinder<'a> {
    /// Knows the start of the stream.
    pub const fn new(stream: &'a [u8], params: &Params) -> Self {
        Self { stream, params: *params, known: (0, 0), back: WITNESSES, read: 0 }
    }

    /// The bit at which interval `index` starts. `stored` gives offsets that may be wrong, `None` where there are none.
    ///
    /// # Errors
    /// Those of [`find_rsi`](super::find_rsi), if the intervals before have to be read.
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

    /// The way to sample `sample`, as [`Self::find`] leads to its interval.
    ///
    /// # Errors
    /// Those of [`Self::find`].
    pub fn find_sample(&mut self, sample: u64, stored: impl Fn(u64) -> Option<u64>) -> Result<Start> {
        let samples = NonZeroU64::from(self.params.samples_per_rsi());
        let bit_offset = self.find(sample / samples, stored)?;
        Ok(Start { bit_offset, skip: sample % samples })
    }

    /// Takes it that decoding all samples before `sample` ended at bit `position`: where an interval starts, if `sample` is
    /// its first one. Nothing is learnt otherwise.
    pub fn decoded_to(&mut self, sample: u64, position: u64) {
        let samples = NonZeroU64::from(self.params.samples_per_rsi());
        if sample % samples == 0 && sample / samples >= self.known.0 {
            self.known = (sample / samples, position);
        }
    }

    /// How many intervals were read so far, those that bear witness to stored offsets included.
    pub const fn intervals_read(&self) -> u64 {
        self.read
    }

    /// The start of interval `to` by reading from that of interval `from`, if the first intervals bear witness to the offsets.
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
