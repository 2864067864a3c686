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
    /// The entries so far of all maps that are being written, those of the innermost last.
    entries: Entries,
    /// Containers that are being written.
    outer: u16,
}

/// Where an entry's bytes stand; the value follows its key.
#[derive(Clone, Default)]
struct Written {
    key: Range<usize>,
    end: usize,
}

impl<'w> Writer<'w> {
    pub(crate) fn new(out: &'w mut Vec<u8>) -> Self {
        Self { out, entries: Entries::default(), outer: 0 }
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

    /// Appends a map of `len` entries, which `write` appends with [`Self::entry`], in any order.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn map(&mut self, len: usize, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.inside(|writer| {
            write_head(5, len as u64, writer.out);
            let (start, first) = (writer.out.len(), writer.entries.len());
            write(writer)?;
            writer.sort_entries(first, start);
            writer.entries.truncate(first);
            Ok(())
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

    /// Appends the value whose key begins at `start` and ends here.
    fn complete_entry(&mut self, start: usize, value: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let key = start..self.out.len();
        value(self)?;
        self.entries.push(Written { key, end: self.out.len() });
        Ok(())
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

    /// Puts the entries of a map from the one of that number on, which stand from `start`, in the order of their keys' bytes.
    fn sort_entries(&mut self, first: usize, start: usize) {
        let (out, entries) = (&mut *self.out, self.entries.from(first));
        let key = |entry: &Written| &out[entry.key.clone()];
        if entries.is_sorted_by(|a, b| key(a) <= key(b)) {
            return;
        }
        entries.sort_by(|a, b| key(a).cmp(key(b)));
        let mut sorted = Vec::with_capacity(out.len() - start);
        for entry in &*entries {
            sorted.extend_from_slice(&out[entry.key.start..entry.end]);
        }
        out.truncate(start);
        out.extend_from_slice(&sorted);
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
            Item::Uints(numbers) => self.uints(numbers.iter().copied())?,
            Item::Texts(texts) => self.array(texts.len(), |writer| {
                texts.iter().for_each(|text| writer.text(text));
                Ok(())
            })?,
            Item::Entries(entries) => self.entries_of(entries)?,
            Item::Array(items) => self.array(items.len(), |w| items.iter().try_for_each(|item| w.item(item)))?,
            Item::Map(entries) => self.map(entries.len(), |writer| {
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
        self.map(entries.len(), |writer| {
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
            Value::Map(entries) => self.map(entries.len(), |writer| {
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

/// Entries that most maps, with those that they are inside of, are no more than.
const USUAL_ENTRIES: usize = 16;

/// Entries in a row. Few of them need no allocation.
#[derive(Default)]
struct Entries {
    few: [Written; USUAL_ENTRIES],
    /// How many of `few` count; 0 if they are all in `many`.
    len: usize,
    many: Vec<Written>,
}

impl Entries {
    fn len(&self) -> usize {
        self.len + self.many.len()
    }

    fn push(&mut self, entry: Written) {
        match self.few.get_mut(self.len) {
            Some(slot) if self.many.is_empty() => {
                *slot = entry;
                self.len += 1;
            }
            _ => {
                self.many.extend(self.few.iter().take(self.len).cloned());
                self.len = 0;
                self.many.push(entry);
            }
        }
    }

    /// Those from the one of that number on.
    fn from(&mut self, first: usize) -> &mut [Written] {
        let all = if self.many.is_empty() { self.few.get_mut(..self.len) } else { Some(self.many.as_mut_slice()) };
        all.and_then(|all| all.get_mut(first..)).unwrap_or_default()
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
        self.many.truncate(len);
    }
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
#[inline]
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
