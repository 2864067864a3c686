//! Where intervals start.

use core::iter::FusedIterator;
use core::num::NonZeroU64;

use super::block::Blocks;
use super::finder::RsiFinder;
use super::params::Params;
use super::start::Start;
use crate::error::Result;

/// The bit at which interval `index` starts, found by reading all blocks before it.
///
/// O(bits before it), nothing is stored: the way to an interval when `szip_block_offsets` is absent, or not to be trusted.
///
/// # Errors
/// [`ErrorKind::Truncated`](crate::error::ErrorKind::Truncated) at the stream's end,
/// [`ErrorKind::SzipStream`](crate::error::ErrorKind::SzipStream) at the first block with an invalid code.
pub fn find_rsi(stream: &[u8], params: &Params, index: u64) -> Result<u64> {
    let mut blocks = Blocks::new(stream, params, 0)?;
    for _ in 0..index {
        blocks.skip_rsi()?;
    }
    Ok(blocks.position())
}

/// The bit at which interval `index` starts, by way of the `stored` offsets that are near it and prove to be right.
///
/// An offset that libaec counted wrong points at the last block of the interval before, which follows a run of zero blocks
/// (see [`RsiOffsets`]). It shows when the interval before is read from an offset that is right: that does not end there. If both
/// are wrong it may end there all the same, but then on a run of zero blocks. So an offset is believed if the two intervals
/// before it each end where the next one is said to begin, and not on zero blocks; if they do not, others further
/// back are tried, and the blocks from there on read. The start of the stream needs no witness.
///
/// O(bits of two intervals) where the offsets are right, O(bits before the interval) at worst. Offsets that somebody made
/// up, in a way that libaec does not, may be believed, as any other byte of a message may be. For several intervals in
/// ascending order [`RsiFinder`] costs less.
///
/// # Errors
/// Those of [`find_rsi`], if it comes to that.
pub fn find_rsi_near(stream: &[u8], params: &Params, stored: impl Fn(u64) -> Option<u64>, index: u64) -> Result<u64> {
    RsiFinder::new(stream, params).find(index, stored)
}

impl Start {
    /// The way to sample `first_sample`: by the intervals' offsets or, if these do not reach it, by reading the stream.
    ///
    /// An offset is taken as it is. If it is wrong, so are the samples, mostly without an error: see [`RsiOffsets`].
    ///
    /// # Errors
    /// Those of [`find_rsi`].
    pub fn at_sample(
        stream: &[u8],
        params: &Params,
        rsi_offsets: impl IntoIterator<Item = u64>,
        first_sample: u64,
    ) -> Result<Self> {
        let samples = NonZeroU64::from(params.samples_per_rsi());
        let (index, skip) = (first_sample / samples, first_sample % samples);
        let stored = usize::try_from(index).ok().and_then(|index| rsi_offsets.into_iter().nth(index));
        let bit_offset = match stored {
            Some(offset) => offset,
            None => find_rsi(stream, params, index)?,
        };
        Ok(Self { bit_offset, skip })
    }
}

/// The bits at which the intervals of `samples` samples start, found by reading the blocks between them.
///
/// These are the true values of `szip_block_offsets`. Those that libaec's encoder counts, and so the reference, are now and
/// then too small: by the last block of the interval before, if that block follows a run of zero blocks, as is common in
/// fields that are zero in large parts. A reader who was given offsets can only be sure of a range if they are the same:
///
/// ```
/// use tgm_core::szip::{Params, RsiOffsets};
///
/// let stream = [0x00, 0x74, 0x01, 0xd0, 0x07, 0x80];
/// let params = Params::new(8, 8, 2, 8).map_err(|kind| kind.at(0))?;
/// assert!(RsiOffsets::new(&stream, &params, 40).eq([0, 14, 28].map(Ok)));
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
///
/// Ends after an error. The last interval itself is not read.
#[derive(Clone, Debug)]
pub struct RsiOffsets<'a> {
    /// At the interval that was yielded last, `None` before the first.
    blocks: Option<Blocks<'a>>,
    stream: &'a [u8],
    params: Params,
    left: u64,
}

impl<'a> RsiOffsets<'a> {
    /// The offsets of a stream that holds `samples` samples.
    pub fn new(stream: &'a [u8], params: &Params, samples: u64) -> Self {
        Self { blocks: None, stream, params: *params, left: params.rsi_count(samples) }
    }

    /// Moves on to the next interval, or to the first one.
    fn step(&mut self) -> Result<u64> {
        let blocks = match self.blocks.take() {
            None => Blocks::new(self.stream, &self.params, 0)?,
            Some(mut blocks) => {
                blocks.skip_rsi()?;
                blocks
            }
        };
        Ok(self.blocks.insert(blocks).position())
    }
}

impl Iterator for RsiOffsets<'_> {
    type Item = Result<u64>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let offset = self.step();
        if offset.is_err() {
            self.left = 0;
        }
        Some(offset)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::from(self.left > 0), usize::try_from(self.left).ok())
    }
}

impl FusedIterator for RsiOffsets<'_> {}
