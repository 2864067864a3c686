//! Objects of existing messages on their way into another one: payload regions stay as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::descriptor::{Compression, Encoding, Filter};
use tgm_core::object::DataObject;

use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::assemble;
use crate::encode::object::{Described, Object};
use crate::encode::region::{Payload, Region};
use crate::model::metadata::object_descriptor_to_cbor;
use crate::model::room::Room;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// A data object taken out of a message, for [`reframe`] to put into another: descriptor and payload region, masks
/// included, byte for byte.
///
/// Nothing is decoded, so that no codec is needed, nothing is lost, and masked values need no permission.
#[derive(Debug)]
pub struct TakenObject<'a> {
    object: Object<'a>,
}

impl<'a> TakenObject<'a> {
    /// Takes what the object consists of: O(bytes of the descriptor), the region is borrowed.
    ///
    /// That the descriptor is sound and that masks lie inside the region was checked when `object` was parsed. Its
    /// digest was not: whoever gives it a new one in another message checks the old one first
    /// ([`Message::verify`](tgm_core::Message::verify)).
    ///
    /// # Errors
    /// [`TensogramError::Framing`] for a frame with bytes that belong neither to the descriptor nor to the region:
    /// readers ignore them, but where they are the header, which no digest covers, is likely to be damaged.
    /// [`TensogramError::Encoding`] for a payload that goes through no stage and is not as long as the shape implies
    /// (FORMAT §1.10 row 21).
    pub fn new(object: &DataObject<'a>) -> Result<Self> {
        let view = object.descriptor();
        let used = object.region().len() + view.as_encoded().len();
        let ignored = object.frame().body().len().saturating_sub(used);
        if ignored > 0 {
            let text = format!("{ignored} bytes of the frame belong neither to the payload nor to the descriptor");
            return Err(TensogramError::Framing(text.into()));
        }
        let is_plain = view.encoding().known() == Some(Encoding::None)
            && view.filter().known() == Some(Filter::None)
            && view.compression().known() == Some(Compression::None);
        let (len, expected) = (object.payload().len() as u64, view.decoded_len()?);
        if is_plain && len != expected {
            let text = format!("payload has {len} bytes, its descriptor implies {expected}");
            return Err(TensogramError::encoding(text));
        }
        let region = Region { payload: Payload::Bytes(Cow::Borrowed(object.region())), blobs: Vec::new() };
        Ok(Self {
            object: Object::kept(to_owned::descriptor(view, &Room::by_default())?, view.as_encoded().to_vec(), region),
        })
    }

    /// What the object is.
    pub const fn descriptor(&self) -> &DataObjectDescriptor {
        match &self.object.descriptor {
            Described::Borrowed(descriptor) => descriptor,
            Described::Owned(descriptor) => descriptor,
        }
    }

    /// Replaces everything that stands in the descriptor beside its fields. The descriptor is then written anew, with
    /// its byte order in any case, without unknown keys of masks and without `hash`. Whether readers can still make sense of the
    /// payload is not checked.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a parameter that has the name of a field, and for values nested too deeply; the
    /// object is then as it was.
    pub fn set_params(&mut self, params: BTreeMap<String, Value>) -> Result<()> {
        let descriptor = DataObjectDescriptor { params, ..(*self.object.descriptor).clone() };
        self.object.cbor = object_descriptor_to_cbor(&descriptor)?;
        self.object.descriptor = descriptor.into();
        Ok(())
    }
}

/// Frames objects of existing messages into a new, buffered message.
///
/// It takes every object that a message can hold: uncompressed and compressed payloads of any encoding, masked ones,
/// parameters under the names that old releases wrote, and objects that this library reads but cannot decode.
/// [`encode_pre_encoded`](crate::encode_pre_encoded) takes fewer. Only the options `hashing`, `aggregate_hash` and
/// `provenance` matter here.
///
/// # Errors
/// [`TensogramError::Metadata`] for metadata that is the library's to write, for more `base` entries than objects, and
/// for values nested too deeply; [`TensogramError::Encoding`] if memory runs out.
///
/// ```
/// use tgm_std::encode::{TakenObject, reframe};
/// use tgm_std::{EncodeOptions, GlobalMetadata};
///
/// # let bytes = std::fs::read("../tests/data/masks/method-roaring.tgm").unwrap();
/// let object = tgm_core::Message::parse(&bytes)?.object(0)?;
/// let twice = vec![TakenObject::new(&object)?, TakenObject::new(&object)?];
/// let message = reframe(&GlobalMetadata::default(), twice, &EncodeOptions::default())?;
/// let copy = tgm_core::Message::parse(&message)?.object(1)?;
/// assert_eq!(copy.region(), object.region());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// Format: FORMAT §4.3, §4.4.
pub fn reframe(metadata: &GlobalMetadata, objects: Vec<TakenObject<'_>>, options: &EncodeOptions) -> Result<Vec<u8>> {
    let mut message = Vec::new();
    assemble(metadata, objects.into_iter().map(|taken| taken.object.into()).collect(), options, &mut message)?;
    Ok(message)
}
