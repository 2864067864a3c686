//! The items of arrays and the entries of maps.

use core::iter::FusedIterator;

use super::container::{Array, Container, Map};
use super::cursor::Cursor;
use super::string::Text;
use super::utf8::Check;
use super::value::Value;
use crate::error::Result;

impl<'a> Array<'a> {
    /// The items in order.
    pub const fn iter(&self) -> ArrayIter<'a> {
        ArrayIter { array: self.0, cursor: self.0.items(), seen: 0, done: false }
    }

    /// The item at `index`: a walk over the items before it.
    ///
    /// # Errors
    /// The errors of [`Cursor::skip`].
    pub fn get(&self, index: usize) -> Result<Option<Value<'a>>> {
        self.iter().nth(index).transpose()
    }

    /// The number of items: free if the array announces it, otherwise a walk.
    pub fn len(&self) -> usize {
        self.0.count().unwrap_or_else(|| self.iter().count())
    }

    /// Whether the array has no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> IntoIterator for Array<'a> {
    type Item = Result<Value<'a>>;
    type IntoIter = ArrayIter<'a>;

    fn into_iter(self) -> ArrayIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Array<'a> {
    type Item = Result<Value<'a>>;
    type IntoIter = ArrayIter<'a>;

    fn into_iter(self) -> ArrayIter<'a> {
        self.iter()
    }
}

/// The items of an [`Array`]. It ends after an error.
#[derive(Clone, Debug)]
pub struct ArrayIter<'a> {
    array: Container<'a>,
    cursor: Cursor<'a>,
    seen: usize,
    done: bool,
}

impl<'a> ArrayIter<'a> {
    fn step(&mut self) -> Result<Option<Value<'a>>> {
        if self.done || self.array.is_end(&mut self.cursor, self.seen)? {
            return Ok(None);
        }
        self.seen = self.seen.saturating_add(1);
        Value::read_item(&mut self.cursor, Check::Done, 0).map(Some)
    }
}

impl<'a> Iterator for ArrayIter<'a> {
    type Item = Result<Value<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.step().transpose();
        self.done = !matches!(item, Some(Ok(_)));
        item
    }
}

impl FusedIterator for ArrayIter<'_> {}

impl<'a> Map<'a> {
    /// The entries in order, as key and value.
    pub const fn iter(&self) -> MapIter<'a> {
        MapIter { map: self.0, cursor: self.0.items(), seen: 0, done: false }
    }

    /// The value of the text key `key`: O(bytes of the map). The last of repeated keys counts, as for all readers of
    /// the format.
    ///
    /// The values of other keys are skipped, not decoded.
    ///
    /// # Errors
    /// The errors of [`Cursor::skip`].
    ///
    /// ```
    /// use tgm_core::cbor::Value;
    ///
    /// let map = Value::parse(b"\xa2\x61a\x01\x61b\x02", 0)?.as_map()?;
    /// assert_eq!(map.get("b")?.map(|value| value.as_u64()), Some(Ok(2)));
    /// assert!(map.get("c")?.is_none());
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    pub fn get(&self, key: &str) -> Result<Option<Value<'a>>> {
        self.iter().last_of(key)
    }

    /// The number of entries, repeated keys counted each time: free if the map announces it, otherwise a walk.
    pub fn len(&self) -> usize {
        self.0.count().unwrap_or_else(|| self.iter().count())
    }

    /// Whether the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> IntoIterator for Map<'a> {
    type Item = Result<(Value<'a>, Value<'a>)>;
    type IntoIter = MapIter<'a>;

    fn into_iter(self) -> MapIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Map<'a> {
    type Item = Result<(Value<'a>, Value<'a>)>;
    type IntoIter = MapIter<'a>;

    fn into_iter(self) -> MapIter<'a> {
        self.iter()
    }
}

/// The entries of a [`Map`]. It ends after an error.
#[derive(Clone, Debug)]
pub struct MapIter<'a> {
    map: Container<'a>,
    cursor: Cursor<'a>,
    seen: usize,
    done: bool,
}

impl<'a> MapIter<'a> {
    /// Reads the next key. The caller has to read the value that follows it.
    fn next_key(&mut self) -> Result<Option<Value<'a>>> {
        if self.done || self.map.is_end(&mut self.cursor, self.seen)? {
            return Ok(None);
        }
        self.seen = self.seen.saturating_add(1);
        Value::read_item(&mut self.cursor, Check::Done, 0).map(Some)
    }

    fn step(&mut self) -> Result<Option<(Value<'a>, Value<'a>)>> {
        let Some(key) = self.next_key()? else { return Ok(None) };
        Ok(Some((key, Value::read_item(&mut self.cursor, Check::Done, 0)?)))
    }

    /// The value of the last entry whose key is the text `wanted`. Uses up all entries.
    fn last_of(&mut self, wanted: &str) -> Result<Option<Value<'a>>> {
        let mut found = None;
        while !self.map.is_end(&mut self.cursor, self.seen)? {
            self.seen = self.seen.saturating_add(1);
            let is_wanted = match self.cursor.take_short_text() {
                Some(text) => text == wanted.as_bytes(),
                None => self.value()?.as_text().is_ok_and(|text| text == *wanted),
            };
            if is_wanted {
                found = Some(self.value()?);
            } else {
                self.skip_value()?;
            }
        }
        Ok(found)
    }

    /// Reads the next key, to be compared with texts. Its value must be read or stepped over next.
    #[inline]
    pub(crate) fn next_text(&mut self) -> Result<Option<Key<'a>>> {
        if self.map.is_end(&mut self.cursor, self.seen)? {
            return Ok(None);
        }
        self.seen = self.seen.saturating_add(1);
        if let Some(text) = self.cursor.take_short_text() {
            return Ok(Some(Key::Short(text)));
        }
        Value::read_item(&mut self.cursor, Check::Done, 0).map(|key| Some(key.as_text().map_or(Key::Other, Key::Text)))
    }

    /// Reads the value of the key that was read last.
    pub(crate) fn value(&mut self) -> Result<Value<'a>> {
        Value::read_item(&mut self.cursor, Check::Done, 0)
    }

    /// Steps over the value of the key that was read last.
    #[inline]
    pub(crate) fn skip_value(&mut self) -> Result<()> {
        if self.cursor.take_short_text().is_none() {
            self.cursor.skip_item(Check::Done, 0)?;
        }
        Ok(())
    }
}

impl<'a> Iterator for MapIter<'a> {
    type Item = Result<(Value<'a>, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.step().transpose();
        self.done = !matches!(entry, Some(Ok(_)));
        entry
    }
}

impl FusedIterator for MapIter<'_> {}

/// A key of a map, to be compared with texts.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    /// Text whose head is one byte, as most keys are.
    Short(&'a [u8]),
    /// Any other text.
    Text(Text<'a>),
    /// Something else, which is equal to no text.
    Other,
}

impl Key<'_> {
    /// Whether the key is the text `wanted`.
    #[inline]
    pub(crate) fn is(&self, wanted: &str) -> bool {
        match self {
            Self::Short(text) => *text == wanted.as_bytes(),
            Self::Text(text) => *text == *wanted,
            Self::Other => false,
        }
    }
}
