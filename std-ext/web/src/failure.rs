//! Errors as CBOR.

use ciborium::Value;
use tgm_std::{Hint, TensogramError};

/// An error as JavaScript learns of it.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Library(Box<TensogramError>),
    /// A call that the package does not make.
    Call(String),
}

/// The failure of a call that the package does not make.
pub(crate) fn wrong(text: impl Into<String>) -> Failure {
    Failure::Call(text.into())
}

impl From<TensogramError> for Failure {
    fn from(error: TensogramError) -> Self {
        Self::Library(error.into())
    }
}

/// A map with these keys.
pub(crate) fn map<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

impl Failure {
    /// The error as a map.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Call(text) => map([("kind", "call".into()), ("message", text.clone().into()), ("raw", text.into())]),
            Self::Library(error) => of_library(&error),
        }
    }
}

fn of_library(error: &TensogramError) -> Value {
    let number = |number: Option<usize>| number.map_or(Value::Null, |number| (number as u64).into());
    let (mut object, mut digests) = (None, [Value::Null, Value::Null]);
    let raw = in_javascript(&error.to_string());
    let message = match error {
        TensogramError::Framing(reason)
        | TensogramError::Metadata(reason)
        | TensogramError::Encoding(reason)
        | TensogramError::Compression(reason)
        | TensogramError::Object(reason)
        | TensogramError::Remote(reason) => in_javascript(reason),
        TensogramError::HashMismatch { object_index, expected, actual } => {
            object = *object_index;
            digests = [expected.as_str().into(), actual.as_str().into()];
            raw.clone()
        }
        TensogramError::MissingHash { object_index } => {
            object = Some(*object_index);
            raw.clone()
        }
        _ => raw.clone(),
    };
    let [expected, actual] = digests;
    map([
        ("kind", error.kind_name().into()),
        ("message", message.into()),
        ("raw", raw.into()),
        ("offset", error.offset().map_or(Value::Null, Into::into)),
        ("objectIndex", number(object)),
        ("expected", expected),
        ("actual", actual),
    ])
}

/// A text of the library in which advice names options of the package. The library's own names its options.
fn in_javascript(text: &str) -> String {
    Hint::ALL.iter().fold(text.to_owned(), |text, hint| match advice(*hint) {
        Some(advice) if text.contains(hint.text()) => text.replace(hint.text(), advice),
        _ => text,
    })
}

/// The advice of this package for one of the library, where its own does not fit.
const fn advice(hint: Hint) -> Option<&'static str> {
    Some(match hint {
        Hint::AllowNan => "pass allowNan: true to store 0 and record positions in a mask",
        Hint::AllowInf => "pass allowInf: true to store 0 and record positions in a mask",
        Hint::MaxDecodedBytes => "the limit for the values of an object",
        Hint::MaxMessageBytes => "the limit for a message",
        Hint::MaxFileBytes => "the limit for a file",
        Hint::MaxExpansion => "the limit for what a byte may become",
        Hint::MaxMetadataBytes => "the limit for the memory of metadata",
        Hint::MaxObjects => "the limit for one message",
        Hint::Blosc2 | Hint::Sz3 => "this package only decodes it",
        Hint::Blosc2Decode | Hint::Lz4 | Hint::Roaring | Hint::Sz3Decode | Hint::Zstd => "this build leaves it out",
        _ => return None,
    })
}
