//! The one error of ZIO messages, labels, tensors and FLOW, as an error of `tgm_std`.

use tgm_std::TensogramError;

use crate::wire::{Error, ErrorKind as K};

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

/// The error of the bridge: of a label, or of metadata.
pub(crate) fn metadata(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}
