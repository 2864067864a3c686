//! What an object becomes in NetCDF: the values and the attributes of a variable.

use ciborium::Value;
use half::{bf16, f16};
use netcdf::{Extent, VariableMut};
use tgm_core::descriptor::Dtype;
use tgm_core::object::DataObject;
use tgm_std::decode::owned_values;
use tgm_std::{DecodeOptions, GlobalMetadata, RESERVED_KEY, Result, TensogramError};

use super::attributes::{get, missing, number};
use super::packed::{Scaling, fill_floats, pack};
use super::{NETCDF, RECORD, TYPE, TYPES, types};
use crate::arrays::unpack_bools;

/// Metadata keys of an object that do not become an attribute of the same name: NetCDF has another place for them, or
/// they are dropped.
const OWN: [&str; 5] = ["name", "dimensions", "attributes", NETCDF, RESERVED_KEY];
/// The same for the annotations of a message.
const OWN_OF_MESSAGE: [&str; 5] = ["attributes", "groups", "unlimited", RECORD, NETCDF];

/// The values of an object as a variable has them, and the object's attributes.
pub(super) struct Values<'m> {
    /// The element type of `bytes`. NetCDF has it.
    pub(super) dtype: Dtype,
    /// The shape of the object.
    pub(super) shape: Vec<u64>,
    /// The values in the machine's byte order, row-major.
    pub(super) bytes: Vec<u8>,
    /// Whether the packing attributes, such as `scale_factor`, describe `bytes`. If not, they are left out of the file.
    pub(super) is_packed_as_told: bool,
    /// The attributes that the object recorded when it was made from a variable.
    attributes: &'m [(Value, Value)],
    /// What else it recorded then, under the key `netcdf`: the types of the variable and of its attributes, and the
    /// dimension of records.
    pub(super) more: Option<&'m [(Value, Value)]>,
}

impl<'m> Values<'m> {
    /// Decodes an object's values, and converts them to a type that NetCDF has. `None` for complex numbers, which have
    /// no such type.
    ///
    /// `float16` and `bfloat16` become `float32`, bits become `uint8`, and unpacked integers become integers again if
    /// they can. NaN becomes the attribute's value for missing ones, if there is one.
    pub(super) fn of(
        object: &DataObject<'_>,
        attributes: &'m [(Value, Value)],
        more: Option<&'m [(Value, Value)]>,
        decode: &DecodeOptions,
    ) -> Result<Option<Self>> {
        let descriptor = object.descriptor();
        let shape = descriptor.shape().iter().collect();
        let dtype = descriptor.dtype();
        if matches!(dtype, Dtype::Complex64 | Dtype::Complex128) {
            return Ok(None);
        }
        let options = DecodeOptions { native_byte_order: true, ..decode.clone() };
        let bytes = owned_values(object, &options)?;
        let mut made = Self { dtype, shape, bytes, is_packed_as_told: true, attributes, more };
        match dtype {
            Dtype::Float16 => {
                made.dtype = Dtype::Float32;
                let widen = |bytes: &[u8; 2]| f16::from_ne_bytes(*bytes).to_f32().to_ne_bytes();
                made.bytes = made.bytes.as_chunks().0.iter().flat_map(widen).collect();
            }
            Dtype::Bfloat16 => {
                made.dtype = Dtype::Float32;
                let widen = |bytes: &[u8; 2]| bf16::from_ne_bytes(*bytes).to_f32().to_ne_bytes();
                made.bytes = made.bytes.as_chunks().0.iter().flat_map(widen).collect();
            }
            Dtype::Bitmask => {
                made.dtype = Dtype::Uint8;
                let mut each = Vec::new();
                unpack_bools(&made.bytes, descriptor.element_count(), |part| {
                    each.extend_from_slice(part);
                    Ok::<_, TensogramError>(())
                })?;
                made.bytes = each;
            }
            Dtype::Float64 if more.is_some_and(|more| get(more, TYPE).is_some()) => made.pack(),
            _ => {}
        }
        let stands_for_missing = missing(attributes).into_iter().find_map(number);
        if let Some(missing) = stands_for_missing.filter(|_| made.dtype.is_float() && made.is_packed_as_told) {
            fill_floats(made.dtype, &mut made.bytes, missing);
        }
        Ok(Some(made))
    }

    /// Turns `float64` values back into the scaled integers that they were made from. If an integer would not give its
    /// value again, nothing changes but `is_packed_as_told`.
    fn pack(&mut self) {
        let kind = self.more.and_then(|more| get(more, TYPE)).and_then(Value::as_text);
        let dtype = kind.and_then(types::named).filter(|dtype| !dtype.is_float());
        let scaling = Scaling::of(self.attributes);
        let missing = missing(self.attributes).into_iter().find_map(|value| value.as_integer().map(i128::from));
        let values: Vec<f64> = self.bytes.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
        let packed =
            dtype.zip(scaling).and_then(|(dtype, scaling)| Some((dtype, pack(&values, dtype, scaling, missing)?)));
        match packed {
            Some((dtype, bytes)) => (self.dtype, self.bytes) = (dtype, bytes),
            None => self.is_packed_as_told = false,
        }
    }

    /// The attributes of the variable that the object was made from, without the attributes of packing if they do not describe
    /// the values. `kind` names the type of the values; NetCDF wants `_FillValue` to have the same type.
    pub(super) fn attributes(&self, kind: &'static str) -> Vec<Attribute<'_>> {
        let types = self.more.and_then(|more| get(more, TYPES)).and_then(Value::as_map);
        let of_packing =
            ["scale_factor", "add_offset", "_FillValue", "missing_value", "valid_range", "valid_min", "valid_max"];
        let kept = self.attributes.iter().filter_map(|(key, value)| {
            let name = key.as_text()?;
            if !self.is_packed_as_told && of_packing.contains(&name) {
                return None;
            }
            let recorded = types.and_then(|types| get(types, name)).and_then(Value::as_text);
            let of_values = (name == "_FillValue").then_some(kind);
            Some(Attribute { name: name.to_string(), value: Some(value), kind: of_values.or(recorded) })
        });
        kept.collect()
    }

    /// Writes the values to a variable.
    pub(super) fn put(&self, variable: &mut VariableMut<'_>, extents: Vec<Extent>) -> Result<(), netcdf::Error> {
        macro_rules! each {
            ($($dtype:ident $type:ty),*) => {
                match self.dtype {
                    $(Dtype::$dtype => {
                        let chunks = self.bytes.as_chunks().0.iter();
                        let values: Vec<$type> = chunks.map(|bytes| <$type>::from_ne_bytes(*bytes)).collect();
                        variable.put_values(&values, extents)
                    })*
                    other => Err(netcdf::Error::Str(format!("{other} has no type"))),
                }
            };
        }
        each!(
            Int8 i8, Int16 i16, Int32 i32, Int64 i64, Uint8 u8, Uint16 u16, Uint32 u32, Uint64 u64, Float32 f32, Float64 f64
        )
    }
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
