//! Version 2 of Zarr: its descriptions as version 3 would have them.
//!
//! | version 2 | version 3 |
//! |---|---|
//! | `dtype`, with its byte order | `data_type`, and the codec `bytes` |
//! | `order` F | the codec `transpose` |
//! | `filters`, `compressor` | codecs of the same names |
//! | `dimension_separator` | the chunk key encoding `v2` |
//! | the attribute `_ARRAY_DIMENSIONS` | `dimension_names` |
//! | `fill_value` | `fill_value`, and the attribute `_FillValue`: in version 2 it stands for missing cells too |

use ciborium::Value;

use super::Result;
use super::filters;
use super::texts::STRING;
use crate::error::metadata;
use crate::maps::{get, take};
use tgm_dataset::zarr_form::TEXTS as VLEN;

/// The description of an array.
pub(super) const ARRAY: &str = ".zarray";
/// The description of a group.
pub(super) const GROUP: &str = ".zgroup";
/// The attributes of either.
pub(super) const ATTRIBUTES: &str = ".zattrs";
/// The attribute with the names of dimensions.
const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";
/// The attribute with the number of missing cells.
const FILL: &str = "_FillValue";

/// A map of JSON.
type Entries = Vec<(Value, Value)>;

/// The description and the attributes of an array, as version 3 has them.
///
/// # Errors
/// What is missing, and types that are neither of numbers nor of texts, by name.
pub(super) fn array(described: &[(Value, Value)], mut attributes: Entries) -> Result<(Entries, Entries)> {
    let wanted = |key: &str| get(described, key).ok_or_else(|| metadata(format!("{ARRAY} has no {key}")));
    let version = wanted("zarr_format")?;
    if *version != Value::from(2) {
        return Err(metadata(format!("{ARRAY} is of version {version:?}")));
    }
    let shape = wanted("shape")?;
    let dims = shape.as_array().map(Vec::len).ok_or_else(|| metadata(format!("shape of {ARRAY} is not a list")))?;
    let (kind, data_type, endian) = data_type(wanted("dtype")?)?;
    let mut codecs = Vec::new();
    match wanted("order")?.as_text() {
        Some("F") if dims > 1 => {
            let order = (0..dims as u64).rev().map(Value::from).collect();
            codecs.push(codec("transpose", vec![("order".into(), Value::Array(order))]));
        }
        Some("C" | "F") => {}
        _ => return Err(metadata(format!("order of {ARRAY} is neither C nor F"))),
    }
    let mut filters = get(described, "filters").and_then(Value::as_array).into_iter().flatten();
    if data_type == Value::from(STRING) {
        let id = filters.next().and_then(|filter| get(filter.as_map()?, "id")?.as_text());
        if id != Some(VLEN) {
            let id = id.unwrap_or("without a filter");
            return Err(metadata(format!("data type |O is not supported: {id}, and {VLEN} is read")));
        }
        codecs.push(codec(VLEN, Vec::new()));
    } else {
        codecs.push(codec("bytes", endian.map(|endian| ("endian".into(), endian.into())).into_iter().collect()));
    }
    let compressor = get(described, "compressor").filter(|compressor| !compressor.is_null());
    for coder in filters.chain(compressor) {
        codecs.push(of_version_3(coder)?);
    }
    let separator = get(described, "dimension_separator").and_then(Value::as_text).unwrap_or(".");
    let keys = vec![("separator".into(), separator.into())];
    let chunks = vec![("chunk_shape".into(), wanted("chunks")?.clone())];
    let fill = wanted("fill_value")?;
    if !fill.is_null() && matches!(kind, Kind::Number) {
        take(&mut attributes, FILL);
        attributes.push((FILL.into(), fill.clone()));
    }
    let mut array = vec![
        ("zarr_format".into(), 3.into()),
        ("node_type".into(), "array".into()),
        ("shape".into(), shape.clone()),
        ("data_type".into(), data_type),
        ("chunk_grid".into(), codec("regular", chunks)),
        ("chunk_key_encoding".into(), codec("v2", keys)),
        ("fill_value".into(), if fill.is_null() { kind.zero() } else { fill.clone() }),
        ("codecs".into(), Value::Array(codecs)),
    ];
    let is_name = |name: &Value| name.is_text() || name.is_null();
    let names = get(&attributes, DIMENSIONS).and_then(Value::as_array);
    if names.is_some_and(|names| names.len() == dims && names.iter().all(is_name)) {
        let names = take(&mut attributes, DIMENSIONS).unwrap_or(Value::Null);
        array.push(("dimension_names".into(), names));
    }
    Ok((array, attributes))
}

/// What the elements of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Number,
    Complex,
    Time,
    Text,
}

impl Kind {
    /// What cells hold that were never written, if nothing says it.
    fn zero(self) -> Value {
        match self {
            Self::Bool => false.into(),
            Self::Number | Self::Time => 0.into(),
            Self::Text => "".into(),
            Self::Complex => Value::Array(vec![0.into(), 0.into()]),
        }
    }
}

/// The type as version 3 has it, and the byte order of elements of several bytes.
fn data_type(dtype: &Value) -> Result<(Kind, Value, Option<&'static str>)> {
    let text = match dtype {
        Value::Text(text) => text.as_str(),
        Value::Array(fields) => {
            let name = |field: &Value| field.as_array().and_then(|field| field.first()?.as_text().map(str::to_string));
            let names: Vec<String> = fields.iter().filter_map(name).collect();
            return Err(metadata(format!("a data type of several fields is not supported: {}", names.join(", "))));
        }
        _ => return Err(metadata(format!("dtype of {ARRAY} is not a text"))),
    };
    let unsupported = || metadata(format!("data type {text} is not supported"));
    let (order, rest) = text.split_at_checked(1).ok_or_else(unsupported)?;
    let endian = match order {
        "<" => Some("little"),
        ">" => Some("big"),
        "|" => None,
        _ => return Err(unsupported()),
    };
    let (kind, name) = match rest {
        "b1" => (Kind::Bool, "bool"),
        "i1" => (Kind::Number, "int8"),
        "u1" => (Kind::Number, "uint8"),
        "i2" => (Kind::Number, "int16"),
        "u2" => (Kind::Number, "uint16"),
        "i4" => (Kind::Number, "int32"),
        "u4" => (Kind::Number, "uint32"),
        "i8" => (Kind::Number, "int64"),
        "u8" => (Kind::Number, "uint64"),
        "f2" => (Kind::Number, "float16"),
        "f4" => (Kind::Number, "float32"),
        "f8" => (Kind::Number, "float64"),
        "c8" => (Kind::Complex, "complex64"),
        "c16" => (Kind::Complex, "complex128"),
        "O" => (Kind::Text, STRING),
        _ => {
            let text = rest.split_at_checked(1).and_then(|(kind, len)| Some((kind, len.parse::<u32>().ok()?)));
            if let Some((kind @ ("U" | "S"), len)) = text {
                let (name, width) = if kind == "U" { ("fixed_length_utf32", 4) } else { ("null_terminated_bytes", 1) };
                let more = vec![("length_bytes".into(), (u64::from(len) * width).into())];
                return Ok((Kind::Text, codec(name, more), endian.filter(|_| width > 1)));
            }
            let (kind, unit) = rest.split_at_checked(2).ok_or_else(unsupported)?;
            let name = match kind {
                "M8" => "numpy.datetime64",
                "m8" => "numpy.timedelta64",
                _ => return Err(unsupported()),
            };
            let unit = unit.strip_prefix('[').and_then(|unit| unit.strip_suffix(']')).ok_or_else(unsupported)?;
            let digits = unit.find(|char: char| !char.is_ascii_digit()).unwrap_or(unit.len());
            let (multiple, unit) = unit.split_at(digits);
            let multiple: u32 = if multiple.is_empty() { 1 } else { multiple.parse().map_err(|_| unsupported())? };
            let more = vec![("unit".into(), unit.into()), ("scale_factor".into(), multiple.into())];
            return Ok((Kind::Time, codec(name, more), endian));
        }
    };
    let is_narrow = matches!(name, "bool" | "int8" | "uint8");
    Ok((kind, name.into(), endian.filter(|_| !is_narrow)))
}

/// A name and its configuration.
fn codec(name: &str, configuration: Entries) -> Value {
    let mut codec = vec![("name".into(), name.into())];
    if !configuration.is_empty() {
        codec.push(("configuration".into(), Value::Map(configuration)));
    }
    Value::Map(codec)
}

/// A filter or a compressor as a codec of version 3.
fn of_version_3(coder: &Value) -> Result<Value> {
    let entries = coder.as_map().ok_or_else(|| metadata(format!("a codec of {ARRAY} is not a JSON object")))?;
    let id = get(entries, "id").and_then(Value::as_text);
    let id = id.ok_or_else(|| metadata(format!("a codec of {ARRAY} has no id")))?;
    let level = || get(entries, "level").filter(|level| level.is_integer()).cloned().unwrap_or_else(|| 1.into());
    Ok(match id {
        "zstd" => codec("zstd", vec![("level".into(), level()), ("checksum".into(), false.into())]),
        "gzip" => codec("gzip", vec![("level".into(), level())]),
        // A buffer says itself how it is made.
        "blosc" | "zlib" | "lz4" => codec(if id == "blosc" { id } else { own_name(id) }, Vec::new()),
        "shuffle" => {
            let size = get(entries, "elementsize").filter(|size| size.is_integer()).cloned();
            codec(own_name(id), vec![("elementsize".into(), size.unwrap_or_else(|| 4.into()))])
        }
        // As codecs of bytes they are the same in version 3, after `bytes`.
        other if filters::NAMES.contains(&format!("numcodecs.{other}").as_str()) => {
            let is_told = |(key, _): &&(Value, Value)| key.as_text() != Some("id");
            codec(&format!("numcodecs.{other}"), entries.iter().filter(is_told).cloned().collect())
        }
        "crc32c" if get(entries, "location").and_then(Value::as_text).is_none_or(|location| location == "end") => {
            codec("crc32c", Vec::new())
        }
        other => return Err(metadata(format!("codec {other} is not supported"))),
    })
}

/// The name that version 3 has for a codec of numcodecs.
fn own_name(id: &str) -> &'static str {
    match id {
        "zlib" => "numcodecs.zlib",
        "lz4" => "numcodecs.lz4",
        _ => "numcodecs.shuffle",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::super::json::parse;
    use super::*;

    fn read(text: &str, attributes: &str) -> Result<(Value, Value)> {
        let entries = |text: &str| parse(text.as_bytes()).unwrap().into_map().unwrap();
        array(&entries(text), entries(attributes))
            .map(|(array, attributes)| (Value::Map(array), Value::Map(attributes)))
    }

    #[test]
    fn a_description_of_version_2_becomes_one_of_version_3() {
        let text = r#"{"zarr_format":2,"shape":[4,3],"chunks":[2,3],"dtype":">i2","order":"F","fill_value":-1,
            "filters":[{"id":"shuffle","elementsize":2}],"compressor":{"id":"zlib","level":9},"dimension_separator":"/"}"#;
        let (array, attributes) = read(text, r#"{"_ARRAY_DIMENSIONS":["y","x"],"units":"K","_FillValue":7}"#).unwrap();
        let expected = r#"{"zarr_format":3,"node_type":"array","shape":[4,3],"data_type":"int16",
            "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,3]}},
            "chunk_key_encoding":{"name":"v2","configuration":{"separator":"/"}},"fill_value":-1,
            "codecs":[{"name":"transpose","configuration":{"order":[1,0]}},
                {"name":"bytes","configuration":{"endian":"big"}},
                {"name":"numcodecs.shuffle","configuration":{"elementsize":2}},{"name":"numcodecs.zlib"}],
            "dimension_names":["y","x"]}"#;
        assert_eq!(array, parse(expected.as_bytes()).unwrap());
        assert_eq!(attributes, parse(br#"{"units":"K","_FillValue":-1}"#).unwrap());
    }

    #[test]
    fn what_is_neither_a_number_nor_a_text_is_named() {
        let with = |dtype: &str| {
            let text = format!(
                r#"{{"zarr_format":2,"shape":[4],"chunks":[2],"dtype":{dtype},"order":"C","fill_value":null,
                "filters":null,"compressor":null}}"#
            );
            read(&text, "{}")
        };
        for dtype in [r#""|O""#, r#""|V2""#, r#""<f16""#, r#""<M8""#, r#""""#] {
            assert!(with(dtype).unwrap_err().to_string().contains("is not supported"), "{dtype}");
        }
        assert!(with(r#"[["a","<f8"],["b","<i4"]]"#).unwrap_err().to_string().contains("a, b"));
        assert_eq!(with(r#""<f8""#).unwrap().1, Value::Map(vec![]));
        assert!(with(r#""<M8[25s]""#).is_ok());
    }
}
