//! The blocks of a payload, one after the other.

use tgm_core::descriptor::ZfpMode;

use super::bits::BitReader;
use super::block;
use super::block_limits::{BlockLimits, len_of};
use crate::codecs::CodecError;
use crate::interrupt;

/// Blocks that are read between two questions whether to go on: a millisecond.
const BLOCKS: usize = 1 << 13;

/// Reads all values of a stream, each stored as `store` makes it.
pub(super) fn read_all<T>(
    payload: &[u8],
    mode: ZfpMode,
    out: &mut [T],
    store: impl Fn(f64) -> T,
) -> Result<(), CodecError> {
    let mut blocks = Blocks::open(payload, mode, out.len() as u64)?;
    blocks.read_into(out, store)?;
    blocks.finish()
}

/// Reads the values from `start` on, of a stream of `count` values.
pub(super) fn read_range<T>(
    payload: &[u8],
    mode: ZfpMode,
    count: u64,
    start: u64,
    out: &mut [T],
    store: impl Fn(f64) -> T,
) -> Result<(), CodecError> {
    let mut blocks = Blocks::open(payload, mode, count)?;
    let len = out.len() as u64;
    if start.checked_add(len).is_none_or(|end| end > count) {
        return Err(CodecError::new(format!("range ({start}, {len}) exceeds {count} values")));
    }
    if out.is_empty() {
        return Ok(());
    }
    blocks.skip(start / block::LEN as u64)?;
    #[allow(clippy::cast_possible_truncation, reason = "less than a block")]
    let before = (start % block::LEN as u64) as usize;
    let (head, rest) = out.split_at_mut(out.len().min((block::LEN - before) % block::LEN));
    if !head.is_empty() {
        for (slot, value) in head.iter_mut().zip(&blocks.next()?[before..]) {
            *slot = store(*value);
        }
    }
    blocks.read_into(rest, store)
}

/// The blocks of a payload that are still to be read.
struct Blocks<'a> {
    stream: BitReader<'a>,
    limits: BlockLimits,
    /// Blocks of the whole stream.
    count: u64,
}

impl<'a> Blocks<'a> {
    /// Opens a payload of `count` values.
    ///
    /// Checks the payload's length as far as the limits of a block tell it: at a fixed rate that is exact.
    fn open(payload: &'a [u8], mode: ZfpMode, count: u64) -> Result<Self, CodecError> {
        let limits = BlockLimits::new(mode)?;
        let count = count.div_ceil(block::LEN as u64);
        let (shortest, longest) = limits.lens(count);
        let len = payload.len() as u64;
        if len < shortest || len > longest {
            let expected = if shortest == longest { shortest.to_string() } else { format!("{shortest} to {longest}") };
            return Err(wrong_len(len, count, &expected));
        }
        match payload.as_chunks() {
            (words, []) => Ok(Self { stream: BitReader::new(words), limits, count }),
            _ => Err(CodecError::new(format!("payload of {len} bytes is not whole words of 8"))),
        }
    }

    #[inline]
    fn next(&mut self) -> Result<[f64; block::LEN], CodecError> {
        let values = block::read(&mut self.stream, &self.limits);
        if self.stream.is_past_end() { Err(self.too_short()) } else { Ok(values) }
    }

    /// Passes over `count` blocks.
    fn skip(&mut self, count: u64) -> Result<(), CodecError> {
        if let Some(bits) = self.limits.block_bits {
            // No overflow: the blocks are within the payload, whose length was checked.
            self.stream.seek(u64::from(bits) * count);
            return Ok(());
        }
        for _ in 0..count {
            self.next()?;
        }
        Ok(())
    }

    /// Fills `out` with the values of the next blocks.
    fn read_into<T>(&mut self, out: &mut [T], store: impl Fn(f64) -> T) -> Result<(), CodecError> {
        let (blocks, rest) = out.as_chunks_mut::<{ block::LEN }>();
        for blocks in blocks.chunks_mut(BLOCKS) {
            interrupt::check()?;
            for block in blocks {
                *block = self.next()?.map(&store);
            }
        }
        if !rest.is_empty() {
            for (slot, value) in rest.iter_mut().zip(self.next()?) {
                *slot = store(value);
            }
        }
        Ok(())
    }

    /// Checks that the blocks read are the whole payload.
    fn finish(self) -> Result<(), CodecError> {
        let (len, expected) = (self.stream.len(), len_of(self.stream.position()));
        if len == expected { Ok(()) } else { Err(wrong_len(len, self.count, &expected.to_string())) }
    }

    #[cold]
    fn too_short(&self) -> CodecError {
        wrong_len(self.stream.len(), self.count, "more")
    }
}

fn wrong_len(len: u64, blocks: u64, expected: &str) -> CodecError {
    CodecError::new(format!("payload has {len} bytes, its {blocks} blocks take {expected}"))
}
