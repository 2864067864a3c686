//! The one error of ZIO messages, labels, tensors and FLOW, as an error of this crate.

use tgm_core::zio::{Error, ErrorKind as K};

use crate::base::error::TensogramError;

/// Structure, if parts are wrong. Metadata, if a label is.
impl From<Error> for TensogramError {
    fn from(error: Error) -> Self {
        let text = error.to_string().into();
        match error.kind() {
            K::TruncatedSize
            | K::TruncatedPart
            | K::PartTooLarge
            | K::OutputLength
            | K::TooFewParts(_)
            | K::PrefixTooShort(_)
            | K::BadMagic
            | K::BadLevel(_)
            | K::BadCoordSize(_)
            | K::NoDelimiter
            | K::NoIdentity => Self::Framing(text),
            _ => Self::Metadata(text),
        }
    }
}
