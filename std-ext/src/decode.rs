//! Messages and objects decoded into values that the caller owns (FORMAT §5.2).
//!
//! Each function decodes the first message of the bytes that it is given; bytes after it are ignored. A message is
//! walked frame by frame, as the reference does it. Its index must be well-formed, and is not followed. To follow the
//! index, or to borrow values, open a [`tgm_core::Message`] and hand its objects to [`read()`].
//!
//! # From the disk to values
//! This is the way of `TensogramFile::decode_object`. A map has all bytes at hand, and a program with a message in memory
//! begins with [`decode_object`].
//!
//! ```text
//! TensogramFile::decode_object
//!   │  table                          where messages begin and end: Table::scan, once for a file
//!   │  message_bytes::ask             reads: up to 256 KiB all of the message (read_whole), beyond that parts (read::Reader)
//!   │  read::question::Object         the question: what it needs, and the answer out of it
//!   │
//!   ├─ a message ──► decode_object ───────► CheckedMessage::for_values   walk: frames in legal order, metadata, limits
//!   ├─ a frame ────► LoneFrame::decode ──►  Frame::parse_at
//!   │
//!   │  trust                          the only door to payloads: it checks the digest if the options ask for it
//!   │  whole::decode_values           all values of the object
//!   │  plan                           which stages, how many bytes, is anything left to do?
//!   │
//! payload ─ decompress ─► stored bytes ─ unshuffle ─ unpack or swap ─► values ─ restore ─► values with NaN and ±∞
//!           (codec)                      (stored, kernels)                      (masks)
//! ```
//!
//! A payload that holds the values as they are wanted is borrowed. Otherwise values are written once, to one allocation
//! or to the caller's buffer. A codec writes directly there if no other stage follows, or if it unpacks in the same
//! pass.
//!
//! # Where masks are restored
//! The encoder writes zeros in the place of NaN and infinities. After the payload it stores bitmaps of these places.
//! `Plan::must_restore` says whether an object has such bitmaps and the options ask for them. The module `masks` reads the
//! bitmaps and calls [`tgm_core::mask::restore_into`]. In core, [`DataObject::restore_into`](tgm_core::object::DataObject::restore_into) does the same.
//!
//! ```text
//! region     payload ············ │ nan 0100 │ inf+ 0001 │
//!               │ all stages          │ decompressed, if the method needs it
//!               ▼                     ▼
//! values     1.5   0    2.5   0   ◄── NaN, then +∞, then −∞
//! restored   1.5  NaN   2.5   +∞
//! ```
//!
//! Masks come last. They write into the values where these lie, in the byte order that is wanted. For ranges they write
//! the part that each range covers.
//!
//! # Layers
//! A module imports only from rows below its own, as with the layers of the crate.
//!
//! | layer | what it knows |
//! |---|---|
//! | `request`, `deferred` | requests for values; whole messages whose metadata become owned later |
//! | `asked`, `at_hand`, `plain` | what a request asks for; bytes that were fetched for it; values that are read to where they are wanted |
//! | `lone_frame`, `wanted` | objects whose frames were read without the rest of their message; what is wanted of an object |
//! | `range`, `fetched` | ranges: of an object at hand, or of one of which only parts were fetched |
//! | `frameless`, `select` | objects in no frame; boxes of a tensor |
//! | `each_range`, `typed` | several ranges, each block decoded once; values as floats |
//! | `unpack`, `whole` | packed values from any element on; all values |
//! | `range_bytes`, `scratch` | stored bytes for ranges; memory between calls |
//! | `payload_parts` | blocks of a payload, each decompressed once |
//! | `stored` | stored bytes, and the way from there to values |
//! | `plan` | which stages an object has, and which codec undoes them |
//! | `checked`, `masks`, `cost`, `bounds`, `object_table`, `range_order` | checks of a message, masks, what parts cost, what callers ask for |
//! | `trust` | digests, the only door to an object's bytes |

pub(crate) mod asked;
pub(crate) mod at_hand;
mod bounds;
pub(crate) mod checked;
mod cost;
pub mod deferred;
mod each_range;
pub(crate) mod fetched;
pub(crate) mod frameless;
pub(crate) mod lone_frame;
pub(crate) mod masks;
pub mod object_table;
mod payload_parts;
pub(crate) mod plain;
mod plan;
pub mod range;
mod range_bytes;
mod range_order;
pub(crate) mod request;
mod scratch;
pub mod select;
pub(crate) mod stored;
pub(crate) mod trust;
pub mod typed;
mod unpack;
pub(crate) mod wanted;
pub(crate) mod whole;

use self::checked::{CheckedMessage, message};
use self::masks::mask_set;
use self::plan::threads_for;
use self::trust::{Trusted, checked_object_of_frame};
use self::whole::decoded_object;
use crate::base::error::{Result, TensogramError};
pub use crate::base::options::DecodeOptions;
pub use crate::decode::range::{decode_range, decode_range_from_frame, decode_range_from_payload};
use crate::model::metadata_budget::MetadataBudget;
pub use crate::model::picks::{self, Picks};
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};
pub use crate::model::types::{DecodedMaskSet, DecodedObjectWithMasks};
pub use object_table::ObjectTable;
pub use request::{Read, read};
pub use scratch::Scratch;
pub use select::{Selected, selection};
pub use typed::Float;

/// The metadata of a message, and the descriptor and the values of each object.
///
/// Values are bytes as [`Read::bytes`] gives them. Several objects are decoded side by side if the options allow threads.
///
/// # Errors
/// The errors of the format's checks (FORMAT §1.10), of the limits, and of `verify_hash`; the errors of [`Read::bytes`] for
/// the first object that has any.
///
/// Format: FORMAT §5.2.
pub fn decode(bytes: &[u8], options: &DecodeOptions) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
    let (checked, proof) = CheckedMessage::for_values(bytes, options, None)?;
    let objects = checked
        .map_objects(proof, options, |object, threads| decoded_object(object, options, threads, &checked.budget))?;
    Ok((to_owned::message_metadata(&checked.metadata, &checked.budget)?, objects))
}

/// The metadata of a message's first metadata frame.
///
/// Nothing after that frame is read. In a streamed message this is what the writer knew when it began;
/// [`decode_descriptors`] gives what it knew at the end.
///
/// # Errors
/// The errors of the frames before it and of its CBOR.
///
/// Format: FORMAT §5.4.
pub fn decode_metadata(bytes: &[u8]) -> Result<GlobalMetadata> {
    to_owned::frame_metadata(&message(bytes)?.first_metadata()?, &MetadataBudget::by_default())
}

/// The metadata of a message, and the descriptor of each object; no payload is read.
///
/// # Errors
/// The errors of the format's checks (FORMAT §1.10), and of the default limits.
///
/// Format: FORMAT §5.2.
pub fn decode_descriptors(bytes: &[u8]) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> {
    let checked = CheckedMessage::open(bytes, &DecodeOptions::default())?;
    let descriptors = checked
        .message
        .objects()
        .map(|object| to_owned::descriptor(object.map_err(TensogramError::of_object)?.descriptor(), &checked.budget));
    let descriptors = descriptors.collect::<Result<_>>()?;
    Ok((to_owned::message_metadata(&checked.metadata, &checked.budget)?, descriptors))
}

/// The metadata of a message, and the descriptor and the values of object `index`.
///
/// Values are bytes as [`Read::bytes`] gives them. No payload of another object is read.
///
/// # Errors
/// [`TensogramError::Object`] if there is no such object; the errors of the format's checks (FORMAT §1.10), of the
/// limits, of `verify_hash`, and of [`Read::bytes`].
///
/// Format: FORMAT §5.2.
pub fn decode_object(
    bytes: &[u8],
    index: usize,
    options: &DecodeOptions,
) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> {
    let (checked, proof) = CheckedMessage::for_values(bytes, options, Some(index))?;
    let object = checked.object(index)?;
    let object = Trusted::proven(&object, proof);
    let (descriptor, values) = decoded_object(object, options, threads_for(object, options)?, &checked.budget)?;
    Ok((to_owned::message_metadata(&checked.metadata, &checked.budget)?, descriptor, values))
}

/// [`decode`] with zeros where values are masked, and the masks beside them.
///
/// A mask has one truth value for each element, row-major. `restore_non_finite` of the options has no effect.
///
/// # Errors
/// As [`decode`].
///
/// Format: FORMAT §5.2.
pub fn decode_with_masks(
    bytes: &[u8],
    options: &DecodeOptions,
) -> Result<(GlobalMetadata, Vec<DecodedObjectWithMasks>)> {
    let (checked, proof) = CheckedMessage::for_values(bytes, options, None)?;
    let options = DecodeOptions { restore_non_finite: false, ..options.clone() };
    let objects = checked.map_objects(proof, &options, |object, threads| {
        let (descriptor, payload) = decoded_object(object, &options, threads, &checked.budget)?;
        let masks = mask_set(object, &options)?;
        Ok(DecodedObjectWithMasks { descriptor, payload, masks })
    })?;
    Ok((to_owned::message_metadata(&checked.metadata, &checked.budget)?, objects))
}

/// The descriptor and the values of the object in one frame, without its message.
///
/// Values are bytes as [`Read::bytes`] gives them. With `verify_hash`, only the frame's own flag says whether it holds a
/// digest.
///
/// # Errors
/// The errors of the frame and of [`Read::bytes`].
///
/// Format: FORMAT §5.2.
pub fn decode_object_from_frame(frame: &[u8], options: &DecodeOptions) -> Result<DecodedObject> {
    let (object, proof) = checked_object_of_frame(frame, options)?;
    let object = Trusted::proven(&object, proof);
    decoded_object(object, options, threads_for(object, options)?, &MetadataBudget::new(&options.limits))
}

/// The data object that `frame` holds. Only its structure is checked.
#[cfg(test)]
pub(crate) fn object_of_frame(frame: &[u8]) -> Result<tgm_core::object::DataObject<'_>> {
    tgm_core::object::DataObject::parse(tgm_core::frame::Frame::parse(frame)?.0).map_err(TensogramError::of_object)
}
