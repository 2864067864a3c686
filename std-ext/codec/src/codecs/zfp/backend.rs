//! zfp for objects: whole payloads, and parts of them at a fixed rate.

use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter, ZfpMode};

use super::block;
use super::blocks::{read_all, read_range};
use crate::codecs::part::Divisible;
use crate::codecs::{Codec, CodecError, PartReader, Workspace};
use crate::threads::Threads;

/// Bytes of values that are worth a piece of work of their own, in whole blocks.
const PIECE: usize = 64 << 10;
/// Bytes of a value.
const VALUE_BYTES: u64 = size_of::<f64>() as u64;
/// Bytes of a block's values.
const BLOCK_BYTES: u64 = block::LEN as u64 * VALUE_BYTES;

/// The backend.
pub(in crate::codecs) struct Zfp;

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
    ) -> Result<Option<Box<dyn PartReader + 'a>>, CodecError> {
        let parts = FixedRate::open(payload, descriptor, total)?;
        Ok(parts.map(|parts| Box::new(OpenParts { parts, work }) as Box<dyn PartReader>))
    }

    fn divisible(&self) -> Option<&dyn Divisible> {
        Some(&Self)
    }
}

/// A stream whose blocks are all of one length, so that each can be found.
struct FixedRate<'a> {
    payload: &'a [u8],
    mode: ZfpMode,
    count: u64,
    order: ByteOrder,
}

impl<'a> FixedRate<'a> {
    /// The stream of `total` bytes of values. `None` in other modes, in which a block is found by reading those before
    /// it.
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
    work: &'a mut Workspace,
}

impl PartReader for OpenParts<'_> {
    fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64, CodecError> {
        Ok(part.end.checked_next_multiple_of(BLOCK_BYTES).unwrap_or(part.end))
    }

    fn read_into(&mut self, start: u64, out: &mut [u8]) -> Result<(), CodecError> {
        let end = start.saturating_add(out.len() as u64).checked_next_multiple_of(BLOCK_BYTES).unwrap_or(u64::MAX);
        let decoded = end.saturating_sub(start / BLOCK_BYTES * BLOCK_BYTES);
        self.work.done.decoded = self.work.done.decoded.saturating_add(decoded);
        self.parts.read(start, out)
    }
}

/// How many values `len` bytes are.
fn values_in(len: u64) -> Result<u64, CodecError> {
    if len.is_multiple_of(VALUE_BYTES) { Ok(len / VALUE_BYTES) } else { Err(not_values(len)) }
}

fn as_values(out: &mut [u8]) -> Result<&mut [[u8; 8]], CodecError> {
    values_in(out.len() as u64)?;
    Ok(out.as_chunks_mut().0)
}

fn not_values(len: u64) -> CodecError {
    CodecError::new(format!("data length {len} is not a multiple of {VALUE_BYTES}"))
}

/// The mode of an object that can be zfp.
pub(super) fn mode_of(descriptor: &Descriptor<'_>) -> Result<ZfpMode, CodecError> {
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
    descriptor.zfp().map_err(CodecError::of_descriptor)
}
