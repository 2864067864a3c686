//! Messages of a file, decoded.

use tgm_core::selection::Pick;

use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::decode::select::Selected;
#[cfg(doc)]
use crate::decode::{self, range};
use crate::file::tensogram_file::TensogramFile;
use crate::model::types::{DataObjectDescriptor, DecodedObject, GlobalMetadata};
use crate::read::answer::{Descriptors, FirstMetadata, Message, Object, Ranges, Select};

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

    /// The metadata of the first metadata frame of message `index`.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`] and [`decode::decode_metadata`].
    pub fn decode_metadata(&self, index: usize) -> Result<GlobalMetadata> {
        self.ask(index, FirstMetadata(DecodeOptions::default()))
    }

    /// The metadata of message `index`, and the descriptors of its objects.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`] and [`decode::decode_descriptors`].
    pub fn decode_descriptors(&self, index: usize) -> Result<(GlobalMetadata, Vec<DataObjectDescriptor>)> {
        self.ask(index, Descriptors(DecodeOptions::default()))
    }

    /// Object `object` of message `index`.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`] and [`decode::decode_object`].
    pub fn decode_object(
        &self,
        index: usize,
        object: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)> {
        self.ask(index, Object { index: object, options: options.clone() })
    }

    /// Ranges of the values of object `object` of message `index`. With `verify_hash`, the whole frame of the object is
    /// read, because its digest covers the whole frame.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`] and [`range::decode_range`].
    pub fn decode_range(
        &self,
        index: usize,
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Vec<Vec<u8>>)> {
        self.ask(index, Ranges { index: object, ranges: ranges.to_vec(), options: options.clone() })
    }

    /// The values that `picks` take of object `object` of message `index`, one pick for each dimension:
    /// [`select`](crate::decode::select()). If the frame is long and its compression has parts, only the parts that hold
    /// these values are read.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`] and of [`select`](crate::decode::select()).
    pub fn select(
        &self,
        index: usize,
        object: usize,
        picks: &[Pick],
        options: &DecodeOptions,
    ) -> Result<(DataObjectDescriptor, Selected<'static>)> {
        self.ask(index, Select { index: object, picks: picks.to_vec(), options: options.clone() })
    }
}
