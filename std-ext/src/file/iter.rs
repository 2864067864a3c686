//! Messages of a buffer and objects of a message, one at a time.

use std::vec;

use tgm_codec::threads::Threads;
use tgm_core::frame::{Frame, Frames};
use tgm_core::object::DataObject;
use tgm_core::{ErrorKind, Message};

use crate::base::error::Result;
use crate::base::limits::reserve;
use crate::base::options::DecodeOptions;
use crate::base::span::tail;
use crate::decode::checked::CheckedMessage;
use crate::decode::trust::{Trust, Trusted};
use crate::decode::whole;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, DecodedObject};
use crate::scan::scan;

/// The messages of a buffer, as slices of it, in order.
///
/// Scans the buffer at once. No digest is checked. Functions that take [`DecodeOptions`] check the digests of objects
/// with `verify_hash`; [`validate_buffer`](crate::validate_buffer) checks all digests.
///
/// Format: FORMAT §5.6.
pub fn messages(bytes: &[u8]) -> MessageIter<'_> {
    MessageIter { bytes, extents: scan(bytes).into_iter() }
}

/// See [`messages`].
#[derive(Clone, Debug)]
pub struct MessageIter<'a> {
    bytes: &'a [u8],
    extents: vec::IntoIter<(usize, usize)>,
}

impl<'a> Iterator for MessageIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (offset, length) = self.extents.next()?;
        self.bytes.get(offset..offset.checked_add(length)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.extents.size_hint()
    }
}

impl ExactSizeIterator for MessageIter<'_> {}

/// The descriptors and values of a message's objects, decoded one at a time as they are asked for.
///
/// Values are bytes as [`Read::bytes`](crate::Read::bytes) gives them. With `verify_hash` each object's digest is checked right
/// before the object is decoded. The iterator keeps a copy of the message's bytes; [`Message::objects`] and
/// [`read`](crate::read()) borrow them.
///
/// # Errors
/// The errors of the format's checks (FORMAT §1.10) and of the limits. The iterator yields the errors of each object:
/// digest, frame and pipeline.
///
/// Format: FORMAT §5.2.
pub fn objects(bytes: &[u8], options: DecodeOptions) -> Result<ObjectIter> {
    let checked = CheckedMessage::open(bytes, &options)?;
    let message = checked.message.as_bytes();
    let starts = checked.message.objects().map(|object| Ok(object?.frame().offset())).collect::<Result<Vec<_>>>()?;
    let mut held = reserve(message.len())?;
    held.copy_from_slice(message);
    let trust = Trust::of_message(&checked.message, &options)?;
    Ok(ObjectIter { message: held, starts: starts.into_iter(), next: 0, trust, options })
}

/// See [`objects`].
#[derive(Clone, Debug)]
pub struct ObjectIter {
    message: Vec<u8>,
    /// Where the objects' frames start, in bytes from the start of the message.
    starts: vec::IntoIter<u64>,
    /// The number of the next object.
    next: usize,
    trust: Trust,
    options: DecodeOptions,
}

impl ObjectIter {
    fn decode(&self, index: usize, start: u64) -> Result<DecodedObject> {
        // The bytes reach to the message's end, so a postamble follows the last frame.
        let mut frames = Frames::open_ended(tail(&self.message, start), start);
        let frame = frames.next().transpose()?.ok_or(ErrorKind::Truncated.at(start))?;
        let proof = self.trust.check(&frame, Some(index))?;
        let object = DataObject::parse(frame)?;
        let values = whole::decode_owned_values(Trusted::proven(&object, proof), &self.options, Threads::NONE)?;
        let descriptor = to_owned::descriptor(object.descriptor(), &MetadataBudget::new(&self.options.limits))?;
        Ok((descriptor, values))
    }
}

impl Iterator for ObjectIter {
    type Item = Result<DecodedObject>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, index) = (self.starts.next()?, self.next);
        self.next = index + 1;
        Some(self.decode(index, start))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.starts.size_hint()
    }
}

impl ExactSizeIterator for ObjectIter {}

/// The descriptors of a message's objects; no payload is read.
///
/// # Errors
/// The errors of the format's checks (FORMAT §1.10), and of the default limits.
///
/// Format: FORMAT §5.2.
pub fn objects_metadata(bytes: &[u8]) -> Result<impl Iterator<Item = DataObjectDescriptor> + use<>> {
    let checked = CheckedMessage::open(bytes, &DecodeOptions::default())?;
    let descriptors =
        checked.message.objects().map(|object| to_owned::descriptor(object?.descriptor(), &checked.budget));
    Ok(descriptors.collect::<Result<Vec<_>>>()?.into_iter())
}

/// The digest written in each object's frame; `None` where the slot is zero, whatever the flags say.
///
/// The digests are not compared with the bytes; `verify_hash` of [`DecodeOptions`] does that.
///
/// # Errors
/// The errors of the message and of the walk over its frames. The list never has fewer objects than the message.
///
/// Format: FORMAT §1.6.
pub fn data_object_inline_hashes(bytes: &[u8]) -> Result<Vec<Option<u64>>> {
    // Errors stay in, so that the list ends with the first of them.
    let is_object = |frame: &tgm_core::Result<Frame<'_>>| !matches!(frame, Ok(f) if !f.frame_type().is_data_object());
    let objects = Message::parse(bytes)?.frames().filter(is_object);
    objects.map(|frame| Ok(Some(frame?.hash_slot()).filter(|&slot| slot != 0))).collect()
}
