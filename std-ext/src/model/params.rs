//! Parameters of the pipeline out of a descriptor that the caller made, typed and checked (FORMAT §3.5).

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::descriptor::Key;

use crate::base::error::{Result, TensogramError};

/// The greatest integer up to which every one is an `f64`.
const EXACT: i128 = 1 << 53;

/// The parameters of one descriptor.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a>(pub(crate) &'a BTreeMap<String, Value>);

impl<'a> Params<'a> {
    /// The value under a key. Null is one, and of the wrong type: whoever wants the default leaves the key out.
    pub(crate) fn get(&self, key: Key) -> Option<&'a Value> {
        self.0.get(key.name())
    }

    /// An integer.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for anything else, floats without a fraction too.
    fn integer(&self, key: Key) -> Result<Option<i128>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Integer(value)) => Ok(Some(i128::from(*value))),
            Some(other) => Err(metadata(format!("expected integer for {}, got {}", key.name(), kind_of(other)))),
        }
    }

    /// An integer of a narrower type.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for anything that is none.
    fn narrow<T: TryFrom<i128>>(&self, key: Key, type_name: &str) -> Result<Option<T>> {
        let Some(value) = self.integer(key)? else { return Ok(None) };
        let narrow = T::try_from(value);
        narrow.map(Some).map_err(|_| metadata(format!("{} value {value} out of {type_name} range", key.name())))
    }

    /// An `i32`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for anything that is none.
    pub(crate) fn i32(&self, key: Key) -> Result<Option<i32>> {
        self.narrow(key, "i32")
    }

    /// A `u32`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for anything that is none.
    pub(crate) fn u32(&self, key: Key) -> Result<Option<u32>> {
        self.narrow(key, "u32")
    }

    /// A `u64`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for anything that is none.
    pub(crate) fn u64(&self, key: Key) -> Result<Option<u64>> {
        self.narrow(key, "u64")
    }

    /// A number: a float, or an integer that is one exactly.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for anything else.
    pub(crate) fn f64(&self, key: Key) -> Result<Option<f64>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Float(value)) => Ok(Some(*value)),
            Some(Value::Integer(value)) => {
                let value = i128::from(*value);
                if value.abs() > EXACT {
                    let key = key.name();
                    return Err(metadata(format!(
                        "{key} value {value} is outside the exact-representable range of f64"
                    )));
                }
                #[expect(clippy::cast_precision_loss, reason = "every integer up to 2^53 is an f64")]
                Ok(Some(value as f64))
            }
            Some(other) => Err(metadata(format!("expected number for {}, got {}", key.name(), kind_of(other)))),
        }
    }

    /// A text.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for anything else.
    pub(crate) fn text(&self, key: Key) -> Result<Option<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(metadata(format!("expected text for {}, got {}", key.name(), kind_of(other)))),
        }
    }
}

/// Makes a parameter that is not there an error.
///
/// # Errors
/// [`TensogramError::Metadata`] naming the key.
pub(crate) fn required<T>(value: Option<T>, key: Key) -> Result<T> {
    value.ok_or_else(|| metadata(format!("missing required parameter: {}", key.name())))
}

/// A metadata error in words.
pub(crate) fn metadata(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}

/// What kind of CBOR item a value is, in a word.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "integer",
        Value::Bytes(_) => "bytes",
        Value::Float(_) => "float",
        Value::Text(_) => "text",
        Value::Bool(_) => "bool",
        Value::Null => "null",
        Value::Tag(..) => "tag",
        Value::Array(_) => "array",
        Value::Map(_) => "map",
        _ => "another kind",
    }
}
