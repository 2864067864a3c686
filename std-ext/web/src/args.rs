//! The arguments of a function: a map of CBOR.

use std::collections::BTreeMap;

use ciborium::Value;

use crate::failure::{Failure, wrong};
use crate::memory;

/// Arguments by name.
#[derive(Debug)]
pub(crate) struct Args(BTreeMap<String, Value>);

/// Keys and values of an object's metadata.
pub(crate) type Entries = BTreeMap<String, Value>;

impl Args {
    /// The arguments in a buffer.
    ///
    /// # Errors
    /// [`Failure`] for a buffer that does not have a map.
    pub(crate) fn take(buffer: u32) -> Result<Self, Failure> {
        let bytes = memory::take(buffer).ok_or_else(|| wrong("there is no such buffer"))?;
        let value: Value = ciborium::from_reader(&bytes[..]).map_err(|error| wrong(format!("arguments: {error}")))?;
        Ok(Self(entries(value)?))
    }

    /// An argument, which is gone after this. Null counts as none.
    pub(crate) fn value(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    fn required(&mut self, name: &str) -> Result<Value, Failure> {
        self.value(name).ok_or_else(|| wrong(format!("argument {name} is missing")))
    }

    /// A truth value; false if it is not there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.value(name).is_some_and(|value| value == Value::Bool(true))
    }

    /// An integer, if it is there.
    ///
    /// # Errors
    /// [`Failure`] for other values and for integers that do not fit.
    pub(crate) fn optional<T: TryFrom<i128>>(&mut self, name: &str) -> Result<Option<T>, Failure> {
        self.value(name).map(|value| integer(&value, name)).transpose()
    }

    /// An integer.
    ///
    /// # Errors
    /// As [`Self::optional`], and if it is not there.
    pub(crate) fn integer<T: TryFrom<i128>>(&mut self, name: &str) -> Result<T, Failure> {
        integer(&self.required(name)?, name)
    }

    /// A text, if it is there.
    ///
    /// # Errors
    /// [`Failure`] for other values.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let text = self.value(name).map(Value::into_text).transpose();
        text.map_err(|_| wrong(format!("{name} is not a text")))
    }

    /// A number.
    ///
    /// # Errors
    /// [`Failure`] for other values, and if it is not there.
    #[cfg(feature = "page")]
    pub(crate) fn number(&mut self, name: &str) -> Result<f64, Failure> {
        let value = self.required(name)?;
        number(&value).ok_or_else(|| wrong(format!("{name} is not a number")))
    }

    /// A list; empty if it is not there.
    ///
    /// # Errors
    /// [`Failure`] for other values.
    pub(crate) fn list(&mut self, name: &str) -> Result<Vec<Value>, Failure> {
        let list = self.value(name).map_or(Ok(Vec::new()), Value::into_array);
        list.map_err(|_| wrong(format!("{name} is not a list")))
    }

    /// The bytes of a buffer.
    ///
    /// # Errors
    /// [`Failure`] for a number without a buffer.
    pub(crate) fn bytes(&mut self, name: &str) -> Result<Vec<u8>, Failure> {
        memory::take(self.integer(name)?).ok_or_else(|| wrong(format!("{name}: there is no such buffer")))
    }

    /// Arguments inside an argument.
    ///
    /// # Errors
    /// [`Failure`] for what is not a map.
    #[cfg(feature = "writer")]
    pub(crate) fn of(value: Value) -> Result<Self, Failure> {
        Ok(Self(entries(value)?))
    }

    /// Ranges of elements: pairs of a start and a count.
    ///
    /// # Errors
    /// [`Failure`] for other values.
    #[cfg(feature = "reader")]
    pub(crate) fn ranges(&mut self, name: &str) -> Result<Option<Vec<(u64, u64)>>, Failure> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let pairs = value.into_array().map_err(|_| wrong(format!("{name} is not a list")))?;
        let pair = |pair: Value| match pair.as_array().map(Vec::as_slice) {
            Some([start, count]) => Ok((integer(start, name)?, integer(count, name)?)),
            _ => Err(wrong(format!("{name}: not a pair"))),
        };
        pairs.into_iter().map(pair).collect::<Result<_, _>>().map(Some)
    }
}

/// A value as a number.
#[cfg(feature = "page")]
pub(crate) fn number(value: &Value) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "an integer that stands for a number")]
    let integer = || value.as_integer().map(|it| i128::from(it) as f64);
    value.as_float().or_else(integer).filter(|it| it.is_finite())
}

/// A value as an integer.
///
/// # Errors
/// [`Failure`] for other values and for integers that do not fit.
pub(crate) fn integer<T: TryFrom<i128>>(value: &Value, name: &str) -> Result<T, Failure> {
    let number = value.as_integer().map(i128::from).and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| wrong(format!("{name} is not an integer that fits")))
}

/// A map with keys that are texts.
///
/// # Errors
/// [`Failure`] for other values.
pub(crate) fn entries(value: Value) -> Result<Entries, Failure> {
    let pairs = value.into_map().map_err(|_| wrong("not a map"))?;
    let entry = |(key, value): (Value, Value)| Ok((key.into_text().map_err(|_| wrong("a key is not a text"))?, value));
    pairs.into_iter().map(entry).collect()
}
