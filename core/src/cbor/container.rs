//! Arrays and maps as views of the bytes that encode them.

use core::iter::FusedIterator;

use super::cursor::{Check, Cursor, Head};
use super::value::Value;
use crate::error::Result;

/// How many entries an array or map has, if it says so; else a break ends them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count(Option<usize>);

impl Count {
    /// What `head` announces. The caller sees to it that the bytes can hold it.
    pub(super) fn of(head: &Head) -> Self {
        Self((!head.is_indefinite()).then(|| usize::try_from(head.argument).unwrap_or(usize::MAX)))
    }

    /// That many.
    pub(super) const fn exactly(count: usize) -> Self {
        Self(Some(count))
    }

    /// Whether there is a number.
    pub(super) const fn is_counted(self) -> bool {
        self.0.is_some()
    }

    /// How many entries there may be behind the `seen` ones.
    #[inline]
    pub(super) fn left(self, seen: usize) -> usize {
        self.0.unwrap_or(usize::MAX).saturating_sub(seen)
    }

    /// Whether the entries end at `cursor`, `seen` of them having been read.
    #[inline]
    pub(super) fn is_end(self, cursor: &mut Cursor<'_>, seen: usize) -> Result<bool> {
        match self.0 {
            Some(count) => Ok(seen >= count),
            None => cursor.take_break(),
        }
    }
}

/// The inside of an array or map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container<'a> {
    items: Cursor<'a>,
    count: Count,
}

impl<'a> Container<'a> {
    /// What `head` opens, its items beginning at `items`. The caller sees to it that they can hold what the head claims.
    pub(super) fn new(head: &Head, items: Cursor<'a>) -> Self {
        Self { items, count: Count::of(head) }
    }

    /// The same, with nothing readable behind its end.
    pub(super) fn until(self, end: &Cursor<'a>) -> Self {
        Self { items: self.items.until(end), ..self }
    }

    /// Where the first entry is.
    pub(super) const fn items(&self) -> Cursor<'a> {
        self.items
    }

    /// Whether there is an entry `index`, and the container says so.
    pub(super) fn announces(&self, index: usize) -> bool {
        self.count.0.is_some_and(|count| index < count)
    }

    /// How many entries there may be behind the `seen` ones.
    pub(super) fn left(&self, seen: usize) -> usize {
        self.count.left(seen)
    }

    /// Whether the entries end at `cursor`, `seen` of them having been read.
    #[inline]
    pub(super) fn is_end(&self, cursor: &mut Cursor<'_>, seen: usize) -> Result<bool> {
        self.count.is_end(cursor, seen)
    }
}

/// An array.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a>(pub(super) Container<'a>);

impl<'a> Array<'a> {
    /// The items in order.
    pub const fn iter(&self) -> ArrayIter<'a> {
        ArrayIter { array: self.0, cursor: self.0.items, seen: 0, done: false }
    }

    /// The item at `index`: a walk over those before it.
    ///
    /// # Errors
    /// Those of [`Cursor::skip`].
    pub fn get(&self, index: usize) -> Result<Option<Value<'a>>> {
        self.iter().nth(index).transpose()
    }

    /// How many items there are: free if the array says so, else a walk.
    pub fn len(&self) -> usize {
        self.0.count.0.unwrap_or_else(|| self.iter().count())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The items of an [`Array`]; ends after an error.
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

/// A map: entries in the order of the bytes, repeated keys included.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a>(pub(super) Container<'a>);

impl<'a> Map<'a> {
    /// A map without entries.
    pub const EMPTY: Self = Self(Container { items: Cursor::new(&[], 0), count: Count(Some(0)) });

    /// The map that `encoded` is, which was walked before.
    pub(crate) fn walked(mut encoded: Cursor<'a>) -> Self {
        match encoded.head() {
            Ok(head) => Self(Container::new(&head, encoded)),
            Err(_) => Self::EMPTY,
        }
    }

    /// The entries in order, as key and value.
    pub const fn iter(&self) -> MapIter<'a> {
        MapIter { map: self.0, cursor: self.0.items, seen: 0, done: false }
    }

    /// The value of the text key `key`; of several, the last, as the format's readers have it: O(bytes of the map).
    ///
    /// Values of other keys are skipped, not decoded.
    ///
    /// # Errors
    /// Those of [`Cursor::skip`].
    pub fn get(&self, key: &str) -> Result<Option<Value<'a>>> {
        self.iter().last_of(key)
    }

    /// The value of the text key `key` in the map that is the value of `outer`, as [`Self::get`] twice finds it, in one walk;
    /// and whether there is such an outer key.
    pub(crate) fn get_in(&self, outer: &str, key: &str) -> Result<(bool, Option<Value<'a>>)> {
        let mut entries = self.iter();
        let mut found = (false, None);
        while entries.seek(outer)? {
            found = (true, entries.value_in(key)?);
        }
        Ok(found)
    }

    /// How many entries there are, repeated keys counted each: free if the map says so, else a walk.
    pub fn len(&self) -> usize {
        self.0.count.0.unwrap_or_else(|| self.iter().count())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes from the first entry to the end of what this view was made from.
    pub(crate) const fn byte_len(&self) -> u64 {
        self.0.items.rest().len() as u64
    }
}

/// The entries of a [`Map`]; ends after an error.
#[derive(Clone, Debug)]
pub struct MapIter<'a> {
    map: Container<'a>,
    cursor: Cursor<'a>,
    seen: usize,
    done: bool,
}

impl<'a> MapIter<'a> {
    /// Reads the next key; what follows it is left to the caller.
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

    /// The value of the last entry whose key is the text `key`. Nothing is left to come then.
    fn last_of(&mut self, key: &str) -> Result<Option<Value<'a>>> {
        let mut found = None;
        while self.seek(key)? {
            found = Some(Value::read_item(&mut self.cursor, Check::Done, 0)?);
        }
        Ok(found)
    }

    /// Steps behind the next key that is the text `wanted`; whether there is one. Its value must be read next.
    #[inline]
    fn seek(&mut self, wanted: &str) -> Result<bool> {
        while !self.map.is_end(&mut self.cursor, self.seen)? {
            self.seen = self.seen.saturating_add(1);
            let is_wanted = match self.cursor.take_short_text() {
                Some(text) => text == wanted.as_bytes(),
                None => self.cursor.take_text(wanted)?,
            };
            if is_wanted {
                return Ok(true);
            }
            if self.cursor.take_short_text().is_none() {
                self.cursor.skip_item(Check::Done, 0)?;
            }
        }
        Ok(false)
    }

    /// Steps over a value and returns what its key `key` has, if it is a map that has such a key.
    fn value_in(&mut self, key: &str) -> Result<Option<Value<'a>>> {
        let mut inside = self.cursor;
        let head = inside.item_head()?;
        if head.major != 5 {
            return self.cursor.skip_item(Check::Done, 0).map(|()| None);
        }
        let mut entries = Map(Container::new(&head, inside)).iter();
        let found = entries.last_of(key)?;
        self.cursor = entries.cursor;
        Ok(found)
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
