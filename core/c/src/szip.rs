//! szip: bare streams, and objects that are compressed with it.

use core::ops::Range;

use tgm_core::byteswap::swap_in_place;
use tgm_core::descriptor::{ByteOrder, Encoding, Filter};
#[cfg(feature = "packing")]
use tgm_core::descriptor::{Compression, Dtype, Stage};
use tgm_core::object::DataObject;
use tgm_core::stored::{Stored, stored_len};
use tgm_core::szip::{Params, Start, decode_from, decode_range_into};
use tgm_core::{Error, ErrorKind};

use crate::abi::{Fault, Status, SzipParams};
use crate::pointers::{Outcome, bytes, check_aligned, copy, output, span, status};

impl SzipParams {
    fn check(self) -> Outcome<Params> {
        let params = Params::new(self.bits_per_sample, self.block_size, self.rsi, self.flags);
        Ok(params.map_err(|kind| kind.at(0))?)
    }
}

/// Calls `decode` with a stream and its parameters. Returns the status.
///
/// # Safety
/// `stream` has `stream_len` bytes; `params` is NULL or can be read; `error` is NULL or can be written.
unsafe fn with_stream(
    (stream, stream_len): (*const u8, usize),
    params: *const SzipParams,
    error: *mut Fault,
    decode: impl FnOnce(&[u8], &Params) -> Outcome<()>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe {
        let result = bytes(stream, stream_len).and_then(|stream| decode(stream, &copy(params)?.check()?));
        status(error, result)
    }
}

/// Decodes a stream from its start.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_szip_decode"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_szip_decode(
    stream: *const u8,
    stream_len: usize,
    params: *const SzipParams,
    out: *mut u8,
    out_len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        with_stream((stream, stream_len), params, error, |stream, params| {
            decode_from(stream, params, Start::default(), output(out, out_len, &[span(stream)])?)?;
            Ok(())
        })
    }
}

/// Decodes samples from any one on.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_szip_decode_range"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_szip_decode_range(
    stream: *const u8,
    stream_len: usize,
    params: *const SzipParams,
    rsi_offsets: *const u64,
    rsi_count: usize,
    first_sample: u64,
    out: *mut u8,
    out_len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        with_stream((stream, stream_len), params, error, |stream, params| {
            check_aligned(rsi_offsets)?;
            let offsets_len = rsi_count.checked_mul(size_of::<u64>()).ok_or(crate::kinds::LENGTH.fault())?;
            let offsets = bytes(rsi_offsets.cast(), offsets_len)?;
            let out = output(out, out_len, &[span(stream), span(offsets)])?;
            let (offsets, _) = offsets.as_chunks();
            let offsets = offsets.iter().map(|offset| u64::from_ne_bytes(*offset));
            Ok(decode_range_into(stream, params, offsets, first_sample, out)?)
        })
    }
}

/// Decodes a range of an object that is compressed with szip. `out` has the range's length.
pub(crate) fn decode_object(
    object: &DataObject<'_>,
    range: Range<u64>,
    order: ByteOrder,
    out: &mut [u8],
    scratch: &mut [u8],
) -> Outcome<()> {
    let descriptor = object.descriptor();
    let base = |error: Error| error.shift(object.region_offset());
    let start = range.start;
    match (descriptor.encoding().known(), descriptor.filter().known()) {
        #[cfg(feature = "packing")]
        (Some(Encoding::SimplePacking), Some(Filter::None)) => {
            let (slots, _) = out.as_chunks_mut();
            match order {
                ByteOrder::Big => decode_packed(object, start, slots, f64::to_be_bytes)?,
                ByteOrder::Little => decode_packed(object, start, slots, f64::to_le_bytes)?,
            }
        }
        (Some(Encoding::None), Some(Filter::None)) => {
            let params = Params::of(descriptor)?;
            decode_from(object.payload(), &params, Start { bit_offset: 0, skip: start }, out).map_err(base)?;
            if order != descriptor.byte_order() {
                swap_in_place(out, descriptor.dtype().swap_unit_size()).map_err(base)?;
            }
        }
        _ => {
            let params = Params::of(descriptor)?;
            let len = usize::try_from(stored_len(descriptor)?).ok();
            let bytes = len.and_then(|len| scratch.get_mut(..len)).ok_or(base(ErrorKind::OutputLength.at(0)))?;
            decode_from(object.payload(), &params, Start::default(), bytes).map_err(base)?;
            Stored::new(descriptor, bytes)?.decode_into(range, order, out).map_err(base)?;
        }
    }
    Ok(object.restore_into(start, order, out)?)
}

/// Decodes packed values from `start` on, in one pass. Samples before them are decoded, too.
#[cfg(feature = "packing")]
fn decode_packed<T: Copy>(object: &DataObject<'_>, start: u64, out: &mut [T], store: impl Fn(f64) -> T) -> Outcome<()> {
    let descriptor = object.descriptor();
    let at = descriptor.offset();
    if descriptor.compression().known() != Some(Compression::Szip) || descriptor.filter().known() != Some(Filter::None)
    {
        let stage = descriptor.pending_stage().unwrap_or(Stage::Compression(Some(Compression::None)));
        return Err(ErrorKind::NeedsDecoding(stage).at(at).into());
    }
    if descriptor.encoding().known() != Some(Encoding::SimplePacking) {
        return Err(ErrorKind::NotPacked.at(at).into());
    }
    if descriptor.dtype() != Dtype::Float64 {
        return Err(ErrorKind::DtypeMismatch { expected: Dtype::Float64, found: descriptor.dtype() }.at(at).into());
    }
    let (params, formula) = (Params::of(descriptor)?, descriptor.packing()?.formula());
    let start = Start { bit_offset: 0, skip: start };
    tgm_core::szip::decode_packed_with(object.payload(), &params, start, formula, out, store)
        .map_err(|error| error.shift(object.region_offset()))?;
    Ok(())
}

/// Unpacks values from `start` on.
#[cfg(feature = "packing")]
pub(crate) fn unpack<T: crate::float::Float>(object: &DataObject<'_>, start: u64, out: &mut [T]) -> Outcome<()> {
    decode_packed(object, start, out, T::nearest)
}
