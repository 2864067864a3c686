//! One object of an archive, not yet read.

use std::fmt;
use std::ops::Range;

use tgm_core::descriptor::Descriptor;
use tgm_core::frame::Frame;
use tgm_core::object::DataObject;

use super::facts::{Facts, fact_methods};
use super::source::Source;
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::base::span::span;
use crate::decode::at_hand::AtHand;
use crate::decode::plain::Plain;
use crate::decode::request::{Elsewhere, Read, read};
use crate::decode::wanted::Wanted;
use crate::model::hash;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::read::described::DescribedObject;
use crate::read::question::Subject;
use crate::read::question::about::Described;
use crate::read::question::values::Values;

/// One tensor of an archive, not yet read: what it is, its metadata, and the way to its values.
///
/// ```
/// use tgm_std::{Archive, Dtype};
///
/// let archive = Archive::open("../tests/data/realistic/surface-181x360.tgm")?;
/// let object = archive.object(0, 0)?;
/// assert_eq!((object.dtype(), object.shape()), (Dtype::Float64, &[181, 360][..]));
/// assert_eq!(object.descriptor()?.encoding, "simple_packing");
/// assert_eq!(object.metadata()?.get("mars.param").and_then(|param| param.as_str()), Some("2t"));
/// let values = object.read().values::<f32>()?;
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub struct Object<'s> {
    source: &'s Source<'s>,
    message: usize,
    index: usize,
    /// What is asked for its values: the message, or the frame alone.
    subject: Subject,
    place: Place<'s>,
    facts: Facts,
}

/// Where the object is.
#[expect(clippy::large_enum_variant, reason = "the larger one is the common one, and takes no allocation")]
enum Place<'s> {
    Memory(DataObject<'s>),
    Elsewhere(DescribedObject),
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, index, facts, .. } = self;
        f.debug_struct("Object").field("message", message).field("index", index).field("facts", facts).finish()
    }
}

impl<'s> Object<'s> {
    /// Opens object `index` of message `message`.
    pub(super) fn open(source: &'s Source<'s>, message: usize, index: usize) -> Result<Self> {
        let Some(view) = source.view(message)? else {
            return Self::elsewhere(source, (message, index), message.into());
        };
        // An index could lead elsewhere than the walk, which decides for all sources.
        let object = view.object_by_walk(index).map_err(TensogramError::of_object)?;
        Self::at_hand(source, (message, index), message.into(), &object)
    }

    /// Opens object `index` of message `message`, whose frame lies at `frame` of the source.
    pub(super) fn open_at(source: &'s Source<'s>, (message, index): (usize, usize), frame: Range<u64>) -> Result<Self> {
        let Some(bytes) = source.frame_bytes(&frame)? else {
            return Self::elsewhere(source, (message, index), Subject::Frame(frame));
        };
        let object = object_of_frame(bytes)?;
        Self::at_hand(source, (message, index), Subject::Frame(frame), &object)
    }

    fn at_hand(
        source: &'s Source<'s>,
        (message, index): (usize, usize),
        subject: Subject,
        object: &DataObject<'s>,
    ) -> Result<Self> {
        let facts = Facts::of(object.descriptor(), object.region().len() as u64)?;
        Ok(Self { source, message, index, subject, place: Place::Memory(*object), facts })
    }

    fn elsewhere(source: &'s Source<'s>, (message, index): (usize, usize), subject: Subject) -> Result<Self> {
        let found = source.ask(subject.clone(), Described(index))?;
        let facts = Facts::of(&Descriptor::parse(&found.cbor, found.offset)?, found.region_len)?;
        Ok(Self { source, message, index, subject, place: Place::Elsewhere(found), facts })
    }

    fact_methods!();

    /// The descriptor: shape, dtype, byte order, and the stages that the values went through, with their parameters.
    ///
    /// # Errors
    /// The errors of its CBOR and of the default limits.
    pub fn descriptor(&self) -> Result<DataObjectDescriptor> {
        let budget = MetadataBudget::by_default();
        match &self.place {
            Place::Memory(object) => to_owned::descriptor(object.descriptor(), &budget),
            Place::Elsewhere(found) => to_owned::descriptor(&Descriptor::parse(&found.cbor, found.offset)?, &budget),
        }
    }

    /// The metadata of the message as this object sees it: `base` has one entry, the object's. Digests are
    /// checked as in [`Message::metadata`](super::Message::metadata).
    ///
    /// # Errors
    /// The errors of [`Message::metadata`](super::Message::metadata).
    pub fn metadata(&self) -> Result<GlobalMetadata> {
        if let Some(view) = self.source.view(self.message)? {
            let metadata = hash::metadata(&view, &self.source.metadata_options())?;
            return to_owned::metadata_of_object(&metadata, self.index, &MetadataBudget::by_default());
        }
        Ok(only(self.source.metadata(self.message)?, self.index))
    }

    /// Where the payload is in the source: the values as they are stored.
    ///
    /// # Errors
    /// The errors of the source.
    pub fn payload_place(&self) -> Result<Range<u64>> {
        let region = match &self.place {
            Place::Memory(object) => object.region_offset(),
            Place::Elsewhere(found) => found.region_start,
        };
        let start = span(self.source.start(&self.subject)?, region).end;
        Ok(span(start, self.facts.payload_len))
    }

    /// A request for its values.
    pub fn read(&self) -> Read<'_, 's> {
        match &self.place {
            Place::Memory(object) => read(object),
            Place::Elsewhere(_) => Read::elsewhere(self),
        }
    }

    /// The object where it lies, if its bytes are at hand.
    pub const fn view(&self) -> Option<&DataObject<'s>> {
        match &self.place {
            Place::Memory(object) => Some(object),
            Place::Elsewhere(_) => None,
        }
    }
}

/// The object whose frame these bytes are, such as those at a place that a catalogue names. Proves the header, the length and the
/// tail of the frame, and reads the descriptor. The digest is not checked: [`read`] does that with `verify_hash`.
///
/// # Errors
/// The errors of the frame and of the object; [`TensogramError::Framing`] for bytes after the frame, which show that the place is
/// wrong.
pub fn object_of_frame(frame: &[u8]) -> Result<DataObject<'_>> {
    let (parsed, rest) = Frame::parse(frame)?;
    if !rest.is_empty() {
        return Err(TensogramError::Framing(format!("{} bytes after the frame of the object", rest.len()).into()));
    }
    Ok(DataObject::parse(parsed)?)
}

/// The metadata with only the entry of object `index`.
pub(super) fn only(mut metadata: GlobalMetadata, index: usize) -> GlobalMetadata {
    if index < metadata.base.len() {
        metadata.base.swap(0, index);
    }
    metadata.base.truncate(1);
    metadata
}

impl Elsewhere for Object<'_> {
    fn fetch(&self, wanted: Wanted<'_>, options: &DecodeOptions) -> Result<AtHand> {
        let described = if let Place::Elsewhere(found) = &self.place { Some(found) } else { None };
        self.source.ask(self.subject.clone(), Values::new(self.index, wanted, options).with_described(described))
    }

    fn plain(&self, wanted: Wanted<'_>, options: &DecodeOptions) -> Result<Option<Plain>> {
        let Place::Elsewhere(found) = &self.place else { return Ok(None) };
        if !self.source.reads_in_place() {
            return Ok(None);
        }
        let descriptor = Descriptor::parse(&found.cbor, found.offset)?;
        Ok(Plain::of(&descriptor, self.facts.payload_len, wanted, options))
    }

    fn read_plain(&self, plain: &Plain, out: &mut [u8]) -> Result<()> {
        self.source.read_exact(span(self.payload_place()?.start, plain.start).end, out)
    }

    #[cfg(feature = "ndarray")]
    fn shape_of(&self, wanted: Wanted<'_>, options: &DecodeOptions) -> Result<Vec<u64>> {
        match &self.place {
            Place::Memory(object) => wanted.shape(object.descriptor(), options),
            Place::Elsewhere(found) => wanted.shape(&Descriptor::parse(&found.cbor, found.offset)?, options),
        }
    }
}
