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

use tgm_core::descriptor::ByteOrder;
use tgm_core::object::DataObject;
use zerocopy::IntoBytes as _;

use super::checked::CheckedMessage;
use super::each_range::{self, refuse_as_the_reference, trusted_ranges};
use super::frameless;
use super::into::check_dtype;
use super::plan::target_order;
use super::scratch::Scratch;
use super::trust::{Trusted, checked_object_of_frame};
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::options::DecodeOptions;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::number::Number;
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
    let (checked, proof) = CheckedMessage::for_values(bytes, options, Some(index))?;
    of_object(Trusted::proven(&checked.object(index)?, proof), ranges, options)
}

/// [`decode_range`] for the bytes of one frame, without its message.
///
/// With `verify_hash`, only the frame's own flag says whether it holds a digest.
///
/// # Errors
/// The errors of the frame and of [`ranges`].
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

/// The values of `ranges` of an object, one buffer for each range.
///
/// It gives the same values as [`decode_range`]. The object is open already, so nothing else of its message is read.
///
/// # Errors
/// [`TensogramError::Encoding`] for a range beyond the object's end; the errors of `verify_hash`, of the limits, and of
/// the object's pipeline.
///
/// Format: FORMAT §5.5.
pub fn ranges(object: &DataObject<'_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<Vec<Vec<u8>>> {
    trusted_ranges(Trusted::new(object, options)?, ranges, options)
}

/// Writes the values of `ranges` of an object to all of `out`, one range behind the other.
///
/// It gives the same values as [`ranges`]: each range of a bitmask begins with a byte of its own. Opening a payload for
/// parts takes one allocation, and the beginning of zstd more. Everything else is as with
/// [`values_into`](crate::values_into).
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; the errors of [`ranges`].
///
/// Format: FORMAT §5.5.
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
    let order = target_order(object.descriptor(), options);
    ranges_in_order(object, ranges, order, options, scratch, out)
}

/// Writes the values of `ranges` of an object to all of `out`, as elements of their own type.
///
/// The values lie in the machine's byte order, whatever `native_byte_order` of the options says. Otherwise this is
/// [`ranges_into`].
///
/// # Errors
/// [`TensogramError::Encoding`] if the elements are not of type `T`; the errors of [`ranges_into`].
///
/// Format: FORMAT §5.5.
pub fn element_ranges_into<T: Number>(
    object: &DataObject<'_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    check_dtype::<T::Element>(object.descriptor())?;
    ranges_in_order(object, ranges, ByteOrder::NATIVE, options, scratch, T::as_elements_mut(out).as_mut_bytes())
}

/// [`ranges_into`] in the given byte order.
fn ranges_in_order(
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
    each_range::decode_ranges_into(Trusted::new(object, options)?, ranges, order, options, scratch, out)
}

/// The values of `ranges` of an object whose payload lies in no frame, one buffer for each range.
///
/// The payload is decoded where it lies. Masks are not restored, because their blobs are not in a payload. Offsets in
/// errors about values count from the payload's start.
///
/// # Errors
/// [`TensogramError::MissingHash`] with `verify_hash`, always: only frames have digests. The errors of the descriptor
/// and of [`ranges`].
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
pub(super) fn of_object(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
    let parts = trusted_ranges(object, ranges, options)?;
    Ok((to_owned::descriptor(object.descriptor(), &MetadataBudget::new(&options.limits))?, parts))
}
