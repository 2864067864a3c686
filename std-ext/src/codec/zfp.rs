//! zfp: float64 values as a one-dimensional array, in blocks of four, as a bare bit stream (PIPELINE §5.6).
//!
//! ```text
//! for each 4 values, the last ones repeated to make 4:
//!     if all are 0, or too small for the tolerance: the bit 0
//!     else: the bit 1, the exponent of the greatest in 11 bits,
//!           the values as 64-bit integers of that exponent, decorrelated, in negabinary,
//!           plane by plane of bits from the top: as many as precision or tolerance ask for, or the rate has room for
//!     fixed rate: zeros up to the block's length
//! ```
//!
//! The stream says nothing about itself: the mode and the number of values come from the descriptor. Decoded values are
//! those of zfp to the last bit. A payload must be as long as its blocks are, to the word: what was cut off is an error
//! here and zeros in the reference.
//!
//! Encoded bytes are zfp's too, but for two kinds of blocks that zfp garbles. Values that are all below 2^-962 are
//! scaled in two steps, and those below 2^-1013 get the least exponent that decodes; any zfp reads them back.
//! Values near the greatest number that would decode to infinity are an error. As in zfp a tolerance holds as far as
//! 64-bit integers reach, that is to about 2^-58 of a block's greatest value.

mod bits;
mod block;
mod planes;
#[cfg(test)]
mod tests;

use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter, ZfpMode};

use self::bits::{BitReader, BitWriter};
use super::{Codec, CodecError, Parts, Workspace};
use crate::base::threads::Threads;

/// Bytes of values that are worth a piece of work of their own, in whole blocks.
const PIECE: usize = 64 << 10;
/// Bytes of a block's values.
const BLOCK_BYTES: u64 = (block::LEN * size_of::<f64>()) as u64;

/// The backend.
pub(super) struct Zfp;

impl Codec for Zfp {
    fn name(&self) -> &'static str {
        Compression::Zfp.name()
    }

    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        let mode = mode_of(descriptor)?;
        let out = as_values(out)?;
        match descriptor.byte_order() {
            ByteOrder::Big => read_all(payload, mode, out, f64::to_be_bytes),
            ByteOrder::Little => read_all(payload, mode, out, f64::to_le_bytes),
        }
    }

    fn decompress_on(
        &self,
        threads: Threads,
        payload: &[u8],
        descriptor: &Descriptor<'_>,
        out: &mut [u8],
        _work: &mut Workspace,
    ) -> Result<(), CodecError> {
        let parts = if threads.is_one() { None } else { FixedRate::open(payload, descriptor, out.len() as u64)? };
        let in_parts = |parts: &FixedRate<'_>, out: &mut [u8]| {
            threads.pieces(out, PIECE, |start, piece| parts.read(start as u64, piece)).is_ok()
        };
        match parts {
            Some(parts) if in_parts(&parts, out) => Ok(()),
            _ => self.decompress_into(payload, descriptor, out),
        }
    }

    fn open_parts<'a>(
        &self,
        payload: &'a [u8],
        descriptor: &Descriptor<'a>,
        total: u64,
        _end: u64,
        work: &'a mut Workspace,
    ) -> Result<Option<Box<dyn Parts + 'a>>, CodecError> {
        let parts = FixedRate::open(payload, descriptor, total)?;
        Ok(parts.map(|parts| Box::new(OpenParts { parts, work }) as Box<dyn Parts>))
    }
}

/// A stream whose blocks all have the same length.
struct FixedRate<'a> {
    payload: &'a [u8],
    mode: ZfpMode,
    count: u64,
    order: ByteOrder,
}

impl<'a> FixedRate<'a> {
    /// The stream of `total` bytes of values. `None` in other modes: there blocks are found by reading those before them.
    fn open(payload: &'a [u8], descriptor: &Descriptor<'_>, total: u64) -> Result<Option<Self>, CodecError> {
        let mode = mode_of(descriptor)?;
        if !matches!(mode, ZfpMode::FixedRate(_)) {
            return Ok(None);
        }
        Ok(Some(Self { payload, mode, count: values_in(total)?, order: descriptor.byte_order() }))
    }

    fn read(&self, start: u64, out: &mut [u8]) -> Result<(), CodecError> {
        let (start, out) = (values_in(start)?, as_values(out)?);
        match self.order {
            ByteOrder::Big => read_range(self.payload, self.mode, self.count, start, out, f64::to_be_bytes),
            ByteOrder::Little => read_range(self.payload, self.mode, self.count, start, out, f64::to_le_bytes),
        }
    }
}

/// A stream of which parts are read.
struct OpenParts<'a> {
    parts: FixedRate<'a>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests count"))]
    work: &'a mut Workspace,
}

impl Parts for OpenParts<'_> {
    fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64, CodecError> {
        Ok(part.end.checked_next_multiple_of(BLOCK_BYTES).unwrap_or(part.end))
    }

    fn read_into(&mut self, start: u64, out: &mut [u8]) -> Result<(), CodecError> {
        #[cfg(test)]
        {
            let end = start.saturating_add(out.len() as u64);
            self.work.done.decoded += end.next_multiple_of(BLOCK_BYTES) - start / BLOCK_BYTES * BLOCK_BYTES;
        }
        self.parts.read(start, out)
    }
}

/// How many values `len` bytes are.
fn values_in(len: u64) -> Result<u64, CodecError> {
    if len.is_multiple_of(8) { Ok(len / 8) } else { Err(not_values(len)) }
}

fn as_values(out: &mut [u8]) -> Result<&mut [[u8; 8]], CodecError> {
    values_in(out.len() as u64)?;
    Ok(out.as_chunks_mut().0)
}

fn not_values(len: u64) -> CodecError {
    CodecError::new(format!("data length {len} is not a multiple of 8"))
}

/// Decompresses all values of a stream into `out`.
///
/// O(values), no allocation.
///
/// # Errors
/// A parameter out of range; a payload that is not exactly as long as `out.len()` values take.
pub fn decompress_values(payload: &[u8], mode: ZfpMode, out: &mut [f64]) -> Result<(), CodecError> {
    read_all(payload, mode, out, |value| value)
}

/// Decompresses the values from `start` on into `out`, of a stream of `count` values.
///
/// O(values) at a fixed rate. In other modes blocks say where they end only by being read: those before the range are
/// walked, O(start + values) and no more than the payload has. Those behind are not, so that of the payload's length
/// only so much is checked: it has what the range needs, and could be that of so many blocks.
///
/// # Errors
/// Those of [`decompress_values`] as far as they are noticed; a range that is not within `count`.
pub fn decompress_range(
    payload: &[u8],
    mode: ZfpMode,
    count: u64,
    start: u64,
    out: &mut [f64],
) -> Result<(), CodecError> {
    read_range(payload, mode, count, start, out, |value| value)
}

/// Compresses values, which must be finite. They decode to what was asked for: as close as the tolerance, or what the
/// rate or the precision had room for.
///
/// # Errors
/// A parameter out of range; a value that is not finite, or would decode to infinity; no memory for the result.
pub fn compress_values(values: &[f64], mode: ZfpMode) -> Result<Vec<u8>, CodecError> {
    let params = Params::new(mode)?;
    let greatest = block::max_magnitude(values);
    if greatest >= f64::INFINITY.to_bits() {
        let index = values.iter().position(|value| !value.is_finite()).unwrap_or_default();
        return Err(CodecError::new(format!("value {index} is not finite")));
    }
    let mut stream = BitWriter::new(reserve_for(values.len() as u64, &params)?);
    let (blocks, rest) = values.as_chunks();
    for values in blocks {
        block::write(&mut stream, &params, values);
    }
    match *rest {
        [x] => block::write(&mut stream, &params, &[x, x, x, x]),
        [x, y] => block::write(&mut stream, &params, &[x, y, y, x]),
        [x, y, z] => block::write(&mut stream, &params, &[x, y, z, x]),
        _ => {}
    }
    let payload = stream.into_bytes();
    if greatest >= NEAR_INFINITY.to_bits() {
        let mut decoded = vec![0.0; values.len()];
        decompress_values(&payload, mode, &mut decoded)?;
        if let Some(index) = decoded.iter().position(|value| !value.is_finite()) {
            return Err(CodecError::new(format!("value {index} is so great that it would decode to infinity")));
        }
    }
    Ok(payload)
}

/// Rounding can turn values from here on into infinity.
const NEAR_INFINITY: f64 = f64::MAX / 4.0;

/// An empty vector that has room for `count` values at a fixed rate, or for a guess otherwise.
fn reserve_for(count: u64, params: &Params) -> Result<Vec<u8>, CodecError> {
    let (shortest, longest) = params.lens(count.div_ceil(block::LEN as u64));
    let len = shortest.max(longest / 4);
    let mut bytes = Vec::new();
    usize::try_from(len)
        .ok()
        .and_then(|len| bytes.try_reserve_exact(len).ok())
        .ok_or_else(|| CodecError::new(format!("no memory for {len} bytes")))?;
    Ok(bytes)
}

/// The parameters of a payload that can be zfp.
fn mode_of(descriptor: &Descriptor<'_>) -> Result<ZfpMode, CodecError> {
    let (dtype, encoding, filter) = (descriptor.dtype(), descriptor.encoding(), descriptor.filter());
    if dtype != Dtype::Float64 {
        return Err(CodecError::new(format!("only supports dtype=float64, got dtype={dtype}")));
    }
    if encoding.known() != Some(Encoding::None) {
        return Err(CodecError::new(format!("only supports encoding=none, got encoding={encoding}")));
    }
    if filter.known() != Some(Filter::None) {
        return Err(CodecError::new(format!("only supports filter=none, got filter={filter}")));
    }
    descriptor.zfp().map_err(|error| CodecError::new(error.to_string()))
}

fn read_all<T>(payload: &[u8], mode: ZfpMode, out: &mut [T], store: impl Fn(f64) -> T) -> Result<(), CodecError> {
    let mut blocks = Blocks::open(payload, mode, out.len() as u64)?;
    blocks.read_into(out, store)?;
    blocks.finish()
}

fn read_range<T>(
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
    #[allow(clippy::cast_possible_truncation, reason = "below 4")]
    let before = (start % block::LEN as u64) as usize;
    let (head, rest) = out.split_at_mut(out.len().min((block::LEN - before) % block::LEN));
    if !head.is_empty() {
        for (slot, value) in head.iter_mut().zip(&blocks.next()?[before..]) {
            *slot = store(*value);
        }
    }
    blocks.read_into(rest, store)
}

/// What a mode means for a block.
#[derive(Clone, Copy, Debug)]
struct Params {
    /// The length of every block, if it is fixed; at least [`block::HEADER_BITS`].
    block_bits: Option<u32>,
    /// Bit planes of a block at most, 1 to 64.
    max_planes: u32,
    /// The power of two that bits below are too small for.
    min_exponent: i32,
}

impl Params {
    fn new(mode: ZfpMode) -> Result<Self, CodecError> {
        let unlimited = Self { block_bits: None, max_planes: 64, min_exponent: -1074 };
        match mode {
            ZfpMode::FixedRate(rate) => {
                let bits = (rate * 4.0 + 0.5).floor();
                if !(rate > 0.0 && bits <= f64::from(u32::MAX)) {
                    return Err(CodecError::new(format!("zfp_rate {rate} is out of range")));
                }
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer, just checked")]
                let bits = bits as u32;
                Ok(Self { block_bits: Some(bits.max(block::HEADER_BITS)), ..unlimited })
            }
            ZfpMode::FixedPrecision(planes @ 1..64) => Ok(Self { max_planes: planes, ..unlimited }),
            ZfpMode::FixedPrecision(_) => Ok(unlimited),
            ZfpMode::FixedAccuracy(tolerance) => {
                if !(tolerance > 0.0 && tolerance.is_finite()) {
                    return Err(CodecError::new(format!("zfp_tolerance {tolerance} is out of range")));
                }
                Ok(Self { min_exponent: floor_log2(tolerance), ..unlimited })
            }
        }
    }

    /// Bit planes of a block whose greatest value is below 2^`exponent`.
    #[inline]
    fn planes(&self, exponent: i32) -> u32 {
        // Four more than the tolerance says, for what decorrelation adds.
        let wanted = exponent - self.min_exponent + 4;
        self.max_planes.min(wanted.max(0).cast_unsigned())
    }

    /// Bits that a block has for its planes.
    #[inline]
    fn plane_bits(&self) -> u32 {
        self.block_bits.map_or(u32::MAX, |bits| bits - block::HEADER_BITS)
    }

    /// The least and the greatest length in bytes of a stream of blocks.
    fn lens(&self, blocks: u64) -> (u64, u64) {
        let len = |bits: u32| len_of(blocks.saturating_mul(u64::from(bits)));
        match self.block_bits {
            Some(bits) => (len(bits), len(bits)),
            None => (len(1), len(block::HEADER_BITS + planes::longest(self.max_planes))),
        }
    }
}

/// Bytes of the words that hold `bits`.
const fn len_of(bits: u64) -> u64 {
    bits.div_ceil(64) * 8
}

/// The power of two at or below a positive number.
const fn floor_log2(number: f64) -> i32 {
    let bits = number.to_bits();
    match (bits >> 52) as i32 {
        0 => bits.ilog2().cast_signed() - 1074,
        exponent => exponent - 1023,
    }
}

/// The blocks of a payload, one after the other.
struct Blocks<'a> {
    stream: BitReader<'a>,
    params: Params,
    /// Blocks of the whole stream.
    count: u64,
}

impl<'a> Blocks<'a> {
    /// Checks all about the payload's length that can be known before blocks are read: at a fixed rate that is all.
    fn open(payload: &'a [u8], mode: ZfpMode, count: u64) -> Result<Self, CodecError> {
        let params = Params::new(mode)?;
        let count = count.div_ceil(block::LEN as u64);
        let (shortest, longest) = params.lens(count);
        let len = payload.len() as u64;
        if len < shortest || len > longest {
            let expected = if shortest == longest { shortest.to_string() } else { format!("{shortest} to {longest}") };
            return Err(wrong_len(len, count, &expected));
        }
        match payload.as_chunks() {
            (words, []) => Ok(Self { stream: BitReader::new(words), params, count }),
            _ => Err(CodecError::new(format!("payload of {len} bytes is not whole words of 8"))),
        }
    }

    #[inline]
    fn next(&mut self) -> Result<[f64; block::LEN], CodecError> {
        let values = block::read(&mut self.stream, &self.params);
        if self.stream.is_past_end() { Err(self.too_short()) } else { Ok(values) }
    }

    /// Passes over `count` blocks.
    fn skip(&mut self, count: u64) -> Result<(), CodecError> {
        if let Some(bits) = self.params.block_bits {
            // Within the payload's length, which was checked.
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
        for block in blocks {
            *block = self.next()?.map(&store);
        }
        if !rest.is_empty() {
            for (slot, value) in rest.iter_mut().zip(self.next()?) {
                *slot = store(value);
            }
        }
        Ok(())
    }

    /// Makes sure that the blocks read are all there is.
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
