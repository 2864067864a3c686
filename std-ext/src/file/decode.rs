//! Messages of a file, decoded.

use tgm_core::descriptor::Descriptor;

use crate::base::error::Result;
use crate::base::limits::{DecodeLimits, reserve};
use crate::base::options::DecodeOptions;
#[cfg(doc)]
use crate::decode;
use crate::decode::plain::Plain;
use crate::decode::wanted::Wanted;
use crate::file::message_bytes::AT_ONCE;
use crate::file::tensogram_file::TensogramFile;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};
use crate::read::positioned::read_at;
use crate::read::question::about::{AllMetadata, Described};
use crate::read::question::object::Object;
use crate::read::question::question_methods;
use crate::read::question::whole::Message;

impl TensogramFile {
    /// The metadata and all objects of message `index`.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`] and [`decode::decode`].
    pub fn decode_message(
        &self,
        index: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        self.ask(index, Message(options.clone()))
    }

    /// Object `object` of message `index`. Values that need no decoding are read to where they stay.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`] and of [`decode_object`](crate::decode_object).
    pub fn decode_object(
        &self,
        index: usize,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> {
        if let Some((descriptor, values)) = self.plain_object(index, object, options)? {
            return Ok((self.ask(index, AllMetadata { verify: options.verify_hash })?, descriptor, values));
        }
        self.ask(index, Object { index: object, options: options.clone() })
    }

    /// An object of a long message whose values are stored as they are. `None` for others, and for what is wrong: the ordinary
    /// way says what.
    fn plain_object(&self, index: usize, object: usize, options: &DecodeOptions) -> Result<Option<DecodedObject>> {
        let Some(file) = self.positioned_file().filter(|_| has_usual_limits(&options.limits)) else {
            return Ok(None);
        };
        let layout = self.table()?.get(index)?;
        if layout.length <= AT_ONCE {
            return Ok(None);
        }
        let described = self.ask(index, Described(object));
        let Ok(described) = described else { return Ok(None) };
        let view = Descriptor::parse(&described.cbor, described.offset)?;
        let payload_len = view.masks().payload_len(described.region_len);
        let plain = payload_len.ok().and_then(|len| Plain::of(&view, len, Wanted::All, options));
        let Some(plain) = plain else { return Ok(None) };
        let descriptor = to_owned::descriptor(&view, &MetadataBudget::new(&options.limits))?;
        let mut values = reserve(plain.len)?;
        let start = layout.offset.saturating_add(described.region_start).saturating_add(plain.start);
        if !matches!(read_at(file.file(), start, &mut values), Ok(read) if read == values.len()) {
            return Ok(None);
        }
        plain.swap(None, options, &mut values)?;
        Ok(Some((descriptor, values)))
    }

    question_methods!(ask, decode_metadata, decode_descriptors, decode_range, select);
}

/// Whether metadata and descriptors have the default limits, which hold where they are read for themselves.
fn has_usual_limits(limits: &DecodeLimits) -> bool {
    let usual = DecodeLimits::default();
    (limits.max_metadata_bytes, limits.max_objects) == (usual.max_metadata_bytes, usual.max_objects)
}
