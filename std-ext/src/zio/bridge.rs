//! TENS as Tensogram and back.
//!
//! A TENS message becomes a Tensogram message whose objects are its tensors, and one vector of bytes for each payload part that
//! no tensor names. Shapes are in storage order, so that whoever ignores the rest sees a transposed tensor, never a scrambled
//! one. What else the message says goes to the key `zio` of `base` and `_extra_`, each value where a user of Tensogram would
//! look for it; only if the label could not be written again from those is its text kept too. Back again gives every part byte
//! for byte, if nothing was edited in between.
//!
//! Any other Tensogram message becomes a TENS message of decoded values: tensor i is object i. What TENS has no words for goes
//! to the key `tensogram` of its TENS object, from where it is restored on the way back. [`NotKept`] lists what is lost.

mod foreign;
mod from_tgm;
mod json;
mod reverse;
mod to_tgm;

use std::fmt;

use tgm_core::zio::{Coords, Form, Level, Message};

use super::parts::Parts;
use crate::base::error::Result;
use crate::base::options::{DecodeOptions, EncodeOptions};

/// The key of `base` and `_extra_` that holds what TENS says.
const ZIO: &str = "zio";
/// The key of TENS that holds what Tensogram says, and of `_extra_.zio` that says so.
const TENSOGRAM: &str = "tensogram";
/// The version of this mapping.
const MAPPING: u64 = 1;

/// How to go between TENS and Tensogram.
#[derive(Clone, Debug)]
pub struct BridgeOptions {
    /// Tensors with descending dimensions are copied, element by element; otherwise they are an error.
    pub copy_descending: bool,
    /// What a message gets that was not TENS before: there is nothing like it in Tensogram.
    pub header: Header,
    /// How the Tensogram message is encoded.
    pub encode: EncodeOptions,
    /// How the Tensogram message is decoded. The byte order is not looked at.
    pub decode: DecodeOptions,
}

impl Default for BridgeOptions {
    fn default() -> Self {
        Self {
            copy_descending: true,
            header: Header::default(),
            encode: EncodeOptions::default(),
            decode: DecodeOptions::default(),
        }
    }
}

/// Level, form and coordinates of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// How important it is.
    pub level: Level,
    /// What kind of message it is: TENS.
    pub form: Form,
    /// Who sent it, when, as which of a sequence.
    pub coords: Coords,
}

/// What a TENS message does not keep of the Tensogram message that it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotKept {
    /// Who wrote the message, when, and its uuid.
    Provenance,
    /// Encoding, filter and compression: values are sent decoded, lossy ones as they decode.
    Pipeline {
        /// Which object.
        object: usize,
    },
    /// Masks: values are sent restored, each NaN as the same bits.
    Masks {
        /// Which object.
        object: usize,
    },
    /// A key of the descriptor that is no part of the format.
    Parameter {
        /// Which object.
        object: usize,
        /// The key.
        key: String,
    },
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provenance => f.write_str("who wrote the message, when, and its uuid"),
            Self::Pipeline { object } => write!(f, "object {object}: encoding, filter and compression"),
            Self::Masks { object } => write!(f, "object {object}: masks"),
            Self::Parameter { object, key } => write!(f, "object {object}: parameter {key}"),
        }
    }
}

/// Makes a Tensogram message of a TENS message.
///
/// Payload is copied once, into the message. Values are stored as they are, NaN and all.
///
/// # Errors
/// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for a label that is not TENS (see
/// [`Tens::parse`](super::Tens::parse)), and for descending dimensions if they must not be copied.
///
/// ```
/// use tgm_std::ByteOrder;
/// use tgm_std::zio::{BridgeOptions, Message, from_tensogram, to_tensogram};
///
/// let label = br#"ZIO4TENS{"TENS": {"tensors": [{"shape": [2], "word": 4, "dtype": "f"}]}}"#;
/// let parts = [&label[..], &[0; 24], &[0, 0, 128, 63, 0, 0, 0, 64]];
/// let message = Message::from_parts(&parts, ByteOrder::Little)?;
/// let tensogram = to_tensogram(&message, &BridgeOptions::default())?;
/// assert_eq!(tgm_std::core::Message::parse(&tensogram)?.object(0)?.view::<f32>()?.get(1), Some(2.0));
///
/// let (back, _) = from_tensogram(&tensogram, &BridgeOptions::default())?;
/// assert_eq!(back.as_slices(), parts);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn to_tensogram<P: AsRef<[u8]>>(message: &Message<'_, P>, options: &BridgeOptions) -> Result<Vec<u8>> {
    to_tgm::encode(message, options)
}

/// Makes a TENS message of a Tensogram message: the one it was made from, if it was made from one; else one of its decoded
/// values, in little-endian byte order. Also lists what is not kept.
///
/// Payload is borrowed from `message` where it needs no decoding.
///
/// # Errors
/// Those of decoding; [`TensogramError::Metadata`](crate::TensogramError::Metadata) for metadata that JSON has no words for,
/// with its path, and for a message from TENS that was edited so that it no longer fits itself.
pub fn from_tensogram<'a>(message: &'a [u8], options: &BridgeOptions) -> Result<(Parts<'a>, Vec<NotKept>)> {
    from_tgm::decode(message, options)
}
