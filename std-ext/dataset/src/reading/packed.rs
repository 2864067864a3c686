//! Integers of objects that stay packed: how they become values, by the attributes beside them.

use std::collections::BTreeMap;

use tgm_core::cbor::{Kind, Value};
use tgm_core::descriptor::Dtype;
use tgm_core::metadata::ObjectMetadata;
use tgm_std::Result;
use tgm_std::deps::ciborium;

use super::numbers::{List, Numbers, range};
use super::{AttributeValue, NAMES, OFFSET, Reading, SCALE};

/// The key of an object's metadata that holds the attributes.
pub(super) const ATTRIBUTES: &str = "attributes";
/// The key below `netcdf` that holds the types of attributes by their names.
const TYPES: &str = "types";
/// The key of what NetCDF alone knows of an object.
pub(super) const NETCDF: &str = "netcdf";

/// The element type that NetCDF calls so.
fn named(kind: &str) -> Option<Dtype> {
    Some(match kind {
        "byte" => Dtype::Int8,
        "ubyte" => Dtype::Uint8,
        "short" => Dtype::Int16,
        "ushort" => Dtype::Uint16,
        "int" => Dtype::Int32,
        "uint" => Dtype::Uint32,
        "int64" => Dtype::Int64,
        "uint64" => Dtype::Uint64,
        "float" => Dtype::Float32,
        "double" => Dtype::Float64,
        _ => return None,
    })
}

impl AttributeValue {
    /// Numbers, whose type NetCDF calls `kind`.
    fn of_numbers(kind: Option<&str>, integers: Option<Vec<i128>>, floats: Option<Vec<f64>>) -> Self {
        let dtype = kind.and_then(named);
        match (integers.filter(|_| !dtype.is_some_and(Dtype::is_float)), floats) {
            (Some(list), _) => Self::Numbers(Numbers { dtype, list: List::Integers(list) }),
            (None, Some(list)) => Self::Numbers(Numbers { dtype, list: List::Floats(list) }),
            (None, None) => Self::Other,
        }
    }
}

/// A value of metadata as an attribute. `kind` is the name of the type that NetCDF had for it.
pub fn told(value: &ciborium::Value, kind: Option<&str>) -> AttributeValue {
    use ciborium::Value;
    if let Value::Text(text) = value {
        return AttributeValue::Text(text.clone());
    }
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    #[expect(clippy::cast_precision_loss, reason = "numbers of attributes calculate as float64")]
    let float = |item: &Value| match item {
        Value::Integer(integer) => Some(i128::from(*integer) as f64),
        Value::Float(float) => Some(*float),
        _ => None,
    };
    let integers = items.iter().map(|item| item.as_integer().map(i128::from)).collect();
    AttributeValue::of_numbers(kind, integers, items.iter().map(float).collect())
}

/// The same of a borrowed value.
fn told_borrowed(value: &Value<'_>, kind: Option<&str>) -> Option<AttributeValue> {
    if let Ok(text) = value.as_str() {
        return Some(AttributeValue::Text(text.into()));
    }
    let items: Vec<Value<'_>> = match value.kind() {
        Kind::Array => value.as_array().ok()?.iter().collect::<tgm_core::Result<_>>().ok()?,
        _ => vec![*value],
    };
    let integer = |item: &Value<'_>| (item.kind() == Kind::Integer).then(|| item.as_integer().ok()).flatten();
    let integers = items.iter().map(integer).collect();
    Some(AttributeValue::of_numbers(kind, integers, items.iter().map(|item| item.as_f64().ok()).collect()))
}

/// The attributes by name that an object's keys `attributes` and `netcdf` hold.
pub(super) fn attribute_of<'a>(
    attributes: Option<&'a Value<'_>>,
    netcdf: Option<&Value<'a>>,
) -> impl Fn(&str) -> Option<AttributeValue> + use<'a> {
    fn get<'a>(map: Option<&Value<'a>>, key: &str) -> Option<Value<'a>> {
        map?.as_map().ok()?.get(key).ok().flatten()
    }
    let types = get(netcdf, TYPES);
    move |name| {
        let kind = get(types.as_ref(), name);
        told_borrowed(&get(attributes, name)?, kind.as_ref().and_then(|kind| kind.as_str().ok()))
    }
}

impl Reading {
    /// How the integers of an object become values. `None` if they are the values: no `attribute` gives a scale or an offset, or it
    /// cannot be obeyed.
    pub fn of_packed(stored: Dtype, attribute: impl Fn(&str) -> Option<AttributeValue>) -> Option<Self> {
        range(stored)?;
        if attribute(SCALE).is_none() && attribute(OFFSET).is_none() {
            return None;
        }
        let told: Vec<_> = NAMES.into_iter().filter_map(|name| Some((name, attribute(name)?))).collect();
        Some(Self::of(stored, &told)).filter(Self::is_packed)
    }

    /// The same as [`Self::of_packed`] by an object's metadata.
    ///
    /// # Errors
    /// Only errors of malformed CBOR, which were ruled out when the view was made.
    pub fn of_metadata(stored: Dtype, metadata: &ObjectMetadata<'_>) -> Result<Option<Self>> {
        if range(stored).is_none() {
            return Ok(None);
        }
        Ok(Self::of_maps(stored, metadata.get(ATTRIBUTES)?.as_ref(), metadata.get(NETCDF)?.as_ref()))
    }

    /// The same by the values of an object's keys `attributes` and `netcdf`.
    pub fn of_maps(stored: Dtype, attributes: Option<&Value<'_>>, netcdf: Option<&Value<'_>>) -> Option<Self> {
        attributes?;
        Self::of_packed(stored, attribute_of(attributes, netcdf))
    }

    /// The reading that made values of stored numbers, as an object records it under `netcdf.packing`. `attributes` are those beside the
    /// values.
    pub fn of_record(packing: &Value<'_>, attributes: Option<&Value<'_>>) -> Option<Self> {
        let get = |key: &str| packing.as_map().ok()?.get(key).ok().flatten();
        let stored = named(get("type")?.as_str().ok()?)?;
        let own = get(ATTRIBUTES);
        let (recorded, beside) = (attribute_of(own.as_ref(), Some(packing)), attribute_of(attributes, None));
        // Flags stay beside the values, and say that a scale of 1 leaves integers as they are.
        let flag = |name: &str| if name.starts_with("flag_") { beside(name) } else { None };
        let told: Vec<_> =
            NAMES.into_iter().filter_map(|name| Some((name, recorded(name).or_else(|| flag(name))?))).collect();
        Some(Self::of(stored, &told))
    }

    /// [`Self::of_packed`] by an object's entry in `base`.
    pub fn of_entry(stored: Dtype, entry: &BTreeMap<String, ciborium::Value>) -> Option<Self> {
        use ciborium::Value;
        fn get<'m>(map: &'m Value, key: &str) -> Option<&'m Value> {
            map.as_map()?.iter().find(|(own, _)| own.as_text() == Some(key)).map(|(_, value)| value)
        }
        let attributes = entry.get(ATTRIBUTES)?;
        let types = entry.get(NETCDF).and_then(|netcdf| get(netcdf, TYPES));
        Self::of_packed(stored, |name| {
            let kind = types.and_then(|types| get(types, name)).and_then(Value::as_text);
            Some(told(get(attributes, name)?, kind))
        })
    }
}
