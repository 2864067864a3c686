//! What the elements of a `.npy` file are, beyond the types that tensors have.

use std::borrow::Cow;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::Result;

use crate::arrays::{Array, MAX_TEXT, TIME, refused, time};

/// What elements are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of [`Header::dtype`](super::Header::dtype).
    Number,
    /// Truth values, a byte each.
    Bool,
    /// Integers that count times: `datetime64` or `timedelta64`, the unit, and how many of it.
    Time {
        /// `datetime64` or `timedelta64`.
        kind: &'static str,
        /// The unit, as numpy names it.
        unit: String,
        /// How many units a count of 1 is.
        multiple: u64,
    },
    /// Texts of so many characters of four bytes each.
    Characters(u64),
    /// Texts of so many bytes.
    Bytes(u64),
    /// So many bytes without a meaning.
    Raw(u64),
}

/// The kind of a type that is not a number, and the type that holds it: `M8[25s]`, `U3`, `S3`, `V3`.
pub(super) fn from_letters(order: &str, kind: &str) -> Option<(Dtype, Kind)> {
    let (letter, rest) = kind.split_at_checked(1)?;
    let len = || rest.parse().ok();
    match letter {
        "U" => len().map(|len| (Dtype::Uint32, Kind::Characters(len))),
        "S" | "a" => len().map(|len| (Dtype::Uint8, Kind::Bytes(len))),
        // With a byte order, two bytes are a bfloat16, as other libraries write it.
        "V" if order != "|" && rest == "2" => None,
        "V" => len().map(|len| (Dtype::Uint8, Kind::Raw(len))),
        "M" | "m" => {
            let unit = rest.strip_prefix("8[")?.strip_suffix(']')?;
            let (multiple, unit) = unit.split_at(unit.find(|char: char| !char.is_ascii_digit())?);
            let multiple = if multiple.is_empty() { 1 } else { multiple.parse().ok()? };
            let kind = if letter == "M" { "datetime64" } else { "timedelta64" };
            Some((Dtype::Int64, Kind::Time { kind, unit: unit.to_string(), multiple }))
        }
        _ => None,
    }
}

/// The type of an array of times, as numpy writes it without its byte order: `M8[25s]`.
pub(super) fn descr(array: &Array<'_>) -> Option<String> {
    let entries = array.metadata.get(TIME)?.as_map().filter(|_| array.descriptor.dtype == Dtype::Int64)?;
    let get = |key: &str| entries.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value);
    let letter = match get("dtype")?.as_text()? {
        "datetime64" => 'M',
        "timedelta64" => 'm',
        _ => return None,
    };
    let unit = get("unit")?.as_text().filter(|unit| unit.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
    let multiple = u64::try_from(get("multiple")?.as_integer()?).ok()?;
    Some(if multiple == 1 { format!("{letter}8[{unit}]") } else { format!("{letter}8[{multiple}{unit}]") })
}

impl Kind {
    /// How many values of the type that holds it an element has.
    pub(super) const fn width(&self) -> u64 {
        match self {
            Self::Number | Self::Bool | Self::Time { .. } => 1,
            Self::Characters(len) | Self::Bytes(len) | Self::Raw(len) => *len,
        }
    }

    /// The array of numbers in row-major order, of which each element has [`Self::width`].
    pub(super) fn array<'a>(
        &self,
        (dtype, order): (Dtype, ByteOrder),
        shape: &[u64],
        values: Cow<'a, [u8]>,
    ) -> Result<Array<'a>> {
        match self {
            Self::Number | Self::Bool => Array::new(dtype, order, shape, values),
            Self::Time { kind, unit, multiple } => {
                let mut array = Array::new(dtype, order, shape, values)?;
                array.metadata.insert(TIME.into(), time(kind, unit, *multiple));
                Ok(array)
            }
            Self::Raw(len) => {
                let shape: Vec<u64> = shape.iter().copied().chain([*len]).collect();
                let mut array = Array::new(dtype, order, &shape, values)?;
                let kind = vec![("dtype".into(), format!("|V{len}").into())];
                array.metadata.insert(TIME.into(), Value::Map(kind));
                Ok(array)
            }
            Self::Characters(len) => texts(&values, 4 * len, shape, |text| {
                let number = |bytes: &[u8; 4]| match order {
                    ByteOrder::Little => u32::from_le_bytes(*bytes),
                    ByteOrder::Big => u32::from_be_bytes(*bytes),
                };
                let numbers = text.as_chunks().0.iter().map(number);
                numbers.map(char::from_u32).collect::<Option<String>>()
            }),
            Self::Bytes(len) => texts(&values, *len, shape, |text| String::from_utf8(text.to_vec()).ok()),
        }
    }
}

/// Texts of `len` bytes each, after which zeros stand.
fn texts(values: &[u8], len: u64, shape: &[u64], decode: impl Fn(&[u8]) -> Option<String>) -> Result<Array<'static>> {
    let len = usize::try_from(len).map_err(|_| refused("texts of so many characters do not fit memory"))?;
    let count = shape.iter().try_fold(1_u64, |product, dim| product.checked_mul(*dim));
    let count = count.and_then(|count| usize::try_from(count).ok()).ok_or_else(|| refused("shape product overflow"))?;
    // Refused before they are made, if they are too many.
    Array::check_texts(count, 0)?;
    let text = |index: usize| {
        let bytes = values.get(index.checked_mul(len)?..)?.get(..len)?;
        decode(bytes).map(|text| text.trim_end_matches('\0').to_string())
    };
    let texts = (0..count).map(|index| text(index).ok_or_else(|| refused(format!("text {index} is not Unicode"))));
    Array::of_texts(texts.collect::<Result<_>>()?, shape)
}

/// Characters that texts take, all as wide as the widest: as many as metadata have, in a few sparse arrays of names.
const MAX_CHARACTERS: usize = 64 * MAX_TEXT;

/// Texts as numpy stores them: the characters of the widest, and characters of four bytes, with zeros after each text.
///
/// # Errors
/// [`TensogramError::Object`](tgm_std::TensogramError::Object) if one text is so long that all together have more than 2^26
/// characters.
pub(super) fn padded(texts: &[&str]) -> Result<(usize, Vec<u8>)> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or_default().max(1);
    let count = texts.len().checked_mul(width).filter(|count| *count <= MAX_CHARACTERS);
    let count = count.ok_or_else(|| refused(format!("{} texts of {width} characters are too many", texts.len())))?;
    let mut bytes = Vec::with_capacity(4 * count);
    for text in texts {
        let padding = width.saturating_sub(text.chars().count());
        let characters = text.chars().chain(std::iter::repeat_n('\0', padding));
        bytes.extend(characters.flat_map(|character| u32::from(character).to_le_bytes()));
    }
    Ok((width, bytes))
}
