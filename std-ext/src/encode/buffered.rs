//! Messages whose objects are all there: values, encoded bytes, and payload regions of other messages.

use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::options::EncodeOptions;
use crate::base::span::index;
use crate::encode::frame::FrameForm;
use crate::encode::message::{Prepared, fitting};
use crate::encode::object::Object;
use crate::encode::part_error::PartError;
use crate::encode::parts::{Part, plan};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// Encodes a message of `objects`. Each object is a descriptor and the bytes of its elements, in row-major order and in
/// the descriptor's byte order.
///
/// The byte order matters for all bytes. zfp and sz3 compress numbers, and need it to read them. The crate `tensogram`
/// reads numbers for these two codecs in this machine's order, whatever the descriptor says.
/// [`EncodeOptions::value_order`] asks for the same. By default, values that look right only in this machine's order
/// are an error.
///
/// # Errors
/// [`TensogramError::Metadata`] for descriptors that are inconsistent or do not fit their data, for metadata that only
/// the library writes, and for wrong parameters; [`TensogramError::Encoding`] for NaN and infinities that are not
/// allowed, for stages that are unknown or could not be read back, and from codecs.
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, decode, encode};
///
/// let values: Vec<u8> = [1.0_f32, 2.0, 3.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
/// let descriptor = DataObjectDescriptor {
///     obj_type: "ntensor".into(),
///     ndim: 1,
///     shape: vec![3],
///     strides: vec![1],
///     dtype: Dtype::Float32,
///     byte_order: ByteOrder::native(),
///     encoding: "none".into(),
///     filter: "none".into(),
///     compression: "none".into(),
///     masks: None,
///     params: Default::default(),
/// };
/// let message = encode(&GlobalMetadata::default(), &[(&descriptor, &values)], &EncodeOptions::default())?;
/// let (_, objects) = decode(&message, &DecodeOptions::default())?;
/// assert_eq!(objects[0].1, values);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn encode(
    metadata: &GlobalMetadata,
    objects: &[(&DataObjectDescriptor, &[u8])],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let mut message = Vec::new();
    encode_into(metadata, objects, options, &mut message)?;
    Ok(fitting(message))
}

/// [`encode()`] into a buffer that the caller keeps. The message replaces what the buffer held.
///
/// A buffer that has held a message of this size needs no new memory. New memory can take longer than all other work.
/// After an error the content of the buffer is useless, and its memory may be freed.
///
/// # Errors
/// As [`encode()`].
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, EncodeOptions, GlobalMetadata, encode_into};
///
/// let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[3]);
/// let (metadata, options) = (GlobalMetadata::default(), EncodeOptions::default());
/// let mut message = Vec::new();
/// for values in [[1, 2, 3], [4, 5, 6]] {
///     encode_into(&metadata, &[(&descriptor, &values)], &options, &mut message)?;
///     assert_eq!(tgm_core::Message::parse(&message)?.object(0)?.payload(), values);
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn encode_into(
    metadata: &GlobalMetadata,
    objects: &[(&DataObjectDescriptor, &[u8])],
    options: &EncodeOptions,
    message: &mut Vec<u8>,
) -> Result<()> {
    let planned = plan(objects, |(descriptor, data)| Part::Values(descriptor, data, options), options)?;
    Ok(Prepared::new(metadata, planned, options)?.write_to(message)?)
}

/// Bytes of values that are written piece by piece. A message of fewer takes little memory.
const LONG: u64 = 1 << 20;

/// A long message of values that are stored as they are, which nothing reads before they are written. `None` for a shorter one,
/// and if values go through a stage. Writing it fails for values that are not finite.
///
/// # Errors
/// The errors of [`encode()`] that do not come from values.
pub fn prepare_stored<'a>(
    metadata: &GlobalMetadata,
    objects: &[(&'a DataObjectDescriptor, &'a [u8])],
    options: &EncodeOptions,
) -> Result<Option<Prepared<'a>>> {
    if objects.iter().map(|(_, data)| data.len() as u64).sum::<u64>() < LONG {
        return Ok(None);
    }
    let stored = objects
        .iter()
        .enumerate()
        .map(|(index, (descriptor, data))| Object::stored(descriptor, data).map_err(PartError::of(index)).transpose());
    let Some(objects) = stored.collect::<Option<Result<Vec<_>, _>>>() else { return Ok(None) };
    Ok(Some(Prepared::new(metadata, objects?, options)?))
}

/// Encodes a message of `parts`. `options` apply to the message: its metadata, digests and threads.
///
/// Unlike [`encode_pre_encoded`](crate::encode_pre_encoded) this takes over compressed and masked payloads of any
/// encoding. The caller makes sure that a region fits its descriptor.
///
/// # Errors
/// The errors of [`encode`](crate::encode()), with the number of the object. For a region, only its descriptor is checked.
///
/// ```
/// use tgm_std::encode::{Part, encode_parts};
/// use tgm_std::{DecodeOptions, EncodeOptions, decode, decode_descriptors};
///
/// # let bytes = std::fs::read("../tests/data/zfp/fixed_accuracy-0.1.tgm").unwrap();
/// let (mut metadata, descriptors) = decode_descriptors(&bytes)?;
/// metadata.reserved.clear();
/// metadata.base.iter_mut().for_each(|entry| drop(entry.remove("_reserved_")));
/// let object = tgm_core::Message::parse(&bytes)?.object(0)?;
/// let copy = encode_parts(&metadata, &[Part::Region(&descriptors[0], object.region())], &EncodeOptions::default())?;
/// assert_eq!(decode(&copy, &DecodeOptions::default())?.1, decode(&bytes, &DecodeOptions::default())?.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode_parts(
    metadata: &GlobalMetadata,
    parts: &[Part<'_>],
    options: &EncodeOptions,
) -> Result<Vec<u8>, PartError> {
    Prepared::new(metadata, plan(parts, |part| *part, options)?, options)?.into_bytes()
}

/// Makes a message of objects whose bytes went through the pipeline already. The bytes become the payload regions as
/// they are. Nothing is derived from them.
///
/// # Errors
/// The errors of [`encode`] that do not come from the pipeline. `simple_packing` of another type than float64 is refused
/// here too, and the four parameters of packing must be present. [`TensogramError::Metadata`] for `szip_block_offsets`
/// that are not an array of integers, that are empty, do not begin with 0, do not increase or lead past the end of the
/// bytes, and for offsets with another compression than szip.
pub fn encode_pre_encoded(
    metadata: &GlobalMetadata,
    objects: &[(&DataObjectDescriptor, &[u8])],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let objects = objects
        .iter()
        .enumerate()
        .map(|(index, (descriptor, region))| Object::pre_encoded(descriptor, region).map_err(PartError::of(index)));
    let objects = objects.collect::<Result<Vec<_>, PartError>>()?;
    Ok(Prepared::new(metadata, objects, options)?.into_bytes()?)
}

/// Writes the frame of a data object, without a message around it and without padding. With `cbor_before`, the descriptor
/// comes before `payload`, and otherwise after it.
///
/// # Errors
/// [`TensogramError::Metadata`] for a descriptor that cannot be written as CBOR; [`TensogramError::Encoding`] for
/// `simple_packing` of another type than float64, which no reader decodes.
///
/// Format: FORMAT §1.7.
pub fn encode_data_object_frame(
    descriptor: &DataObjectDescriptor,
    payload: &[u8],
    cbor_before: bool,
    hashing: bool,
) -> Result<Vec<u8>> {
    let (mut out, form) = (Vec::new(), FrameForm { hashing, descriptor_first: cbor_before });
    let frame = Object::unchecked(descriptor, payload)?.append_to(&mut out, form)?;
    out.truncate(index(frame.len));
    Ok(out)
}
