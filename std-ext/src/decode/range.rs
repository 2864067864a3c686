//! Parts of an object's values (FORMAT §5.5).
//!
//! A range is a first element and a count, over the flattened tensor. Ranges may overlap, repeat and come in any order; each
//! gets a buffer of its own. Where values are not compressed, only the bytes of the ranges are read; where the codec has blocks,
//! those that the ranges need, each once, whatever their order; otherwise the payload is decompressed once for all of them.
//! With `verify_hash` all of the object's frame is read and hashed before, once for all ranges of a call: a digest covers the
//! whole frame.

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Filter};
use tgm_core::object::DataObject;
use zerocopy::IntoBytes as _;

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::decode::into::check_dtype;
use crate::decode::trust::Trusted;
use crate::decode::{Opened, Scratch, checked_object_of_frame, object_of_frame, pipeline};
use crate::encode::encode_data_object_frame;
use crate::model::number::Number;
use crate::model::room::Room;
use crate::model::to_owned;
use crate::model::types::DataObjectDescriptor;

/// What object `index` of a message is, and the values of `ranges`, one buffer each.
///
/// A bitmask's values come as packed bits, the first of each range in the highest bit of its buffer's first byte.
///
/// # Errors
/// [`TensogramError::Object`] if there is no such object; [`TensogramError::Encoding`] for a range beyond its end; those of
/// the format's checks, of `verify_hash` if asked for, and of the object's pipeline.
pub fn decode_range(
    bytes: &[u8],
    index: usize,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    let (opened, proof) = Opened::for_values(bytes, options, Some(index))?;
    of_object(Trusted::proven(&opened.object(index)?, proof), ranges, options)
}

/// [`decode_range`] for one frame's bytes, apart from any message: with `verify_hash` its own flag alone says whether it
/// holds a digest.
///
/// # Errors
/// As [`decode_range`].
pub fn decode_range_from_frame(
    frame: &[u8],
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    let (object, proof) = checked_object_of_frame(frame, options)?;
    of_object(Trusted::proven(&object, proof), ranges, options)
}

/// The values of `ranges` of an object that is already open, one buffer each.
///
/// # Errors
/// As [`decode_range`].
pub fn ranges(object: &DataObject<'_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Vec<Vec<u8>>> {
    trusted_ranges(Trusted::new(object, options)?, ranges, options)
}

fn trusted_ranges(object: Trusted<'_, '_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Vec<Vec<u8>>> {
    if options.reference_range_refusals {
        refuse_as_the_reference(object.descriptor(), ranges.is_empty())?;
    }
    pipeline::decode_ranges(object, ranges, options)
}

/// The values of `ranges` of an object, one after the other, into all of a buffer that the caller keeps.
///
/// As [`ranges`] gives them: a range of a bitmask begins with a byte of its own. A payload that is read in parts takes
/// an allocation to be opened, the beginning of zstd further ones; all else is as with
/// [`values_into`](crate::values_into).
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; those of [`ranges`].
///
/// ```
/// use tgm_std::{DecodeOptions, Scratch, ranges_into};
///
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm").unwrap();
/// let message = tgm_core::Message::parse(&bytes)?;
/// let mut out = [0; 3 * 4];
/// ranges_into(&message.object(0)?, &[(1, 2), (0, 1)], &DecodeOptions::default(), &mut Scratch::default(), &mut out)?;
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn ranges_into(
    object: &DataObject<'_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    let order = pipeline::target_order(object.descriptor(), options);
    in_order(object, ranges, order, options, scratch, out)
}

/// [`ranges_into`] for values as what they are. `native_byte_order` of the options has no say here.
///
/// # Errors
/// [`TensogramError::Encoding`] if the elements are not of type `T`; those of [`ranges_into`].
pub fn element_ranges_into<T: Number>(
    object: &DataObject<'_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    check_dtype::<T::Element>(object.descriptor())?;
    in_order(object, ranges, ByteOrder::NATIVE, options, scratch, T::as_elements_mut(out).as_mut_bytes())
}

fn in_order(
    object: &DataObject<'_>,
    ranges: &[(u64, u64)],
    order: ByteOrder,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    if options.reference_range_refusals {
        refuse_as_the_reference(object.descriptor(), ranges.is_empty())?;
    }
    pipeline::decode_ranges_into(Trusted::new(object, options)?, ranges, order, options, scratch, out)
}

/// The values of `ranges` of an object whose descriptor and payload are not in a frame. Masks are not restored: their blobs
/// are no part of a payload.
///
/// # Errors
/// As [`decode_range`]. With `verify_hash` it always is [`TensogramError::MissingHash`]: digests are of frames.
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
    let unmasked = DataObjectDescriptor { masks: None, ..descriptor.clone() };
    let frame = encode_data_object_frame(&unmasked, &[], false, false)?;
    self::ranges(&object_of_frame(&frame)?.with_payload(payload), ranges, options)
}

fn of_object(
    object: Trusted<'_, '_>,
    wanted: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    let parts = trusted_ranges(object, wanted, options)?;
    Ok((to_owned::descriptor(object.descriptor(), &Room::new(&options.limits))?, parts))
}

/// The cases in which the reference gives no ranges (FORMAT §5.5).
fn refuse_as_the_reference(descriptor: &Descriptor<'_>, is_empty: bool) -> Result<()> {
    if descriptor.filter().known() != Some(Filter::None) {
        return Err(TensogramError::encoding("decode_range is not supported when a filter (e.g. shuffle) is applied"));
    }
    if descriptor.dtype() == Dtype::Bitmask {
        return Err(TensogramError::encoding("partial range decode not supported for bitmask dtype"));
    }
    match descriptor.compression().known() {
        Some(Compression::Szip) if descriptor.szip_block_offsets()?.is_none() => Err(TensogramError::Compression(
            "missing szip_block_offsets in payload metadata (required for partial range decode)".into(),
        )),
        Some(Compression::Zstd | Compression::Lz4 | Compression::Sz3) if !is_empty => {
            Err(TensogramError::encoding("range decode not supported for this compressor"))
        }
        _ => Ok(()),
    }
}
