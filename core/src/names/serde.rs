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
