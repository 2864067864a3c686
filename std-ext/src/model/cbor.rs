//! CBOR in the one form that the format writes (FORMAT §3.1): shortest heads and floats, definite lengths, and the entries
//! of every map sorted by the bytes that encode their keys. The same content is always the same bytes.
//!
//! An [`Item`] names what is written and borrows it from where it stands, so that descriptors and metadata need no copy as
//! a [`Value`] first. Entries are written as they come; a map that turns out unsorted is put in order when it is complete,
//! which moves its bytes once.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use ciborium::Value;
use half::f16;
use tgm_core::cbor::{Cursor, MAX_NESTING};

use crate::base::error::{Result, TensogramError};

/// Something to write, borrowed.
pub(crate) enum Item<'a> {
    /// An unsigned integer.
    Uint(u64),
    /// Text.
    Text(&'a str),
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
/// As [`Writer::item`].
pub(crate) fn to_vec(item: &Item<'_>) -> Result<Vec<u8>> {
    written(|writer| writer.item(item))
}

/// What `write` writes, as bytes of their own.
///
/// # Errors
/// Those of `write`.
pub(crate) fn written(write: impl FnOnce(&mut Writer<'_>) -> Result<()>) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(USUAL_LEN);
    write(&mut Writer::new(&mut out))?;
    Ok(out)
}

/// Bytes that most bodies are no longer than.
const USUAL_LEN: usize = 512;

/// Appends items in canonical form to bytes, one behind the other.
///
/// What was written before an error stays.
pub(crate) struct Writer<'w> {
    out: &'w mut Vec<u8>,
    /// The map that is being written, the innermost of them.
    map: Order,
    /// Containers that are being written.
    outer: u16,
}

/// How entries of a map stand so far.
struct Order {
    /// Whether anybody looks. What has just been written is slow to read.
    is_watched: bool,
    /// Where the last key is.
    last: Range<usize>,
    is_sorted: bool,
}

impl Order {
    /// That of no entries.
    const fn of_none(is_watched: bool) -> Self {
        Self { is_watched, last: 0..0, is_sorted: true }
    }
}

impl<'w> Writer<'w> {
    pub(crate) const fn new(out: &'w mut Vec<u8>) -> Self {
        Self { out, map: Order::of_none(false), outer: 0 }
    }

    /// Appends an unsigned integer.
    pub(crate) fn uint(&mut self, n: u64) {
        write_head(0, n, self.out);
    }

    /// Appends a text.
    pub(crate) fn text(&mut self, text: &str) {
        write_text(text, self.out);
    }

    /// Appends a number as a text of 16 lower-case hexadecimal digits.
    pub(crate) fn hexadecimal(&mut self, number: u64) {
        write_head(3, 16, self.out);
        let digits = number.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        self.out.extend(digits.map(|digit| if digit < 10 { b'0' + digit } else { b'a' - 10 + digit }));
    }

    /// Appends an array of `len` items, which `write` appends. Recursion ends at [`MAX_NESTING`].
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for containers and tags nested deeper than [`MAX_NESTING`], which no reader would
    /// accept, and those of `write`.
    pub(crate) fn array(&mut self, len: usize, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.inside(|writer| {
            write_head(4, len as u64, writer.out);
            write(writer)
        })
    }

    /// Appends an array of unsigned integers.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn uints(&mut self, numbers: impl ExactSizeIterator<Item = u64>) -> Result<()> {
        self.array(numbers.len(), |writer| {
            numbers.for_each(|n| writer.uint(n));
            Ok(())
        })
    }

    /// Appends a map of `len` entries, which `write` appends with [`Self::entry`] in the order of their keys: shorter ones
    /// first, and of one length by their bytes.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn map(&mut self, len: usize, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.map_of(len, cfg!(debug_assertions), |writer| {
            write(writer)?;
            debug_assert!(writer.map.is_sorted, "entries out of order");
            Ok(())
        })
    }

    /// [`Self::map`], but the entries may come in any order.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn unsorted_map(&mut self, len: usize, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.map_of(len, true, write)
    }

    /// [`Self::map`], or [`Self::unsorted_map`] if entries are watched for their order.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn map_of(
        &mut self,
        len: usize,
        is_watched: bool,
        write: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.inside(|writer| {
            write_head(5, len as u64, writer.out);
            let (start, outer) = (writer.out.len(), mem::replace(&mut writer.map, Order::of_none(is_watched)));
            write(writer)?;
            let order = mem::replace(&mut writer.map, outer);
            if order.is_sorted { Ok(()) } else { writer.sort_entries(start) }
        })
    }

    /// Appends an entry to the map that is being written.
    ///
    /// # Errors
    /// Those of `value`.
    pub(crate) fn entry(&mut self, key: &str, value: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let start = self.out.len();
        self.text(key);
        self.complete_entry(start, value)
    }

    /// Appends an entry of a text.
    pub(crate) fn text_entry(&mut self, key: &str, text: &str) {
        let start = self.out.len();
        self.text(key);
        self.watch(start);
        self.text(text);
    }

    /// Appends an entry of an unsigned integer.
    pub(crate) fn uint_entry(&mut self, key: &str, n: u64) {
        let start = self.out.len();
        self.text(key);
        self.watch(start);
        self.uint(n);
    }

    /// Looks where the key stands that begins at `start` and ends here.
    #[inline]
    fn watch(&mut self, start: usize) {
        if self.map.is_watched {
            let (key, last) = (start..self.out.len(), self.map.last.clone());
            self.map.is_sorted &= self.out.get(last) <= self.out.get(key.clone());
            self.map.last = key;
        }
    }

    /// Appends the value whose key begins at `start` and ends here.
    fn complete_entry(&mut self, start: usize, value: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.watch(start);
        value(self)
    }

    /// Writes what is inside of one more container.
    fn inside(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.outer >= MAX_NESTING {
            return Err(TensogramError::Metadata(
                format!("CBOR to be written is nested deeper than {MAX_NESTING}").into(),
            ));
        }
        self.outer += 1;
        write(self)?;
        self.outer -= 1;
        Ok(())
    }

    /// Puts the entries of a map, which stand from `start` to the end, in the order of their keys' bytes.
    fn sort_entries(&mut self, start: usize) -> Result<()> {
        let written = self.out.get(start..).unwrap_or_default();
        let mut entries = Vec::new();
        let mut rest = Cursor::new(written, 0);
        while !rest.is_empty() {
            let entry = rest.rest();
            rest.skip()?;
            let key_len = entry.len() - rest.rest().len();
            rest.skip()?;
            entries.push(entry.split_at(entry.len() - rest.rest().len()).0.split_at(key_len));
        }
        entries.sort_by_key(|(key, _)| *key);
        let sorted = entries.into_iter().flat_map(|(key, value)| [key, value]).collect::<Vec<_>>().concat();
        self.out.truncate(start);
        self.out.extend_from_slice(&sorted);
        Ok(())
    }

    /// Appends an item.
    ///
    /// A tag is written as it is, tags 2 and 3 included; repeated keys stay, in their order.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn item(&mut self, item: &Item<'_>) -> Result<()> {
        match item {
            Item::Uint(n) => self.uint(*n),
            Item::Text(text) => self.text(text),
            Item::Texts(texts) => self.array(texts.len(), |writer| {
                texts.iter().for_each(|text| writer.text(text));
                Ok(())
            })?,
            Item::Entries(entries) => self.entries_of(entries)?,
            Item::Array(items) => self.array(items.len(), |w| items.iter().try_for_each(|item| w.item(item)))?,
            Item::Map(entries) => self.unsorted_map(entries.len(), |writer| {
                entries.iter().try_for_each(|(key, item)| writer.entry(key, |writer| writer.item(item)))
            })?,
        }
        Ok(())
    }

    /// Appends a map with text keys.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn entries_of(&mut self, entries: &BTreeMap<String, Value>) -> Result<()> {
        self.unsorted_map(entries.len(), |writer| {
            entries.iter().try_for_each(|(key, value)| writer.entry(key, |writer| writer.value(value)))
        })
    }

    /// Appends any value.
    ///
    /// # Errors
    /// As [`Self::array`], and for values that CBOR does not have.
    pub(crate) fn value(&mut self, value: &Value) -> Result<()> {
        let out = &mut *self.out;
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
            Value::Text(text) => self.text(text),
            Value::Array(items) => self.array(items.len(), |w| items.iter().try_for_each(|item| w.value(item)))?,
            Value::Map(entries) => self.unsorted_map(entries.len(), |writer| {
                entries.iter().try_for_each(|(key, value)| {
                    let start = writer.out.len();
                    writer.value(key)?;
                    writer.complete_entry(start, |writer| writer.value(value))
                })
            })?,
            Value::Tag(tag, tagged) => self.inside(|writer| {
                write_head(6, *tag, writer.out);
                writer.value(tagged)
            })?,
            _ => return Err(TensogramError::Metadata("CBOR value of a kind that the format does not have".into())),
        }
        Ok(())
    }
}

#[inline]
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
#[inline]
fn write_head(major: u8, argument: u64, out: &mut Vec<u8>) {
    match u8::try_from(argument) {
        Ok(short @ 0..24) => out.push(major << 5 | short),
        _ => write_long_head(major << 5, argument, out),
    }
}

/// Appends a head whose argument follows its first byte.
fn write_long_head(major: u8, argument: u64, out: &mut Vec<u8>) {
    if let Ok(short) = u8::try_from(argument) {
        out.extend_from_slice(&[major | 0x18, short]);
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

/// Bytes of a head with that argument.
pub(crate) const fn head_len(argument: u64) -> u64 {
    match argument {
        0..24 => 1,
        24..0x100 => 2,
        0x100..0x1_0000 => 3,
        0x1_0000..0x1_0000_0000 => 5,
        _ => 9,
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
