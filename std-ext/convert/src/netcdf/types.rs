//! Types of values, and their names.

use netcdf::AttributeValue;
use netcdf::types::{FloatType, IntType, NcVariableType};
use tgm_core::descriptor::Dtype;

use super::complex;

/// Element types that both formats have, with the names of NetCDF.
const TYPES: [(Dtype, &str, NcVariableType); 10] = [
    (Dtype::Int8, "byte", NcVariableType::Int(IntType::I8)),
    (Dtype::Uint8, "ubyte", NcVariableType::Int(IntType::U8)),
    (Dtype::Int16, "short", NcVariableType::Int(IntType::I16)),
    (Dtype::Uint16, "ushort", NcVariableType::Int(IntType::U16)),
    (Dtype::Int32, "int", NcVariableType::Int(IntType::I32)),
    (Dtype::Uint32, "uint", NcVariableType::Int(IntType::U32)),
    (Dtype::Int64, "int64", NcVariableType::Int(IntType::I64)),
    (Dtype::Uint64, "uint64", NcVariableType::Int(IntType::U64)),
    (Dtype::Float32, "float", NcVariableType::Float(FloatType::F32)),
    (Dtype::Float64, "double", NcVariableType::Float(FloatType::F64)),
];

/// The element type of a variable. `None` for types that are not kept.
pub(super) fn dtype(kind: &NcVariableType) -> Option<Dtype> {
    TYPES.iter().find(|(_, _, of_file)| of_file == kind).map(|(dtype, _, _)| *dtype)
}

/// The element type with a name of NetCDF.
pub(super) fn named(name: &str) -> Option<Dtype> {
    TYPES.iter().find(|(_, of_file, _)| *of_file == name).map(|(dtype, _, _)| *dtype)
}

/// The name and the type that NetCDF has for an element type.
pub(super) fn of_file(dtype: Dtype) -> Option<(&'static str, NcVariableType)> {
    let own = TYPES.iter().find(|(own, _, _)| *own == dtype);
    own.map(|(_, name, kind)| (*name, kind.clone())).or_else(|| complex::of_file(dtype))
}

/// The name of an attribute's type.
pub(super) const fn of_attribute(value: &AttributeValue) -> &'static str {
    match value {
        AttributeValue::Uchar(_) | AttributeValue::Uchars(_) => "ubyte",
        AttributeValue::Schar(_) | AttributeValue::Schars(_) => "byte",
        AttributeValue::Ushort(_) | AttributeValue::Ushorts(_) => "ushort",
        AttributeValue::Short(_) | AttributeValue::Shorts(_) => "short",
        AttributeValue::Uint(_) | AttributeValue::Uints(_) => "uint",
        AttributeValue::Int(_) | AttributeValue::Ints(_) => "int",
        AttributeValue::Ulonglong(_) | AttributeValue::Ulonglongs(_) => "uint64",
        AttributeValue::Longlong(_) | AttributeValue::Longlongs(_) => "int64",
        AttributeValue::Float(_) | AttributeValue::Floats(_) => "float",
        AttributeValue::Double(_) | AttributeValue::Doubles(_) => "double",
        AttributeValue::Str(_) => "char",
        AttributeValue::Strs(_) => "string",
    }
}

/// Numbers as an attribute of the type with this name. `None` if one of them is not such a number.
pub(super) fn numbers(name: &str, integers: Option<&[i128]>, floats: Option<&[f64]>) -> Option<AttributeValue> {
    macro_rules! integers {
        ($variant:ident) => {
            integers?.iter().map(|&value| value.try_into().ok()).collect::<Option<_>>().map(AttributeValue::$variant)
        };
    }
    match name {
        "byte" => integers!(Schars),
        "ubyte" => integers!(Uchars),
        "short" => integers!(Shorts),
        "ushort" => integers!(Ushorts),
        "int" => integers!(Ints),
        "uint" => integers!(Uints),
        "int64" => integers!(Longlongs),
        "uint64" => integers!(Ulonglongs),
        "float" => floats?.iter().map(|&value| single(value)).collect::<Option<_>>().map(AttributeValue::Floats),
        "double" => Some(AttributeValue::Doubles(floats?.to_vec())),
        _ => None,
    }
}

/// The same number as `f32`, if there is one.
fn single(value: f64) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "the comparison says whether it was exact")]
    let single = value as f32;
    (f64::from(single).to_bits() == value.to_bits() || value.is_nan()).then_some(single)
}
