//! Objects of existing messages in a new message. Their payload regions stay as they are.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::descriptor::{Compression, Encoding, Filter};
use tgm_core::object::DataObject;

use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::message::Prepared;
use crate::encode::object::Object;
use crate::model::metadata::object_descriptor_to_cbor;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// A data object of a message, which [`reframe`] can put into another message. It has the descriptor and the payload
/// region, masks included, byte for byte.
///
/// Nothing is decoded. So no codec is needed, nothing is lost, and masks need no option.
#[derive(Debug)]
pub struct TakenObject<'a> {
    object: Object<'a>,
}

impl<'a> TakenObject<'a> {
    /// Takes the object. The descriptor is copied, the region is borrowed: O(bytes of the descriptor).
    ///
    /// Parsing `object` has checked the descriptor, and that masks lie inside the region. It has not checked the
    /// digest. The new message gets a new digest, so check the old one first
    /// ([`Message::verify`](tgm_core::Message::verify)).
    ///
    /// # Errors
    /// [`TensogramError::Framing`] for a frame with bytes that belong neither to the descriptor nor to the region.
    /// Readers ignore such bytes, but they are a sign of a damaged header, which no digest covers.
    /// [`TensogramError::Encoding`] for a payload without any stage whose length differs from the one that the shape
    /// implies (FORMAT §1.10 row 21).
    pub fn new(object: &DataObject<'a>) -> Result<Self> {
        let view = object.descriptor();
        let used = object.region().len() + view.as_encoded().len();
        let ignored = object.frame().body().len() - used;
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
        let descriptor = to_owned::descriptor(view, &MetadataBudget::by_default())?;
        Ok(Self { object: Object::kept(descriptor, view.as_encoded().to_vec(), object.region()) })
    }

    pub(crate) fn into_object(self) -> Object<'a> {
        self.object
    }

    /// The descriptor of the object.
    pub const fn descriptor(&self) -> &DataObjectDescriptor {
        self.object.descriptor.get()
    }

    /// Replaces all parameters of the descriptor. The descriptor is written anew: always with its byte order, and
    /// without `hash` and unknown keys of masks. This function does not check whether readers can still decode the
    /// payload.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a parameter that has the name of a field, and for values that are nested too
    /// deeply. The object is unchanged then.
    pub fn set_params(&mut self, params: BTreeMap<String, Value>) -> Result<()> {
        let descriptor = DataObjectDescriptor { params, ..(*self.object.descriptor).clone() };
        self.object.cbor = object_descriptor_to_cbor(&descriptor)?;
        self.object.descriptor = descriptor.into();
        Ok(())
    }
}

/// Makes a new buffered message of objects of existing messages.
///
/// It takes every object that a message can hold: uncompressed and compressed payloads of any encoding, masked ones,
/// parameters under the names that old releases wrote, and objects that this library reads but cannot decode.
/// [`encode_pre_encoded`](crate::encode_pre_encoded) takes fewer. Only the options `hashing`, `aggregate_hash`,
/// `descriptor_first` and `provenance` matter here.
///
/// # Errors
/// [`TensogramError::Metadata`] for metadata that only the library writes, for more `base` entries than objects, and
/// for values that are nested too deeply; [`TensogramError::Encoding`] if there is no memory.
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
    let objects = objects.into_iter().map(TakenObject::into_object).collect();
    Ok(Prepared::new(metadata, objects, options)?.into_bytes()?)
}

#[cfg(test)]
mod tests {
    use tgm_core::descriptor::{ByteOrder, Dtype};

    use super::*;
    use crate::decode::object_of_frame;
    use crate::encode::encode_data_object_frame;

    fn taken(descriptor: &DataObjectDescriptor, payload: &[u8]) -> Result<()> {
        let frame = encode_data_object_frame(descriptor, payload, false, false).unwrap();
        TakenObject::new(&object_of_frame(&frame).unwrap()).map(drop)
    }

    #[test]
    fn plain_values_are_taken_over_only_if_they_are_as_many_as_the_descriptor_says() {
        let plain = DataObjectDescriptor::new(Dtype::Uint16, ByteOrder::Little, &[3]);
        assert!(taken(&plain, &[0; 6]).is_ok());
        for len in [0, 5, 7] {
            let error = taken(&plain, &vec![0; len]).unwrap_err().to_string();
            assert!(error.contains(&format!("payload has {len} bytes, its descriptor implies 6")), "{error}");
        }
        let compressed = DataObjectDescriptor { compression: "zstd".into(), ..plain.clone() };
        let shuffled = DataObjectDescriptor { filter: "shuffle".into(), ..plain };
        assert!(taken(&compressed, &[0; 5]).is_ok() && taken(&shuffled, &[0; 5]).is_ok(), "nobody decodes them");
    }

    #[test]
    fn bytes_of_a_frame_that_nobody_reads_are_an_error() {
        let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[3]);
        let mut frame = encode_data_object_frame(&descriptor, &[1, 2, 3], false, false).unwrap();
        // Between the descriptor and the tail of 20 bytes.
        let end = frame.len() - 20;
        frame.splice(end..end, [0; 4]);
        let len = (frame.len() as u64).to_be_bytes();
        frame[8..16].copy_from_slice(&len);
        let error = TakenObject::new(&object_of_frame(&frame).unwrap()).unwrap_err().to_string();
        assert!(error.contains("4 bytes of the frame belong neither"), "{error}");
    }

    #[test]
    fn parameters_of_an_object_that_is_taken_over_can_be_replaced() {
        let mut descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[3]);
        descriptor.params.insert("old".into(), 1.into());
        let frame = encode_data_object_frame(&descriptor, &[1, 2, 3], false, false).unwrap();
        let mut taken = TakenObject::new(&object_of_frame(&frame).unwrap()).unwrap();
        taken.set_params([("new".to_owned(), Value::from(2))].into()).unwrap();
        assert!(taken.descriptor().params.keys().eq(["new"]));
        let message = reframe(&GlobalMetadata::default(), vec![taken], &EncodeOptions::default()).unwrap();
        let (_, found) = crate::decode(&message, &crate::DecodeOptions::default()).unwrap();
        assert!(found[0].0.params.keys().eq(["new"]) && found[0].1 == [1, 2, 3]);
    }
}
