//! Keys that ask for the structure of objects: their types, shapes and pipelines.

use tgm_core::Result;
use tgm_core::descriptor::Descriptor;

use crate::model::cbor::written;

/// What a structural key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// The name of the element type.
    Dtype,
    /// The shape, with "x" between the lengths.
    Shape,
    /// The number of dimensions.
    Ndim,
    /// The name of the encoding.
    Encoding,
    /// The name of the filter.
    Filter,
    /// The name of the compression.
    Compression,
    /// The number of objects of the message.
    Objects,
    /// The stages that are not "none", with "+" between them.
    Codec,
    /// Bytes of the decoded values.
    Bytes,
    /// The number of elements.
    Count,
}

/// The structural keys that catalogues take in of themselves.
const KEYS: [(&str, Structure); 7] = [
    ("dtype", Structure::Dtype),
    ("shape", Structure::Shape),
    ("ndim", Structure::Ndim),
    ("encoding", Structure::Encoding),
    ("filter", Structure::Filter),
    ("compression", Structure::Compression),
    ("objects", Structure::Objects),
];

/// Structural keys that follow from the others.
const MORE: [(&str, Structure); 3] =
    [("codec", Structure::Codec), ("bytes", Structure::Bytes), ("count", Structure::Count)];

impl Structure {
    /// The structural keys that do not follow from others, and what they ask for.
    pub const fn all() -> [(&'static str, Self); 7] {
        KEYS
    }

    /// What `key` asks for, if it is structural.
    pub fn of_key(key: &str) -> Option<Self> {
        KEYS.into_iter().chain(MORE).find(|(name, _)| *name == key).map(|(_, structure)| structure)
    }

    /// The answer as CBOR, for an object of a message of `count` objects. `None` if there is no object, or no
    /// descriptor is known, and the answer lies there.
    pub fn of_object(self, descriptor: Option<&Descriptor<'_>>, count: usize) -> Option<Vec<u8>> {
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
            (Self::Codec, Some(descriptor)) => text(&codec(descriptor)),
            (Self::Bytes, Some(descriptor)) => number(descriptor.decoded_len().ok()?),
            (Self::Count, Some(descriptor)) => number(descriptor.element_count()),
        };
        answer.ok()
    }

    /// [`Self::of_object`] for the first object of a message, whose descriptor `first` finds.
    ///
    /// # Errors
    /// The errors of `first`.
    pub fn of_message<'a>(
        self,
        count: usize,
        first: impl FnOnce() -> Result<Option<Descriptor<'a>>>,
    ) -> Result<Option<Vec<u8>>> {
        let descriptor = if self == Self::Objects { None } else { first()? };
        Ok(self.of_object(descriptor.as_ref(), count))
    }
}

/// The stages of an object that are not "none", with "+" between them; "none" without any.
///
/// This is what the key `codec` asks for: `simple_packing+szip`.
pub fn codec(descriptor: &Descriptor<'_>) -> String {
    let stages =
        [descriptor.encoding().to_string(), descriptor.filter().to_string(), descriptor.compression().to_string()];
    let stages: Vec<_> = stages.into_iter().filter(|stage| stage != "none").collect();
    if stages.is_empty() { "none".to_string() } else { stages.join("+") }
}
