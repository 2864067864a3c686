//! Messages of a file, decoded.

use crate::base::error::Result;
use crate::base::options::DecodeOptions;
#[cfg(doc)]
use crate::decode;
use crate::file::tensogram_file::TensogramFile;
use crate::model::types::{DecodedObject, GlobalMetadata};
use crate::read::question::{Message, question_methods};

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

    question_methods!(ask, decode_metadata, decode_descriptors, decode_object, decode_range, select);
}
