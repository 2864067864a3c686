//! Questions for the values of an object alone.

use tgm_codec::memory;
use tgm_core::descriptor::Descriptor;

use super::{Answer, Question};
use crate::base::error::Result;
use crate::base::limits::reserve_more;
use crate::base::options::DecodeOptions;
use crate::decode::Scratch;
use crate::decode::asked::Asked;
use crate::decode::at_hand::{AtHand, DecodedParts, FrameAtHand};
use crate::decode::fetched::gathered as box_of_rows;
use crate::decode::wanted::Wanted;
use crate::model::number::Number;
use crate::read::described::DescribedObject;
use crate::read::gather::{Elements, FrameBytes, Gathered, Needs};

/// The bytes that a request for values of an object needs. What decodes them is [`AtHand`].
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) index: usize,
    /// Which values; `None` for all.
    pub(crate) elements: Option<Elements>,
    pub(crate) options: DecodeOptions,
    /// The descriptor, if it is known.
    pub(crate) described: Option<DescribedObject>,
}

impl Values {
    pub(crate) fn new(index: usize, wanted: Wanted<'_>, options: &DecodeOptions) -> Self {
        let elements = match wanted {
            Wanted::All => None,
            Wanted::Ranges(ranges) => Some(Elements::Ranges(ranges.to_vec())),
            Wanted::Box(picks) => Some(Elements::Box(picks.to_vec())),
        };
        Self { index, elements, options: options.clone(), described: None }
    }

    /// The same request to an object whose descriptor is known.
    pub(crate) fn with_described(self, described: Option<&DescribedObject>) -> Self {
        Self { described: described.cloned(), ..self }
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

    fn described(&self) -> Option<&DescribedObject> {
        self.described.as_ref()
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
            Gathered::Frame(frame) => {
                let (presence, FrameBytes { index, offset, bytes, .. }) = (frame.presence(), frame);
                Ok(Answer::Is(AtHand::Frame(FrameAtHand::Alone { bytes, offset, index, presence })))
            }
            Gathered::Parts(parts) => {
                let view = Descriptor::parse(&parts.descriptor.bytes, parts.descriptor.offset)?;
                let Some(ranges) = parts.decode(&view, &self.options)? else { return Ok(Answer::NeedsFrame) };
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

/// All ranges, one after the other.
fn joined(ranges: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reserve_more(&mut bytes, ranges.iter().map(Vec::len).sum())?;
    for range in ranges {
        bytes.extend_from_slice(range);
    }
    Ok(bytes)
}
