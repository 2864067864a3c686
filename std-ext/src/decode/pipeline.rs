//! Where the stages meet: from an object's payload to its values, sizes checked first.
//!
//! One allocation holds the values; a compressed payload that is filtered or packed as well takes a second one for what
//! the decompressor writes. Values that lie in the message as they are wanted are borrowed.

use std::borrow::Cow;
use std::ops::Range;

use tgm_core::ErrorKind;
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Filter};
use tgm_core::object::DataObject;
use tgm_core::stored::{Stored, stored_len, window_of};

use crate::codec::{self, Codec, CodecError, Parts};
use crate::error::{Result, TensogramError};
use crate::kernels::{self, byteswap};
use crate::limits::reserve;
use crate::masks::Masks;
use crate::options::DecodeOptions;
use crate::threads::Threads;

/// The byte order that values are wanted in.
pub(crate) fn target_order(descriptor: &Descriptor<'_>, options: &DecodeOptions) -> ByteOrder {
    if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order() }
}

/// All values of an object, masked ones restored if the options say so.
pub(crate) fn decode_values<'a>(
    object: &DataObject<'a>,
    options: &DecodeOptions,
    threads: Threads,
) -> Result<Cow<'a, [u8]>> {
    let descriptor = object.descriptor();
    let order = target_order(descriptor, options);
    let mut values = decode_unmasked(object, order, options, threads)?;
    if options.restore_non_finite && !descriptor.masks().is_empty() {
        Masks::read(object, options)?.restore_into(0, order, values.to_mut())?;
    }
    Ok(values)
}

/// All values of an object in `order`, masked ones as the encoder left them.
fn decode_unmasked<'a>(
    object: &DataObject<'a>,
    order: ByteOrder,
    options: &DecodeOptions,
    threads: Threads,
) -> Result<Cow<'a, [u8]>> {
    let descriptor = object.descriptor();
    let compression = compression(descriptor)?;
    if compression == Compression::None {
        let stored = stored(object, object.payload())?;
        return match stored.as_values().filter(|_| !must_swap(descriptor, order)) {
            Some(values) => Ok(Cow::Borrowed(values)),
            None => unpack(object, &stored, order, options, threads).map(Cow::Owned),
        };
    }
    let backend = codec::codec(compression, options.compression_backend)?;
    if backend.unpacks(descriptor) {
        return unpack_fused(object, backend, order, options, threads).map(Cow::Owned);
    }
    let mut bytes = decompress(object, options, threads)?;
    let stored = stored(object, &bytes)?;
    if stored.as_values().is_none() {
        return unpack(object, &stored, order, options, threads).map(Cow::Owned);
    }
    if must_swap(descriptor, order) {
        let unit = descriptor.dtype().swap_unit_size();
        threads.pieces(&mut bytes, unit, |_, piece| byteswap::swap_in_place(piece, unit))?;
    }
    Ok(Cow::Owned(bytes))
}

/// The values of several ranges of elements, each in a buffer of its own; what they share is done once.
pub(crate) fn decode_ranges(
    object: &DataObject<'_>,
    ranges: &[Range<u64>],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let lens = range_lens(object, ranges, options)?;
    let end = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let source = RangeSource::open(object, end, options)?;
    let order = target_order(object.descriptor(), options);
    let masks = if options.restore_non_finite { Masks::read(object, options)? } else { Masks::none(object) };
    let decode = |(range, len): (&Range<u64>, usize)| {
        let mut out = reserve(len)?;
        source.decode_into(range, order, options, &mut out)?;
        masks.restore_into(range.start, order, &mut out)?;
        Ok(out)
    };
    ranges.iter().zip(lens).map(decode).collect()
}

/// Where the values of ranges come from.
enum RangeSource<'o, 'a> {
    /// All uncompressed bytes: those of the message, or decompressed once for all ranges.
    All(&'o DataObject<'a>, Cow<'a, [u8]>),
    /// A payload that is decompressed part by part.
    Parts(&'o DataObject<'a>, &'static dyn Codec, Box<dyn Parts + 'a>),
}

impl<'o, 'a> RangeSource<'o, 'a> {
    /// Opens an object for ranges that end with element `end` at the latest.
    fn open(object: &'o DataObject<'a>, end: u64, options: &DecodeOptions) -> Result<Self> {
        let descriptor = object.descriptor();
        let compression = compression(descriptor)?;
        if compression == Compression::None {
            return Ok(Self::All(object, Cow::Borrowed(object.payload())));
        }
        if descriptor.filter().known() == Some(Filter::None) && descriptor.encoding().known().is_some() {
            let backend = codec::codec(compression, options.compression_backend)?;
            let total = stored_len(descriptor)?;
            options.limits.check_bytes(object.payload().len() as u64, descriptor.decoded_len()?)?;
            let window = window_of(descriptor, &(0..end))?;
            let parts = backend.open_parts(object.payload(), descriptor, total, window.end);
            if let Some(parts) = parts.map_err(|error| codec_error(backend, &error))? {
                return Ok(Self::Parts(object, backend, parts));
            }
        }
        Ok(Self::All(object, Cow::Owned(decompress(object, options, Threads::NONE)?)))
    }

    fn decode_into(&self, range: &Range<u64>, order: ByteOrder, options: &DecodeOptions, out: &mut [u8]) -> Result<()> {
        match self {
            Self::All(object, bytes) => {
                let stored = stored(object, bytes)?;
                kernels::decode_stored_into(&stored, range.clone(), order, out)
                    .map_err(|e| e.shift(object.region_offset()))?;
            }
            Self::Parts(object, backend, parts) => {
                let descriptor = object.descriptor();
                let window = window_of(descriptor, range)?;
                let mut bytes = reserve(options.limits.check_bytes(u64::MAX, window.end - window.start)?)?;
                parts.read_into(window.start, &mut bytes).map_err(|error| codec_error(*backend, &error))?;
                Stored::window(descriptor, &bytes, window.start)?.decode_into(range.clone(), order, out)?;
            }
        }
        Ok(())
    }
}

/// Bytes of each range's values, if the object has them and the limits allow them.
fn range_lens(object: &DataObject<'_>, ranges: &[Range<u64>], options: &DecodeOptions) -> Result<Vec<usize>> {
    let descriptor = object.descriptor();
    let lens = ranges.iter().map(|range| range_len(descriptor, range)).collect::<Result<Vec<_>>>()?;
    let total = lens.iter().try_fold(0_u64, |sum, len| sum.checked_add(*len)).unwrap_or(u64::MAX);
    options.limits.check_bytes(u64::MAX, total)?;
    lens.into_iter().map(|len| options.limits.check_bytes(u64::MAX, len)).collect()
}

fn range_len(descriptor: &Descriptor<'_>, range: &Range<u64>) -> Result<u64> {
    let count = range.end.checked_sub(range.start).filter(|_| range.end <= descriptor.element_count());
    count.and_then(|count| descriptor.dtype().byte_len(count)).ok_or_else(|| {
        let (start, count) = (range.start, range.end.saturating_sub(range.start));
        TensogramError::encoding(format!(
            "range (offset={start}, count={count}): range error: range ({start}, {count}) exceeds payload size"
        ))
    })
}

/// The compression's name, which must be one of the format.
fn compression(descriptor: &Descriptor<'_>) -> Result<Compression> {
    let name = descriptor.compression();
    name.known().ok_or_else(|| TensogramError::encoding(format!("unknown compression: {name}")))
}

/// Joins uncompressed bytes with what the descriptor says about them.
fn stored<'a>(object: &DataObject<'_>, bytes: &'a [u8]) -> Result<Stored<'a>> {
    let descriptor = object.descriptor();
    if descriptor.encoding().known().is_none() {
        return Err(TensogramError::encoding(format!("unknown encoding: {}", descriptor.encoding())));
    }
    if descriptor.filter().known().is_none() {
        return Err(TensogramError::encoding(format!("unknown filter: {}", descriptor.filter())));
    }
    Stored::new(descriptor, bytes).map_err(|error| match error.kind() {
        ErrorKind::PayloadSize => {
            let claimed = stored_len(descriptor).unwrap_or(u64::MAX);
            TensogramError::encoding(format!(
                "descriptor claims {claimed} decoded byte(s) but frame payload is {} byte(s) (encoding {}, dtype width {})",
                bytes.len(),
                descriptor.encoding(),
                descriptor.dtype().byte_width(),
            ))
        }
        _ => error.into(),
    })
}

fn must_swap(descriptor: &Descriptor<'_>, order: ByteOrder) -> bool {
    descriptor.byte_order() != order && descriptor.dtype().swap_unit_size() > 1
}

/// Unshuffles and unpacks all values into a buffer of their own.
fn unpack(
    object: &DataObject<'_>,
    stored: &Stored<'_>,
    order: ByteOrder,
    options: &DecodeOptions,
    threads: Threads,
) -> Result<Vec<u8>> {
    let decoded_len = object.descriptor().decoded_len()?;
    let mut out = reserve(options.limits.check_bytes(object.payload().len() as u64, decoded_len)?)?;
    // Bits of a bitmask have no bytes of their own to start with.
    let (width, threads) = match object.descriptor().dtype().byte_width() {
        0 => (1, Threads::NONE),
        width => (width, threads),
    };
    let count = stored.element_count();
    threads.pieces(&mut out, width, |start, piece| {
        let first = (start / width) as u64;
        let end = if piece.len() as u64 == decoded_len { count } else { first + (piece.len() / width) as u64 };
        kernels::decode_stored_into(stored, first..end, order, piece).map_err(|e| e.shift(object.region_offset()))
    })?;
    Ok(out)
}

/// Decompresses and unpacks in one pass.
fn unpack_fused(
    object: &DataObject<'_>,
    backend: &dyn Codec,
    order: ByteOrder,
    options: &DecodeOptions,
    threads: Threads,
) -> Result<Vec<u8>> {
    let descriptor = object.descriptor();
    let mut out = reserve(options.limits.check_bytes(object.payload().len() as u64, descriptor.decoded_len()?)?)?;
    let unpacked = backend.unpack_into(object.payload(), descriptor, order, &mut out, threads);
    unpacked.map_err(|error| codec_error(backend, &error))?;
    Ok(out)
}

/// Undoes the compression. What it must give is known from the descriptor, so that nothing in the payload is believed.
fn decompress(object: &DataObject<'_>, options: &DecodeOptions, threads: Threads) -> Result<Vec<u8>> {
    let descriptor = object.descriptor();
    let backend = codec::codec(compression(descriptor)?, options.compression_backend)?;
    let encoded = object.payload().len() as u64;
    options.limits.check_bytes(encoded, descriptor.decoded_len()?)?;
    let mut out = reserve(options.limits.check_bytes(encoded, stored_len(descriptor)?)?)?;
    let decompressed = backend.decompress_on(threads, object.payload(), descriptor, &mut out);
    decompressed.map_err(|error| codec_error(backend, &error))?;
    Ok(out)
}

/// What a backend said, with its name.
fn codec_error(backend: &dyn Codec, error: &CodecError) -> TensogramError {
    TensogramError::encoding(format!("{} compression: {error}", backend.name()))
}
