//! Conversion of TENS to Tensogram and back.
//!
//! A TENS message becomes a Tensogram message. Its objects are the tensors, and one vector of bytes for each payload
//! part that no tensor names. Shapes are in storage order, so that a reader who ignores the rest sees a transposed
//! tensor, never a scrambled one. All else goes to the key `zio` of `base` and `_extra_`, at places where users of
//! Tensogram look for it. The label's text is kept only if the label cannot be rebuilt from those. Converting back
//! gives every part byte for byte, if nothing was edited in between.
//!
//! Any other Tensogram message becomes a TENS message of decoded values: tensor i is object i. What TENS cannot express
//! goes to the key `tensogram` of its TENS object, and is restored on the way back. [`NotKept`] lists what is lost.
//! With [`pass_through`](BridgeOptions::pass_through) objects that went through stages stay as they are stored.
//!
//! A message without tensors, of TEXT or of FLOW's own words, becomes a Tensogram message too: each payload part is a
//! vector of bytes, and the label is in `_extra_.zio`.

mod entry;
mod foreign;
mod from_tgm;
mod reverse;
mod to_tgm;

use std::fmt;

use tgm_std::{DataObjectDescriptor, DecodeOptions, EncodeOptions, Result};

use crate::parts::Parts;
use crate::wire::{Coords, Form, Level, Message};

/// The key of `base` and `_extra_` for content of TENS.
const ZIO: &str = "zio";
/// The key of TENS for content of Tensogram. In `_extra_.zio` it marks such a message.
const TENSOGRAM: &str = "tensogram";
/// The key of `_extra_.zio` that marks a message without tensors.
const PLAIN: &str = "plain";
/// The key of `_extra_.zio` for a label that is not UTF-8.
const LABEL_BYTES: &str = "label_bytes";
/// The version of this mapping.
const MAPPING: u64 = 1;

/// Whether an object's payload went through encoding, filter or compression.
fn has_stages(descriptor: &DataObjectDescriptor) -> bool {
    [&descriptor.encoding, &descriptor.filter, &descriptor.compression].into_iter().any(|stage| stage != "none")
}

/// Options of the conversion between TENS and Tensogram.
///
/// ```
/// use tgm_zio::{BridgeOptions, from_tensogram};
/// use tgm_std::{MessageBuilder, ObjectBuilder};
///
/// let values: Vec<f64> = (0..1000).map(f64::from).collect();
/// let object = ObjectBuilder::new(&[1000], &values)?.simple_packing(16);
/// let message = MessageBuilder::new().object(object).encode()?;
/// let decoded = from_tensogram(&message, &BridgeOptions::default())?.0;
/// let passed = from_tensogram(&message, &BridgeOptions { pass_through: true, ..BridgeOptions::default() })?.0;
/// assert_eq!((decoded.payloads()[0].len(), passed.payloads()[0].len()), (8000, 2000));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BridgeOptions {
    /// Copy tensors with descending dimensions element by element; otherwise they are an error.
    pub copy_descending: bool,
    /// Send objects that are encoded or compressed as they are stored, as opaque bytes with their descriptor in the
    /// label. Only [`to_tensogram`] can read them. Objects with masks, and objects whose descriptor JSON cannot hold,
    /// are decoded.
    pub pass_through: bool,
    /// The header of a message that was not TENS before, as Tensogram has no counterpart.
    pub header: Header,
    /// Options for encoding the Tensogram message.
    pub encode: EncodeOptions,
    /// Options for decoding the Tensogram message. The byte order is ignored.
    pub decode: DecodeOptions,
}

impl Default for BridgeOptions {
    fn default() -> Self {
        Self {
            copy_descending: true,
            pass_through: false,
            header: Header::default(),
            encode: EncodeOptions::default(),
            decode: DecodeOptions::default(),
        }
    }
}

/// Level, form and coordinates of a message.
///
/// ```
/// use tgm_zio::{BridgeOptions, Header, Level, from_tensogram};
///
/// # let object = tgm_std::ObjectBuilder::new(&[2], &[1_u8, 2])?;
/// # let message = tgm_std::MessageBuilder::new().object(object).encode()?;
/// let header = Header { level: Level::Info, ..Header::default() };
/// let (parts, _) = from_tensogram(&message, &BridgeOptions { header, ..BridgeOptions::default() })?;
/// assert!(parts.iter().next().unwrap().starts_with(b"ZIO4TENS"));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// How important it is.
    pub level: Level,
    /// What kind of message it is: TENS.
    pub form: Form,
    /// Its origin, time and sequence number.
    pub coords: Coords,
}

/// Parts of a Tensogram message that its TENS message does not keep.
///
/// ```
/// use tgm_zio::{BridgeOptions, NotKept, from_tensogram};
///
/// # let object = tgm_std::ObjectBuilder::new(&[2], &[1_u8, 2])?;
/// # let message = tgm_std::MessageBuilder::new().object(object).encode()?;
/// let (_, not_kept) = from_tensogram(&message, &BridgeOptions::default())?;
/// assert_eq!(not_kept, [NotKept::Provenance]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotKept {
    /// The encoder, the time and the uuid.
    Provenance,
    /// Encoding, filter and compression: values are sent decoded, lossy ones with their loss.
    Pipeline {
        /// Which object.
        object: usize,
    },
    /// Masks: values are sent restored, all NaN with the same bits.
    Masks {
        /// Which object.
        object: usize,
    },
    /// A key of the descriptor that is not a part of the format.
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

/// Converts a ZIO message to a Tensogram message.
///
/// Payload is copied once, into the message. Values are stored as they are, including NaN. A message that has no
/// tensors (see [`Tens::find`](super::Tens::find)) becomes one of bytes.
///
/// # Errors
/// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) for a label of broken TENS (see
/// [`Tens::parse`](super::Tens::parse)), and for descending dimensions if they must not be copied.
///
/// ```
/// use tgm_std::ByteOrder;
/// use tgm_zio::{BridgeOptions, Message, from_tensogram, to_tensogram};
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

/// Converts a Tensogram message to a TENS message, and lists what is not kept. A message that was made from TENS
/// returns to its original. Any other message becomes one of its decoded values, in little-endian byte order.
///
/// Payload is borrowed from `message` where it needs no decoding.
///
/// # Errors
/// Errors of decoding; [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) for metadata that JSON cannot
/// express, with its path, and for a message from TENS that was edited into a contradiction.
pub fn from_tensogram<'a>(message: &'a [u8], options: &BridgeOptions) -> Result<(Parts<'a>, Vec<NotKept>)> {
    from_tgm::decode(message, options)
}
