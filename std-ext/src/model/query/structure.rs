//! Keys that ask for the structure of objects: their types, shapes and pipelines.

use tgm_core::Result;
use tgm_core::descriptor::Descriptor;

use crate::model::cbor::written;

/// What a structural key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Structure {
    Dtype,
    Shape,
    Ndim,
    Encoding,
    Filter,
    Compression,
    /// The number of objects of the message.
    Objects,
}

/// The structural keys.
const KEYS: [(&str, Structure); 7] = [
    ("dtype", Structure::Dtype),
    ("shape", Structure::Shape),
    ("ndim", Structure::Ndim),
    ("encoding", Structure::Encoding),
    ("filter", Structure::Filter),
    ("compression", Structure::Compression),
    ("objects", Structure::Objects),
];

impl Structure {
    /// The structural keys, and what they ask for.
    pub(crate) const fn all() -> [(&'static str, Self); 7] {
        KEYS
    }

    /// What `key` asks for, if it is structural.
    pub(crate) fn of_key(key: &str) -> Option<Self> {
        KEYS.into_iter().find(|(name, _)| *name == key).map(|(_, structure)| structure)
    }

    /// The answer as CBOR, for an object of a message of `count` objects. `None` if there is no object, or no
    /// descriptor is known, and the answer lies there.
    pub(crate) fn of_object(self, descriptor: Option<&Descriptor<'_>>, count: usize) -> Option<Vec<u8>> {
        let text = |text: &str| {
            written(|writer| {
                writer.text(text);
                Ok(())
            })
        };
        let number = |number: u64| {
            written(|writer| {
                writer.uint(number);
                Ok(())
            })
        };
        let answer = match (self, descriptor) {
            (Self::Objects, _) => number(count as u64),
            (_, None) => return None,
            (Self::Dtype, Some(descriptor)) => text(descriptor.dtype().name()),
            (Self::Ndim, Some(descriptor)) => number(descriptor.shape().len() as u64),
            (Self::Shape, Some(descriptor)) => written(|writer| writer.uints(descriptor.shape().iter())),
            (Self::Encoding, Some(descriptor)) => text(&descriptor.encoding().to_string()),
            (Self::Filter, Some(descriptor)) => text(&descriptor.filter().to_string()),
            (Self::Compression, Some(descriptor)) => text(&descriptor.compression().to_string()),
        };
        answer.ok()
    }

    /// [`Self::of_object`] for the first object of a message, whose descriptor `first` finds.
    ///
    /// # Errors
    /// Those of `first`.
    pub(crate) fn of_message<'a>(
        self,
        count: usize,
        first: impl FnOnce() -> Result<Option<Descriptor<'a>>>,
    ) -> Result<Option<Vec<u8>>> {
        let descriptor = if self == Self::Objects { None } else { first()? };
        Ok(self.of_object(descriptor.as_ref(), count))
    }
}
