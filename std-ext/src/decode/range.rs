//! Parts of an object's values (FORMAT §5.5).
//!
//! A range is a first element and a count, over the flattened tensor. Ranges may overlap, repeat and come in any order.
//! Each gives one output, in the order given.
//!
//! | values are | what a call reads |
//! |---|---|
//! | not compressed | the bytes of the ranges |
//! | compressed in blocks | the blocks that the ranges need, each once, whatever the order of the ranges |
//! | compressed otherwise, or shuffled and compressed | the whole payload, once for all ranges |
//!
//! With `verify_hash`, the whole frame of the object is read and hashed before, once a call: a digest covers the whole
//! frame.

use std::borrow::Cow;
use std::mem;

use tgm_codec::memory::at_least;
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype, Encoding};
use tgm_core::tensor::Element;
use zerocopy::IntoBytes as _;

use super::bounds::{check_ranges, count_of};
use super::checked::CheckedMessage;
use super::each_range::{self, refuse_as_the_reference, trusted_ranges};
use super::plan::threads_for;
use super::scratch::Scratch;
use super::select::borrowed;
use super::trust::{Trusted, checked_object_of_frame};
use super::typed::{Float, check_real, convert};
use super::{frameless, unpack};
use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::base::options::DecodeOptions;
use crate::base::span::span;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::DataObjectDescriptor;

/// The descriptor of object `index` of a message, and the values of `ranges`, one buffer for each range.
///
/// The values of a range are bytes in the byte order that the options say, masked ones restored if the options say so.
/// A bitmask's values are packed bits: the first value of each range is the highest bit of its buffer.
///
/// # Errors
/// [`TensogramError::Object`] if there is no such object; [`TensogramError::Encoding`] for a range beyond the object's
/// end; the errors of the format's checks, of `verify_hash`, of the limits, and of the object's pipeline.
///
/// Format: FORMAT §5.5.
pub fn decode_range(
    bytes: &[u8],
    index: usize,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    CheckedMessage::read_object(bytes, index, options, |object| of_object(object, ranges, options))
}

/// [`decode_range`] for the bytes of one frame, without its message.
///
/// With `verify_hash`, only the frame's own flag says whether it holds a digest.
///
/// # Errors
/// The errors of the frame and of [`Read::bytes`](crate::Read::bytes).
///
/// Format: FORMAT §5.5.
pub fn decode_range_from_frame(
    frame: &[u8],
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    let (object, proof) = checked_object_of_frame(frame, options)?;
    of_object(Trusted::proven(&object, proof), ranges, options)
}

/// The values of `ranges` of an object that may be trusted, one range after the other, as bytes in `order`. They are
/// borrowed if there is one range, which lies in the message as it is wanted.
///
/// # Errors
/// The errors of [`decode_ranges_into`](each_range::decode_ranges_into).
pub(super) fn range_bytes<'a>(
    object: Trusted<'_, 'a>,
    ranges: &[(u64, u64)],
    order: ByteOrder,
    options: &DecodeOptions,
) -> Result<Cow<'a, [u8]>> {
    let descriptor = object.descriptor();
    refuse_if_asked(descriptor, ranges, options)?;
    let len = check_ranges(descriptor, ranges, options)?;
    if let [(start, count)] = ranges
        && let Some(bytes) = borrowed(object, &span(*start, *count), *count, order, options)?
    {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut out = reserve(options.limits.check_bytes(u64::MAX, len)?)?;
    each_range::decode_ranges_into(object, ranges, order, options, &mut Scratch::default(), &mut out)?;
    Ok(Cow::Owned(out))
}

/// [`range_bytes`] into all of `out`.
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; the errors of [`range_bytes`].
pub(super) fn write_ranges(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    order: ByteOrder,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    refuse_if_asked(object.descriptor(), ranges, options)?;
    each_range::decode_ranges_into(object, ranges, order, options, scratch, out)
}

/// The values of `ranges` of an object that may be trusted, as floats, one range after the other, into all of `out`.
///
/// # Errors
/// [`TensogramError::Encoding`] for complex values, and if `out` is shorter or longer; the errors of
/// [`range_bytes`].
pub(super) fn range_floats<T: Float>(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    let descriptor = object.descriptor();
    let dtype = descriptor.dtype();
    check_real(descriptor)?;
    if dtype == <T as Element>::DTYPE {
        let out = T::as_elements_mut(out).as_mut_bytes();
        return write_ranges(object, ranges, ByteOrder::NATIVE, options, scratch, out);
    }
    refuse_if_asked(descriptor, ranges, options)?;
    let len = check_ranges(descriptor, ranges, options)?;
    let expected = count_of(ranges)?;
    let given = out.len();
    if given as u64 != expected {
        return Err(TensogramError::encoding(format!("output has {given} values, the ranges have {expected}")));
    }
    if let ([(start, _)], Some(Encoding::SimplePacking)) = (ranges, descriptor.encoding().known()) {
        return unpack::unpack_into(object, *start, options, threads_for(object, options)?, scratch, out);
    }
    // Out of the scratch for as long as decoding works in the rest of it.
    let mut buffer = mem::take(&mut scratch.values);
    let len = options.limits.check_bytes(u64::MAX, len)?;
    let converted = at_least(&mut buffer, len).map_err(TensogramError::from).and_then(|bytes| {
        each_range::decode_ranges_into(object, ranges, ByteOrder::NATIVE, options, scratch, bytes)?;
        convert_ranges(dtype, bytes, ranges, out)
    });
    scratch.values = buffer;
    converted
}

/// Converts the values of ranges. Each range begins with a byte of its own.
///
/// # Errors
/// [`TensogramError::Encoding`] if the ranges have more bytes or values than are given.
pub(super) fn convert_ranges<T: Float>(
    dtype: Dtype,
    mut bytes: &[u8],
    ranges: &[(u64, u64)],
    mut out: &mut [T],
) -> Result<()> {
    let shorter = || TensogramError::encoding("ranges are longer than they were found to be");
    for (_, count) in ranges {
        let len = dtype.byte_len(*count).and_then(|len| usize::try_from(len).ok());
        let (values, rest) = len.and_then(|len| bytes.split_at_checked(len)).ok_or_else(shorter)?;
        let places = usize::try_from(*count).ok().and_then(|count| out.split_at_mut_checked(count));
        let (places, others) = places.ok_or_else(shorter)?;
        convert(dtype, values, places)?;
        (bytes, out) = (rest, others);
    }
    Ok(())
}

fn refuse_if_asked(descriptor: &Descriptor<'_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<()> {
    if options.reference_range_refusals { refuse_as_the_reference(descriptor, ranges.is_empty()) } else { Ok(()) }
}

/// The values of `ranges` of an object whose payload lies in no frame, one buffer for each range.
///
/// The payload is decoded where it lies. Masks are not restored, because their blobs are not in a payload. Offsets in
/// errors about values count from the payload's start.
///
/// # Errors
/// [`TensogramError::MissingHash`] with `verify_hash`, always: only frames have digests. The errors of the descriptor
/// and of [`Read::bytes`](crate::Read::bytes).
///
/// Format: FORMAT §5.5.
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, decode_range_from_payload};
///
/// let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[2, 2]);
/// let parts = decode_range_from_payload(&descriptor, &[1, 2, 3, 4], &[(1, 2)], &DecodeOptions::default())?;
/// assert_eq!(parts, [[2, 3]]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn decode_range_from_payload(
    descriptor: &DataObjectDescriptor,
    payload: &[u8],
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    frameless::decode_payload_ranges(descriptor, payload, ranges, options)
}

/// The object's descriptor, owned, with [`trusted_ranges`].
pub(crate) fn of_object(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    let parts = trusted_ranges(object, ranges, options)?;
    Ok((to_owned::descriptor(object.descriptor(), &MetadataBudget::new(&options.limits))?, parts))
}
