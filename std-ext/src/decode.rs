//! Messages and objects decoded into values that the caller owns (FORMAT §5.2).
//!
//! Each function opens the first message of the bytes that it is given; what follows is ignored. The message is walked from
//! frame to frame, as the reference does it: index frames must be well-formed, what they say is not followed. Whoever wants
//! the index, or values that stay borrowed, opens a [`tgm_core::Message`] and hands its objects to [`values`].

pub mod into;
pub(crate) mod pipeline;
mod scratch;

use std::borrow::Cow;

use tgm_core::Message;
use tgm_core::cbor::MAX_NESTING;
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::index::{HashList, Index};
use tgm_core::message::Outline;
use tgm_core::metadata::MessageMetadata;
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;

use crate::error::{Result, TensogramError};
use crate::hash;
use crate::masks::{MaskBuffers, Masks};
pub use crate::options::DecodeOptions;
pub use crate::range::{
    decode_range, decode_range_from_frame, decode_range_from_payload, element_ranges_into, ranges_into,
};
use crate::threads::Threads;
use crate::to_owned;
use crate::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};
pub use crate::types::{DecodedMaskSet, DecodedObjectWithMasks};
pub use into::{elements_into, unpack_into, values_into};
pub use scratch::Scratch;

/// The message that `bytes` begin with.
fn message(bytes: &[u8]) -> Result<Message<'_>> {
    Message::parse(bytes).map_err(|error| TensogramError::opening(error, bytes.len()))
}

/// The values of one object, borrowed from the message where they lie in it as they are wanted.
///
/// Bytes in row-major order, of the machine's byte order or the stored one as the options say, masked values restored if
/// they say so. One allocation at most for the values.
///
/// # Errors
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
    pipeline::decode_values(object, options, threads(options, object)?)
}

/// The metadata and all objects of a message.
///
/// # Errors
/// Those of the format's checks (FORMAT §1.10), of `verify_hash` if asked for, and of each object's pipeline.
pub fn decode(bytes: &[u8], options: &DecodeOptions) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
    let opened = Opened::open(bytes, options)?;
    opened.verify_objects(options, None)?;
    let objects = opened.map_objects(options, |object, threads| decoded(object, options, threads))?;
    Ok((to_owned::message_metadata(&opened.metadata)?, objects))
}

/// The metadata of the first metadata frame, nothing else being read. In a streamed message that is what the writer knew
/// when it began; [`decode_descriptors`] gives what it knew at the end.
///
/// # Errors
/// Those of the frames before it and of its CBOR.
pub fn decode_metadata(bytes: &[u8]) -> Result<GlobalMetadata> {
    to_owned::frame_metadata(&message(bytes)?.first_metadata()?)
}

/// The metadata of a message and what its objects are; no payload is read.
///
/// # Errors
/// Those of the format's checks.
pub fn decode_descriptors(bytes: &[u8]) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> {
    let opened = Opened::open(bytes, &DecodeOptions::default())?;
    let descriptors = opened.message.objects().map(|object| to_owned::descriptor(object?.descriptor()));
    let descriptors = descriptors.collect::<Result<_>>()?;
    Ok((to_owned::message_metadata(&opened.metadata)?, descriptors))
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
    let opened = Opened::open(bytes, options)?;
    let object = opened.object(index)?;
    opened.verify_objects(options, Some(index))?;
    let (descriptor, values) = decoded(&object, options, threads(options, &object)?)?;
    Ok((to_owned::message_metadata(&opened.metadata)?, descriptor, values))
}

/// The metadata and all objects of a message with zeros where values are masked, and the masks.
///
/// # Errors
/// As [`decode`].
pub fn decode_with_masks(
    bytes: &[u8],
    options: &DecodeOptions,
) -> Result<(GlobalMetadata, Vec<DecodedObjectWithMasks>)> {
    let opened = Opened::open(bytes, options)?;
    opened.verify_objects(options, None)?;
    let options = DecodeOptions { restore_non_finite: false, ..options.clone() };
    let objects = opened.map_objects(&options, |object, threads| {
        let (descriptor, payload) = decoded(object, &options, threads)?;
        let masks = Masks::read(object, &options, &mut MaskBuffers::default())?.to_bools(&options)?;
        Ok(DecodedObjectWithMasks { descriptor, payload, masks })
    })?;
    Ok((to_owned::message_metadata(&opened.metadata)?, objects))
}

/// The object that one frame's bytes hold, apart from any message.
///
/// # Errors
/// Those of the frame, of `verify_hash` if asked for, and of the pipeline.
pub fn decode_object_from_frame(frame: &[u8], options: &DecodeOptions) -> Result<DecodedObject> {
    let object = object_of_frame(frame)?;
    if options.verify_hash {
        // Without a message around it, the frame's own flag is all there is to go by.
        check(hash::check(HashPresence::Flagged, object.frame()), None)?;
    }
    decoded(&object, options, threads(options, &object)?)
}

/// Reads the data object that `frame` holds.
pub(crate) fn object_of_frame(frame: &[u8]) -> Result<DataObject<'_>> {
    let (frame, _) = Frame::parse(frame)?;
    Ok(DataObject::parse(frame)?)
}

/// The threads that one object's payload is worth.
fn threads(options: &DecodeOptions, object: &DataObject<'_>) -> Result<Threads> {
    Threads::resolve(options.threads, object.payload().len() as u64, options.parallel_threshold_bytes)
}

fn decoded(object: &DataObject<'_>, options: &DecodeOptions, threads: Threads) -> Result<DecodedObject> {
    let values = pipeline::decode_values(object, options, threads)?;
    Ok((to_owned::descriptor(object.descriptor())?, values.into_owned()))
}

/// A message whose structure and metadata passed every check that the format asks of a full decode.
pub(crate) struct Opened<'a> {
    pub(crate) message: Message<'a>,
    pub(crate) metadata: MessageMetadata<'a>,
    pub(crate) outline: Outline<'a>,
}

impl<'a> Opened<'a> {
    pub(crate) fn open(bytes: &'a [u8], options: &DecodeOptions) -> Result<Self> {
        let message = message(bytes)?;
        let outline = message.outline()?;
        options.limits.check_objects(outline.object_count)?;
        outline.index.map(|frame| Index::parse(&frame)).transpose()?;
        outline.hashes.map(|frame| HashList::parse(&frame)).transpose()?;
        let metadata = outline.metadata(&message)?;
        check_nesting(&message, options)?;
        Ok(Self { message, metadata, outline })
    }

    /// What `f` makes of each object: several objects at a time, or else one after the other on several threads.
    fn map_objects<R: Send>(
        &self,
        options: &DecodeOptions,
        f: impl Fn(&DataObject<'a>, Threads) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let bytes = self.message.as_bytes().len() as u64;
        let threads = Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes)?;
        if threads.is_one() || self.outline.object_count < 2 {
            return self.message.objects().map(|object| f(&object?, threads)).collect();
        }
        let objects = self.message.objects().collect::<tgm_core::Result<Vec<_>>>()?;
        threads.map(&objects, |object| f(object, threads.alone()))
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

    /// Checks the digests of all objects, or of one, if the options ask for it.
    pub(crate) fn verify_objects(&self, options: &DecodeOptions, only: Option<usize>) -> Result<()> {
        if !options.verify_hash {
            return Ok(());
        }
        let presence =
            if options.strict_hash_presence { HashPresence::Flagged } else { self.message.hash_presence()? };
        let mut index = 0;
        for frame in self.message.frames() {
            let frame = frame?;
            if !frame.frame_type().is_data_object() {
                continue;
            }
            if only.is_none_or(|only| only == index) {
                check(hash::check(presence, &frame), Some(index))?;
            }
            index += 1;
        }
        Ok(())
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

/// Turns what became of an object's digest into an answer.
fn check(verdict: Verdict, object_index: Option<usize>) -> Result<()> {
    match verdict {
        Verdict::Good => Ok(()),
        Verdict::Missing => Err(TensogramError::MissingHash { object_index: object_index.unwrap_or(0) }),
        Verdict::Mismatch(mismatch) => Err(TensogramError::hash_mismatch(object_index, mismatch)),
    }
}
