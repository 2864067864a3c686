//! Decoding streams that come in pieces.
//!
//! A block does not say how long it is, so it is decoded only when all its bytes have come. If one piece has them all, the
//! block is decoded from there. If pieces cut the block, its bytes are gathered in memory first.
//!
//! That memory is bounded: an encoder writes a block uncompressed if no code is shorter, so a block is never longer than
//! its plain samples and an ID. Only damaged streams have longer blocks, with unary codes of any length.

use core::fmt;

use super::block::Blocks;
use super::params::Params;
use super::samples::{Decoded, Samples};
use crate::error::{Error, ErrorKind, Result};

/// Bytes of memory for each sample of a block: one more than the widest sample has.
const BYTES_PER_SAMPLE: usize = 5;

/// Decodes a stream that comes in pieces of any size, in fixed memory. Samples come out as soon as their block is complete.
///
/// `B` is the largest [block](Params::block_size) to expect, in samples: 64, unless [`super::flags::NOT_ENFORCE`] is set.
/// The decoder takes 9 · B + 80 bytes: 4 · B for a block of decoded samples, and 5 · B for the bytes of an incomplete block.
///
/// No encoder makes more than 5 · B bytes of B samples. A damaged stream can have a longer block, and
/// [`super::decode_into`] may decode it; here it is refused with [`ErrorKind::SzipBlockMemory`]. Otherwise samples and
/// errors are the same as there, for pieces of any size.
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
/// Each piece costs the decoding of its blocks, and of at most one more.
#[derive(Clone)]
pub struct PieceDecoder<const B: usize> {
    next: Next,
    /// The bytes of the next block that have come, beginning with the byte in which it starts.
    gathered: [[u8; BYTES_PER_SAMPLE]; B],
    gathered_len: usize,
    /// The last decoded block. Its last `block_left` samples were not handed out yet.
    block: [u32; B],
    block_left: usize,
    /// The sample of a run of blocks, of which `run_left` samples were not handed out yet.
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

    /// Decodes samples to the front of `out`, takes their bytes from the front of `piece`, and returns the number of
    /// samples. `store` makes an item of the output from a sample; signed samples are given to it sign-extended.
    ///
    /// 0 means that the piece is used up, unless `out` is empty. Call it with one piece until it returns 0, then with the
    /// next piece. A byte that is shared by two blocks stays in `piece` until the second block is decoded.
    /// O(samples + bytes), no allocation.
    ///
    /// # Errors
    /// [`ErrorKind::SzipStream`] at the start of a block with a code that stands for no sample;
    /// [`ErrorKind::SzipBlockMemory`] at the start of a block that the memory does not hold. The error comes after all
    /// samples before it, and again on each further call.
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

    /// The number of bytes of the stream that were taken.
    pub const fn position(&self) -> u64 {
        self.next.start.saturating_add(self.gathered_len as u64)
    }

    /// The stream's error, whether or not it was returned already.
    #[cfg(feature = "push")]
    pub(crate) const fn failure(&self) -> Option<Error> {
        self.failure
    }

    /// Stores samples that were decoded before, and returns the slots that are left.
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

    /// Decodes the next block from the piece, or else gathers its bytes. The block before was handed out.
    #[inline]
    fn next_block(&mut self, piece: &mut &[u8]) {
        if self.gathered_len == 0 {
            // As many bytes as the memory holds, so that the result does not depend on where pieces end.
            let ahead = piece.get(..B.saturating_mul(BYTES_PER_SAMPLE)).unwrap_or(piece);
            if let Ok((decoded, used)) = self.next.decode(ahead, &mut self.block) {
                self.keep(decoded);
                *piece = piece.get(used..).unwrap_or_default();
                return;
            }
        }
        self.gather(piece);
    }

    /// Adds bytes of the piece to the gathered ones, and decodes the block if it is complete.
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
                // The block was incomplete before, so it uses all bytes that were gathered before.
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
                // Cannot overflow: at most 4096 · 256.
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

/// The state between two blocks.
#[derive(Clone, Copy)]
struct Next {
    params: Params,
    /// The byte of the stream in which the next block starts.
    start: u64,
    /// How many bits of that byte come before the block.
    phase: u64,
    /// The block's place in its interval.
    index: u32,
    /// The sample before the block.
    before: u32,
}

impl Next {
    /// Decodes the block that starts in the first of `bytes`, moves on to the next block, and returns the number of whole
    /// bytes used.
    ///
    /// # Errors
    /// The errors of [`Blocks::next`]; the state is then unchanged. [`ErrorKind::Truncated`] means that bytes are missing.
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

/// Splits `count` items off the front, or all if there are fewer.
#[inline]
fn split_at<T>(items: &mut [T], count: usize) -> (&mut [T], &mut [T]) {
    let count = count.min(items.len());
    items.split_at_mut_checked(count).unwrap_or_default()
}
