//! Questions for an object or some of its values, with its descriptor.

use tgm_core::descriptor::Descriptor;
use tgm_core::selection::Pick;

use super::{Answer, Question};
use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::decode::checked::CheckedMessage;
use crate::decode::fetched::gathered as box_of_rows;
use crate::decode::lone_frame::LoneFrame;
use crate::decode::select::{self, Selected};
use crate::decode::trust::Trusted;
use crate::decode::{self, range};
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};
use crate::read::gather::{Elements, FrameBytes, Gathered, Needs, PayloadBytes};

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
            Gathered::Frame(frame) => {
                let Some(structure) = &frame.structure else { return Ok(Answer::NeedsMessage) };
                let budget = MetadataBudget::new(&self.options.limits);
                let (descriptor, values): DecodedObject = lone(&frame).decode(&self.options, &budget)?;
                let metadata = structure.metadata(&self.options, &budget)?;
                Ok(metadata.map(|metadata| (metadata, descriptor, values)).into())
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// Values of an object, after its descriptor.
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
            Gathered::Frame(frame) => {
                lone(&frame).read(&self.options, |object| self.choice.of_object(object, &self.options)).map(Answer::Is)
            }
            Gathered::Parts(parts) => {
                let view = Descriptor::parse(&parts.descriptor.bytes, parts.descriptor.offset)?;
                let descriptor = to_owned::descriptor(&view, &MetadataBudget::new(&self.options.limits))?;
                let Some(ranges) = parts.decode(&view, &self.options)? else { return Ok(Answer::NeedsFrame) };
                Ok(Answer::Is((descriptor, self.choice.of_ranges(&view, ranges)?)))
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

impl PayloadBytes {
    /// The values of the ranges, by the descriptor that these bytes have. `None` if all of the frame has to be read for them.
    pub(super) fn decode(&self, view: &Descriptor<'_>, options: &DecodeOptions) -> Result<Option<Vec<Vec<u8>>>> {
        self.division.decode(view, &self.fetched, (&self.blobs, self.blobs_offset), &self.ranges, options)
    }
}

fn lone(frame: &FrameBytes) -> LoneFrame<'_> {
    LoneFrame { bytes: &frame.bytes, offset: frame.offset, index: frame.index, presence: frame.presence() }
}
