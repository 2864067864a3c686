//! Element types and byte orders as their names, for serde.

use core::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, Visitor};
use serde_core::ser::{Serialize, Serializer};

use super::{ByteOrder, Dtype};

impl Serialize for Dtype {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Dtype {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DtypeName)
    }
}

struct DtypeName;

impl Visitor<'_> for DtypeName {
    type Value = Dtype;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a dtype")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Dtype, E> {
        Dtype::from_name(name).ok_or_else(|| E::custom(format_args!("unknown dtype {name} (expected one of {Names})")))
    }
}

/// All names of element types, separated by commas.
struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Dtype::ALL.into_iter().enumerate().try_for_each(|(i, dtype)| {
            f.write_str(if i == 0 { "" } else { ", " })?;
            f.write_str(dtype.name())
        })
    }
}

impl Serialize for ByteOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for ByteOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ByteOrderName)
    }
}

struct ByteOrderName;

impl Visitor<'_> for ByteOrderName {
    type Value = ByteOrder;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a byte order")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<ByteOrder, E> {
        let order = ByteOrder::from_name(name);
        order.ok_or_else(|| E::custom(format_args!("unknown byte_order {name} (expected big or little)")))
    }
}

#[cfg(test)]
mod tests {
    use std::string::{String, ToString as _};

    use serde_core::de::IntoDeserializer;

    use super::*;

    /// An error that keeps its text.
    #[derive(Debug)]
    struct Text(String);

    impl fmt::Display for Text {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&self.0)
        }
    }

    impl core::error::Error for Text {}

    impl Error for Text {
        fn custom<T: fmt::Display>(text: T) -> Self {
            Self(text.to_string())
        }
    }

    /// The error of reading `from`.
    fn refusal<'de, T: Deserialize<'de> + fmt::Debug>(from: impl IntoDeserializer<'de, Text>) -> String {
        T::deserialize(from.into_deserializer()).unwrap_err().0
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let all = "float16, bfloat16, float32, float64, complex64, complex128, int8, int16, int32, int64, uint8, uint16, \
            uint32, uint64, bitmask";
        assert_eq!(refusal::<Dtype>("float8"), std::format!("unknown dtype float8 (expected one of {all})"));
        assert_eq!(refusal::<Dtype>(5_u64), "invalid type: integer `5`, expected the name of a dtype");
        assert_eq!(refusal::<ByteOrder>("middle"), "unknown byte_order middle (expected big or little)");
        assert_eq!(refusal::<ByteOrder>(5_u64), "invalid type: integer `5`, expected the name of a byte order");
    }
}
