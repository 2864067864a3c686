//! A data object of version 2: its payload, and its descriptor in the spelling of version 3.

use ciborium::Value;
use tgm_core::ErrorKind;
use tgm_core::descriptor::{Compression, Descriptor, Encoding, Key};
use tgm_core::hash::HashMismatch;
use tgm_core::wire::FrameFlags;

use super::frame::Frame;
use crate::base::error::{Result, TensogramError};
use crate::base::span::tail;
use crate::model::hash::HASH_ALGORITHM_NAME;
use crate::model::hash::digest;
use crate::model::metadata::HASH_KEY;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::params::metadata;
use crate::model::to_owned;
use crate::model::types::DataObjectDescriptor;

/// Parameters of `simple_packing`: the old name and the present one.
const RENAMED: [(Key, Key); 4] = [
    (Key::ReferenceValue, Key::SpReferenceValue),
    (Key::BinaryScaleFactor, Key::SpBinaryScaleFactor),
    (Key::DecimalScaleFactor, Key::SpDecimalScaleFactor),
    (Key::BitsPerValue, Key::SpBitsPerValue),
];

/// A data object.
pub(super) struct Object<'a> {
    /// The descriptor in the spelling of version 3.
    pub(super) descriptor: DataObjectDescriptor,
    /// The encoded payload.
    pub(super) payload: &'a [u8],
    /// The descriptor's `hash`, removed from there.
    hash: Option<Value>,
}

impl<'a> Object<'a> {
    /// Reads the object in `frame`. `budget` limits the memory.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a malformed descriptor, and for entries with another meaning in version 3;
    /// [`TensogramError::Encoding`] for stages that version 2 does not have.
    pub(super) fn parse(frame: &Frame<'a>, budget: &MetadataBudget) -> Result<Self> {
        let parts = frame.body.split_at_checked(frame.descriptor_start);
        let (before, cbor) = parts.ok_or_else(|| ErrorKind::CborOffset.at(frame.body_offset()))?;
        let offset = frame.body_offset() + before.len() as u64;
        let view = Descriptor::parse(cbor, offset)?;
        // Version 3 would use the byte order of the machine that reads.
        if view.declared_byte_order().is_none() {
            return Err(ErrorKind::MissingKey(Key::ByteOrder).at(offset).into());
        }
        check_stages(&view)?;
        let payload = if frame.flags.has(FrameFlags::CBOR_AFTER_PAYLOAD) {
            before
        } else {
            tail(cbor, view.as_encoded().len() as u64)
        };
        let mut descriptor = to_owned::descriptor(&view, budget)?;
        if descriptor.masks.is_some() {
            return Err(metadata("descriptor has masks, which version 2 does not know and version 3 would apply"));
        }
        let hash = descriptor.params.remove(HASH_KEY).filter(|hash| !hash.is_null());
        if view.encoding().known() == Some(Encoding::SimplePacking) {
            rename(&mut descriptor)?;
        }
        Ok(Self { descriptor, payload, hash })
    }

    /// Compares the payload with its digest, if the descriptor has one. `index` is the object's number, for errors.
    ///
    /// # Errors
    /// [`TensogramError::HashMismatch`]; [`TensogramError::Metadata`] for a digest that cannot be compared.
    pub(super) fn verify(&self, index: usize) -> Result<()> {
        let Some(hash) = &self.hash else { return Ok(()) };
        let expected = expected_digest(hash).ok_or_else(|| {
            metadata(format!("object {index}: hash is not an {HASH_ALGORITHM_NAME} digest of 16 hexadecimal digits"))
        })?;
        let computed = digest(self.payload);
        if expected == computed {
            return Ok(());
        }
        Err(TensogramError::hash_mismatch(Some(index), HashMismatch { expected, computed }))
    }
}

/// Checks that version 2 has these stages. Version 3 has more, and would accept descriptors that version 2 refused.
fn check_stages(view: &Descriptor<'_>) -> Result<()> {
    let (encoding, filter, compression) = (view.encoding(), view.filter(), view.compression());
    let unknown = if encoding.known().is_none() {
        format!("encoding {encoding}")
    } else if filter.known().is_none() {
        format!("filter {filter}")
    } else if !compression.known().is_some_and(is_in_version_2) {
        format!("compression {compression}")
    } else {
        return Ok(());
    };
    Err(TensogramError::encoding(format!("{unknown} is none of version 2")))
}

fn is_in_version_2(compression: Compression) -> bool {
    tgm_codec::find(compression).is_none_or(|codec| codec.about().is_in_version_2)
}

fn rename(descriptor: &mut DataObjectDescriptor) -> Result<()> {
    for (old, new) in RENAMED {
        let Some(value) = descriptor.params.remove(old.name()) else { continue };
        if descriptor.params.insert(new.name().to_string(), value).is_some() {
            return Err(metadata(format!("descriptor has both {old} and {new}")));
        }
    }
    Ok(())
}

/// The digest that `{type: "xxh3", value: hexadecimal digits}` states.
fn expected_digest(hash: &Value) -> Option<u64> {
    let text = |key: &str| {
        let (_, value) = hash.as_map()?.iter().find(|(name, _)| name.as_text() == Some(key))?;
        value.as_text()
    };
    if text("type")? != HASH_ALGORITHM_NAME {
        return None;
    }
    let digits = text("value").filter(|digits| digits.len() == 16 && digits.bytes().all(|c| c.is_ascii_hexdigit()))?;
    u64::from_str_radix(digits, 16).ok()
}
