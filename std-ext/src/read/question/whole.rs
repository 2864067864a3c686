//! Questions for all of a message.

use tgm_codec::memory::{self, untouched_zeros};

use super::{Answer, Question};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::decode::decode;
use crate::model::types::{DecodedObject, GlobalMetadata};
use crate::read::gather::{Gathered, Needs};
use crate::read::outline::OutlinePiece;

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
        decode(message, &self.0)
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
                for piece in pieces {
                    if let Some(place) = piece.place_in(&mut bytes) {
                        place.copy_from_slice(&piece.bytes);
                    }
                }
                Ok(Answer::Is(bytes))
            }
            _ => Ok(Answer::NeedsMessage),
        }
    }
}

/// [`Outline`] of no whole object, as pieces. They are the whole message if it is short.
#[derive(Debug)]
pub(crate) struct OutlinePieces;

impl Question for OutlinePieces {
    type Answer = Vec<OutlinePiece>;

    fn wanted(&self) -> Needs {
        Needs::Outline(None)
    }

    fn in_memory(&self, message: &[u8]) -> Result<Self::Answer> {
        Ok(vec![OutlinePiece { offset: 0, bytes: memory::copy(message)? }])
    }

    fn answer(&self, gathered: Gathered) -> Result<Answer<Self::Answer>> {
        Ok(match gathered {
            Gathered::Message(bytes) => Answer::Is(vec![OutlinePiece { offset: 0, bytes }]),
            Gathered::Outline(_, pieces) => Answer::Is(pieces),
            _ => Answer::NeedsMessage,
        })
    }
}
