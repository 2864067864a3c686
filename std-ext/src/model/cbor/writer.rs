//! The writer: numbers, texts, and containers with their nesting and the order of their keys.

use std::mem;
use std::ops::Range;

use tgm_core::cbor::{Cursor, MAX_NESTING};

use super::head::{Major, write_head, write_text};
use crate::base::error::{Result, TensogramError};
use crate::base::span::tail;

/// Digits of a hexadecimal number of 64 bits.
const HEXADECIMAL_DIGITS: u64 = 16;

/// Appends items in canonical form to a buffer, one after the other.
///
/// After an error, the bytes written before it stay in the buffer.
pub(crate) struct Writer<'w> {
    pub(super) out: &'w mut Vec<u8>,
    /// The innermost map that is open.
    map: KeyOrder,
    /// The number of containers that are open.
    depth: u16,
}

/// Says whether the keys of a map are sorted so far.
struct KeyOrder {
    /// Whether keys are compared at all. Reading back bytes that were just written is slow.
    is_watched: bool,
    /// The place of the last key in the buffer.
    last: Range<usize>,
    is_sorted: bool,
}

impl KeyOrder {
    /// The order of a map without entries.
    const fn new(is_watched: bool) -> Self {
        Self { is_watched, last: 0..0, is_sorted: true }
    }
}

impl<'w> Writer<'w> {
    pub(crate) const fn new(out: &'w mut Vec<u8>) -> Self {
        Self { out, map: KeyOrder::new(false), depth: 0 }
    }

    /// Appends an unsigned integer.
    pub(crate) fn uint(&mut self, n: u64) {
        write_head(Major::Unsigned, n, self.out);
    }

    /// Appends a text.
    pub(crate) fn text(&mut self, text: &str) {
        write_text(text, self.out);
    }

    /// Appends a number as a text of 16 lower-case hexadecimal digits.
    pub(crate) fn hexadecimal(&mut self, number: u64) {
        write_head(Major::Text, HEXADECIMAL_DIGITS, self.out);
        let digits = number.to_be_bytes().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        self.out.extend(digits.map(|digit| if digit < 10 { b'0' + digit } else { b'a' - 10 + digit }));
    }

    /// Appends an array of `len` items, which `write` appends.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for containers and tags nested deeper than [`MAX_NESTING`], which no reader
    /// accepts; the errors of `write`.
    pub(crate) fn array(&mut self, len: usize, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.inside(|writer| {
            write_head(Major::Array, len as u64, writer.out);
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

    /// Appends a map of `len` entries, which `write` appends in canonical order: short keys first, keys of one length
    /// by their bytes.
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

    /// Appends a map of `len` entries, which `write` appends in any order.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(crate) fn unsorted_map(&mut self, len: usize, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.map_of(len, true, write)
    }

    /// Appends a map of `len` entries: in any order if keys are watched, and otherwise in canonical order.
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
            write_head(Major::Map, len as u64, writer.out);
            let start = writer.out.len();
            let outer = mem::replace(&mut writer.map, KeyOrder::new(is_watched));
            write(writer)?;
            let order = mem::replace(&mut writer.map, outer);
            if order.is_sorted { Ok(()) } else { writer.sort_entries(start) }
        })
    }

    /// Appends an entry to the open map.
    ///
    /// # Errors
    /// The errors of `value`.
    pub(crate) fn entry(&mut self, key: &str, value: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.key(key);
        value(self)
    }

    /// Appends an entry whose key is any item.
    ///
    /// # Errors
    /// The errors of `key` and `value`.
    pub(super) fn entry_with(
        &mut self,
        key: impl FnOnce(&mut Self) -> Result<()>,
        value: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let start = self.out.len();
        key(self)?;
        self.watch(start);
        value(self)
    }

    /// Appends an entry with a text to the open map.
    pub(crate) fn text_entry(&mut self, key: &str, text: &str) {
        self.key(key);
        self.text(text);
    }

    /// Appends an entry with an unsigned integer to the open map.
    pub(crate) fn uint_entry(&mut self, key: &str, n: u64) {
        self.key(key);
        self.uint(n);
    }

    fn key(&mut self, key: &str) {
        let start = self.out.len();
        self.text(key);
        self.watch(start);
    }

    /// Compares the key that begins at `start`, and ends here, with the one before it.
    #[inline]
    fn watch(&mut self, start: usize) {
        if self.map.is_watched {
            let (key, last) = (start..self.out.len(), self.map.last.clone());
            self.map.is_sorted &= self.out.get(last) <= self.out.get(key.clone());
            self.map.last = key;
        }
    }

    /// Runs `write` with one more container open.
    ///
    /// # Errors
    /// As [`Self::array`].
    pub(super) fn inside(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.depth >= MAX_NESTING {
            let text = format!("CBOR to be written is nested deeper than {MAX_NESTING}");
            return Err(TensogramError::Metadata(text.into()));
        }
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// Sorts the entries of a map, which fill the buffer from `start` on, by the bytes of their keys.
    fn sort_entries(&mut self, start: usize) -> Result<()> {
        let written = tail(self.out, start as u64);
        let mut entries = Vec::new();
        let mut rest = Cursor::new(written, 0);
        while !rest.is_empty() {
            let entry = rest.rest();
            rest.skip()?;
            let key_len = entry.len() - rest.rest().len();
            rest.skip()?;
            entries.push(entry.split_at(entry.len() - rest.rest().len()).0.split_at(key_len));
        }
        // The sort is stable: repeated keys stay in their order.
        entries.sort_by_key(|(key, _)| *key);
        let sorted = entries.into_iter().flat_map(|(key, value)| [key, value]).collect::<Vec<_>>().concat();
        self.out.truncate(start);
        self.out.extend_from_slice(&sorted);
        Ok(())
    }
}
