//! Messages of a buffer and objects of a message, one at a time.

use std::vec;

use tgm_core::Message;
use tgm_core::message::Objects;
use tgm_core::object::DataObject;

use crate::decode::Opened;
use crate::error::Result;
use crate::options::DecodeOptions;
use crate::pipeline;
use crate::scan::scan;
use crate::threads::Threads;
use crate::to_owned;
use crate::types::{DataObjectDescriptor, DecodedObject};

/// The messages of a buffer, as slices of it, in order.
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

/// The objects of a message, decoded one at a time as they are asked for. Digests are not checked.
///
/// # Errors
/// Those of the format's checks; each object's own come with it.
pub fn objects(bytes: &[u8], options: DecodeOptions) -> Result<ObjectIter<'_>> {
    let opened = Opened::open(bytes, &options)?;
    Ok(ObjectIter { objects: opened.message.objects(), left: opened.metadata.object_count(), options })
}

/// See [`objects`].
#[derive(Clone, Debug)]
pub struct ObjectIter<'a> {
    objects: Objects<'a>,
    left: usize,
    options: DecodeOptions,
}

impl ObjectIter<'_> {
    fn decode(&self, object: &DataObject<'_>) -> Result<DecodedObject> {
        let values = pipeline::decode_values(object, &self.options, Threads::NONE)?;
        Ok((to_owned::descriptor(object.descriptor())?, values.into_owned()))
    }
}

impl Iterator for ObjectIter<'_> {
    type Item = Result<DecodedObject>;

    fn next(&mut self) -> Option<Self::Item> {
        let object = self.objects.next()?;
        self.left = self.left.saturating_sub(1);
        Some(object.map_err(Into::into).and_then(|object| self.decode(&object)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for ObjectIter<'_> {}

/// What the objects of a message are, one at a time; no payload is read.
///
/// # Errors
/// Those of the format's checks.
pub fn objects_metadata(bytes: &[u8]) -> Result<impl Iterator<Item = DataObjectDescriptor>> {
    let opened = Opened::open(bytes, &DecodeOptions::default())?;
    let descriptors = opened.message.objects().map(|object| to_owned::descriptor(object?.descriptor()));
    Ok(descriptors.collect::<Result<Vec<_>>>()?.into_iter())
}

/// The digest written in each object's frame, `None` where the slot is zero, whatever the flags say. Stops at the first
/// byte that is no frame.
///
/// # Errors
/// Those of opening the message.
pub fn data_object_inline_hashes(bytes: &[u8]) -> Result<Vec<Option<u64>>> {
    let frames = Message::parse(bytes)?.frames().map_while(tgm_core::Result::ok);
    let objects = frames.filter(|frame| frame.frame_type().is_data_object());
    Ok(objects.map(|frame| Some(frame.hash_slot()).filter(|&slot| slot != 0)).collect())
}
