//! Errors of this project on their way through the crate `zarrs`.

use std::io;
use std::sync::Arc;

use tgm_std::TensogramError;
use zarrs::array::{BytesRepresentation, CodecError};

use crate::error::{encoding, reason_of};
/// An error of this project on its way through `zarrs`, to [`from_codec`].
pub(super) fn to_codec(error: TensogramError) -> CodecError {
    CodecError::IOError(Arc::new(io::Error::other(error)))
}

/// How many bytes there are after decoding, which follows from the shape of a chunk. An error that says `why` if it does not.
pub(super) fn fixed_len(decoded: &BytesRepresentation, why: &str) -> Result<usize, CodecError> {
    let len = if let BytesRepresentation::FixedSize(len) = decoded { usize::try_from(*len).ok() } else { None };
    len.ok_or_else(|| CodecError::Other(why.into()))
}

/// What a chain of codecs reports: an error of this project as it was, kind and offset with it, and that of `zarrs` as the source.
pub(super) fn from_codec(error: CodecError) -> TensogramError {
    match error {
        CodecError::IOError(error) => match Arc::try_unwrap(error) {
            Ok(error) => error.downcast().unwrap_or_else(|error| encoding(reason_of(error))),
            // Somebody else has it, so it stays as it is.
            Err(error) => encoding(reason_of(CodecError::IOError(error))),
        },
        error => encoding(reason_of(error)),
    }
}

/// What `zarrs` asks of a codec, for one of which whole chunks are decoded. Parts of shards would not be checked.
macro_rules! whole_chunks {
    ($codec:ty) => {
        impl zarrs::array::CodecTraits for $codec {
            fn as_any(&self) -> &dyn std::any::Any {
                self
            }

            /// None: descriptions are written as they were read.
            fn configuration(
                &self,
                _: zarrs::plugin::ZarrVersion,
                _: &zarrs::array::CodecMetadataOptions,
            ) -> Option<zarrs::metadata::Configuration> {
                None
            }

            fn partial_decoder_capability(&self) -> zarrs::array::codec::api::PartialDecoderCapability {
                zarrs::array::codec::api::PartialDecoderCapability { partial_read: false, partial_decode: false }
            }

            fn partial_encoder_capability(&self) -> zarrs::array::codec::api::PartialEncoderCapability {
                zarrs::array::codec::api::PartialEncoderCapability { partial_encode: false }
            }
        }
    };
}
pub(super) use whole_chunks;
