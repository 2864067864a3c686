//! Questions about metadata and descriptors.

use tgm_codec::memory;
use tgm_core::Message;
use tgm_core::descriptor::Descriptor;

use super::{Answer, Question};
use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::base::span::span_len;
use crate::decode::checked::CheckedMessage;
use crate::decode::{decode_descriptors, decode_metadata};
use crate::model::hash::checked_metadata;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::query::Query;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::read::described::{DescribedObject, DescriptorBytes};
use crate::read::gather::{Gathered, Needs};

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

/// The numbers of the objects of a message for which a query holds.
///
/// # Errors
/// The errors of the message and of its metadata, and of conditions that do not fit a value.
pub(crate) fn objects_of(query: &Query, message: &[u8]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    let view = Message::parse(message)?;
    query.objects_of(&checked_metadata(&view)?, |object| found.push(object))?;
    Ok(found)
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
