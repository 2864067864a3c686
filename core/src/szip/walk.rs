//! Finding where intervals start, by reading.

use core::iter::FusedIterator;
use core::num::NonZeroU64;

use super::block::Blocks;
use super::finder::RsiFinder;
use super::params::Params;
use super::start::Start;
use crate::error::Result;

/// The bit at which interval `index` starts, found by reading all blocks before it: O(bits before it).
///
/// For streams whose `szip_block_offsets` are absent or not trusted.
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

/// The bit at which interval `index` starts, found from nearby `stored` offsets that prove to be right.
///
/// libaec counts some offsets wrong: such an offset points at the last block of the interval before, which follows a run of
/// zero blocks (see [`RsiOffsets`]). Reading tells right from wrong:
///
/// - From a right offset, reading an interval ends at the next true offset. If the next stored offset is wrong, the two
///   differ.
/// - From a wrong offset, reading may by chance end at the next stored offset, if that is wrong too. The interval then ends
///   on a run of zero blocks.
///
/// So an offset is trusted if the two intervals before it each end where the next stored offset says, and not on zero
/// blocks. Otherwise offsets further back are tried. The start of the stream is always right.
///
/// O(bits of two intervals) if the offsets are right, otherwise at most O(bits before the interval). Offsets that were
/// forged, in a way that libaec never produces, may be trusted wrongly. For several intervals in ascending order
/// [`RsiFinder`] costs less.
///
/// # Errors
/// The errors of [`find_rsi`], if the blocks before the interval have to be read.
pub fn find_rsi_near(stream: &[u8], params: &Params, stored: impl Fn(u64) -> Option<u64>, index: u64) -> Result<u64> {
    RsiFinder::new(stream, params).find(index, stored)
}

impl Start {
    /// Where decoding must start to get to sample `first_sample`.
    ///
    /// The interval's start is taken from `rsi_offsets`, or found by reading the stream if that has no offset for it. An
    /// offset is trusted. If it is wrong, the samples are wrong, in most cases without an error: see [`RsiOffsets`].
    ///
    /// # Errors
    /// The errors of [`find_rsi`].
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

/// The bits at which intervals start, found by reading the blocks between them.
///
/// These are the true values of `szip_block_offsets`. libaec's encoder, and so the reference, sometimes counts too small an
/// offset: it leaves out the last block of the interval before, if that block follows a run of zero blocks. This is common
/// in fields that are zero in large parts. Stored offsets are safe to use if they equal these:
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
/// The iterator ends after an error. It does not read the last interval.
#[derive(Clone, Debug)]
pub struct RsiOffsets<'a> {
    /// The walk, at the interval that was yielded last. `None` before the first.
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

    /// Moves to the first interval, or to the next one.
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
