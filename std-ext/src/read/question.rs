//! Questions to a message, and their answers, decoded from gathered bytes. This is the work that takes time; it reads
//! nothing.

use std::sync::Arc;

use tgm_codec::memory::{self, untouched_zeros};
use tgm_core::descriptor::Descriptor;
use tgm_core::selection::Pick;

use super::described::DescriptorBytes;
pub(crate) use super::gather::Elements;
pub(crate) use super::gather::Needs;
use super::gather::{Gathered, PayloadBytes};
use super::outline::OutlinePiece;
use super::structure::Structure;
use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve_more;
use crate::base::options::DecodeOptions;
use crate::base::span::span_len;
use crate::decode::asked::Asked;
use crate::decode::at_hand::{AtHand, DecodedParts, FrameAtHand};
use crate::decode::checked::CheckedMessage;
use crate::decode::fetched::gathered as box_of_rows;
use crate::decode::lone_frame::LoneFrame;
use crate::decode::select::{self, Selected};
use crate::decode::trust::Trusted;
use crate::decode::wanted::Wanted;
use crate::decode::{self, Scratch, decode_descriptors, decode_metadata, range};
use crate::model::metadata_budget::MetadataBudget;
use crate::model::number::Number;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};

/// How an answer comes out of gathered bytes.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    /// The answer.
    Is(T),
    /// All of the frame has to be read.
    NeedsFrame,
    /// All of the message has to be read.
    NeedsMessage,
}

impl<T> From<Option<T>> for Answer<T> {
    fn from(found: Option<T>) -> Self {
        found.map_or(Self::NeedsMessage, Self::Is)
    }
}

/// A question to a message.
pub(crate) trait Question: Send + Sync {
    type Answer: Send;

    /// The bytes that the answer needs.
    fn wanted(&self) -> Needs;

    /// The options of decoding, if they are not the default ones.
    fn options(&self) -> Option<&DecodeOptions> {
        None
    }

    /// The answer out of a message that is at hand. Its bytes are not copied.
    ///
    /// # Errors
    /// As [`Self::answer`].
    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer>;

    /// [`Self::in_memory`] of a message that was read for this question.
    ///
    /// # Errors
    /// As [`Self::answer`].
    fn in_own_memory(&self, message: Vec<u8>) -> Result<Self::Answer> {
        self.in_memory(&message)
    }

    /// The answer.
    ///
    /// # Errors
    /// The errors of the function that answers the same question from a message in memory.
    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>>;
}

impl<Q: Question> Question for &Q {
    type Answer = Q::Answer;

    fn wanted(&self) -> Needs {
        (**self).wanted()
    }

    fn options(&self) -> Option<&DecodeOptions> {
        (**self).options()
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        (**self).in_memory(message)
    }

    fn in_own_memory(&self, message: Vec<u8>) -> Result<Self::Answer> {
        (**self).in_own_memory(message)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>> {
        (**self).answer(gathered)
    }
}

/// All bytes of a message.
#[derive(Debug)]
pub(crate) struct Bytes;

impl Question for Bytes {
    type Answer = Vec<u8>;

    fn wanted(&self) -> Needs {
        Needs::Message
    }

    fn in_memory(&self, message: &[u8]) -> Result<Vec<u8>> {
        Ok(memory::copy(message)?)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Vec<u8>>> {
        Ok(match gathered {
            Gathered::Message(bytes) => Answer::Is(bytes),
            _ => Answer::NeedsMessage,
        })
    }
}

/// [`decode`](crate::decode()).
#[derive(Debug)]
pub(crate) struct Message(pub(crate) DecodeOptions);

impl Question for Message {
    type Answer = (GlobalMetadata, Vec<DecodedObject>);

    fn wanted(&self) -> Needs {
        Needs::Message
    }

    fn options(&self) -> Option<&DecodeOptions> {
        Some(&self.0)
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        decode::decode(message, &self.0)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>> {
        match gathered {
            Gathered::Message(bytes) => self.in_memory(&bytes).map(Answer::Is),
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// All bytes of a message, with zeros in the place of payloads and masks. Only the object with this number
/// keeps its payload and its masks.
#[derive(Debug)]
pub(crate) struct Outline(pub(crate) Option<usize>);

impl Question for Outline {
    type Answer = Vec<u8>;

    fn wanted(&self) -> Needs {
        Needs::Outline(self.0)
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        Ok(memory::copy(message)?)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Vec<u8>>> {
        match gathered {
            Gathered::Message(bytes) => Ok(Answer::Is(bytes)),
            Gathered::Outline(length, pieces) => {
                let len = usize::try_from(length).map_err(|_| {
                    TensogramError::encoding(format!("message of {length} bytes: this machine cannot address it"))
                })?;
                // Payloads stay zeros. They take no memory, because nothing writes to them.
                let mut bytes = untouched_zeros(len)?;
                for OutlinePiece { offset, bytes: piece } in pieces {
                    let place =
                        usize::try_from(offset).ok().and_then(|start| bytes.get_mut(start..)?.get_mut(..piece.len()));
                    if let Some(place) = place {
                        place.copy_from_slice(&piece);
                    }
                }
                Ok(Answer::Is(bytes))
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// [`decode_metadata`].
#[derive(Debug)]
pub(crate) struct FirstMetadata;

impl Question for FirstMetadata {
    type Answer = GlobalMetadata;

    fn wanted(&self) -> Needs {
        Needs::Structure
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        decode_metadata(message)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<GlobalMetadata>> {
        match gathered {
            Gathered::Message(bytes) => self.in_memory(&bytes).map(Answer::Is),
            Gathered::Structure(structure) => structure.first_metadata().map(Answer::from),
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// [`decode_descriptors`].
#[derive(Debug)]
pub(crate) struct Descriptors;

impl Question for Descriptors {
    type Answer = (GlobalMetadata, Vec<DataObjectDescriptor>);

    fn wanted(&self) -> Needs {
        Needs::Descriptors
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        decode_descriptors(message)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>> {
        let (structure, descriptors) = match gathered {
            Gathered::Message(bytes) => return self.in_memory(&bytes).map(Answer::Is),
            Gathered::Descriptors(structure, descriptors) => (structure, descriptors),
            _ => return Ok(Answer::NeedsMessage),
        };
        let budget = MetadataBudget::by_default();
        let owned = |described: &DescriptorBytes| {
            to_owned::descriptor(&Descriptor::parse(&described.bytes, described.offset)?, &budget)
        };
        // A message may have several errors. Decoding all of it decides which one is reported.
        let Ok(descriptors) = descriptors.iter().map(owned).collect::<Result<Vec<_>>>() else {
            return Ok(Answer::NeedsMessage);
        };
        Ok(structure.metadata(&DecodeOptions::default(), &budget)?.map(|metadata| (metadata, descriptors)).into())
    }
}

/// [`decode_object`](crate::decode_object).
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) index: usize,
    pub(crate) options: DecodeOptions,
}

impl Question for Object {
    type Answer = (GlobalMetadata, DataObjectDescriptor, Vec<u8>);

    fn wanted(&self) -> Needs {
        Needs::Object(self.index)
    }

    fn options(&self) -> Option<&DecodeOptions> {
        Some(&self.options)
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        decode::decode_object(message, self.index, &self.options)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>> {
        match gathered {
            Gathered::Message(bytes) => self.in_memory(&bytes).map(Answer::Is),
            Gathered::Frame(structure, index, offset, bytes) => {
                let budget = MetadataBudget::new(&self.options.limits);
                let frame = lone_frame(&structure, index, offset, &bytes);
                let (descriptor, values): DecodedObject = frame.decode(&self.options, &budget)?;
                let metadata = structure.metadata(&self.options, &budget)?;
                Ok(metadata.map(|metadata| (metadata, descriptor, values)).into())
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// Values of an object, behind its descriptor.
type OfObject<V> = Result<(DataObjectDescriptor, V)>;

/// Which values of an object are asked for together with its descriptor.
pub(crate) trait Choice: Send + Sync {
    /// The values.
    type Values: Send;

    fn elements(&self) -> Elements;

    /// The values of an object at hand.
    ///
    /// # Errors
    /// The errors of [`Read::bytes`](crate::Read::bytes).
    fn of_object(&self, object: Trusted<'_, '_>, options: &DecodeOptions) -> OfObject<Self::Values>;

    /// The values, out of the values of the ranges that [`Self::elements`] are.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if there is no memory.
    fn of_ranges(&self, descriptor: &Descriptor<'_>, ranges: Vec<Vec<u8>>) -> Result<Self::Values>;
}

/// Ranges, each a first element and a count: [`decode_range`](crate::decode_range).
impl Choice for Vec<(u64, u64)> {
    type Values = Vec<Vec<u8>>;

    fn elements(&self) -> Elements {
        Elements::Ranges(self.clone())
    }

    fn of_object(&self, object: Trusted<'_, '_>, options: &DecodeOptions) -> OfObject<Vec<Vec<u8>>> {
        range::of_object(object, self, options)
    }

    fn of_ranges(&self, _: &Descriptor<'_>, ranges: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        Ok(ranges)
    }
}

/// A box.
impl Choice for Vec<Pick> {
    type Values = Selected<'static>;

    fn elements(&self) -> Elements {
        Elements::Box(self.clone())
    }

    fn of_object(&self, object: Trusted<'_, '_>, options: &DecodeOptions) -> OfObject<Selected<'static>> {
        select::of_object(object, self, options)
    }

    fn of_ranges(&self, descriptor: &Descriptor<'_>, ranges: Vec<Vec<u8>>) -> Result<Selected<'static>> {
        box_of_rows(descriptor, self, &ranges)
    }
}

/// Some values of an object, with its descriptor.
#[derive(Debug)]
pub(crate) struct Chosen<C> {
    pub(crate) index: usize,
    pub(crate) choice: C,
    pub(crate) options: DecodeOptions,
}

impl<C: Choice> Question for Chosen<C> {
    type Answer = (DataObjectDescriptor, C::Values);

    fn wanted(&self) -> Needs {
        Needs::Values(self.index, self.choice.elements())
    }

    fn options(&self) -> Option<&DecodeOptions> {
        Some(&self.options)
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        let read = |object: Trusted<'_, '_>| self.choice.of_object(object, &self.options);
        CheckedMessage::read_object(message, self.index, &self.options, read)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>> {
        match gathered {
            Gathered::Message(bytes) => self.in_memory(&bytes).map(Answer::Is),
            Gathered::Frame(structure, index, offset, bytes) => {
                let frame = lone_frame(&structure, index, offset, &bytes);
                frame.read(&self.options, |object| self.choice.of_object(object, &self.options)).map(Answer::Is)
            }
            Gathered::Parts(parts) => {
                let view = Descriptor::parse(&parts.descriptor.bytes, parts.descriptor.offset)?;
                let Some((descriptor, ranges)) = parts.decode(&view, &self.options)? else {
                    return Ok(Answer::NeedsFrame);
                };
                Ok(Answer::Is((descriptor, self.choice.of_ranges(&view, ranges)?)))
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// The bytes that a request for values of an object needs. What decodes them is [`AtHand`].
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) index: usize,
    /// Which values; `None` for all.
    pub(crate) elements: Option<Elements>,
    pub(crate) options: DecodeOptions,
}

impl Values {
    pub(crate) fn new(index: usize, wanted: Wanted<'_>, options: &DecodeOptions) -> Self {
        let elements = match wanted {
            Wanted::All => None,
            Wanted::Ranges(ranges) => Some(Elements::Ranges(ranges.to_vec())),
            Wanted::Box(picks) => Some(Elements::Box(picks.to_vec())),
        };
        Self { index, elements, options: options.clone() }
    }

    /// Which values.
    pub(crate) fn what(&self) -> Wanted<'_> {
        match &self.elements {
            None => Wanted::All,
            Some(Elements::Ranges(ranges)) => Wanted::Ranges(ranges),
            Some(Elements::Box(picks)) => Wanted::Box(picks),
        }
    }
}

/// [`Values`], decoded.
#[derive(Debug)]
pub(crate) struct Decoded<R>(Values, fn(&Values, AtHand) -> Result<R>);

impl Decoded<Vec<u8>> {
    /// What is asked for of object `index`, as bytes.
    pub(crate) fn bytes(index: usize, asked: Asked<'_>) -> Self {
        let values = Values::new(index, asked.wanted, &asked.options());
        Self(values, |values, at_hand| at_hand.bytes(values.what(), &values.options))
    }
}

impl<T: Number> Decoded<Vec<T>> {
    /// What is asked for of object `index`, as values of type `T`.
    pub(crate) fn values(index: usize, asked: Asked<'_>) -> Self {
        let values = Values::new(index, asked.wanted, &asked.native_options());
        Self(values, |values, at_hand| at_hand.values(values.what(), &values.options, &mut Scratch::default()))
    }
}

impl<R: Send> Question for Decoded<R> {
    type Answer = R;

    fn wanted(&self) -> Needs {
        self.0.wanted()
    }

    fn options(&self) -> Option<&DecodeOptions> {
        Some(&self.0.options)
    }

    fn in_memory(&self, message: &[u8]) -> Result<R> {
        self.1(&self.0, self.0.in_memory(message)?)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<R>> {
        Ok(match self.0.answer(gathered)? {
            Answer::Is(at_hand) => Answer::Is(self.1(&self.0, at_hand)?),
            Answer::NeedsFrame => Answer::NeedsFrame,
            Answer::NeedsMessage => Answer::NeedsMessage,
        })
    }
}

impl Question for Values {
    type Answer = AtHand;

    fn wanted(&self) -> Needs {
        match &self.elements {
            None => Needs::Object(self.index),
            Some(elements) => Needs::Values(self.index, elements.clone()),
        }
    }

    fn options(&self) -> Option<&DecodeOptions> {
        Some(&self.options)
    }

    fn in_memory(&self, message: &[u8]) -> Result<AtHand> {
        self.in_own_memory(memory::copy(message)?)
    }

    fn in_own_memory(&self, bytes: Vec<u8>) -> Result<AtHand> {
        Ok(AtHand::Frame(FrameAtHand::InMessage { bytes, index: self.index }))
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<AtHand>> {
        match gathered {
            Gathered::Message(bytes) => self.in_own_memory(bytes).map(Answer::Is),
            Gathered::Frame(structure, index, offset, bytes) => {
                let presence = structure.presence();
                Ok(Answer::Is(AtHand::Frame(FrameAtHand::Alone { bytes, offset, index, presence })))
            }
            Gathered::Parts(parts) => {
                let view = Descriptor::parse(&parts.descriptor.bytes, parts.descriptor.offset)?;
                let Some((_, ranges)) = parts.decode(&view, &self.options)? else { return Ok(Answer::NeedsFrame) };
                let bytes = match &self.elements {
                    Some(Elements::Box(picks)) => box_of_rows(&view, picks, &ranges)?.bytes.into_owned(),
                    _ => joined(&ranges)?,
                };
                let descriptor = (parts.descriptor.bytes, parts.descriptor.offset);
                Ok(Answer::Is(AtHand::Values(DecodedParts { descriptor, bytes })))
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// All ranges, one behind the other.
fn joined(ranges: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reserve_more(&mut bytes, ranges.iter().map(Vec::len).sum())?;
    for range in ranges {
        bytes.extend_from_slice(range);
    }
    Ok(bytes)
}

/// The metadata of a message: of its last metadata frame, overridden by preceders. It has an entry for each object.
#[derive(Debug)]
pub(crate) struct AllMetadata {
    /// Whether the digests of these frames are checked.
    pub(crate) verify: bool,
}

impl Question for AllMetadata {
    type Answer = GlobalMetadata;

    fn wanted(&self) -> Needs {
        Needs::Structure
    }

    fn in_memory(&self, message: &[u8]) -> Result<GlobalMetadata> {
        let checked = CheckedMessage::open_metadata(message, self.verify)?;
        to_owned::message_metadata(&checked.metadata, &checked.budget)
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<GlobalMetadata>> {
        match gathered {
            Gathered::Message(bytes) => self.in_memory(&bytes).map(Answer::Is),
            Gathered::Structure(structure) => {
                if self.verify {
                    structure.check_metadata()?;
                }
                structure.metadata(&DecodeOptions::default(), &MetadataBudget::by_default()).map(Answer::from)
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// What an object is, without its payload.
#[derive(Debug)]
pub(crate) struct Described(pub(crate) usize);

/// A descriptor, and how long the payload region is that it describes.
#[derive(Clone, Debug)]
pub(crate) struct DescribedObject {
    /// The descriptor's CBOR. Bytes may follow it.
    pub(crate) cbor: Vec<u8>,
    /// Its place in the message.
    pub(crate) offset: u64,
    /// Where payload and masks begin in the message.
    pub(crate) region_start: u64,
    /// Bytes of the payload and the masks.
    pub(crate) region_len: u64,
}

impl Question for Described {
    type Answer = DescribedObject;

    fn wanted(&self) -> Needs {
        Needs::Descriptor(self.0)
    }

    fn in_memory(&self, message: &[u8]) -> Result<DescribedObject> {
        let object = CheckedMessage::open(message, &DecodeOptions::default())?.object(self.0)?;
        let descriptor = object.descriptor();
        let cbor = memory::copy(descriptor.as_encoded())?;
        let (region_start, region_len) = (object.region_offset(), object.region().len() as u64);
        Ok(DescribedObject { cbor, offset: descriptor.offset(), region_start, region_len })
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<DescribedObject>> {
        match gathered {
            Gathered::Message(bytes) => self.in_memory(&bytes).map(Answer::Is),
            Gathered::Descriptor(descriptor, region) => {
                let DescriptorBytes { offset, bytes: cbor } = descriptor;
                // A wrong one is reported by the decoder of the whole message, in its words.
                if Descriptor::parse(&cbor, offset).is_err() {
                    return Ok(Answer::NeedsMessage);
                }
                let region_len = span_len(&region);
                Ok(Answer::Is(DescribedObject { cbor, offset, region_start: region.start, region_len }))
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// The methods that put one of these questions to a message, for an `impl` block of a type that has a method `ask`. The
/// names stand in the order of the methods. For methods that do not block, `[async await]` comes before them.
macro_rules! question_methods {
    (
        $([$async:ident $await:ident])? $ask:ident,
        $decode_metadata:ident, $decode_descriptors:ident, $decode_range:ident, $select:ident $(,)?
    ) => {
        /// The metadata of the first metadata frame of message `index`.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`decode_metadata`](crate::decode::decode_metadata).
        pub $($async)? fn $decode_metadata(&self, index: usize) -> $crate::base::error::Result<$crate::model::types::GlobalMetadata> {
            self.$ask(index, $crate::read::question::FirstMetadata)$(.$await)?
        }

        /// The metadata of message `index`, and the descriptors of its objects.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`decode_descriptors`](crate::decode::decode_descriptors).
        pub $($async)? fn $decode_descriptors(
            &self,
            index: usize,
        ) -> $crate::base::error::Result<($crate::model::types::GlobalMetadata, Vec<$crate::model::types::DataObjectDescriptor>)> {
            self.$ask(index, $crate::read::question::Descriptors)$(.$await)?
        }

        /// Ranges of the values of object `object` of message `index`, each a first element and a count.
        ///
        /// With `verify_hash` all of the object's frame is read, because its digest covers all of it.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`decode_range`](crate::decode_range).
        pub $($async)? fn $decode_range(
            &self,
            index: usize,
            object: usize,
            ranges: &[(u64, u64)],
            options: &$crate::base::options::DecodeOptions,
        ) -> $crate::base::error::Result<($crate::model::types::DataObjectDescriptor, Vec<Vec<u8>>)> {
            let (choice, options) = (ranges.to_vec(), options.clone());
            let question = $crate::read::question::Chosen { index: object, choice, options };
            self.$ask(index, question)$(.$await)?
        }

        /// The values that `picks` take of object `object` of message `index`, one pick for each dimension:
        /// [`Read::select`](crate::Read::select). If the frame is long and its compression has parts, only the parts that
        /// hold these values are read.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`Read::bytes`](crate::Read::bytes).
        pub $($async)? fn $select(
            &self,
            index: usize,
            object: usize,
            picks: &[tgm_core::selection::Pick],
            options: &$crate::base::options::DecodeOptions,
        ) -> $crate::base::error::Result<($crate::model::types::DataObjectDescriptor, $crate::decode::select::Selected<'static>)> {
            let (choice, options) = (picks.to_vec(), options.clone());
            let question = $crate::read::question::Chosen { index: object, choice, options };
            self.$ask(index, question)$(.$await)?
        }
    };
}
pub(crate) use question_methods;

/// The method that asks for an object, as [`question_methods`] makes the others.
macro_rules! object_method {
    ($([$async:ident $await:ident])? $ask:ident, $decode_object:ident $(,)?) => {
        /// Object `object` of message `index`.
        ///
        /// # Errors
        /// The errors of [`Self::read_message`] and of [`decode_object`](crate::decode_object).
        pub $($async)? fn $decode_object(
            &self,
            index: usize,
            object: usize,
            options: &$crate::base::options::DecodeOptions,
        ) -> $crate::base::error::Result<($crate::model::types::GlobalMetadata, $crate::model::types::DataObjectDescriptor, Vec<u8>)> {
            let question = $crate::read::question::Object { index: object, options: options.clone() };
            self.$ask(index, question)$(.$await)?
        }
    };
}
pub(crate) use object_method;

impl PayloadBytes {
    /// The descriptor, which `view` is of, and the values of the ranges. `None` if all of the frame has to be read for them.
    fn decode(
        &self,
        view: &Descriptor<'_>,
        options: &DecodeOptions,
    ) -> Result<Option<(DataObjectDescriptor, Vec<Vec<u8>>)>> {
        self.division.decode(view, &self.fetched, (&self.blobs, self.blobs_offset), &self.ranges, options)
    }
}

fn lone_frame<'b>(structure: &Arc<Structure>, index: usize, offset: u64, bytes: &'b [u8]) -> LoneFrame<'b> {
    LoneFrame { bytes, offset, index, presence: structure.presence() }
}
