//! CBOR in the one form that the format writes (FORMAT §3.1): shortest heads and floats, definite lengths, and the entries
//! of every map sorted by the bytes that encode their keys. The same content is always the same bytes.
//!
//! An [`Item`] names what is written and borrows it from where it stands, so that descriptors and metadata need no copy as
//! a [`Value`] first. Entries are written as they come; a map that turns out unsorted is put in order when it is complete,
//! which moves its bytes once.

use std::collections::BTreeMap;
use std::ops::Range;

use ciborium::Value;
use half::f16;
use tgm_core::cbor::MAX_NESTING;

use crate::error::{Result, TensogramError};

/// Something to write, borrowed.
pub(crate) enum Item<'a> {
    /// Any value.
    Value(&'a Value),
    /// An unsigned integer.
    Uint(u64),
    /// Text.
    Text(&'a str),
    /// An array of unsigned integers.
    Uints(&'a [u64]),
    /// An array of texts.
    Texts(&'a [String]),
    /// A map with text keys.
    Entries(&'a BTreeMap<String, Value>),
    /// An array.
    Array(Vec<Item<'a>>),
    /// A map of keys that the format names.
    Map(Vec<(&'a str, Item<'a>)>),
}

/// The bytes of an item.
///
/// # Errors
/// As [`write`].
pub(crate) fn to_vec(item: &Item<'_>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write(item, &mut out)?;
    Ok(out)
}

/// Appends an item in canonical form to `out`.
///
/// A tag is written as it is, tags 2 and 3 included; repeated keys stay, in their order.
///
/// # Errors
/// [`TensogramError::Metadata`] for containers and tags nested deeper than [`MAX_NESTING`], which no reader would accept.
/// What was written before stays in `out`.
pub(crate) fn write(item: &Item<'_>, out: &mut Vec<u8>) -> Result<()> {
    write_item(item, 0, out)
}

/// Appends an item that is inside of `outer` containers. Recursion ends at [`MAX_NESTING`].
fn write_item(item: &Item<'_>, outer: u16, out: &mut Vec<u8>) -> Result<()> {
    match item {
        Item::Value(value) => write_value(value, outer, out)?,
        Item::Uint(n) => write_head(0, *n, out),
        Item::Text(text) => write_text(text, out),
        Item::Uints(numbers) => {
            enter(outer)?;
            write_head(4, numbers.len() as u64, out);
            numbers.iter().for_each(|n| write_head(0, *n, out));
        }
        Item::Texts(texts) => {
            enter(outer)?;
            write_head(4, texts.len() as u64, out);
            texts.iter().for_each(|text| write_text(text, out));
        }
        Item::Entries(entries) => write_map(entries.iter(), outer, out, |(key, value), inside, out| {
            write_text(key, out);
            let key_end = out.len();
            write_value(value, inside, out)?;
            Ok(key_end)
        })?,
        Item::Array(items) => {
            let inside = enter(outer)?;
            write_head(4, items.len() as u64, out);
            items.iter().try_for_each(|item| write_item(item, inside, out))?;
        }
        Item::Map(entries) => write_map(entries.iter(), outer, out, |(key, item), inside, out| {
            write_text(key, out);
            let key_end = out.len();
            write_item(item, inside, out)?;
            Ok(key_end)
        })?,
    }
    Ok(())
}

fn write_value(value: &Value, outer: u16, out: &mut Vec<u8>) -> Result<()> {
    match value {
        Value::Null => out.push(0xf6),
        Value::Bool(false) => out.push(0xf4),
        Value::Bool(true) => out.push(0xf5),
        Value::Integer(n) => write_integer(i128::from(*n), out)?,
        Value::Float(x) => write_float(*x, out),
        Value::Bytes(bytes) => {
            write_head(2, bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        Value::Text(text) => write_text(text, out),
        Value::Array(items) => {
            let inside = enter(outer)?;
            write_head(4, items.len() as u64, out);
            items.iter().try_for_each(|item| write_value(item, inside, out))?;
        }
        Value::Map(entries) => write_map(entries.iter(), outer, out, |(key, value), inside, out| {
            write_value(key, inside, out)?;
            let key_end = out.len();
            write_value(value, inside, out)?;
            Ok(key_end)
        })?,
        Value::Tag(tag, tagged) => {
            let inside = enter(outer)?;
            write_head(6, *tag, out);
            write_value(tagged, inside, out)?;
        }
        _ => return Err(TensogramError::Metadata("CBOR value of a kind that the format does not have".into())),
    }
    Ok(())
}

/// The number of containers that the content of one more is inside of.
fn enter(outer: u16) -> Result<u16> {
    if outer < MAX_NESTING {
        return Ok(outer + 1);
    }
    Err(TensogramError::Metadata(format!("CBOR to be written is nested deeper than {MAX_NESTING}").into()))
}

/// Appends a map. `write_entry` appends one entry, which is inside of that many containers, and says where its key ends.
fn write_map<E>(
    entries: impl ExactSizeIterator<Item = E>,
    outer: u16,
    out: &mut Vec<u8>,
    write_entry: impl Fn(E, u16, &mut Vec<u8>) -> Result<usize>,
) -> Result<()> {
    let inside = enter(outer)?;
    write_head(5, entries.len() as u64, out);
    let start = out.len();
    let mut written = Vec::with_capacity(entries.len());
    for entry in entries {
        let key_start = out.len();
        let key_end = write_entry(entry, inside, out)?;
        written.push(Written { key: key_start..key_end, end: out.len() });
    }
    sort_entries(&mut written, start, out);
    Ok(())
}

/// Where an entry's bytes stand; the value follows its key.
struct Written {
    key: Range<usize>,
    end: usize,
}

/// Puts the entries that stand in `out` from `start` in the order of their keys' bytes.
fn sort_entries(written: &mut [Written], start: usize, out: &mut Vec<u8>) {
    let key = |entry: &Written| &out[entry.key.clone()];
    if written.is_sorted_by(|a, b| key(a) <= key(b)) {
        return;
    }
    written.sort_by(|a, b| key(a).cmp(key(b)));
    let sorted: Vec<u8> = written.iter().flat_map(|entry| &out[entry.key.start..entry.end]).copied().collect();
    out.truncate(start);
    out.extend_from_slice(&sorted);
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_head(3, text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Integers have one of two major types; a negative one is written as its distance from −1.
fn write_integer(n: i128, out: &mut Vec<u8>) -> Result<()> {
    let (major, argument) = if n < 0 { (1, !n) } else { (0, n) };
    let argument = u64::try_from(argument);
    let argument =
        argument.map_err(|_| TensogramError::Metadata(format!("integer {n} is out of CBOR's range").into()))?;
    write_head(major, argument, out);
    Ok(())
}

/// Appends the shortest head of a major type with that argument.
fn write_head(major: u8, argument: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    if let Ok(short) = u8::try_from(argument) {
        if short < 24 {
            out.push(major | short);
        } else {
            out.extend_from_slice(&[major | 0x18, short]);
        }
    } else if let Ok(short) = u16::try_from(argument) {
        out.push(major | 0x19);
        out.extend_from_slice(&short.to_be_bytes());
    } else if let Ok(short) = u32::try_from(argument) {
        out.push(major | 0x1a);
        out.extend_from_slice(&short.to_be_bytes());
    } else {
        out.push(major | 0x1b);
        out.extend_from_slice(&argument.to_be_bytes());
    }
}

/// Appends the narrowest float that gives back the same 64 bits, NaN payloads included.
fn write_float(wide: f64, out: &mut Vec<u8>) {
    let half = f16::from_f64(wide);
    #[expect(clippy::cast_possible_truncation, reason = "compared with the wide value at once")]
    let single = wide as f32;
    if half.to_f64().to_bits() == wide.to_bits() {
        out.push(0xf9);
        out.extend_from_slice(&half.to_be_bytes());
    } else if f64::from(single).to_bits() == wide.to_bits() {
        out.push(0xfa);
        out.extend_from_slice(&single.to_be_bytes());
    } else {
        out.push(0xfb);
        out.extend_from_slice(&wide.to_be_bytes());
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests;
