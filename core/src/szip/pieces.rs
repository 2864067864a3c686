//! Streams that come in pieces.
//!
//! Nothing in a stream says how long a block is, so a block is decoded when all of it is there: in the piece or, if pieces
//! cut it, in a memory where its bytes are gathered. Coded blocks are not longer than the plain samples and an ID, because all
//! encoders turn to uncompressed blocks before that. Damaged streams hold longer ones: unary codes of any length.

use core::fmt;

use super::block::Blocks;
use super::params::Params;
use super::samples::{Decoded, Samples};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that are gathered for each sample of a block: one more than the widest sample has.
const BYTES_PER_SAMPLE: usize = 5;

/// Decodes a stream that comes in pieces of any size: samples as soon as their block has come, in fixed memory.
///
/// `B` is the largest [block](Params::block_size) there may be, in samples: 64 unless [`super::flags::NOT_ENFORCE`] is set.
/// The decoder takes 9 · B bytes and about 80 more: a block of samples that were not asked for yet, and the bytes of a block
/// that has not come whole.
///
/// These are 5 · B bytes, more than any encoder makes of B samples. A block that is coded in more, which [`super::decode_into`]
/// may understand, is refused: [`ErrorKind::SzipBlockMemory`]. Apart from that, samples and errors are the same, wherever
/// the pieces end.
///
/// ```
/// use tgm_core::szip::{Params, PieceDecoder};
///
/// let params = Params::new(8, 8, 2, 8).map_err(|kind| kind.at(0))?;
/// let mut decoder = PieceDecoder::<8>::new(&params).map_err(|kind| kind.at(0))?;
/// let (mut samples, mut count) = ([0; 8], 0);
/// for mut piece in [0xf9_u8, 0x1f, 0x92, 0xd2, 0x30, 0xff, 0xff, 0xf0, 0x00].chunks(2) {
///     count += decoder.decode_with(&mut piece, &mut samples[count..], |sample| sample)?;
/// }
/// assert_eq!((count, samples), (8, [200, 3, 150, 77, 9, 255, 0, 128]));
/// # Ok::<(), tgm_core::error::Error>(())
/// ```
///
/// Each piece costs the decoding of its blocks, and of one more at most.
#[derive(Clone)]
pub struct PieceDecoder<const B: usize> {
    next: Next,
    /// The bytes of the next block, as far as they came, from that on in which it starts.
    gathered: [[u8; BYTES_PER_SAMPLE]; B],
    gathered_len: usize,
    /// The last block; what was not asked for yet is at its end.
    block: [u32; B],
    block_left: usize,
    /// What was not asked for of a run of blocks of one sample.
    run: u32,
    run_left: u32,
    failure: Option<Error>,
}

impl<const B: usize> PieceDecoder<B> {
    /// A decoder at the start of a stream.
    ///
    /// # Errors
    /// [`ErrorKind::SzipBlockMemory`] if blocks have more than `B` samples.
    pub const fn new(params: &Params) -> Result<Self, ErrorKind> {
        if params.block_size() as usize > B {
            return Err(ErrorKind::SzipBlockMemory);
        }
        Ok(Self {
            next: Next { params: *params, start: 0, phase: 0, index: 0, before: 0 },
            gathered: [[0; BYTES_PER_SAMPLE]; B],
            gathered_len: 0,
            block: [0; B],
            block_left: 0,
            run: 0,
            run_left: 0,
            failure: None,
        })
    }

    /// Writes the next samples to the front of `out`, each as `store` makes it, and takes their bytes from the front of `piece`;
    /// how many samples that were. 0 says that the piece was used up, unless `out` is empty.
    ///
    /// Call it until it returns 0, then with the next piece. Signed samples reach `store` sign-extended. A byte that the
    /// next block begins in stays in `piece`, and is asked for again. O(samples + bytes), no allocation.
    ///
    /// # Errors
    /// When the samples before it have been handed out, and from then on: [`ErrorKind::SzipStream`] at the byte where the block
    /// starts whose code no sample has, [`ErrorKind::SzipBlockMemory`] where one starts that the memory does not hold.
    pub fn decode_with<T: Copy>(
        &mut self,
        piece: &mut &[u8],
        out: &mut [T],
        store: impl Fn(u32) -> T,
    ) -> Result<usize> {
        let bias = self.next.params.bias();
        let store = |sample: u32| store(sample.wrapping_sub(bias));
        let total = out.len();
        let mut slots = out;
        loop {
            slots = self.hand_out(slots, store);
            let count = total.wrapping_sub(slots.len());
            match self.failure {
                _ if slots.is_empty() => return Ok(count),
                Some(error) if count == 0 => return Err(error),
                None if !piece.is_empty() => self.next_block(piece),
                _ => return Ok(count),
            }
        }
    }

    /// How many bytes of the stream have been taken.
    pub const fn position(&self) -> u64 {
        self.next.start.saturating_add(self.gathered_len as u64)
    }

    /// What is wrong with the stream, whether or not it was told.
    #[cfg(feature = "push")]
    pub(crate) const fn failure(&self) -> Option<Error> {
        self.failure
    }

    /// Stores what was decoded before; the slots that are left.
    #[inline]
    fn hand_out<'o, T: Copy>(&mut self, slots: &'o mut [T], store: impl Fn(u32) -> T) -> &'o mut [T] {
        let size = self.next.params.block_size() as usize;
        let samples = self.block.get(size.wrapping_sub(self.block_left)..size).unwrap_or_default();
        let (filled, slots) = split_at(slots, samples.len());
        for (slot, sample) in filled.iter_mut().zip(samples) {
            *slot = store(*sample);
        }
        self.block_left = self.block_left.wrapping_sub(filled.len());
        let run_left = usize::try_from(self.run_left).unwrap_or(usize::MAX);
        let (filled, slots) = split_at(slots, run_left);
        filled.fill(store(self.run));
        self.run_left = self.run_left.saturating_sub(u32::try_from(filled.len()).unwrap_or(u32::MAX));
        slots
    }

    /// Decodes a block, gathers the bytes of one, or fails. Nothing is left of the block before.
    #[inline]
    fn next_block(&mut self, piece: &mut &[u8]) {
        if self.gathered_len == 0 {
            // What is gathered is all that is looked at here, too, so that it does not matter where pieces end.
            let ahead = piece.get(..B.saturating_mul(BYTES_PER_SAMPLE)).unwrap_or(piece);
            if let Ok((decoded, used)) = self.next.decode(ahead, &mut self.block) {
                self.keep(decoded);
                *piece = piece.get(used..).unwrap_or_default();
                return;
            }
        }
        self.gather(piece);
    }

    /// Decodes a block that the piece does not hold alone.
    #[inline(never)]
    fn gather(&mut self, piece: &mut &[u8]) {
        let gathered = self.gathered.as_flattened_mut();
        let free = gathered.get_mut(self.gathered_len..).unwrap_or_default();
        let count = free.len().min(piece.len());
        for (slot, byte) in free.iter_mut().zip(piece.iter()) {
            *slot = *byte;
        }
        let len = self.gathered_len.saturating_add(count);
        match self.next.decode(gathered.get(..len).unwrap_or_default(), &mut self.block) {
            Ok((decoded, used)) => {
                self.keep(decoded);
                // It was not whole before, so that all bytes that were gathered then have been used.
                *piece = piece.get(used.saturating_sub(self.gathered_len)..).unwrap_or_default();
                self.gathered_len = 0;
            }
            Err(error) if error.kind() != ErrorKind::Truncated => self.failure = Some(error),
            Err(_) if count < piece.len() => {
                self.failure = Some(ErrorKind::SzipBlockMemory.at(self.next.start));
            }
            Err(_) => {
                self.gathered_len = len;
                *piece = &[];
            }
        }
    }

    #[inline]
    const fn keep(&mut self, decoded: Decoded) {
        let size = self.next.params.block_size();
        match decoded {
            Decoded::Block => self.block_left = size as usize,
            Decoded::Run { sample, blocks } => {
                // 4096 · 256 at most.
                (self.run, self.run_left) = (sample, blocks.wrapping_mul(size));
            }
        }
    }
}

impl<const B: usize> fmt::Debug for PieceDecoder<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PieceDecoder")
            .field("block_memory", &B)
            .field("params", &self.next.params)
            .field("position", &self.position())
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}

/// The block that comes next.
#[derive(Clone, Copy)]
struct Next {
    params: Params,
    /// The byte of the stream in which it starts.
    start: u64,
    /// Bits of that byte before it.
    phase: u64,
    /// Its place in the interval.
    index: u32,
    /// The sample before it.
    before: u32,
}

impl Next {
    /// Decodes the block that starts in the first one of `bytes`, and goes on to the next one; how many bytes were used up.
    ///
    /// # Errors
    /// Those of [`Blocks::next`], with nothing changed: [`ErrorKind::Truncated`] says that the block may be longer.
    #[inline]
    fn decode(&mut self, bytes: &[u8], block: &mut [u32]) -> Result<(Decoded, usize)> {
        let block = block.get_mut(..self.params.block_size() as usize).unwrap_or_default();
        let blocks = Blocks::resume(bytes, &self.params, self.phase, self.index)?;
        let mut samples = Samples::new(blocks, &self.params, self.before);
        let decoded = samples.next(block).map_err(|error| error.shift(self.start))?;
        let end = samples.position();
        (self.phase, self.index, self.before) = (end % 8, samples.index(), samples.before());
        self.start = self.start.saturating_add(end / 8);
        Ok((decoded, usize::try_from(end / 8).unwrap_or(usize::MAX)))
    }
}

/// Splits `count` items off the front, or all that there are.
#[inline]
fn split_at<T>(items: &mut [T], count: usize) -> (&mut [T], &mut [T]) {
    let count = count.min(items.len());
    items.split_at_mut_checked(count).unwrap_or_default()
}
