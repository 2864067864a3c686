//! zfp for objects: whole payloads, and parts of them at a fixed rate.

use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter, Key, ZfpMode};

use super::block;
use super::blocks::{read_all, read_range};
use super::compress_on;
use crate::codecs::about::{
    About, Before, CodecResources, Expansion, Implementation, Input, Parameter, Support, Trial, Uncompressed, required,
};
use crate::codecs::compress::{append_made, stored_numbers};
use crate::codecs::part::Divisible;
use crate::codecs::{Codec, Compress, Compressing, PartReader, Workspace};
use crate::error::CodecError;
use crate::threads::Threads;

/// Bytes of values that are worth a piece of work of their own, in whole blocks.
const PIECE: usize = 64 << 10;
/// Bytes of a value.
const VALUE_BYTES: u64 = size_of::<f64>() as u64;
/// Bytes of a block's values.
const BLOCK_BYTES: u64 = block::LEN as u64 * VALUE_BYTES;

const ABOUT: About = About {
    compression: Compression::Zfp,
    input: Input::Numbers,
    is_lossy: true,
    keys: &[Key::ZfpMode, Key::ZfpRate, Key::ZfpPrecision, Key::ZfpTolerance],
    usual: None,
    level: None,
    expansion: Expansion { bytes: Some(256), by: "a block of four zeros in a bit" },
    is_in_version_2: true,
    decoding: Support::Whole,
    encoding: Support::Whole,
    implementation: Implementation::Own,
    trial: Trial { before: Before::Nothing, parameters: &parameters(ZfpMode::FixedRate(32.0)), loss: 1e-3 },
};

/// The parameters for a mode.
pub const fn parameters(mode: ZfpMode) -> [(Key, Parameter); 2] {
    let (name, key, value) = match mode {
        ZfpMode::FixedRate(rate) => ("fixed_rate", Key::ZfpRate, Parameter::Float(rate)),
        ZfpMode::FixedPrecision(precision) => {
            ("fixed_precision", Key::ZfpPrecision, Parameter::Integer(precision as i64))
        }
        ZfpMode::FixedAccuracy(tolerance) => ("fixed_accuracy", Key::ZfpTolerance, Parameter::Float(tolerance)),
    };
    [(Key::ZfpMode, Parameter::Text(name)), (key, value)]
}

/// The codec.
pub(in crate::codecs) struct Zfp;

impl Codec for Zfp {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, descriptor: &Descriptor<'_>) -> tgm_core::Result<()> {
        descriptor.zfp().map(|_| ())
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

impl Compressing for Zfp {
    fn compressor(&self, object: &Uncompressed<'_>) -> Result<Box<dyn Compress>, CodecError> {
        object.check_numbers(ABOUT.name())?;
        let parameters = object.parameters;
        let mode = match required(parameters.text(Key::ZfpMode)?, Key::ZfpMode)? {
            "fixed_rate" => ZfpMode::FixedRate(required(parameters.f64(Key::ZfpRate)?, Key::ZfpRate)?),
            "fixed_precision" => {
                ZfpMode::FixedPrecision(required(parameters.u32(Key::ZfpPrecision)?, Key::ZfpPrecision)?)
            }
            "fixed_accuracy" => {
                ZfpMode::FixedAccuracy(required(parameters.f64(Key::ZfpTolerance)?, Key::ZfpTolerance)?)
            }
            other => return Err(CodecError::new(format!("unknown zfp_mode: {other}"))),
        };
        Ok(Box::new(InMode(mode)))
    }
}

/// Streams of one mode.
#[derive(Debug)]
struct InMode(ZfpMode);

impl Compress for InMode {
    fn append(
        &self,
        bytes: &[u8],
        order: ByteOrder,
        resources: CodecResources,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>, CodecError> {
        append_made(compress_on(resources.threads, stored_numbers(bytes)?, order, self.0)?, out).map(|()| None)
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
