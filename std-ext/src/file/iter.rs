//! Messages of a buffer and objects of a message, one at a time.

use std::vec;

use tgm_core::frame::{Frame, Frames};
use tgm_core::object::DataObject;
use tgm_core::{ErrorKind, Message};

use crate::base::error::Result;
use crate::base::limits::reserve;
use crate::base::options::DecodeOptions;
use crate::base::threads::Threads;
use crate::decode::trust::{Trust, Trusted};
use crate::decode::{Opened, pipeline};
use crate::model::room::Room;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, DecodedObject};
use crate::scan::scan;

/// The messages of a buffer, as slices of it, in order. No digest is looked at: [`decode`](crate::decode()) and all that takes
/// [`DecodeOptions`] check those of objects with `verify_hash`, [`validate_buffer`](crate::validate_buffer) all of them.
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

/// The objects of a message, decoded one at a time as they are asked for; with `verify_hash` each after its digest was checked.
///
/// The iterator keeps the message for itself, one copy of its bytes; [`Message::objects`] and [`values`](crate::values)
/// borrow them.
///
/// # Errors
/// Those of the format's checks; each object's own come with it.
pub fn objects(bytes: &[u8], options: DecodeOptions) -> Result<ObjectIter> {
    let opened = Opened::open(bytes, &options)?;
    let message = opened.message.as_bytes();
    let starts = opened.message.objects().map(|object| Ok(object?.frame().offset())).collect::<Result<Vec<_>>>()?;
    let mut held = reserve(message.len())?;
    held.copy_from_slice(message);
    let trust = Trust::of_message(&opened.message, &options)?;
    Ok(ObjectIter { message: held, starts: starts.into_iter(), next: 0, trust, options })
}

/// See [`objects`].
#[derive(Clone, Debug)]
pub struct ObjectIter {
    message: Vec<u8>,
    /// Where the objects' frames start.
    starts: vec::IntoIter<u64>,
    /// Which object is next.
    next: usize,
    trust: Trust,
    options: DecodeOptions,
}

impl ObjectIter {
    fn decode(&self, index: usize, start: u64) -> Result<DecodedObject> {
        let bytes = usize::try_from(start).ok().and_then(|start| self.message.get(start..));
        let mut frames = Frames::open_ended(bytes.unwrap_or_default(), start);
        let frame = frames.next().transpose()?.ok_or(ErrorKind::Truncated.at(start))?;
        let proof = self.trust.check(&frame, Some(index))?;
        let object = DataObject::parse(frame)?;
        let values = pipeline::decode_values(Trusted::proven(&object, proof), &self.options, Threads::NONE)?;
        let descriptor = to_owned::descriptor(object.descriptor(), &Room::new(&self.options.limits))?;
        Ok((descriptor, values.into_owned()))
    }
}

impl Iterator for ObjectIter {
    type Item = Result<DecodedObject>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, index) = (self.starts.next()?, self.next);
        self.next = index.saturating_add(1);
        Some(self.decode(index, start))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.starts.size_hint()
    }
}

impl ExactSizeIterator for ObjectIter {}

/// What the objects of a message are, one at a time; no payload is read.
///
/// # Errors
/// Those of the format's checks.
pub fn objects_metadata(bytes: &[u8]) -> Result<impl Iterator<Item = DataObjectDescriptor> + use<>> {
    let opened = Opened::open(bytes, &DecodeOptions::default())?;
    let descriptors = opened.message.objects().map(|object| to_owned::descriptor(object?.descriptor(), &opened.room));
    Ok(descriptors.collect::<Result<Vec<_>>>()?.into_iter())
}

/// The digest written in each object's frame, `None` where the slot is zero, whatever the flags say. Nothing is compared
/// with them: `verify_hash` of [`DecodeOptions`] does that.
///
/// # Errors
/// Those of opening the message and of the walk over its frames: the list is of all objects, or there is none.
pub fn data_object_inline_hashes(bytes: &[u8]) -> Result<Vec<Option<u64>>> {
    let is_object = |frame: &tgm_core::Result<Frame<'_>>| !matches!(frame, Ok(f) if !f.frame_type().is_data_object());
    let objects = Message::parse(bytes)?.frames().filter(is_object);
    objects.map(|frame| Ok(Some(frame?.hash_slot()).filter(|&slot| slot != 0))).collect()
}
