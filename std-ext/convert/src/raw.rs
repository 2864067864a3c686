//! Bare values: files without a header, whose type and shape somebody has to say.
//!
//! ```
//! use tgm_convert::arrays::Bools;
//! use tgm_convert::raw::{self, Form};
//! use tgm_std::{ByteOrder, Dtype};
//!
//! let form: Form = "f32,2x3,big".parse()?;
//! let array = raw::read(&[0; 24], &form, Bools::Bitmask)?;
//! assert_eq!((array.descriptor.dtype, &array.descriptor.shape[..]), (Dtype::Float32, &[2, 3][..]));
//! let mut file = Vec::new();
//! raw::write(&array, ByteOrder::Little, &mut file)?;
//! assert_eq!(file, [0; 24]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::Write;
use std::str::FromStr;

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::Result;

use super::arrays::{Array, Bools, pack_bools, refused};

/// What bare values are. As text: `DTYPE,SHAPE[,ORDER]`, such as `f32,181x360,big`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The element type.
    pub element: Element,
    /// The dimensions, the slowest first.
    pub shape: Vec<u64>,
    /// The byte order of the elements.
    pub order: ByteOrder,
}

/// An element type of bare values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A type of the format.
    Dtype(Dtype),
    /// Truth values, a byte each.
    Bool,
}

impl Element {
    /// The type of one element in the file.
    pub const fn dtype(self) -> Dtype {
        match self {
            Self::Dtype(dtype) => dtype,
            Self::Bool => Dtype::Uint8,
        }
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let parts: Vec<_> = text.split(',').map(str::trim).collect();
        let (element, shape, order) = match *parts.as_slice() {
            [element, shape] => (element, shape, "native"),
            [element, shape, order] => (element, shape, order),
            _ => return Err("expected DTYPE,SHAPE or DTYPE,SHAPE,ORDER, such as f32,181x360,big".into()),
        };
        Ok(Self { element: element.parse()?, shape: shape_of(shape)?, order: order_of(order)? })
    }
}

impl FromStr for Element {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, Self::Err> {
        let long = match name {
            "bool" => return Ok(Self::Bool),
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
        let dtype = Dtype::from_name(long);
        dtype.map(Self::Dtype).ok_or_else(|| format!("unknown dtype {name:?}: one of {}, bool", names()))
    }
}

/// A shape as text: numbers with x between them, or `scalar`.
///
/// # Errors
/// A sentence for the user.
pub fn shape_of(text: &str) -> std::result::Result<Vec<u64>, String> {
    if text == "scalar" {
        return Ok(Vec::new());
    }
    let dims = text.split('x').map(str::parse).collect::<std::result::Result<_, _>>();
    dims.map_err(|_| format!("shape {text:?}: numbers with x between them, such as 181x360, or scalar"))
}

/// A byte order as text: `little`, `big` or `native`.
///
/// # Errors
/// A sentence for the user.
pub fn order_of(text: &str) -> std::result::Result<ByteOrder, String> {
    match text {
        "native" => Ok(ByteOrder::NATIVE),
        other => ByteOrder::from_name(other).ok_or_else(|| format!("byte order {other:?}: big, little or native")),
    }
}

/// The array of bare values, which are borrowed unless they become bits.
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object) for a number of bytes that does not fit the shape.
pub fn read<'a>(bytes: &'a [u8], form: &Form, bools: Bools) -> Result<Array<'a>> {
    let array = Array::new(form.element.dtype(), form.order, &form.shape, bytes)?;
    if form.element == Element::Bool && bools == Bools::Bitmask {
        return Array::new(Dtype::Bitmask, form.order, &form.shape, pack_bools(bytes));
    }
    Ok(array)
}

/// Writes the values of an array in `order`, and nothing else. Bits stay packed.
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object) for texts; [`TensogramError::Io`](tgm_std::TensogramError::Io)
/// from the sink.
pub fn write(array: &Array<'_>, order: ByteOrder, mut sink: impl Write) -> Result<()> {
    if array.texts().is_some() {
        return Err(refused("texts have no bare values"));
    }
    Ok(sink.write_all(&array.values_in(order))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_a_dtype_a_shape_and_an_order() {
        let form = |text: &str| text.parse::<Form>();
        let element = Element::Dtype(Dtype::Float32);
        let expected = Form { element, shape: vec![181, 360], order: ByteOrder::Big };
        assert_eq!(form("f32,181x360,big").unwrap(), expected);
        assert_eq!(form("float32, 181x360, big").unwrap(), expected);
        assert_eq!(form("u8,scalar").unwrap().shape, Vec::<u64>::new());
        assert_eq!(form("bool,8").unwrap().element, Element::Bool);
        for text in ["f32", "f31,1", "f32,1x", "f32,-1", "f32,1,middle", "f32,1,big,x", ""] {
            assert!(form(text).is_err(), "{text}");
        }
    }
}
