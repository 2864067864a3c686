//! What an object becomes in NetCDF: the values and the attributes of a variable.

use ciborium::Value;
use netcdf::{Extent, VariableMut};
use tgm_core::descriptor::Dtype;
use tgm_core::object::DataObject;
use tgm_std::{DecodeOptions, GlobalMetadata, RESERVED_KEY, Result};

use super::complex::{Double, Single};
use super::{DIMENSIONS, NETCDF, PACKING, TEXTS, TYPE, TYPES, types};
use crate::given::{Given, RECORD, elements, widened};
use crate::maps::{get, map};
use tgm_dataset::reading::{self as cf, Reading, told};

/// Metadata keys of an object that do not become an attribute of the same name: NetCDF has another place for them, or
/// they are dropped.
const OWN: [&str; 6] = ["name", DIMENSIONS, "attributes", NETCDF, ZARR, RESERVED_KEY];
/// The same for the annotations of a message.
const OWN_OF_MESSAGE: [&str; 9] =
    ["attributes", "groups", "unlimited", RECORD, NETCDF, DIMENSIONS, TEXTS, "links", ZARR];
/// The key of what objects and messages that were made of Zarr say of their array.
pub(super) const ZARR: &str = "zarr";

/// The entries of a map of metadata.
type Entries = [(Value, Value)];

/// The values of an object as a variable has them, and the object's attributes.
pub(super) struct Values<'m> {
    /// The element type of `bytes`. NetCDF has it.
    pub(super) dtype: Dtype,
    /// The shape of the object.
    pub(super) shape: Vec<u64>,
    /// The values in the machine's byte order, row-major.
    pub(super) bytes: Vec<u8>,
    /// Whether NaN and numbers could be stored as the object was made from. If not, they are stored as they are, and the
    /// attributes that say how they were stored are left out of the file.
    pub(super) is_packed_as_told: bool,
    /// Whether the values are truth values.
    pub(super) is_bool: bool,
    /// The attributes that the object recorded when it was made from a variable.
    attributes: &'m [(Value, Value)],
    /// What else it recorded then, under the key `netcdf`: the types of the variable and of its attributes, and the
    /// dimension of records.
    pub(super) more: Option<&'m [(Value, Value)]>,
}

/// How numbers were stored.
struct Stored<'m> {
    dtype: Dtype,
    attributes: &'m [(Value, Value)],
    types: &'m [(Value, Value)],
    /// Whether the attributes belong to nothing else.
    is_apart: bool,
}

impl<'m> Values<'m> {
    /// Decodes an object's values, and converts them to a type that NetCDF has.
    ///
    /// `float16` and `bfloat16` become `float32`, bits become `int8`, and values become the stored numbers again that they
    /// were, if they can and `packs` does not forbid it. NaN becomes the number for missing ones, if there is one.
    fn of(
        object: &DataObject<'_>,
        (attributes, more): (&'m Entries, Option<&'m Entries>),
        packs: bool,
        decode: &DecodeOptions,
    ) -> Result<Self> {
        let descriptor = object.descriptor();
        let shape = descriptor.shape().iter().collect();
        let dtype = descriptor.dtype();
        let bytes = widened(dtype, elements(object, decode)?)?;
        let is_bool = dtype == Dtype::Bitmask;
        let mut made = Self { dtype, shape, bytes, is_packed_as_told: true, is_bool, attributes, more };
        match dtype {
            Dtype::Float16 | Dtype::Bfloat16 => made.dtype = Dtype::Float32,
            Dtype::Bitmask => made.dtype = Dtype::Int8,
            _ => {}
        }
        if !is_bool && !matches!(dtype, Dtype::Complex64 | Dtype::Complex128) {
            if packs {
                made.pack();
            } else {
                made.is_packed_as_told = false;
            }
        }
        Ok(made)
    }

    /// What the object recorded of how its numbers were stored.
    fn stored(&self) -> Stored<'m> {
        let more = self.more.unwrap_or_default();
        let named = |entries| get(entries, TYPE).and_then(Value::as_text).and_then(types::named);
        let packing = map(more, PACKING);
        match (named(packing), named(more)) {
            (Some(dtype), _) => {
                let (attributes, types) = (map(packing, "attributes"), map(packing, TYPES));
                Stored { dtype, attributes, types, is_apart: true }
            }
            (None, of_object) => {
                let (dtype, types) = (of_object.unwrap_or(self.dtype), map(more, TYPES));
                Stored { dtype, attributes: self.attributes, types, is_apart: false }
            }
        }
    }

    /// Turns values back into the numbers that they were made from. If one of them would not give its value again, nothing
    /// changes but `is_packed_as_told`.
    fn pack(&mut self) {
        let stored = self.stored();
        // Attributes beside values of the stored type say nothing about a scale: the values have it already, or are stored.
        let is_scaled = stored.is_apart || stored.dtype != self.dtype;
        let attribute = |(key, value): &'m (Value, Value)| {
            let name = key.as_text().filter(|name| is_scaled || [cf::FILL, cf::MISSING].contains(name))?;
            Some((name, told(value, get(stored.types, name).and_then(Value::as_text))))
        };
        let mut attributes: Vec<_> = stored.attributes.iter().filter_map(attribute).collect();
        // Flags stay beside the values, and say that a scale of 1 leaves integers as they are.
        let flags = self.attributes.iter().filter(|(key, _)| stored.is_apart && is_of_flags(key.as_text()));
        attributes.extend(flags.filter_map(attribute));
        let reading = Reading::of(stored.dtype, &attributes);
        let packed = if reading.dtype() == self.dtype { cf::pack(&reading, &self.bytes) } else { None };
        match packed {
            Some(bytes) => (self.dtype, self.bytes) = (stored.dtype, bytes),
            None => self.is_packed_as_told = false,
        }
    }

    /// The attributes of the variable that the object was made from, without the attributes of packing if they do not describe
    /// the values. `kind` names the type of the values; NetCDF wants `_FillValue` to have the same type.
    pub(super) fn attributes(&self, kind: &'static str) -> Vec<Attribute<'_>> {
        let stored = self.stored();
        let own_types = map(self.more.unwrap_or_default(), TYPES);
        let is_of_packing = |name: &str| {
            if stored.is_apart {
                self.is_packed_as_told && get(stored.attributes, name).is_some()
            } else {
                !self.is_packed_as_told && cf::NAMES.contains(&name) && !name.starts_with("flag_")
            }
        };
        let own = self.attributes.iter().filter(|(key, _)| !key.as_text().is_some_and(is_of_packing));
        let mut all: Vec<Attribute<'_>> = own.filter_map(|entry| self.attribute_of(entry, own_types, kind)).collect();
        if stored.is_apart && self.is_packed_as_told {
            all.extend(stored.attributes.iter().filter_map(|entry| self.attribute_of(entry, stored.types, kind)));
        }
        all
    }

    /// An attribute of the type that was recorded. Zarr records none: CF says which have the type of the values.
    fn attribute_of<'v>(
        &self,
        (key, value): &'v (Value, Value),
        types: &'v [(Value, Value)],
        kind: &'static str,
    ) -> Option<Attribute<'v>> {
        let name = key.as_text()?;
        let recorded = get(types, name).and_then(Value::as_text);
        let is_like_values =
            self.more.is_none() && cf::NAMES.contains(&name) && ![cf::SCALE, cf::OFFSET].contains(&name);
        let of_values = (name == cf::FILL || is_like_values).then_some(kind);
        Some(Attribute { name: name.to_string(), value: Some(value), kind: of_values.or(recorded) })
    }
}

/// Whether the attribute tells of flags.
fn is_of_flags(name: Option<&str>) -> bool {
    matches!(name, Some("flag_values" | "flag_masks"))
}

/// Writes values of this type, in the machine's byte order, to a variable.
pub(super) fn put(
    dtype: Dtype,
    bytes: &[u8],
    variable: &mut VariableMut<'_>,
    extents: Vec<Extent>,
) -> Result<(), netcdf::Error> {
    macro_rules! each {
        ($($dtype:ident $type:ty),*) => {
            match dtype {
                $(Dtype::$dtype => {
                    let chunks = bytes.as_chunks().0.iter();
                    let values: Vec<$type> = chunks.map(|bytes| <$type>::from_ne_bytes(*bytes)).collect();
                    variable.put_values(&values, extents)
                })*
                other => Err(netcdf::Error::Str(format!("{other} has no type"))),
            }
        };
    }
    each!(
        Int8 i8, Int16 i16, Int32 i32, Int64 i64, Uint8 u8, Uint16 u16, Uint32 u32, Uint64 u64, Float32 f32, Float64 f64,
        Complex64 Single, Complex128 Double
    )
}

/// The attributes of the array of Zarr that an object was made of. `None` if its values have another type by now, so that
/// what these attributes say of stored numbers may not hold.
fn of_zarr(global: &GlobalMetadata, dtype: Dtype) -> Option<&[(Value, Value)]> {
    let array = global.extra.get(ZARR)?.as_map().and_then(|zarr| get(zarr, "array"))?.as_map()?;
    let data_type = get(array, "data_type")?.as_text()?;
    let is_same = data_type == if dtype == Dtype::Bitmask { "bool" } else { dtype.name() };
    get(array, "attributes")?.as_map().map(Vec::as_slice).filter(|_| is_same)
}

/// The attributes of the groups above such an array, by path.
pub(super) fn groups_of_zarr(global: &GlobalMetadata) -> &[(Value, Value)] {
    global.extra.get(ZARR).and_then(Value::as_map).map_or(&[], |zarr| map(zarr, "groups"))
}

/// The values of an object, described as the first object of its array is.
pub(super) fn of_object<'m>(
    given: &Given<'m>,
    (object, first): (&DataObject<'_>, usize),
    packs: bool,
) -> Result<Values<'m>> {
    let own = given.entry(first).and_then(|entry| entry.get("attributes")).and_then(Value::as_map).map(Vec::as_slice);
    let more = given.netcdf(first);
    let of_array = || of_zarr(given.global, object.descriptor().dtype()).filter(|_| more.is_none());
    let attributes = own.or_else(of_array).unwrap_or_default();
    Values::of(object, (attributes, more), packs, given.decode)
}

/// An attribute to write.
pub(super) struct Attribute<'v> {
    pub(super) name: String,
    /// `None` if the map called `name` has a key that is not text. Such an entry cannot become an attribute.
    pub(super) value: Option<&'v Value>,
    /// The name of the type that it must have. With `None` the value decides.
    pub(super) kind: Option<&'v str>,
}

/// The metadata of an object and of its message as attributes with dotted names, such as `mars.param` and `extra.run`.
pub(super) fn metadata(global: &GlobalMetadata, index: usize) -> Vec<Attribute<'_>> {
    let mut all = Vec::new();
    for (key, value) in global.base.get(index).into_iter().flatten().filter(|(key, _)| !OWN.contains(&key.as_str())) {
        flatten(key, value, &mut all);
    }
    for (key, value) in global.extra.iter().filter(|(key, _)| !OWN_OF_MESSAGE.contains(&key.as_str())) {
        flatten(&format!("extra.{key}"), value, &mut all);
    }
    let entry = |key| global.base.get(index).and_then(|entry| entry.get(key)).and_then(Value::as_map);
    for (key, name) in [("parameterUnits", "units"), ("parameterName", "long_name")] {
        // Units and names from the tables of GRIB, under the names that NetCDF readers look for. The object's own
        // attributes come first.
        let value = entry("grib").and_then(|grib| get(grib, key));
        if value.is_some() && entry("attributes").is_none_or(|attributes| get(attributes, name).is_none()) {
            all.push(Attribute { name: name.to_string(), value, kind: None });
        }
    }
    all
}

/// Appends `value` as an attribute, or the entries of a map as attributes whose names begin with `name` and a dot.
fn flatten<'v>(name: &str, value: &'v Value, all: &mut Vec<Attribute<'v>>) {
    let named = |value| Attribute { name: name.to_string(), value, kind: None };
    match value {
        Value::Map(entries) => {
            for (key, value) in entries {
                match key.as_text() {
                    Some(key) => flatten(&format!("{name}.{key}"), value, all),
                    None => all.push(named(None)),
                }
            }
        }
        value => all.push(named(Some(value))),
    }
}
