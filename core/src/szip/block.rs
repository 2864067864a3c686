//! Coded blocks: option ID, reference sample and codes, read to values.
//!
//! | ID | option | what follows |
//! |---|---|---|
//! | 0, then 0 | zero blocks | their number, as a unary code |
//! | 0, then 1 | second extension | a unary code for each pair of values |
//! | 1 ... last - 1 | split, k = ID - 1 | the upper parts of all values as unary codes, then the k lower bits of each |
//! | last | uncompressed | a field for each value |
//!
//! With preprocessing, the first block of an interval has the reference sample before its codes. It replaces the first
//! value. Format: PIPELINE §7.1.

use super::bits::{Bits, GROUP, LONGEST_SKIPPED};
use super::params::{MAX_BLOCK_SIZE, Params, flags};
use crate::error::{Error, ErrorKind, Result};

/// Blocks in a segment. A run of zero blocks may go "to the end of the segment" instead of having a length.
const SEGMENT: u32 = 64;

/// The pairs of values that the codes of the second extension stand for, ordered by their sum and then by the second value.
const PAIRS: [[u8; 2]; 91] = {
    let mut pairs = [[0; 2]; 91];
    let mut rest: &mut [_] = &mut pairs;
    let (mut sum, mut second) = (0, 0);
    while let Some((pair, after)) = rest.split_first_mut() {
        *pair = [sum - second, second];
        (sum, second) = if second == sum { (sum + 1, 0) } else { (sum, second + 1) };
        rest = after;
    }
    pairs
};

/// The result of reading a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coded {
    /// One block of values. Every bit that is set in some value is set here.
    Values(u32),
    /// This many blocks of zeros. In an interval's first block a reference sample comes before them.
    Zeros(u32),
}

/// A walk over coded blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks<'a> {
    bits: Bits<'a>,
    params: Params,
    /// Bits of an option ID.
    id_bits: u32,
    /// The largest ID, which uncompressed blocks have.
    last_id: u32,
    /// The largest value.
    max: u32,
    /// The next block's place in its interval.
    index: u32,
    /// The byte in which the last read block starts.
    start: u64,
    /// Whether fields are skipped, because only the ends of blocks matter.
    skips_fields: bool,
}

impl<'a> Blocks<'a> {
    /// The blocks of an interval that starts at bit `position`, and of those after it.
    pub(super) fn new(stream: &'a [u8], params: &Params, position: u64) -> Result<Self> {
        let bits = Bits::new(stream, position)?;
        let id_bits = params.id_bits();
        let last_id = u32::MAX.wrapping_shr(u32::BITS.wrapping_sub(id_bits));
        let start = bits.byte();
        Ok(Self { bits, params: *params, id_bits, last_id, max: params.max(), index: 0, start, skips_fields: false })
    }

    /// The blocks from bit `position` on. The first one is block `index` of its interval.
    #[inline]
    pub(super) fn resume(stream: &'a [u8], params: &Params, position: u64, index: u32) -> Result<Self> {
        Self::new(stream, params, position).map(|blocks| Self { index, ..blocks })
    }

    /// The next block's place in its interval.
    pub(super) const fn index(&self) -> u32 {
        self.index
    }

    /// The bit where the next block starts.
    pub(super) const fn position(&self) -> u64 {
        self.bits.position()
    }

    /// Whether the next block has a reference sample.
    #[inline]
    pub(super) const fn has_reference(&self) -> bool {
        self.index == 0 && self.params.has(flags::PREPROCESS)
    }

    /// The blocks of the interval that are still to come. `None` before the first block.
    #[inline]
    pub(super) const fn left(&self) -> Option<u32> {
        if self.index == 0 { None } else { self.params.rsi().checked_sub(self.index) }
    }

    /// Moves to bit `position`, which is `blocks` blocks on. They must be blocks of this interval.
    #[inline]
    pub(super) fn jump(&mut self, position: u64, blocks: u32) {
        self.bits.jump(position);
        self.advance(Coded::Zeros(blocks));
    }

    /// Moves from the start of an interval to the start of the next one. Returns the interval's last block or run of blocks.
    ///
    /// # Errors
    /// The errors of [`Self::next`].
    pub(super) fn skip_rsi(&mut self) -> Result<Coded> {
        let mut values = [0; MAX_BLOCK_SIZE as usize];
        let values = values.get_mut(..self.params.block_size() as usize).unwrap_or_default();
        self.skips_fields = true;
        loop {
            let coded = self.next(values)?;
            if self.index == 0 {
                return Ok(coded);
            }
        }
    }

    /// Reads a block to `values`, which must have the length of a block. From a run of zero blocks, only the reference sample
    /// is written.
    ///
    /// With preprocessing the values are mapped differences, except the reference sample. No value exceeds the largest
    /// sample.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] at the stream's end; [`ErrorKind::SzipStream`] at the byte where the block starts.
    #[inline]
    pub(super) fn next(&mut self, values: &mut [u32]) -> Result<Coded> {
        self.start = self.bits.byte();
        let coded = match self.bits.take(self.id_bits) {
            0 => self.low_entropy(values)?,
            id if id == self.last_id => self.uncompressed(values),
            id => self.split(id.wrapping_sub(1), values)?,
        };
        self.bits.check_end()?;
        self.advance(coded);
        Ok(coded)
    }

    /// Counts blocks, which must be of this interval.
    #[inline]
    fn advance(&mut self, coded: Coded) {
        let blocks = match coded {
            Coded::Values(_) => 1,
            Coded::Zeros(blocks) => blocks,
        };
        self.index = self.index.wrapping_add(blocks);
        if self.index == self.params.rsi() {
            self.index = 0;
            if self.params.has(flags::PAD_RSI) {
                self.bits.align();
            }
        }
    }

    /// Reads the reference sample, if the block has one, and returns the values after it.
    #[inline]
    fn reference<'v>(&mut self, values: &'v mut [u32]) -> &'v mut [u32] {
        if !self.has_reference() {
            return values;
        }
        match values.split_first_mut() {
            Some((reference, rest)) => {
                *reference = self.bits.take(self.params.bits_per_sample());
                rest
            }
            None => &mut [],
        }
    }

    /// Reads a block whose values are split into an upper part and `k` lower bits.
    #[inline]
    fn split(&mut self, k: u32, values: &mut [u32]) -> Result<Coded> {
        let values = self.reference(values);
        let max_upper = self.max.wrapping_shr(k);
        // Skipping does not see the codes. It is safe where no code that it steps over can be too large.
        if self.skips_fields && max_upper >= LONGEST_SKIPPED && self.bits.skip_unary(values.len()) {
            self.fields(k, values);
            return Ok(Coded::Values(self.max));
        }
        self.bits.take_unary(values)?;
        let upper = or(values);
        // A unary code of u32::MAX may stand for a larger one.
        if upper > max_upper || upper == u32::MAX || k > self.params.bits_per_sample() {
            return Err(self.invalid());
        }
        if k > 0 {
            self.fields(k, values);
        }
        let lower = 1_u32.wrapping_shl(k).wrapping_sub(1);
        Ok(Coded::Values(upper.wrapping_shl(k) | lower))
    }

    /// Reads a block of plain values.
    #[inline]
    fn uncompressed(&mut self, values: &mut [u32]) -> Coded {
        values.fill(0);
        self.fields(self.params.bits_per_sample(), values);
        Coded::Values(self.max)
    }

    /// Appends a field to each value, or skips the fields.
    #[inline]
    fn fields(&mut self, width: u32, values: &mut [u32]) {
        if self.skips_fields {
            for _ in values {
                self.bits.skip(width);
            }
        } else {
            self.bits.append_fields(width, values);
        }
    }

    /// Reads zero blocks or a block of the second extension.
    fn low_entropy(&mut self, values: &mut [u32]) -> Result<Coded> {
        if self.bits.take(1) == 0 { self.zeros(values) } else { self.second_extension(values) }
    }

    /// Reads a run of zero blocks.
    ///
    /// Code 4 means "to the end of the segment". So codes below 4 stand for one block more than the code, and codes above 4
    /// for as many blocks as the code.
    fn zeros(&mut self, values: &mut [u32]) -> Result<Coded> {
        self.reference(values);
        let mut code = [0];
        self.bits.take_unary(&mut code)?;
        let [code] = code;
        let left = self.params.rsi().wrapping_sub(self.index);
        let blocks = match code {
            0..4 => code.wrapping_add(1),
            4 => left.min(SEGMENT.wrapping_sub(self.index % SEGMENT)),
            _ => code,
        };
        if blocks <= left { Ok(Coded::Zeros(blocks)) } else { Err(self.invalid()) }
    }

    /// Reads a block of the second extension: pairs of values. The reference sample replaces the first value, which is
    /// coded all the same.
    fn second_extension(&mut self, values: &mut [u32]) -> Result<Coded> {
        let reference = self.has_reference().then(|| self.bits.take(self.params.bits_per_sample()));
        let (pairs, _) = values.as_chunks_mut();
        for pairs in pairs.chunks_mut(GROUP) {
            let mut codes = [0; GROUP];
            let codes = codes.get_mut(..pairs.len()).unwrap_or_default();
            self.bits.take_unary(codes)?;
            for (pair, code) in pairs.iter_mut().zip(codes) {
                let known = usize::try_from(*code).ok().and_then(|code| PAIRS.get(code));
                *pair = known.ok_or(self.invalid())?.map(u32::from);
            }
        }
        if let (Some(reference), Some(first)) = (reference, values.first_mut()) {
            *first = reference;
        }
        let all = or(values);
        if all <= self.max { Ok(Coded::Values(all)) } else { Err(self.invalid()) }
    }

    /// The error at a block with a code that stands for no sample.
    #[cold]
    fn invalid(&self) -> Error {
        ErrorKind::SzipStream.at(self.start)
    }
}

/// The bits that are set in some value.
#[inline]
fn or(values: &[u32]) -> u32 {
    values.iter().fold(0, |all, value| all | value)
}
