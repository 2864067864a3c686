//! Messages of a file, decoded.

use tgm_core::cbor::MAX_NESTING;

use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::decode::{self, range};
use crate::file::parts::Wanted;
use crate::file::tensogram_file::TensogramFile;
use crate::model::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};

impl TensogramFile {
    /// The metadata and all objects of message `index`.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`decode::decode`].
    pub fn decode_message(
        &self,
        index: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        self.with_message(index, None, |bytes| decode::decode(bytes, options))
    }

    /// The metadata of the first metadata frame of message `index`.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`decode::decode_metadata`].
    pub fn decode_metadata(&self, index: usize) -> Result<GlobalMetadata> {
        self.with_message(index, Some(Wanted::FirstMetadata), decode::decode_metadata)
    }

    /// The metadata of message `index`, and the descriptors of its objects.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`decode::decode_descriptors`].
    pub fn decode_descriptors(&self, index: usize) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> {
        self.with_message(index, Some(Wanted::Descriptors), decode::decode_descriptors)
    }

    /// Object `object` of message `index`.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`decode::decode_object`].
    pub fn decode_object(
        &self,
        index: usize,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> {
        self.with_message(index, wanted(Wanted::Object(object), options), |bytes| {
            decode::decode_object(bytes, object, options)
        })
    }

    /// Ranges of the values of object `object` of message `index`. With `verify_hash`, the whole frame of the object is
    /// read, because its digest covers the whole frame.
    ///
    /// # Errors
    /// Those of [`Self::read_message`] and [`range::decode_range`].
    pub fn decode_range(
        &self,
        index: usize,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
        let parts = if options.verify_hash { Wanted::Object(object) } else { Wanted::Ranges(object, ranges) };
        self.with_message(index, wanted(parts, options), |bytes| range::decode_range(bytes, object, ranges, options))
    }
}

/// The wanted parts, unless a limit of `options` needs the whole message: nesting is then checked everywhere.
fn wanted<'a>(wanted: Wanted<'a>, options: &DecodeOptions) -> Option<Wanted<'a>> {
    (options.limits.max_nesting >= MAX_NESTING).then_some(wanted)
}
