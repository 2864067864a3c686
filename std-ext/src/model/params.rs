//! Typed access to the pipeline parameters in a caller's descriptor (FORMAT §3.5).

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_codec::CodecError;
use tgm_codec::about::{Parameter, Parameters};
use tgm_core::descriptor::Key;

use crate::base::error::{Result, TensogramError};
use crate::model::types::DataObjectDescriptor;

/// The greatest integer up to which all integers are exact as `f64`.
const EXACT: i128 = 1 << 53;

/// The parameters of one descriptor.
#[derive(Clone, Copy)]
pub(crate) struct Params<'a>(pub(crate) &'a BTreeMap<String, Value>);

impl<'a> Params<'a> {
    /// The value of a key. Null is a value of a wrong type: a caller who wants the default leaves the key out.
    pub(crate) fn get(&self, key: Key) -> Option<&'a Value> {
        self.0.get(key.name())
    }

    /// An integer of any width.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for any other value, floats without a fraction included.
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
    /// [`TensogramError::Metadata`] for other values, and for integers that do not fit.
    fn narrow<T: TryFrom<i128>>(&self, key: Key, type_name: &str) -> Result<Option<T>> {
        let Some(value) = self.integer(key)? else { return Ok(None) };
        let narrow = T::try_from(value);
        narrow.map(Some).map_err(|_| metadata(format!("{} value {value} out of {type_name} range", key.name())))
    }

    /// An `i32`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for other values, and for integers that do not fit.
    pub(crate) fn i32(&self, key: Key) -> Result<Option<i32>> {
        self.narrow(key, "i32")
    }

    /// A `u32`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for other values, and for integers that do not fit.
    pub(crate) fn u32(&self, key: Key) -> Result<Option<u32>> {
        self.narrow(key, "u32")
    }

    /// A `u64`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for other values, and for integers that do not fit.
    pub(crate) fn u64(&self, key: Key) -> Result<Option<u64>> {
        self.narrow(key, "u64")
    }

    /// A number: a float, or an integer that is exact as `f64`.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for other values, and for integers beyond ±2^53.
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
    /// [`TensogramError::Metadata`] for any other value.
    pub(crate) fn text(&self, key: Key) -> Result<Option<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(metadata(format!("expected text for {}, got {}", key.name(), kind_of(other)))),
        }
    }
}

/// As a codec reads them.
impl Parameters for Params<'_> {
    fn i32(&self, key: Key) -> Result<Option<i32>, CodecError> {
        Params::i32(self, key).map_err(of_parameter)
    }

    fn u32(&self, key: Key) -> Result<Option<u32>, CodecError> {
        Params::u32(self, key).map_err(of_parameter)
    }

    fn f64(&self, key: Key) -> Result<Option<f64>, CodecError> {
        Params::f64(self, key).map_err(of_parameter)
    }

    fn text(&self, key: Key) -> Result<Option<&str>, CodecError> {
        Params::text(self, key).map_err(of_parameter)
    }
}

fn of_parameter(error: TensogramError) -> CodecError {
    match error {
        TensogramError::Metadata(reason) => CodecError::parameter(reason.to_string()),
        other => CodecError::new(other.to_string()),
    }
}

/// The value of a parameter as a codec says it.
pub(crate) fn value_of(parameter: Parameter) -> Value {
    match parameter {
        Parameter::Integer(value) => Value::from(value),
        Parameter::Float(value) => Value::from(value),
        Parameter::Text(value) => Value::from(value),
    }
}

impl DataObjectDescriptor {
    /// Sets a parameter of the pipeline.
    pub fn set_param(&mut self, key: Key, value: impl Into<Value>) {
        self.params.insert(key.name().to_string(), value.into());
    }
}

/// The value of a parameter that must be present.
///
/// # Errors
/// [`TensogramError::Metadata`] naming the key.
pub(crate) fn required<T>(value: Option<T>, key: Key) -> Result<T> {
    value.ok_or_else(|| metadata(format!("missing required parameter: {}", key.name())))
}

/// A metadata error with that text.
pub(crate) fn metadata(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}

/// The word for the kind of a CBOR value.
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
