//! Where the stages meet: from an object's payload to its values, sizes checked first.
//!
//! One allocation holds the values; a compressed payload that is filtered or packed as well takes a second one for what
//! the decompressor writes. Values that lie in the message as they are wanted are borrowed.

use std::borrow::Cow;
use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor};
use tgm_core::object::DataObject;
use tgm_core::stored::{Stored, stored_len};
use tgm_core::{ErrorKind, byteswap};

use crate::codec;
use crate::error::{Result, TensogramError};
use crate::limits::reserve;
use crate::masks::Masks;
use crate::options::DecodeOptions;

/// The byte order that values are wanted in.
pub(crate) fn target_order(descriptor: &Descriptor<'_>, options: &DecodeOptions) -> ByteOrder {
    if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order() }
}

/// All values of an object, masked ones restored if the options say so.
pub(crate) fn decode_values<'a>(object: &DataObject<'a>, options: &DecodeOptions) -> Result<Cow<'a, [u8]>> {
    let descriptor = object.descriptor();
    let order = target_order(descriptor, options);
    let mut values = decode_unmasked(object, order, options)?;
    if options.restore_non_finite && !descriptor.masks().is_empty() {
        Masks::read(object, options)?.restore_into(0, order, values.to_mut())?;
    }
    Ok(values)
}

/// All values of an object in `order`, masked ones as the encoder left them.
fn decode_unmasked<'a>(object: &DataObject<'a>, order: ByteOrder, options: &DecodeOptions) -> Result<Cow<'a, [u8]>> {
    let descriptor = object.descriptor();
    if compression(descriptor)? == Compression::None {
        let stored = stored(object, object.payload())?;
        return match stored.as_values().filter(|_| !must_swap(descriptor, order)) {
            Some(values) => Ok(Cow::Borrowed(values)),
            None => unpack(object, &stored, order, options).map(Cow::Owned),
        };
    }
    let mut bytes = decompress(object, options)?;
    let stored = stored(object, &bytes)?;
    if stored.as_values().is_none() {
        return unpack(object, &stored, order, options).map(Cow::Owned);
    }
    if must_swap(descriptor, order) {
        byteswap::swap_in_place(&mut bytes, descriptor.dtype().swap_unit_size())?;
    }
    Ok(Cow::Owned(bytes))
}

/// The values of several ranges of elements, each in a buffer of its own; what they share is done once.
pub(crate) fn decode_ranges(
    object: &DataObject<'_>,
    ranges: &[Range<u64>],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    let descriptor = object.descriptor();
    let order = target_order(descriptor, options);
    let bytes = match compression(descriptor)? {
        _ if ranges.is_empty() => return Ok(Vec::new()),
        Compression::None => Cow::Borrowed(object.payload()),
        _ => Cow::Owned(decompress(object, options)?),
    };
    let stored = stored(object, &bytes)?;
    let lens = ranges.iter().map(|range| range_len(&stored, range)).collect::<Result<Vec<_>>>()?;
    let total = lens.iter().try_fold(0_u64, |sum, len| sum.checked_add(*len)).unwrap_or(u64::MAX);
    options.limits.check_bytes(u64::MAX, total)?;
    let masks = if options.restore_non_finite { Masks::read(object, options)? } else { Masks::none(object) };
    let decode = |(range, len): (&Range<u64>, u64)| {
        let mut out = reserve(options.limits.check_bytes(u64::MAX, len)?)?;
        stored.decode_into(range.clone(), order, &mut out).map_err(|e| e.shift(object.region_offset()))?;
        masks.restore_into(range.start, order, &mut out)?;
        Ok(out)
    };
    ranges.iter().zip(lens).map(decode).collect()
}

/// Bytes of a range's values, if the object has them.
fn range_len(stored: &Stored<'_>, range: &Range<u64>) -> Result<u64> {
    stored.output_len(range).map_err(|_| {
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
fn unpack(object: &DataObject<'_>, stored: &Stored<'_>, order: ByteOrder, options: &DecodeOptions) -> Result<Vec<u8>> {
    let decoded_len = object.descriptor().decoded_len()?;
    let mut out = reserve(options.limits.check_bytes(object.payload().len() as u64, decoded_len)?)?;
    stored.decode_into(0..stored.element_count(), order, &mut out).map_err(|e| e.shift(object.region_offset()))?;
    Ok(out)
}

/// Undoes the compression. What it must give is known from the descriptor, so that nothing in the payload is believed.
fn decompress(object: &DataObject<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    let descriptor = object.descriptor();
    let backend = codec::codec(compression(descriptor)?)?;
    let encoded = object.payload().len() as u64;
    options.limits.check_bytes(encoded, descriptor.decoded_len()?)?;
    let mut out = reserve(options.limits.check_bytes(encoded, stored_len(descriptor)?)?)?;
    backend
        .decompress_into(object.payload(), descriptor, &mut out)
        .map_err(|error| TensogramError::encoding(format!("{} compression: {error}", backend.name())))?;
    Ok(out)
}
