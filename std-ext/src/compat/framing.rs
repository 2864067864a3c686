//! Messages and frames of encoded objects, without the pipeline: the layer below [`encode`](crate::encode()) and
//! [`decode`](crate::decode()).
//!
//! Payloads are encoded bytes on both sides. Nothing is derived from them or compared with descriptors, and metadata is
//! written as it is given. To make messages of values, take [`crate::encode_pre_encoded`] or [`crate::MessageBuilder`],
//! which check what they are given.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;
use tgm_core::{ErrorKind, frame};

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::base::span::tail;
use crate::compat::wire::Preamble;
use crate::decode::checked::CheckedMessage;
use crate::decode::decode_metadata;
use crate::encode::Prepared;
use crate::encode::checks;
use crate::encode::frame::padded;
use crate::encode::object::Object;
pub use crate::encode::{HashFramePolicy, encode_data_object_frame};
pub use crate::file::data_object_inline_hashes;
use crate::model::metadata::{cbor_to_global_metadata, cbor_to_hash_frame, cbor_to_index};
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata, HashFrame, IndexFrame};
pub use crate::scan::{ScanOptions, scan, scan_file, scan_file_with_options, scan_with_options};

/// An object that went through the pipeline.
#[derive(Clone, Debug)]
pub struct EncodedObject {
    /// What the object is.
    pub descriptor: DataObjectDescriptor,
    /// Its payload region: the encoded values, and the masks' blobs if the descriptor has masks.
    pub encoded_payload: Vec<u8>,
}

/// A message taken apart.
#[derive(Clone, Debug)]
pub struct DecodedMessage<'a> {
    /// The first 24 bytes.
    pub preamble: Preamble,
    /// The metadata that counts: the last metadata frame, with the objects' preceders written over it.
    pub global_metadata: GlobalMetadata,
    /// The last index frame.
    pub index: Option<IndexFrame>,
    /// The last list of digests.
    pub hash_frame: Option<HashFrame>,
    /// Each object's descriptor, its encoded values, the masks' blobs, and where its frame starts in the message.
    pub objects: Vec<(DataObjectDescriptor, &'a [u8], &'a [u8], usize)>,
    /// The entries of each object's preceder, the metadata frame right before it.
    pub preceder_payloads: Vec<Option<BTreeMap<String, Value>>>,
}

/// Writes a message of encoded objects, with an index if it has any object.
///
/// # Errors
/// [`TensogramError::Metadata`] for metadata of more objects than are given, and for what cannot be CBOR;
/// [`TensogramError::Encoding`] for `simple_packing` of another type than float64, which no reader decodes.
///
/// ```
/// use tgm_std::framing::{EncodedObject, HashFramePolicy, decode_message, encode_message};
/// use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, GlobalMetadata};
///
/// let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[4]);
/// let object = EncodedObject { descriptor, encoded_payload: vec![1, 2, 3, 4] };
/// let message = encode_message(&GlobalMetadata::default(), &[object], true, HashFramePolicy::default())?;
/// assert_eq!(decode_message(&message)?.objects[0].1, [1, 2, 3, 4]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// Format: FORMAT §4.4.
pub fn encode_message(
    global_metadata: &GlobalMetadata,
    objects: &[EncodedObject],
    hashing: bool,
    hash_policy: HashFramePolicy,
) -> Result<Vec<u8>> {
    checks::entries(global_metadata, objects.len())?;
    let objects = objects.iter().map(|object| Object::unchecked(&object.descriptor, &object.encoded_payload));
    let objects = objects.collect::<Result<Vec<_>>>()?;
    Ok(Prepared::around(global_metadata, objects, hashing, hash_policy)?.into_bytes()?)
}

/// Takes the first message of `bytes` apart.
///
/// Payloads are not decoded, and digests are not checked: [`crate::decode()`] does both, the latter with `verify_hash`.
///
/// # Errors
/// The errors of the format's checks (FORMAT §1.10).
pub fn decode_message(bytes: &[u8]) -> Result<DecodedMessage<'_>> {
    let preamble = Preamble::read_from(bytes)?;
    let checked = CheckedMessage::open(bytes, &DecodeOptions::default())?;
    let mut message = DecodedMessage {
        preamble,
        global_metadata: to_owned::message_metadata(&checked.metadata, &checked.budget)?,
        index: checked.outline.index.map(|frame| cbor_to_index(frame.body())).transpose()?,
        hash_frame: checked.outline.hashes.map(|frame| cbor_to_hash_frame(frame.body())).transpose()?,
        objects: Vec::new(),
        preceder_payloads: Vec::new(),
    };
    let mut preceder = None;
    for frame in checked.message.frames() {
        let frame = frame?;
        match frame.frame_type() {
            FrameType::PrecederMetadata => {
                preceder = cbor_to_global_metadata(frame.body())?.base.into_iter().next();
            }
            FrameType::NTensorFrame => {
                let start = usize::try_from(frame.offset()).map_err(|_| ErrorKind::TooLarge.at(frame.offset()))?;
                let (descriptor, payload, masks) =
                    split_object(&DataObject::parse(frame).map_err(TensogramError::of_object)?, &checked.budget)?;
                message.objects.push((descriptor, payload, masks, start));
                message.preceder_payloads.push(preceder.take());
            }
            _ => {}
        }
    }
    Ok(message)
}

/// The metadata of the first metadata frame: [`decode_metadata`].
///
/// # Errors
/// As [`decode_metadata`].
pub fn decode_metadata_only(bytes: &[u8]) -> Result<GlobalMetadata> {
    decode_metadata(bytes)
}

/// Takes apart the data object's frame that `bytes` begin with.
///
/// Returns the descriptor, the encoded values, the masks' blobs, and the frame's length with its padding, in bytes. The
/// digest is not checked: [`crate::model::hash::check_frame_hash`] does that.
///
/// # Errors
/// [`TensogramError::Framing`] for a frame that is damaged or of another type; the errors of the descriptor.
pub fn decode_data_object_frame(bytes: &[u8]) -> Result<(DataObjectDescriptor, &[u8], &[u8], usize)> {
    let (frame, rest) = frame::Frame::parse(bytes)?;
    if !frame.frame_type().is_data_object() {
        let found = frame.frame_type();
        return Err(TensogramError::Framing(format!("expected data-object frame, got {found:?}").into()));
    }
    let (descriptor, payload, masks) =
        split_object(&DataObject::parse(frame).map_err(TensogramError::of_object)?, &MetadataBudget::by_default())?;
    let len = bytes.len() - rest.len();
    let padded = usize::try_from(padded(len as u64)).unwrap_or(len);
    Ok((descriptor, payload, masks, padded.min(bytes.len())))
}

/// An object's descriptor, its payload, and the rest of its region.
fn split_object<'a>(
    object: &DataObject<'a>,
    budget: &MetadataBudget,
) -> Result<(DataObjectDescriptor, &'a [u8], &'a [u8])> {
    let (region, payload) = (object.region(), object.payload());
    let masks = tail(region, payload.len() as u64);
    Ok((to_owned::descriptor(object.descriptor(), budget)?, payload, masks))
}
