//! szip: a bare CCSDS 121.0-B stream (PIPELINE §5.4 and §7). `kernels::szip` and `tgm_core` decode it; it is encoded
//! here.
//!
//! ```text
//! containers ─samples─▶ samples ─predict─▶ values ─select─▶ the code of a block ─block, bits─▶ stream
//! ```
//!
//! Encoded bytes equal libaec's, except where libaec's own decoder refuses them: [`compress`] names the two cases.
//! The width of a sample is not stored. It follows from encoding, filter and dtype. Under simple_packing the packed
//! bytes are whole samples only for 8, 16, 24 and 32 bits a value. Streams of other widths, which the reference writes
//! and cannot read back, are refused.
//!
//! `szip_block_offsets` is checked before it is used. The reference writes wrong offsets for intervals whose last block
//! comes after a run of zeros, and from a wrong offset on a stream can look sound. So a range costs the reading of two
//! more intervals, which say whether the offset of its first interval is right ([`RsiFinder`]). Without offsets the
//! stream is read from its start, which costs half of decoding it. The ranges of a call are visited in ascending order,
//! so the stream is read once, and each interval is decoded once, for all of them.

mod bits;
mod block;
mod coder;
mod encode;
#[cfg(feature = "libaec")]
pub mod libaec;
mod parallel;
mod parallel_encode;
mod part;
mod predict;
mod samples;
mod select;
#[cfg(test)]
mod tests;

use std::ops::Range;

use tgm_core::ErrorKind;
use tgm_core::cbor::Uints;
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter, Key, SzipParams};
use tgm_core::szip::{Params, RsiFinder, Start, flags};

use super::about::{
    About, Before, CodecResources, Expansion, Implementation, Input, Parameter, Support, Trial, Uncompressed, required,
};
use super::part::Divisible;
use super::{Codec, Compress, Compressing, CompressionBackend, Done, PartReader, Workspace};
use crate::error::CodecError;
use crate::kernels::packing::formula;
use crate::kernels::szip::{decode_from, decode_packed_bytes_into};
use crate::threads::Threads;
pub use encode::compress;
use encode::{append_made, append_on};

/// The usual number of blocks in an interval.
pub const RSI: u32 = 128;
/// The usual number of samples in a block.
pub const BLOCK_SIZE: u32 = 16;

const USUAL: SzipParams = SzipParams { rsi: RSI, block_size: BLOCK_SIZE, flags: flags::PREPROCESS };

const ABOUT: About = About {
    compression: Compression::Szip,
    input: Input::Bytes,
    is_lossy: false,
    keys: &[Key::SzipRsi, Key::SzipBlockSize, Key::SzipFlags, Key::SzipBlockOffsets],
    usual: Some(&parameters(USUAL)),
    level: None,
    expansion: Expansion { bytes: Some(47_663), by: "64 blocks of zeros in 11 bits" },
    is_in_version_2: true,
    decoding: Support::Whole,
    encoding: Support::Whole,
    implementation: Implementation::Own,
    trial: Trial { before: Before::Packing, parameters: &parameters(USUAL), loss: 1e-3 },
};

/// The parameters as descriptors have them.
pub const fn parameters(params: SzipParams) -> [(Key, Parameter); 3] {
    let SzipParams { rsi, block_size, flags } = params;
    [
        (Key::SzipRsi, Parameter::Integer(rsi as i64)),
        (Key::SzipBlockSize, Parameter::Integer(block_size as i64)),
        (Key::SzipFlags, Parameter::Integer(flags as i64)),
    ]
}

/// The codec.
pub(super) struct Szip;

impl Codec for Szip {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn other(&self, backend: CompressionBackend) -> Result<Option<&'static dyn Codec>, CodecError> {
        match backend.resolve()? {
            #[cfg(feature = "libaec")]
            CompressionBackend::Ffi => Ok(Some(&Libaec)),
            _ => Ok(None),
        }
    }

    fn check(&self, descriptor: &Descriptor<'_>) -> tgm_core::Result<()> {
        descriptor.szip().map(|_| ())
    }

    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        check_emptiness(payload, out.is_empty())?;
        let params = params(descriptor)?;
        let decode = |start: Start, out: &mut [u8]| decode_from(payload, &params, start, out);
        parallel::decode_in_turns(&params, params.container_size(), Start::default(), out, decode).map(drop)
    }

    fn decompress_on(
        &self,
        threads: Threads,
        payload: &[u8],
        descriptor: &Descriptor<'_>,
        out: &mut [u8],
        _work: &mut Workspace,
    ) -> Result<(), CodecError> {
        check_emptiness(payload, out.is_empty())?;
        let params = params(descriptor)?;
        let decode = |start: Start, out: &mut [u8]| decode_from(payload, &params, start, out);
        if parallel::decode(threads, descriptor, &params, params.container_size(), out, decode).is_some() {
            return Ok(());
        }
        parallel::decode_in_turns(&params, params.container_size(), Start::default(), out, decode).map(drop)
    }

    fn open_parts<'a>(
        &self,
        payload: &'a [u8],
        descriptor: &Descriptor<'a>,
        total: u64,
        _end: u64,
        work: &'a mut Workspace,
    ) -> Result<Option<Box<dyn PartReader + 'a>>, CodecError> {
        check_emptiness(payload, total == 0)?;
        let params = params(descriptor)?;
        let all = total.div_ceil(params.container_size() as u64);
        // A list of another length cannot be right.
        let stored = descriptor.szip_block_offsets().ok().flatten();
        let stored = stored.filter(|stored| stored.len() as u64 == params.rsi_count(all));
        let finder = RsiFinder::new(payload, &params);
        Ok(Some(Box::new(Intervals { payload, params, stored, finder, work })))
    }

    fn divisible(&self) -> Option<&dyn Divisible> {
        Some(&Self)
    }

    fn unpacks(&self, descriptor: &Descriptor<'_>) -> bool {
        descriptor.encoding().known() == Some(Encoding::SimplePacking)
            && descriptor.filter().known() == Some(Filter::None)
            && descriptor.dtype() == Dtype::Float64
    }

    fn unpack_into(
        &self,
        payload: &[u8],
        descriptor: &Descriptor<'_>,
        order: ByteOrder,
        out: &mut [u8],
        threads: Threads,
    ) -> Result<(), CodecError> {
        check_emptiness(payload, out.is_empty())?;
        let (packing, params) = (descriptor.packing().map_err(of_descriptor)?, params(descriptor)?);
        let formula = formula(&packing);
        let decode = |start: Start, out: &mut [u8]| {
            let (out, _) = out.as_chunks_mut();
            decode_packed_bytes_into(payload, &params, start, formula, order, out)
        };
        if parallel::decode(threads, descriptor, &params, size_of::<f64>(), out, decode).is_some() {
            return Ok(());
        }
        parallel::decode_in_turns(&params, size_of::<f64>(), Start::default(), out, decode).map(drop)
    }
}

impl Compressing for Szip {
    fn compressor(&self, object: &Uncompressed<'_>) -> Result<Box<dyn Compress>, CodecError> {
        let number = |key| required(object.parameters.u32(key)?, key);
        let stored = SzipParams {
            rsi: number(Key::SzipRsi)?,
            block_size: number(Key::SzipBlockSize)?,
            flags: number(Key::SzipFlags)?,
        };
        let params = params_of(object.packed_bits, object.is_shuffled, object.dtype, stored);
        Ok(Box::new(Stream(params.map_err(|error| error.in_codec(ABOUT.name()))?)))
    }
}

/// The backend that decodes whole streams by libaec; parts are read as [`Szip`] reads them.
#[cfg(feature = "libaec")]
pub(super) struct Libaec;

#[cfg(feature = "libaec")]
impl Codec for Libaec {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        check_emptiness(payload, out.is_empty())?;
        libaec::decompress_into(payload, &params(descriptor)?, out)
    }

    fn open_parts<'a>(
        &self,
        payload: &'a [u8],
        descriptor: &Descriptor<'a>,
        total: u64,
        end: u64,
        work: &'a mut Workspace,
    ) -> Result<Option<Box<dyn PartReader + 'a>>, CodecError> {
        Szip.open_parts(payload, descriptor, total, end, work)
    }

    fn divisible(&self) -> Option<&dyn Divisible> {
        Szip.divisible()
    }
}

/// Streams with these parameters, by either backend.
#[derive(Debug)]
struct Stream(Params);

impl Compress for Stream {
    fn append(
        &self,
        bytes: &[u8],
        _: ByteOrder,
        resources: CodecResources,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>, CodecError> {
        match resources.backend.resolve()? {
            #[cfg(feature = "libaec")]
            CompressionBackend::Ffi => {
                let (made, offsets) = libaec::compress(bytes, &self.0)?;
                super::compress::append_made(made, out)?;
                Ok(Some(offsets))
            }
            _ => append_on(resources.threads, bytes, &self.0, out).map(Some),
        }
    }

    fn piecewise(&self, resources: CodecResources) -> Result<Option<usize>, CodecError> {
        let is_ours = !matches!(resources.backend.resolve()?, CompressionBackend::Ffi);
        Ok(is_ours.then_some(self.0.container_size()))
    }

    fn append_made(
        &self,
        len: usize,
        make: &(dyn Fn(usize, &mut [u8]) + Sync),
        resources: CodecResources,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>, CodecError> {
        append_made(resources.threads, len, &self.0, make, out).map(Some)
    }
}

/// Reads parts of a stream, interval by interval.
struct Intervals<'a> {
    payload: &'a [u8],
    params: Params,
    /// The bit at which each interval starts, by the descriptor. It is checked before it is used.
    stored: Option<Uints<'a>>,
    finder: RsiFinder<'a>,
    work: &'a mut Workspace,
}

impl Intervals<'_> {
    /// Uncompressed bytes of an interval.
    fn interval(&self) -> u64 {
        u64::from(self.params.samples_per_rsi().get()) * self.params.container_size() as u64
    }
}

impl PartReader for Intervals<'_> {
    fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64, CodecError> {
        Ok(part.end.checked_next_multiple_of(self.interval()).unwrap_or(part.end))
    }

    fn cost_of_passing(&self, distance: u64) -> u64 {
        // Reading takes half the time of decoding. With offsets, the two intervals before the wanted one are read.
        let read = if self.stored.is_some() { distance.min(2 * self.interval()) } else { distance };
        read / 2
    }

    fn read_into(&mut self, start: u64, out: &mut [u8]) -> Result<(), CodecError> {
        let container = self.params.container_size() as u64;
        if !start.is_multiple_of(container) {
            return Err(CodecError::new("a part must begin with a whole sample"));
        }
        if out.is_empty() {
            return Ok(());
        }
        let sample = start / container;
        let stored = |index| self.stored.as_ref()?.get(usize::try_from(index).ok()?);
        let read = self.finder.intervals_read();
        let start = self.finder.find_sample(sample, stored).map_err(CodecError::from)?;
        let decode = |start: Start, out: &mut [u8]| decode_from(self.payload, &self.params, start, out);
        let position = parallel::decode_in_turns(&self.params, self.params.container_size(), start, out, decode)?;
        let samples = out.len() as u64 / container;
        self.finder.decoded_to(sample.saturating_add(samples), position);
        let decoded = start.skip.saturating_add(samples).saturating_mul(container);
        let passed = self.finder.intervals_read().saturating_sub(read).saturating_mul(self.interval());
        let done = &mut self.work.done;
        *done = Done { decoded: done.decoded.saturating_add(decoded), passed: done.passed.saturating_add(passed) };
        Ok(())
    }
}

/// The parameters of an object's stream.
fn params(descriptor: &Descriptor<'_>) -> Result<Params, CodecError> {
    let packed_bits = match descriptor.encoding().known() {
        Some(Encoding::SimplePacking) => Some(descriptor.packing().map_err(of_descriptor)?.bits_per_value),
        _ => None,
    };
    let shuffled = descriptor.filter().known() != Some(Filter::None);
    params_of(packed_bits, shuffled, descriptor.dtype(), descriptor.szip().map_err(of_descriptor)?)
}

/// The stored parameters, with the width of a sample and the flags that the format implies.
///
/// `packed_bits` is the width of a value under simple_packing. If there is one, it alone decides, even if bytes are
/// shuffled.
fn params_of(packed_bits: Option<u32>, shuffled: bool, dtype: Dtype, stored: SzipParams) -> Result<Params, CodecError> {
    let (bits, implied) = match packed_bits {
        Some(bits) => (whole_samples(bits)?, flags::MSB),
        None if shuffled => (u8::BITS, 0),
        None => (u32::try_from(dtype.byte_width()).unwrap_or(u32::MAX).saturating_mul(u8::BITS), 0),
    };
    Ok(Params::new(bits, stored.block_size, stored.rsi, stored.flags | implied)?)
}

/// Checks that packed values of `bits` bits are whole samples.
fn whole_samples(bits: u32) -> Result<u32, CodecError> {
    match bits {
        8 | 16 | 24 | 32 => Ok(bits),
        _ => Err(CodecError::new(format!(
            "values of {bits} bits cannot be read back: only 8, 16, 24 and 32 bits are whole samples"
        ))),
    }
}

/// Checks that there are bytes if and only if there are values.
fn check_emptiness(payload: &[u8], is_empty: bool) -> Result<(), CodecError> {
    match (payload.is_empty(), is_empty) {
        (true, false) => Err(CodecError::new("the payload is empty, and values are expected")),
        (false, true) => Err(CodecError::new("no values are expected, and the payload is not empty")),
        _ => Ok(()),
    }
}

/// A defect of the descriptor, without its place in the text if that is about a parameter.
fn of_descriptor(error: tgm_core::Error) -> CodecError {
    match error.kind() {
        ErrorKind::MissingKey(_) | ErrorKind::WrongType { .. } | ErrorKind::IntegerRange => {
            CodecError::of_descriptor(error).in_words(error.kind().to_string())
        }
        _ => CodecError::of_descriptor(error),
    }
}
