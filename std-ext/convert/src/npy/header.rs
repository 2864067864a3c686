//! Reading the header of a `.npy` file, formats 1 to 3, for element types that tensors have.

use tgm_core::descriptor::{ByteOrder, Dtype};

use super::kinds::{self, Kind};

/// The first bytes of a `.npy` file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Limit on nested containers in a header.
const MAX_NESTING: usize = 16;

/// The content of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of the elements, or of their parts if they are not numbers.
    pub dtype: Dtype,
    /// What the elements are.
    pub kind: Kind,
    /// The byte order of the elements.
    pub order: ByteOrder,
    /// The first dimension varies fastest.
    pub is_fortran: bool,
    /// The dimensions.
    pub shape: Vec<u64>,
}

/// Reads the header at the start of `bytes`. Returns it and the bytes after it.
///
/// # Errors
/// A sentence, for bytes that are not a header, and for element types that the format lacks.
pub(super) fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("not a .npy file: it begins with something else")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or("the .npy header is cut short")?;
    let (len, rest) = match version {
        [1, _] => rest.split_first_chunk().map(|(len, rest)| (u64::from(u16::from_le_bytes(*len)), rest)),
        [2 | 3, _] => rest.split_first_chunk().map(|(len, rest)| (u64::from(u32::from_le_bytes(*len)), rest)),
        [major, minor] => return Err(format!("version {major}.{minor} of .npy files is not known")),
    }
    .ok_or("the .npy header is cut short")?;
    let split = usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len));
    let (text, data) = split.ok_or("the .npy header is cut short")?;
    // Before version 3 each byte is a character.
    let text = if version.first().is_some_and(|major| *major < 3) {
        text.iter().map(|byte| char::from(*byte)).collect()
    } else {
        String::from_utf8(text.to_vec()).map_err(|_| "the .npy header is not text")?
    };
    Ok((header(&text)?, data))
}

fn header(text: &str) -> Result<Header, String> {
    let mut parser = Parser { text: text.trim() };
    let literal = parser.literal(0).filter(|_| parser.text.is_empty());
    let Some(Literal::Dict(entries)) = literal else { return Err("the .npy header makes no sense".into()) };
    let get = |key: &str| {
        let found = entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value);
        found.ok_or_else(|| format!("the .npy header lacks {key}"))
    };
    let (dtype, kind, order) = match get("descr")? {
        Literal::Text(descr) => element(descr)?,
        Literal::Items(fields) => {
            let names: Vec<_> = fields.iter().filter_map(Literal::field_name).collect();
            return Err(format!("elements of several fields are not a tensor: {}", names.join(", ")));
        }
        _ => return Err("descr of the .npy header is not an element type".into()),
    };
    let Literal::Bool(is_fortran) = *get("fortran_order")? else {
        return Err("fortran_order of the .npy header is neither True nor False".into());
    };
    let Literal::Items(items) = get("shape")? else { return Err("shape of the .npy header is not a tuple".into()) };
    let dim = |item: &Literal| if let Literal::Number(dim) = item { Some(*dim) } else { None };
    let shape = items.iter().map(dim).collect::<Option<_>>();
    let shape = shape.ok_or("shape of the .npy header has other things than numbers")?;
    Ok(Header { dtype, kind, order, is_fortran, shape })
}

/// Element type, what elements are, and byte order.
fn element(descr: &str) -> Result<(Dtype, Kind, ByteOrder), String> {
    let (mark, order, kind) = match descr.split_at_checked(1) {
        Some(("<", kind)) => ("<", ByteOrder::Little, kind),
        Some((">", kind)) => (">", ByteOrder::Big, kind),
        Some((mark @ ("=" | "|"), kind)) => (mark, ByteOrder::NATIVE, kind),
        _ => ("", ByteOrder::NATIVE, descr),
    };
    if let Some((dtype, kind)) = kinds::from_letters(mark, kind) {
        let order = if dtype.swap_unit_size() <= 1 { ByteOrder::NATIVE } else { order };
        return Ok((dtype, kind, order));
    }
    let dtype = match kind {
        "f2" => Dtype::Float16,
        // numpy has no name for bfloat16.
        "V2" | "bfloat16" => Dtype::Bfloat16,
        "f4" => Dtype::Float32,
        "f8" => Dtype::Float64,
        "c8" => Dtype::Complex64,
        "c16" => Dtype::Complex128,
        "i1" => Dtype::Int8,
        "i2" => Dtype::Int16,
        "i4" => Dtype::Int32,
        "i8" => Dtype::Int64,
        "u1" | "b1" | "?" => Dtype::Uint8,
        "u2" => Dtype::Uint16,
        "u4" => Dtype::Uint32,
        "u8" => Dtype::Uint64,
        "O" | "O4" | "O8" => return Err("elements that are Python objects (pickles) are not read".into()),
        "f16" | "f12" | "c32" | "c24" => {
            return Err(format!("elements of type long double ({descr}) have no counterpart"));
        }
        _ => return Err(format!("numpy's element type {descr:?} has no counterpart")),
    };
    let order = if dtype.swap_unit_size() <= 1 { ByteOrder::NATIVE } else { order };
    let kind = if matches!(kind, "b1" | "?") { Kind::Bool } else { Kind::Number };
    Ok((dtype, kind, order))
}

/// A Python literal of the kinds that headers have.
enum Literal {
    Text(String),
    Bool(bool),
    Number(u64),
    Items(Vec<Self>),
    Dict(Vec<(String, Self)>),
}

impl Literal {
    /// The name of a field of a structure: the first item of its tuple.
    fn field_name(&self) -> Option<&str> {
        match self {
            Self::Items(items) => items.first().and_then(Self::field_name),
            Self::Text(name) => Some(name),
            _ => None,
        }
    }
}

struct Parser<'t> {
    text: &'t str,
}

impl Parser<'_> {
    /// Takes `token` and the blanks after it.
    fn take(&mut self, token: &str) -> bool {
        let rest = self.text.strip_prefix(token);
        self.text = rest.map_or(self.text, str::trim_start);
        rest.is_some()
    }

    /// Takes the characters that `is_part`, and the blanks after them.
    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &str {
        let end = self.text.find(|c| !is_part(c)).unwrap_or(self.text.len());
        let (taken, rest) = self.text.split_at(end);
        self.text = rest;
        taken
    }

    fn literal(&mut self, depth: usize) -> Option<Literal> {
        if depth > MAX_NESTING {
            return None;
        }
        for (open, close) in [("(", ")"), ("[", "]")] {
            if self.take(open) {
                return self.items(close, depth).map(Literal::Items);
            }
        }
        if self.take("{") {
            return self.dict(depth).map(Literal::Dict);
        }
        for (word, value) in [("True", true), ("False", false)] {
            if self.take(word) {
                return Some(Literal::Bool(value));
            }
        }
        if self.text.starts_with(['\'', '"']) {
            return self.quoted().map(Literal::Text);
        }
        let number = self.take_while(|c| c.is_ascii_digit()).parse().ok()?;
        // Python 2 wrote long integers with a letter.
        self.take("L");
        self.text = self.text.trim_start();
        Some(Literal::Number(number))
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.text.chars().next()?;
        self.text = self.text.get(1..)?;
        let text = self.take_while(|c| c != quote && c != '\\').to_string();
        self.take(if quote == '"' { "\"" } else { "'" }).then_some(text)
    }

    fn items(&mut self, close: &str, depth: usize) -> Option<Vec<Literal>> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.literal(depth + 1)?);
            if !self.take(",") && !self.text.starts_with(close) {
                return None;
            }
        }
        Some(items)
    }

    fn dict(&mut self, depth: usize) -> Option<Vec<(String, Literal)>> {
        let mut entries = Vec::new();
        while !self.take("}") {
            let key = self.quoted()?;
            if !self.take(":") {
                return None;
            }
            entries.push((key, self.literal(depth + 1)?));
            if !self.take(",") && !self.text.starts_with('}') {
                return None;
            }
        }
        Some(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_read_as_numpy_writes_them() {
        let read = header("{'descr': '>c16', 'fortran_order': True, 'shape': (3, 4L), }   \n").unwrap();
        let expected = Header {
            dtype: Dtype::Complex128,
            kind: Kind::Number,
            order: ByteOrder::Big,
            is_fortran: true,
            shape: vec![3, 4],
        };
        assert_eq!(read, expected);
        let scalar = header("{\"shape\": (), 'descr': '|b1', 'fortran_order': False}").unwrap();
        assert_eq!((scalar.dtype, scalar.kind, scalar.shape), (Dtype::Uint8, Kind::Bool, vec![]));
    }

    #[test]
    fn what_is_no_tensor_is_said_to_be_none() {
        let of = |descr: &str| header(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}"));
        assert!(of("[('a', '<f8'), ('b', '<i4', (2,))]").unwrap_err().contains("several fields"));
        for descr in ["'|O'", "'<f16'", "'<c32'", "''", "'<M8'", "'<M8[25]'", "'<Ux'", "'<i3'"] {
            let error = of(descr).unwrap_err();
            assert!(error.contains("no counterpart") || error.contains("are not read"), "{descr}");
        }
    }

    #[test]
    fn times_texts_and_bytes_are_told_apart() {
        let of = |descr: &str| {
            let header = header(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,)}}")).unwrap();
            (header.dtype, header.kind)
        };
        let time = |kind, unit: &str, multiple| (Dtype::Int64, Kind::Time { kind, unit: unit.into(), multiple });
        assert_eq!(of(">M8[25s]"), time("datetime64", "s", 25));
        assert_eq!(of("<m8[ns]"), time("timedelta64", "ns", 1));
        assert_eq!(of("<U3"), (Dtype::Uint32, Kind::Characters(3)));
        assert_eq!(of("|S0"), (Dtype::Uint8, Kind::Bytes(0)));
        // bfloat16 has a byte order, and bytes without a meaning have none.
        assert_eq!(of("<V2"), (Dtype::Bfloat16, Kind::Number));
        assert_eq!([of("|V2"), of("<V1")], [2, 1].map(|len| (Dtype::Uint8, Kind::Raw(len))));
    }

    #[test]
    fn nonsense_is_an_error() {
        for text in ["", "{", "{'descr'", "{'descr': '<f8', 'fortran_order': False}", "{} x", "(((((((((((((((((((("] {
            assert!(header(text).is_err(), "{text}");
        }
        for text in ["-1", "1.5", "'1'", "99999999999999999999"] {
            let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({text},)}}");
            assert!(header(&text).is_err(), "{text}");
        }
        for bytes in [&b"\x93NUMPY"[..], b"\x93NUMPY\x01\x00\xff\xff{", b"\x93NUMPY\x04\x00\x00\x00", b"NUMPY"] {
            assert!(parse(bytes).is_err());
        }
    }
}
