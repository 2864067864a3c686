//! Messages and objects decoded into values that the caller owns (FORMAT §5.2).
//!
//! Each function opens the first message of the bytes that it is given; what follows is ignored. The message is walked from
//! frame to frame, as the reference does it: index frames must be well-formed, what they say is not followed. Whoever wants
//! the index, or values that stay borrowed, opens a [`tgm_core::Message`] and hands its objects to [`values`].

pub mod into;
pub(crate) mod masks;
pub mod object_table;
mod parts;
pub(crate) mod pipeline;
pub mod range;
mod scratch;
pub(crate) mod trust;
pub mod typed;
mod visits;

use std::borrow::Cow;

use tgm_core::Message;
use tgm_core::cbor::MAX_NESTING;
use tgm_core::frame::Frame;
use tgm_core::index::{HashList, Index};
use tgm_core::message::Outline;
use tgm_core::metadata::MessageMetadata;
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;

use crate::base::error::{Result, TensogramError};
pub use crate::base::options::DecodeOptions;
use crate::base::threads::Threads;
use crate::decode::masks::{MaskBuffers, Masks};
pub use crate::decode::range::{
    decode_range, decode_range_from_frame, decode_range_from_payload, element_ranges_into, ranges, ranges_into,
};
use crate::model::room::Room;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};
pub use crate::model::types::{DecodedMaskSet, DecodedObjectWithMasks};
pub use into::{elements_into, unpack_into, values_into};
pub use object_table::ObjectTable;
pub use scratch::Scratch;
use trust::{Proof, Trust, Trusted};
pub use typed::{Float, to_vec, values_as, values_as_into};

/// The message that `bytes` begin with.
fn message(bytes: &[u8]) -> Result<Message<'_>> {
    Message::parse(bytes).map_err(|error| TensogramError::opening(error, bytes.len()))
}

/// The values of one object, borrowed from the message where they lie in it as they are wanted.
///
/// Bytes in row-major order, of the machine's byte order or the stored one as the options say, masked values restored if
/// they say so. One allocation at most for the values.
///
/// With `verify_hash` the object's digest is checked first, which reads its frame once more. Whether it has one the object
/// knows from its message ([`tgm_core::frame::Frame::hash_presence`]), but not which object of it this is: errors name none.
///
/// # Errors
/// With `verify_hash` [`TensogramError::HashMismatch`] and [`TensogramError::MissingHash`];
/// [`TensogramError::Encoding`] and [`TensogramError::Metadata`] for a pipeline that cannot be undone, or would exceed the
/// limits; [`TensogramError::Framing`] for masks that make no sense.
///
/// ```
/// use tgm_std::{DecodeOptions, values};
///
/// # let bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm").unwrap();
/// let message = tgm_core::Message::parse(&bytes)?;
/// let object = message.object(0)?;
/// let values = values(&object, &DecodeOptions::default())?;
/// assert_eq!(values.len() as u64, 4 * object.descriptor().element_count());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn values<'a>(object: &DataObject<'a>, options: &DecodeOptions) -> Result<Cow<'a, [u8]>> {
    trusted_values(Trusted::new(object, options)?, options)
}

/// The metadata and all objects of a message.
///
/// # Errors
/// Those of the format's checks (FORMAT §1.10), of `verify_hash` if asked for, and of each object's pipeline.
pub fn decode(bytes: &[u8], options: &DecodeOptions) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
    let (opened, proof) = Opened::for_values(bytes, options, None)?;
    let objects =
        opened.map_objects(proof, options, |object, threads| decoded(object, options, threads, &opened.room))?;
    Ok((to_owned::message_metadata(&opened.metadata, &opened.room)?, objects))
}

/// The metadata of the first metadata frame, nothing else being read. In a streamed message that is what the writer knew
/// when it began; [`decode_descriptors`] gives what it knew at the end.
///
/// # Errors
/// Those of the frames before it and of its CBOR.
pub fn decode_metadata(bytes: &[u8]) -> Result<GlobalMetadata> {
    to_owned::frame_metadata(&message(bytes)?.first_metadata()?, &Room::by_default())
}

/// The metadata of a message and what its objects are; no payload is read.
///
/// # Errors
/// Those of the format's checks.
pub fn decode_descriptors(bytes: &[u8]) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> {
    let opened = Opened::open(bytes, &DecodeOptions::default())?;
    let descriptors = opened.message.objects().map(|object| to_owned::descriptor(object?.descriptor(), &opened.room));
    let descriptors = descriptors.collect::<Result<_>>()?;
    Ok((to_owned::message_metadata(&opened.metadata, &opened.room)?, descriptors))
}

/// The metadata of a message, and object `index`: what it is, and its values.
///
/// # Errors
/// [`TensogramError::Object`] if there is no such object; those of the format's checks, of `verify_hash` if asked for, and
/// of the object's pipeline.
pub fn decode_object(
    bytes: &[u8],
    index: usize,
    options: &DecodeOptions,
) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> {
    let (opened, proof) = Opened::for_values(bytes, options, Some(index))?;
    let object = opened.object(index)?;
    let (descriptor, values) =
        decoded(Trusted::proven(&object, proof), options, threads(options, &object)?, &opened.room)?;
    Ok((to_owned::message_metadata(&opened.metadata, &opened.room)?, descriptor, values))
}

/// The metadata and all objects of a message with zeros where values are masked, and the masks.
///
/// # Errors
/// As [`decode`].
pub fn decode_with_masks(
    bytes: &[u8],
    options: &DecodeOptions,
) -> Result<(GlobalMetadata, Vec<DecodedObjectWithMasks>)> {
    let (opened, proof) = Opened::for_values(bytes, options, None)?;
    let options = DecodeOptions { restore_non_finite: false, ..options.clone() };
    let objects = opened.map_objects(proof, &options, |object, threads| {
        let (descriptor, payload) = decoded(object, &options, threads, &opened.room)?;
        let masks = Masks::read(object, &options, &mut MaskBuffers::default())?.to_bools(&options)?;
        Ok(DecodedObjectWithMasks { descriptor, payload, masks })
    })?;
    Ok((to_owned::message_metadata(&opened.metadata, &opened.room)?, objects))
}

/// The object that one frame's bytes hold, apart from any message.
///
/// # Errors
/// Those of the frame, of `verify_hash` if asked for, and of the pipeline.
pub fn decode_object_from_frame(frame: &[u8], options: &DecodeOptions) -> Result<DecodedObject> {
    let (object, proof) = checked_object_of_frame(frame, options)?;
    decoded(Trusted::proven(&object, proof), options, threads(options, &object)?, &Room::new(&options.limits))
}

/// Reads the data object that `frame` holds, after its digest was checked if the options ask for it. Without a message
/// around it, the frame's own flag is all there is to go by.
pub(crate) fn checked_object_of_frame<'a>(frame: &'a [u8], options: &DecodeOptions) -> Result<(DataObject<'a>, Proof)> {
    let (frame, _) = Frame::parse(frame)?;
    let proof = Trust::of_frame(&frame, options).check(&frame, None)?;
    Ok((DataObject::parse(frame)?, proof))
}

/// Reads the data object that `frame` holds; nothing is checked but its structure.
pub(crate) fn object_of_frame(frame: &[u8]) -> Result<DataObject<'_>> {
    let (frame, _) = Frame::parse(frame)?;
    Ok(DataObject::parse(frame)?)
}

/// The threads that one object's payload is worth.
fn threads(options: &DecodeOptions, object: &DataObject<'_>) -> Result<Threads> {
    Threads::resolve(options.threads, object.payload().len() as u64, options.parallel_threshold_bytes)
}

/// [`values`] of an object that may be trusted.
pub(crate) fn trusted_values<'a>(object: Trusted<'_, 'a>, options: &DecodeOptions) -> Result<Cow<'a, [u8]>> {
    let len = object.payload().len() as u64;
    let threads = Threads::resolve(options.threads, len, options.parallel_threshold_bytes)?;
    pipeline::decode_values(object, options, threads)
}

fn decoded(object: Trusted<'_, '_>, options: &DecodeOptions, threads: Threads, room: &Room) -> Result<DecodedObject> {
    let values = pipeline::decode_values(object, options, threads)?;
    Ok((to_owned::descriptor(object.descriptor(), room)?, values.into_owned()))
}

/// A message whose structure and metadata passed every check that the format asks of a full decode.
pub(crate) struct Opened<'a> {
    pub(crate) message: Message<'a>,
    pub(crate) metadata: MessageMetadata<'a>,
    pub(crate) outline: Outline<'a>,
    /// For what is owned of metadata and descriptors.
    pub(crate) room: Room,
}

impl<'a> Opened<'a> {
    /// Opens a message of which only what objects are is wanted: no digest is looked at, and no value can be had.
    pub(crate) fn open(bytes: &'a [u8], options: &DecodeOptions) -> Result<Self> {
        Ok(Self::open_with(bytes, options, |_| Ok(()))?.0)
    }

    /// Opens a message of which values are wanted, those of all objects or of one. If the options ask for it, their digests
    /// are checked before any CBOR is read: damage to a descriptor is damage like any other.
    pub(crate) fn for_values(bytes: &'a [u8], options: &DecodeOptions, only: Option<usize>) -> Result<(Self, Proof)> {
        Self::open_with(bytes, options, |message| Trust::of_message(message, options)?.check_message(message, only))
    }

    fn open_with<T>(
        bytes: &'a [u8],
        options: &DecodeOptions,
        check: impl FnOnce(&Message<'a>) -> Result<T>,
    ) -> Result<(Self, T)> {
        let message = message(bytes)?;
        let outline = message.outline()?;
        options.limits.check_objects(outline.object_count)?;
        let checked = check(&message)?;
        outline.index.map(|frame| Index::parse(&frame)).transpose()?;
        outline.hashes.map(|frame| HashList::parse(&frame)).transpose()?;
        let metadata = outline.metadata(&message)?;
        check_nesting(&message, options)?;
        Ok((Self { message, metadata, outline, room: Room::new(&options.limits) }, checked))
    }

    /// What `f` makes of each object: several objects at a time, or else one after the other on several threads.
    fn map_objects<R: Send>(
        &self,
        proof: Proof,
        options: &DecodeOptions,
        f: impl Fn(Trusted<'_, 'a>, Threads) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let bytes = self.message.as_bytes().len() as u64;
        let threads = Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes)?;
        if threads.is_one() || self.outline.object_count < 2 {
            return self.message.objects().map(|object| f(Trusted::proven(&object?, proof), threads)).collect();
        }
        let objects = self.message.objects().collect::<tgm_core::Result<Vec<_>>>()?;
        threads.map(&objects, |object| f(Trusted::proven(object, proof), threads.alone()))
    }

    /// Data object `index`, found by the walk.
    pub(crate) fn object(&self, index: usize) -> Result<DataObject<'a>> {
        let mut frames =
            self.message.frames().filter(|f| !matches!(f, Ok(f) if f.frame_type() != FrameType::NTensorFrame));
        let count = self.outline.object_count;
        let frame = frames.nth(index).ok_or_else(|| {
            TensogramError::Object(format!("object index {index} out of range (num_objects={count})").into())
        })?;
        Ok(DataObject::parse(frame?)?)
    }
}

/// Checks the nesting of all CBOR of a message, if the limit is lower than what reading it allows.
fn check_nesting(message: &Message<'_>, options: &DecodeOptions) -> Result<()> {
    if options.limits.max_nesting >= MAX_NESTING {
        return Ok(());
    }
    for frame in message.frames() {
        let frame = frame?;
        if frame.frame_type().is_data_object() {
            let object = DataObject::parse(frame)?;
            options.limits.check_nesting(object.descriptor().as_encoded(), object.descriptor().offset())?;
        } else {
            options.limits.check_nesting(frame.body(), frame.body_offset())?;
        }
    }
    Ok(())
}
