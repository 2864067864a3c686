//! Complex numbers in NetCDF: compounds of `r` and `i`, of the types that netCDF4-python knows. h5py and xarray read them as
//! complex numbers too. And characters, which the bindings have no type for either.

#![allow(unsafe_code, reason = "the bindings take types of a program only with a promise about their bytes")]

use netcdf::FileMut;
use netcdf::types::{CompoundType, CompoundTypeField, FloatType, NcTypeDescriptor, NcVariableType};
use tgm_core::descriptor::Dtype;

/// The names of these types.
pub(super) const TYPES: [&str; 2] = [SINGLE, DOUBLE];
const SINGLE: &str = "_PFNC_FLOAT_COMPLEX_TYPE";
const DOUBLE: &str = "_PFNC_DOUBLE_COMPLEX_TYPE";

/// A value of `complex64`: the real and the imaginary part.
#[repr(transparent)]
pub(super) struct Single([f32; 2]);

/// A value of `complex128`: the real and the imaginary part.
#[repr(transparent)]
pub(super) struct Double([f64; 2]);

impl Single {
    pub(super) fn from_ne_bytes(bytes: [u8; 8]) -> Self {
        Self(zerocopy::transmute!(bytes))
    }
}

impl Double {
    pub(super) fn from_ne_bytes(bytes: [u8; 16]) -> Self {
        Self(zerocopy::transmute!(bytes))
    }
}

// SAFETY: the type has the bytes of its array: two floats of 4 bytes at the offsets 0 and 4, as the descriptor says.
unsafe impl NcTypeDescriptor for Single {
    fn type_descriptor() -> NcVariableType {
        pair(SINGLE, FloatType::F32, size_of::<f32>())
    }
}

// SAFETY: the type has the bytes of its array: two floats of 8 bytes at the offsets 0 and 8, as the descriptor says.
unsafe impl NcTypeDescriptor for Double {
    fn type_descriptor() -> NcVariableType {
        pair(DOUBLE, FloatType::F64, size_of::<f64>())
    }
}

/// A byte of a variable of characters.
#[repr(transparent)]
pub(super) struct Character(pub(super) u8);

// SAFETY: the type has the byte of its field, as the descriptor says.
unsafe impl NcTypeDescriptor for Character {
    fn type_descriptor() -> NcVariableType {
        NcVariableType::Char
    }
}

/// Two floats, each of `width` bytes.
fn pair(name: &str, part: FloatType, width: usize) -> NcVariableType {
    let field = |name: &str, offset| CompoundTypeField {
        name: name.to_string(),
        basetype: NcVariableType::Float(part),
        arraydims: None,
        offset,
    };
    NcVariableType::Compound(CompoundType {
        name: name.to_string(),
        size: 2 * width,
        fields: vec![field("r", 0), field("i", width)],
    })
}

/// The name and the type that NetCDF has for complex numbers. `None` for other element types.
pub(super) fn of_file(dtype: Dtype) -> Option<(&'static str, NcVariableType)> {
    match dtype {
        Dtype::Complex64 => Some(("complex64", Single::type_descriptor())),
        Dtype::Complex128 => Some(("complex128", Double::type_descriptor())),
        _ => None,
    }
}

/// Defines the type of a variable in the file, if it is not one of NetCDF's own.
///
/// # Errors
/// The errors of the library.
pub(super) fn define(file: &mut FileMut, kind: &NcVariableType) -> Result<(), netcdf::Error> {
    let is_own = matches!(kind, NcVariableType::Compound(_));
    if is_own && !file.types()?.any(|known| known == *kind) {
        file.add_type_from_descriptor(kind.clone())?;
    }
    Ok(())
}
