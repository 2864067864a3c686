//! An object as a variable: its values and its attributes.

use ciborium::Value;
use half::{bf16, f16};
use netcdf::{Extent, VariableMut};
use tgm_core::descriptor::Dtype;
use tgm_core::object::DataObject;

use super::attributes::{get, missing, number};
use super::packed::{Scaling, fill_floats, pack};
use super::{NETCDF, RECORD, TYPE, TYPES, types};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::convert::arrays::unpack_bools;
use crate::decode::owned_values;
use crate::model::metadata::RESERVED_KEY;
use crate::model::types::GlobalMetadata;

/// Keys of an object that become something else than attributes with their names.
const OWN: [&str; 5] = ["name", "dimensions", "attributes", NETCDF, RESERVED_KEY];
/// The same of a message.
const OWN_OF_MESSAGE: [&str; 5] = ["attributes", "groups", "unlimited", RECORD, NETCDF];

/// An object as a variable.
pub(super) struct Values<'m> {
    pub(super) dtype: Dtype,
    /// The shape of the object.
    pub(super) shape: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// Whether the attributes that tell how values are packed are true of `bytes`.
    pub(super) is_packed_as_told: bool,
    attributes: &'m [(Value, Value)],
    pub(super) more: Option<&'m [(Value, Value)]>,
}

impl<'m> Values<'m> {
    /// The values of an object as NetCDF has them. `None` if it lacks the type.
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

    /// Makes integers of values that were integers with a scale factor.
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

    /// The attributes of the variable that the object was made from. `kind` names the type of the variable's values, which
    /// `_FillValue` must have.
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

/// Metadata that becomes an attribute.
pub(super) struct Attribute<'v> {
    pub(super) name: String,
    /// `None` for keys that are no texts.
    pub(super) value: Option<&'v Value>,
    /// The name of its type.
    pub(super) kind: Option<&'v str>,
}

/// The metadata of an object and of its message as attributes with dotted names.
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
        // What tables of GRIB say, under the names that readers of NetCDF look for.
        let value = entry("grib").and_then(|grib| get(grib, key));
        if value.is_some() && entry("attributes").is_none_or(|attributes| get(attributes, name).is_none()) {
            all.push(Attribute { name: name.to_string(), value, kind: None });
        }
    }
    all
}

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
