//! Attributes of HDF5 as metadata.

use ciborium::Value;
use half::f16;
use hdf5_metno::types::{
    EnumType, FixedAscii, FixedUnicode, FloatSize, H5Type, IntSize, TypeDescriptor, VarLenAscii, VarLenUnicode,
};
use hdf5_metno::{Attribute as Stored, Container, IndexType, IterationOrder, Location, Selection};
use ndarray::{Array2, IxDyn};
use tgm_std::Reason;

use super::super::tree::{Attribute, decoded};
use super::Ledger;
use crate::error::reason_of;
use crate::note::Note;

/// Whose attributes they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Group,
    Dataset,
}

/// Attributes of the libraries' own, which say how NetCDF is stored in HDF5.
const HIDDEN: [&str; 7] = [
    "_NCProperties",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_nc3_strict",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_NCCOPY",
];
/// The same for datasets that are scales of dimensions.
const HIDDEN_OF_SCALES: [&str; 2] = ["CLASS", "NAME"];
/// The most elements that an attribute of metadata has.
const MAX_ELEMENTS: usize = 1 << 20;
/// The most texts of any length that an attribute has.
const MAX_TEXTS: usize = 4096;
/// How many texts of any length are read at a time.
const PIECE: usize = 16;

/// Reads the attributes of an object. What cannot be kept is reported.
pub(super) fn read(
    location: &Location,
    place: &str,
    of: Of,
    ledger: &mut Ledger,
    report: &mut dyn FnMut(Note),
) -> Vec<Attribute> {
    let count = location.loc_info().map_or(0, |info| info.num_attrs as u64);
    ledger.counted += count;
    let mut read = Vec::new();
    // As they were made, where the file knows that.
    let names = location.attr_names_by(IndexType::CreationOrder, IterationOrder::Increasing);
    let names = names.or_else(|_| location.attr_names_by(IndexType::Name, IterationOrder::Increasing));
    let names = match names {
        Ok(names) => names,
        Err(error) => {
            // A name that is not text ends the walk.
            ledger.accounted += count;
            report(Note::not_kept(place, format!("{count} attributes: {error}")));
            return read;
        }
    };
    for name in names {
        ledger.accounted += 1;
        let stored = match location.attr(&name) {
            Ok(stored) => stored,
            Err(error) => {
                report(Note::not_kept(place, format!("attribute {name}: {error}")));
                continue;
            }
        };
        let is_hidden = HIDDEN.contains(&name.as_str())
            || of == Of::Dataset && HIDDEN_OF_SCALES.contains(&name.as_str()) && is_scale(location);
        if is_hidden {
            continue;
        }
        match value(&stored) {
            Ok((value, kind)) => read.push(Attribute { name, value, kind }),
            Err(what) => report(Note::not_kept(place, format!("attribute {name}: {what}"))),
        }
    }
    read
}

/// Whether a dataset says that it is the scale of a dimension.
pub(super) fn is_scale(location: &Location) -> bool {
    text(location, "CLASS").as_deref() == Some("DIMENSION_SCALE")
}

/// The text of an attribute. `None` if it has none.
pub(super) fn text(location: &Location, name: &str) -> Option<String> {
    let (value, _) = value(&location.attr(name).ok()?).ok()?;
    value.into_text().ok()
}

/// An attribute's value, and the name of its type.
fn value(stored: &Stored) -> Result<(Value, &'static str), Reason> {
    let space = stored.space().map_err(reason_of)?;
    let descriptor = stored.dtype().and_then(|dtype| dtype.to_descriptor()).map_err(reason_of)?;
    if space.is_null() {
        return match descriptor {
            TypeDescriptor::FixedAscii(_) | TypeDescriptor::FixedUnicode(_) => Ok(("".into(), "char")),
            descriptor => match kind_of(&descriptor) {
                // NetCDF stores a list without numbers so.
                Some(kind) => Ok((Value::Array(Vec::new()), kind)),
                None => Err("it has no value".into()),
            },
        };
    }
    if space.ndim() > 1 {
        return Err(format!("it has {} dimensions", space.ndim()).into());
    }
    if space.size() > MAX_ELEMENTS {
        return Err(format!("it has {} elements", space.size()).into());
    }
    if matches!(descriptor, TypeDescriptor::VarLenAscii | TypeDescriptor::VarLenUnicode) && space.size() > MAX_TEXTS {
        return Err(format!("it has {} texts", space.size()).into());
    }
    let (mut values, kind) = values(stored, &descriptor)?;
    if values.len() == 1 {
        return Ok((values.remove(0), kind));
    }
    Ok((Value::Array(values), kind))
}

/// The name that NetCDF has for the type of numbers.
const fn kind_of(descriptor: &TypeDescriptor) -> Option<&'static str> {
    Some(match descriptor {
        TypeDescriptor::Integer(IntSize::U1) => "byte",
        TypeDescriptor::Integer(IntSize::U2) => "short",
        TypeDescriptor::Integer(IntSize::U4) => "int",
        TypeDescriptor::Integer(IntSize::U8) => "int64",
        TypeDescriptor::Unsigned(IntSize::U1) => "ubyte",
        TypeDescriptor::Unsigned(IntSize::U2) => "ushort",
        TypeDescriptor::Unsigned(IntSize::U4) => "uint",
        TypeDescriptor::Unsigned(IntSize::U8) => "uint64",
        TypeDescriptor::Float(FloatSize::U2 | FloatSize::U4) => "float",
        TypeDescriptor::Float(FloatSize::U8) => "double",
        _ => return None,
    })
}

fn values(stored: &Stored, descriptor: &TypeDescriptor) -> Result<(Vec<Value>, &'static str), Reason> {
    macro_rules! numbers {
        ($type:ty, $convert:expr) => {
            stored.read_raw::<$type>().map(|list| list.into_iter().map($convert).collect())
        };
    }
    // Names of integers are said of variables alone.
    let descriptor = match descriptor {
        TypeDescriptor::Enum(EnumType { size, signed: true, .. }) => &TypeDescriptor::Integer(*size),
        TypeDescriptor::Enum(EnumType { size, signed: false, .. }) => &TypeDescriptor::Unsigned(*size),
        other => other,
    };
    let read = match descriptor {
        TypeDescriptor::Integer(size) => match size {
            IntSize::U1 => numbers!(i8, Value::from),
            IntSize::U2 => numbers!(i16, Value::from),
            IntSize::U4 => numbers!(i32, Value::from),
            IntSize::U8 => numbers!(i64, Value::from),
        },
        TypeDescriptor::Unsigned(size) => match size {
            IntSize::U1 => numbers!(u8, Value::from),
            IntSize::U2 => numbers!(u16, Value::from),
            IntSize::U4 => numbers!(u32, Value::from),
            IntSize::U8 => numbers!(u64, Value::from),
        },
        TypeDescriptor::Float(FloatSize::U2) => numbers!(f16, |it| f64::from(it).into()),
        TypeDescriptor::Float(FloatSize::U4) => numbers!(f32, |it| f64::from(it).into()),
        TypeDescriptor::Float(FloatSize::U8) => numbers!(f64, Value::from),
        TypeDescriptor::Boolean => numbers!(i8, |it| Value::Bool(it != 0)),
        _ => {
            let (list, kind) = texts(stored, descriptor)?;
            return Ok((list.into_iter().map(Value::from).collect(), kind));
        }
    };
    read.map(|list| (list, kind_of(descriptor).unwrap_or("bool"))).map_err(reason_of)
}

/// Texts of a dataset. Texts of any length are read some at a time, as many of them can be one long text in the file. `most`
/// is how many bytes they may have.
pub(super) fn texts_of_dataset(
    stored: &Container,
    descriptor: &TypeDescriptor,
    most: usize,
) -> Result<Vec<String>, Reason> {
    match descriptor {
        TypeDescriptor::VarLenAscii if !stored.is_scalar() => {
            pieces::<VarLenAscii>(stored, most, VarLenAscii::as_bytes)
        }
        TypeDescriptor::VarLenUnicode if !stored.is_scalar() => {
            pieces::<VarLenUnicode>(stored, most, VarLenUnicode::as_bytes)
        }
        _ => texts(stored, descriptor).map(|(texts, _)| texts),
    }
}

/// The bytes of single characters, as NetCDF 4 stores them. `None` for other types.
///
/// Each is a byte of its own: several of them can make one character of UTF-8.
pub(super) fn characters(stored: &Container, descriptor: &TypeDescriptor) -> Option<Result<Vec<u8>, Reason>> {
    // HDF5 leaves out NUL at the end of a text.
    let byte = |text: &[u8]| text.first().copied().unwrap_or(0);
    let read = match descriptor {
        TypeDescriptor::FixedAscii(1) => {
            stored.read_raw::<FixedAscii<1>>().map(|all| all.iter().map(|text| byte(text.as_bytes())).collect())
        }
        TypeDescriptor::FixedUnicode(1) => {
            stored.read_raw::<FixedUnicode<1>>().map(|all| all.iter().map(|text| byte(text.as_bytes())).collect())
        }
        _ => return None,
    };
    Some(read.map_err(reason_of))
}

/// Texts, and the name of their type in NetCDF. What is not UTF-8 is taken for Latin-1.
fn texts(stored: &Container, descriptor: &TypeDescriptor) -> Result<(Vec<String>, &'static str), Reason> {
    macro_rules! read {
        ($type:ty) => {
            stored.read_raw::<$type>().map(|list| list.iter().map(|text| decoded(text.as_bytes())).collect())
        };
    }
    macro_rules! fixed {
        ($kind:ident, $len:expr) => {
            match $len {
                0..=64 => read!($kind<64>),
                65..=1024 => read!($kind<1024>),
                1025..=16_384 => read!($kind<16_384>),
                16_385..=262_144 => read!($kind<262_144>),
                len => return Err(format!("its texts have {len} bytes").into()),
            }
        };
    }
    let (list, kind) = match descriptor {
        TypeDescriptor::FixedAscii(len) => (fixed!(FixedAscii, *len), "char"),
        TypeDescriptor::FixedUnicode(len) => (fixed!(FixedUnicode, *len), "char"),
        TypeDescriptor::VarLenAscii => (read!(VarLenAscii), "string"),
        TypeDescriptor::VarLenUnicode => (read!(VarLenUnicode), "string"),
        other => return Err(format!("its type is {}", named(other)).into()),
    };
    list.map(|list| (list, kind)).map_err(reason_of)
}

/// Texts of any length, a few at a time.
fn pieces<T: H5Type>(stored: &Container, most: usize, bytes_of: impl Fn(&T) -> &[u8]) -> Result<Vec<String>, Reason> {
    let (shape, count) = (stored.shape(), stored.size());
    let (mut texts, mut len) = (Vec::new(), 0_usize);
    for start in (0..count).step_by(PIECE) {
        let numbers = start..count.min(start + PIECE);
        let mut points = Vec::with_capacity(PIECE * shape.len());
        for number in numbers.clone() {
            let (mut rest, first) = (number, points.len());
            points.resize(first + shape.len(), 0);
            for (place, dim) in points.iter_mut().skip(first).rev().zip(shape.iter().rev()) {
                (*place, rest) = (rest % dim, rest / dim);
            }
        }
        let points = Array2::from_shape_vec((numbers.len(), shape.len()), points).map_err(reason_of)?;
        let read = stored.as_reader().read_slice::<T, _, IxDyn>(Selection::from(points));
        for text in &read.map_err(reason_of)? {
            let bytes = bytes_of(text);
            len += bytes.len();
            if len > most {
                return Err(format!("its texts have more than {most} bytes").into());
            }
            texts.push(decoded(bytes));
        }
    }
    Ok(texts)
}

/// The name of a type that is not kept.
pub(super) const fn named(descriptor: &TypeDescriptor) -> &'static str {
    match descriptor {
        TypeDescriptor::Integer(_) | TypeDescriptor::Unsigned(_) => "integers",
        TypeDescriptor::Float(_) => "floats",
        TypeDescriptor::Boolean => "truth values",
        TypeDescriptor::Enum(_) => "an enumeration",
        TypeDescriptor::Compound(_) => "compound",
        TypeDescriptor::FixedArray(..) => "arrays",
        TypeDescriptor::VarLenArray(_) => "ragged",
        TypeDescriptor::Reference(_) => "references",
        _ => "text",
    }
}
