//! Metadata as a type of the program, by `serde`.

use ciborium::Value;
use serde::de::DeserializeOwned;
use tgm_core::cbor;
use tgm_core::metadata::ObjectMetadata;

use super::{MetaValue, Node};
use crate::base::error::{Result, TensogramError};
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;

impl MetaValue<'_> {
    /// The value as a type that implements [`serde::Deserialize`]: a `struct` for a map, a `Vec` for an array.
    ///
    /// Works on all metadata of an object ([`GlobalMetadata::object`](crate::GlobalMetadata::object)), on the writer's
    /// annotations ([`GlobalMetadata::extra_view`](crate::GlobalMetadata::extra_view)), and on what
    /// [`GlobalMetadata::get`](crate::GlobalMetadata::get) finds. The map of an object also has the key `_reserved_`.
    /// Copies the metadata once.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] if the metadata is not what the type expects: the error names the field.
    ///
    /// ```
    /// use serde::Deserialize;
    /// use tgm_std::{MessageBuilder, ObjectBuilder, decode_metadata};
    ///
    /// #[derive(Deserialize)]
    /// struct Mars {
    ///     param: String,
    ///     step: Option<u32>,
    /// }
    ///
    /// let object = ObjectBuilder::new(&[2], &[1_u8, 2])?.metadata("mars.param", "2t").metadata("mars.step", 6);
    /// let metadata = decode_metadata(&MessageBuilder::new().object(object).encode()?)?;
    /// let mars: Mars = metadata.get("mars").unwrap().deserialize()?;
    /// assert_eq!((mars.param.as_str(), mars.step), ("2t", Some(6)));
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T> {
        match self.0 {
            Node::Value(value) => from_value(value),
            Node::Section(entries) => from_value(&as_map(entries.clone())),
        }
    }
}

/// Borrowed metadata as a type that implements [`serde::Deserialize`]: all metadata of an object, or one value.
///
/// Metadata of an object comes without the key `_reserved_`. What it takes in memory is held against
/// [`DecodeLimits::max_metadata_bytes`](crate::DecodeLimits::max_metadata_bytes) of the default limits.
///
/// # Errors
/// [`TensogramError::Metadata`] if the metadata is not what the type expects: the error names the field.
///
/// ```
/// use serde::Deserialize;
/// use tgm_std::{MessageBuilder, ObjectBuilder, metadata};
///
/// #[derive(Deserialize)]
/// struct Mars {
///     param: String,
/// }
///
/// #[derive(Deserialize)]
/// struct About {
///     mars: Mars,
///     #[serde(default)]
///     units: Option<String>,
/// }
///
/// let object = ObjectBuilder::new(&[2], &[1_u8, 2])?.metadata("mars.param", "2t").metadata("units", "K");
/// let bytes = MessageBuilder::new().object(object).encode()?;
/// let message = tgm_std::core::Message::parse(&bytes)?;
/// for object in message.metadata()?.objects() {
///     let about: About = metadata::deserialize(&object?)?;
///     assert_eq!((about.mars.param.as_str(), about.units.as_deref()), ("2t", Some("K")));
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn deserialize<T: DeserializeOwned>(metadata: &impl Borrowed) -> Result<T> {
    from_value(&metadata.to_value()?)
}

/// Metadata that is borrowed from a message. The trait is sealed.
pub trait Borrowed: sealed::Sealed {
    /// The same metadata, owned.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] naming the limit.
    #[doc(hidden)]
    fn to_value(&self) -> Result<Value>;
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for ObjectMetadata<'_> {}

impl Borrowed for ObjectMetadata<'_> {
    fn to_value(&self) -> Result<Value> {
        let budget = MetadataBudget::by_default();
        if let Some(base) = self.base() {
            budget.take_map(&base)?;
        }
        let mut entries = to_owned::object_entries(self, &budget)?;
        entries.remove(super::RESERVED_KEY);
        Ok(as_map(entries))
    }
}

impl sealed::Sealed for cbor::Value<'_> {}

impl Borrowed for cbor::Value<'_> {
    fn to_value(&self) -> Result<Value> {
        MetadataBudget::by_default().take(self.as_encoded())?;
        to_owned::value(self)
    }
}

fn as_map(entries: to_owned::Entries) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (Value::Text(key), value)).collect())
}

fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T> {
    value.deserialized().map_err(|error| {
        let ciborium::value::Error::Custom(text) = error;
        TensogramError::Metadata(format!("metadata is not a {}: {text}", std::any::type_name::<T>()).into())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use serde::Deserialize;
    use tgm_core::Message;

    use super::*;
    use crate::{EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder, StreamingEncoder, decode_metadata};

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct About {
        name: String,
        level: Option<f64>,
        steps: Vec<u8>,
    }

    fn object() -> ObjectBuilder<'static> {
        let steps = Value::Array(vec![0.into(), 6.into()]);
        ObjectBuilder::new(&[1], &[1_u8]).unwrap().metadata("name", "t").metadata("level", 2.5).metadata("steps", steps)
    }

    fn about() -> About {
        About { name: "t".into(), level: Some(2.5), steps: vec![0, 6] }
    }

    #[test]
    fn metadata_of_an_object_is_a_struct() {
        let bytes = MessageBuilder::new().object(object()).encode().unwrap();
        let found = Message::parse(&bytes).unwrap().metadata().unwrap().object(0).unwrap().unwrap();
        assert_eq!(deserialize::<About>(&found).unwrap(), about());
        assert_eq!(deserialize::<Vec<u8>>(&found.get("steps").unwrap().unwrap()).unwrap(), [0, 6]);
    }

    #[test]
    fn a_preceder_counts_as_metadata_of_its_object() {
        let mut encoder =
            StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
        encoder.write(object()).unwrap();
        let bytes = encoder.finish().unwrap();
        let found = Message::parse(&bytes).unwrap().metadata().unwrap().object(0).unwrap().unwrap();
        assert!(found.preceder().is_some());
        assert_eq!(deserialize::<About>(&found).unwrap(), about());
    }

    #[test]
    fn owned_metadata_is_read_from_any_place() {
        let message =
            MessageBuilder::new().object(object()).extra("run.name", "t").extra("run.steps", vec![Value::from(1)]);
        let metadata = decode_metadata(&message.encode().unwrap()).unwrap();
        let run: About = metadata.get("extra.run").unwrap().deserialize().unwrap();
        assert_eq!(run, About { name: "t".into(), level: None, steps: vec![1] });
        // The whole object has a key that this type does not know.
        let error = metadata.object(0).unwrap().deserialize::<About>().unwrap_err().to_string();
        assert!(error.contains("_reserved_"), "{error}");
        assert_eq!(metadata.get("level").unwrap().deserialize::<Option<u8>>().unwrap_err().kind_name(), "metadata");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let metadata = decode_metadata(&MessageBuilder::new().extra("name", 5).encode().unwrap()).unwrap();
        let error = metadata.extra_view().deserialize::<About>().unwrap_err().to_string();
        assert!(error.contains("About") && error.contains("expected"), "{error}");
    }
}
