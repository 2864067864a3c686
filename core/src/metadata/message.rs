//! The metadata of a whole message: the last metadata frame, joined with the preceders.

use core::iter::FusedIterator;

use super::frame::Metadata;
use super::object::ObjectMetadata;
use super::path::typed_getters;
use crate::cbor::{Array, ArrayIter, Bytes, Map, Value};
use crate::error::{ErrorKind, Result};
use crate::frame::{Frame, Frames};
use crate::message::Objects;
use crate::names::FrameType;

/// The metadata of a whole message: a view that joins its frames when it is asked.
///
/// ```
/// # let bytes: &[u8] = include_bytes!("../../samples/some-objects.tgm");
/// let message = tgm_core::Message::parse(bytes)?;
/// let metadata = message.metadata()?;
/// for object in metadata.objects() {
///     println!("parameter {:?}", object?.get_str("mars.param")?);
/// }
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MessageMetadata<'a> {
    metadata: Metadata<'a>,
    frames: Frames<'a>,
    object_count: usize,
    has_preceders: bool,
}

impl<'a> MessageMetadata<'a> {
    /// Joins the last metadata frame with the walk that finds the preceders. Checks every preceder.
    pub(crate) fn new(
        metadata: Metadata<'a>,
        frames: Frames<'a>,
        object_count: usize,
        has_preceders: bool,
    ) -> Result<Self> {
        if metadata.base_len() > object_count {
            return Err(ErrorKind::BaseTooLong.at(metadata.offset()));
        }
        if has_preceders {
            preceder_frames(&frames).try_for_each(|frame| Metadata::of_frame(&frame?).map(|_| ()))?;
        }
        Ok(Self { metadata, frames, object_count, has_preceders })
    }

    /// The content of the message's last metadata frame.
    pub const fn frame(&self) -> &Metadata<'a> {
        &self.metadata
    }

    /// The number of objects in the message.
    pub const fn object_count(&self) -> usize {
        self.object_count
    }

    /// The data objects of the message in order, by a walk over its frames.
    pub fn data_objects(&self) -> Objects<'a> {
        Objects::among(self.frames.clone())
    }

    /// The metadata of every object in order, including objects that `base` has no entry for.
    pub fn objects(&self) -> ObjectMetadataIter<'a> {
        ObjectMetadataIter {
            base: self.metadata.base.map(|base| base.iter()),
            frames: self.has_preceders.then(|| self.frames.clone()),
            left: self.object_count,
        }
    }

    /// The metadata of object `index`; `None` if the message has no such object.
    ///
    /// # Errors
    /// Only errors that were ruled out when this view was made.
    pub fn object(&self, index: usize) -> Result<Option<ObjectMetadata<'a>>> {
        if !self.has_preceders && index < self.object_count {
            return Ok(Some(ObjectMetadata { base: self.metadata.base_entry(index)?, preceder: None }));
        }
        self.objects().nth(index).transpose()
    }

    /// The value at a dotted path at message level.
    ///
    /// A path that begins with `_extra_.` or `extra.` is looked up in the writer's annotations. Any other path is looked up
    /// in the objects, of which the first that has it counts, and then in the annotations. What objects have under
    /// `_reserved_` is not found.
    ///
    /// # Errors
    /// Only errors that were ruled out when this view was made.
    pub fn get(&self, path: &str) -> Result<Option<Value<'a>>> {
        self.metadata.look_up(self.objects(), path)
    }

    typed_getters!();

    /// The value at a dotted path in the metadata of object `index`.
    ///
    /// # Errors
    /// Only errors that were ruled out when this view was made.
    pub fn get_at(&self, index: usize, path: &str) -> Result<Option<Value<'a>>> {
        self.object(index)?.map_or(Ok(None), |object| object.get(path))
    }
}

/// The metadata of each object of a message. It ends after an error.
#[derive(Clone, Debug)]
pub struct ObjectMetadataIter<'a> {
    base: Option<ArrayIter<'a>>,
    /// The walk that finds preceders. `None` if the message has none.
    frames: Option<Frames<'a>>,
    left: usize,
}

impl<'a> ObjectMetadataIter<'a> {
    fn step(&mut self) -> Result<ObjectMetadata<'a>> {
        let base = match self.base.as_mut().and_then(Iterator::next) {
            Some(entry) => Some(entry?.as_map()?),
            None => None,
        };
        let preceder = self.frames.as_mut().map_or(Ok(None), next_preceder)?;
        Ok(ObjectMetadata { base, preceder })
    }
}

impl<'a> Iterator for ObjectMetadataIter<'a> {
    type Item = Result<ObjectMetadata<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let object = self.step();
        if object.is_err() {
            self.left = 0;
        }
        Some(object)
    }
}

impl FusedIterator for ObjectMetadataIter<'_> {}

/// Walks up to the next data object, and returns the entry of its preceder, if it has one.
fn next_preceder<'a>(frames: &mut Frames<'a>) -> Result<Option<Map<'a>>> {
    let mut preceder = None;
    for frame in frames {
        let frame = frame?;
        match frame.frame_type() {
            FrameType::PrecederMetadata => preceder = Metadata::of_frame(&frame)?.base_entry(0)?,
            FrameType::NTensorFrame => break,
            _ => {}
        }
    }
    Ok(preceder)
}

fn preceder_frames<'a>(frames: &Frames<'a>) -> impl Iterator<Item = Result<Frame<'a>>> + use<'a> {
    frames.clone().filter(|frame| !matches!(frame, Ok(f) if f.frame_type() != FrameType::PrecederMetadata))
}
