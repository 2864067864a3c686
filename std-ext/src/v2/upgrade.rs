//! Upgrade of one message from version 2 to version 3.

use tgm_codec::memory;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::{Encoding, Stage};
use tgm_core::frame::Frame;
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;
use tgm_core::{ErrorKind, Message};

use super::{message, metadata, object};
use crate::base::error::{Result, TensogramError};
use crate::base::limits::DecodeLimits;
use crate::base::options::{DecodeOptions, EncodeOptions};
use crate::encode::compress::CodecResources;
use crate::encode::finite::find;
use crate::encode::frame::FrameForm;
use crate::encode::object::Object;
use crate::encode::value_order::codes_numbers;
use crate::encode::{Prepared, checks};
use crate::model::metadata_budget::MetadataBudget;

/// Options of an upgrade.
#[derive(Clone, Debug, Default)]
pub struct UpgradeOptions {
    /// Store NaN and infinities as masks, as in new messages. Objects that have any are decoded and encoded again. Two
    /// things are lost: the bits of each NaN, and the finite part of a complex number whose other part is not finite.
    /// Payloads that are packed or have a lossy codec stay as they are.
    ///
    /// Without this option they stay among the values. Readers accept that; only full validation reports it.
    pub masks: bool,
    /// Accept payloads whose digest is wrong or cannot be checked. New digests are computed from the bytes as they are.
    pub ignore_hash: bool,
    /// Options for writing the new message: digests, provenance, masks.
    pub encode: EncodeOptions,
    /// Limits on objects, on memory for metadata, and on decoding for masks.
    pub limits: DecodeLimits,
}

/// Turns the message of version 2 at the start of `v2` into a message of version 3. Bytes after the message are
/// ignored, as in decoding.
///
/// Payloads stay as they are. The `hash` of a descriptor is compared with the payload, then removed. Parameters of
/// `simple_packing` get their present names. Preceders are merged into `base`, and the last metadata frame counts.
/// Index and hash frames are written again; the old ones are not read. Provenance moves to
/// [`UPGRADED_FROM`](super::UPGRADED_FROM).
///
/// # Errors
/// [`TensogramError::Framing`] for bytes that are not a whole message of version 2; [`TensogramError::HashMismatch`]
/// for a payload with a wrong digest; [`TensogramError::Metadata`] and [`TensogramError::Encoding`] for metadata,
/// descriptors and payload sizes that a reader of version 3 would refuse, and for more objects than the limit.
///
/// ```
/// use tgm_std::v2::{UpgradeOptions, upgrade_message};
/// use tgm_std::{DecodeOptions, decode};
///
/// let old = std::fs::read("../tests/data/v2/0.16.1-f32.tgm")?;
/// let new = upgrade_message(&old, &UpgradeOptions::default())?;
/// let (metadata, objects) = decode(&new, &DecodeOptions { verify_hash: true, ..Default::default() })?;
/// assert_eq!(objects.len(), 1);
/// assert!(metadata.extra.contains_key("upgraded_from"));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// Format: FORMAT §9.
pub fn upgrade_message(v2: &[u8], options: &UpgradeOptions) -> Result<Vec<u8>> {
    let mut objects: Vec<object::Object<'_>> = Vec::new();
    let budget = MetadataBudget::new(&options.limits);
    let (mut last_metadata, mut preceders) = (None, Vec::new());
    for frame in message::Message::parse(v2)?.frames() {
        let frame = frame?;
        match frame.frame_type {
            FrameType::HeaderMetadata | FrameType::FooterMetadata => last_metadata = Some(frame),
            FrameType::PrecederMetadata => preceders.push((objects.len(), frame)),
            FrameType::NTensorFrame => {
                objects.push(object::Object::parse(&frame, &budget)?);
                options.limits.check_objects(objects.len())?;
            }
            _ => {}
        }
    }
    let global = metadata::global(last_metadata.as_ref(), &preceders, objects.len(), &budget)?;
    checks::message(&global, objects.len())?;
    if !options.ignore_hash {
        objects.iter().enumerate().try_for_each(|(index, object)| object.verify(index))?;
    }
    let encode = EncodeOptions { allow_nan: true, allow_inf: true, ..options.encode.clone() };
    let masked = objects.iter().map(|object| values_to_mask(object, options, &encode)).collect::<Result<Vec<_>>>()?;
    let resources = CodecResources { backend: encode.compression_backend, threads: Threads::NONE };
    let written = objects.iter().zip(&masked).map(|(object, values)| match values {
        Some(values) => Object::of_values(&object.descriptor, values, &encode, resources),
        None => Object::taken_over(&object.descriptor, object.payload),
    });
    let upgraded = Prepared::new(&global, written.collect::<Result<Vec<_>>>()?, &encode)?.into_bytes()?;
    check_sizes(&upgraded)?;
    Ok(upgraded)
}

/// The object's values, if the options ask for masks and some values are not finite.
fn values_to_mask(
    object: &object::Object<'_>,
    options: &UpgradeOptions,
    encode: &EncodeOptions,
) -> Result<Option<Vec<u8>>> {
    let descriptor = &object.descriptor;
    let is_lossless =
        Encoding::from_name(&descriptor.encoding) == Some(Encoding::None) && !codes_numbers(&descriptor.compression);
    if !options.masks || !descriptor.dtype.is_float() || !is_lossless {
        return Ok(None);
    }
    let mut frame = Vec::new();
    Object::taken_over(descriptor, object.payload)?
        .append_to(&mut frame, FrameForm { hashing: false, descriptor_first: false })?;
    let as_stored = DecodeOptions { native_byte_order: false, limits: options.limits, ..DecodeOptions::default() };
    let values = memory::owned(crate::read(&DataObject::parse(Frame::parse(&frame)?.0)?).options(&as_stored).bytes()?)?;
    let masks = find(&values, descriptor.dtype, descriptor.byte_order, encode, Threads::NONE)?;
    Ok((!masks.is_empty()).then_some(values))
}

/// Checks that each payload without compression has the size that its descriptor implies, as version 3 requires.
fn check_sizes(upgraded: &[u8]) -> Result<()> {
    for (index, object) in Message::parse(upgraded)?.objects().enumerate() {
        match object?.stored().map_err(|error| error.kind()) {
            Ok(_) | Err(ErrorKind::NeedsDecoding(Stage::Compression(_))) => {}
            Err(kind) => return Err(TensogramError::encoding(format!("object {index}: {kind}"))),
        }
    }
    Ok(())
}
