//! Tensors from files: `.npy`, and raw element bytes whose type and shape the user states.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::str::FromStr;

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::{DataObjectDescriptor, TensogramError};

use crate::read::npy_read;
use crate::read::row_major;

/// A tensor: its descriptor, and its elements in row-major order.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) descriptor: DataObjectDescriptor,
    pub(crate) data: Vec<u8>,
}

/// The form of raw bytes: `DTYPE,SHAPE[,ORDER]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawForm {
    dtype: Dtype,
    is_bool: bool,
    shape: Vec<u64>,
    order: ByteOrder,
}

impl FromStr for RawForm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<_> = text.split(',').map(str::trim).collect();
        let (dtype, shape, order) = match *parts.as_slice() {
            [dtype, shape] => (dtype, shape, "native"),
            [dtype, shape, order] => (dtype, shape, order),
            _ => return Err("expected DTYPE,SHAPE or DTYPE,SHAPE,ORDER, such as f32,181x360,big".into()),
        };
        let (dtype, is_bool) = if dtype == "bool" { (Dtype::Uint8, true) } else { (dtype_of(dtype)?, false) };
        let order = match order {
            "native" => ByteOrder::NATIVE,
            other => {
                ByteOrder::from_name(other).ok_or_else(|| format!("byte order {other:?}: big, little or native"))?
            }
        };
        Ok(Self { dtype, is_bool, shape: shape_of(shape)?, order })
    }
}

/// The element type of a name: the format's name, or a short one.
fn dtype_of(name: &str) -> Result<Dtype, String> {
    let long = match name {
        "f16" => "float16",
        "bf16" => "bfloat16",
        "f32" => "float32",
        "f64" => "float64",
        "c64" => "complex64",
        "c128" => "complex128",
        "i8" => "int8",
        "i16" => "int16",
        "i32" => "int32",
        "i64" => "int64",
        "u8" => "uint8",
        "u16" => "uint16",
        "u32" => "uint32",
        "u64" => "uint64",
        other => other,
    };
    let names = || Dtype::ALL.map(Dtype::name).join(", ");
    Dtype::from_name(long).ok_or_else(|| format!("unknown dtype {name:?}: one of {}, bool", names()))
}

fn shape_of(text: &str) -> Result<Vec<u64>, String> {
    if text == "scalar" {
        return Ok(Vec::new());
    }
    let dims = text.split('x').map(str::parse).collect::<Result<_, _>>();
    dims.map_err(|_| format!("shape {text:?}: numbers with x between them, such as 181x360, or scalar"))
}

/// All bytes of a file; "-" is standard input.
///
/// # Errors
/// Those of reading.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return fs::read(path);
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether the bytes are a `.npy` file.
pub(crate) fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(npy_read::MAGIC)
}

impl Tensor {
    /// The tensor of a `.npy` file. Truth values become bits if `pack_bools`, otherwise numbers.
    ///
    /// # Errors
    /// For tensors that the format cannot hold, and for a number of values that does not fit the shape.
    pub(crate) fn from_npy(bytes: &[u8], pack_bools: bool) -> Result<Self, TensogramError> {
        let (header, data) = npy_read::parse(bytes).map_err(refused)?;
        let (dtype, shape) = (header.dtype, header.shape);
        check_len(dtype, &shape, data)?;
        let data = if header.is_fortran && shape.len() > 1 {
            row_major::from_fortran(data, &shape, dtype.byte_width())
                .ok_or_else(|| refused("shape product overflow"))?
        } else {
            data.to_vec()
        };
        Ok(Self::new(dtype, header.order, &shape, data, header.is_bool && pack_bools))
    }

    /// The tensor of raw bytes. Truth values become bits if `pack_bools`, otherwise numbers.
    ///
    /// # Errors
    /// For a number of bytes that does not fit the shape.
    pub(crate) fn from_raw(bytes: Vec<u8>, form: &RawForm, pack_bools: bool) -> Result<Self, TensogramError> {
        check_len(form.dtype, &form.shape, &bytes)?;
        Ok(Self::new(form.dtype, form.order, &form.shape, bytes, form.is_bool && pack_bools))
    }

    fn new(dtype: Dtype, order: ByteOrder, shape: &[u64], data: Vec<u8>, packs: bool) -> Self {
        let (dtype, data) = if packs { (Dtype::Bitmask, pack(&data)) } else { (dtype, data) };
        Self { descriptor: DataObjectDescriptor::new(dtype, order, shape), data }
    }
}

fn check_len(dtype: Dtype, shape: &[u64], data: &[u8]) -> Result<(), TensogramError> {
    let count = shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim));
    let expected = count.and_then(|count| dtype.byte_len(count)).ok_or_else(|| refused("shape product overflow"))?;
    let found = data.len() as u64;
    if expected == found {
        return Ok(());
    }
    Err(refused(format!("{found} bytes of values, and {dtype} of shape {shape:?} has {expected}")))
}

/// Truth values as bits; the first value is the highest bit.
fn pack(bools: &[u8]) -> Vec<u8> {
    let byte = |bools: &[u8]| {
        let bits = bools.iter().zip([0x80_u8, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01]);
        bits.fold(0, |byte, (value, bit)| if *value == 0 { byte } else { byte | bit })
    };
    bools.chunks(8).map(byte).collect()
}

fn refused(text: impl Into<String>) -> TensogramError {
    TensogramError::Object(text.into().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_a_dtype_a_shape_and_an_order() {
        let form = |text: &str| text.parse::<RawForm>();
        let expected = RawForm { dtype: Dtype::Float32, is_bool: false, shape: vec![181, 360], order: ByteOrder::Big };
        assert_eq!(form("f32,181x360,big").unwrap(), expected);
        assert_eq!(form("float32, 181x360, big").unwrap(), expected);
        assert_eq!(form("u8,scalar").unwrap().shape, Vec::<u64>::new());
        assert!(form("bool,8").unwrap().is_bool);
        for text in ["f32", "f31,1", "f32,1x", "f32,-1", "f32,1,middle", "f32,1,big,x", ""] {
            assert!(form(text).is_err(), "{text}");
        }
    }

    #[test]
    fn truth_values_are_packed_highest_bit_first() {
        assert_eq!(pack(&[1, 0, 1, 1, 0, 0, 0, 0, 1, 1]), [0xb0, 0xc0]);
        assert_eq!(pack(&[]), [0; 0]);
    }
}
