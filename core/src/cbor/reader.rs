//! Reading a map that was not walked before: its items are checked and typed in one pass.

use super::container::Count;
use super::cursor::Cursor;
use super::head::major;
use super::string::Text;
use super::uints::{self, Uints, read_dimensions};
use super::utf8::{Check, check_utf8};
use super::value::Value;
use crate::error::{ErrorKind, Result};
use crate::names::{Kind, WireName};
use crate::target::IS_SMALL;

/// The entries of a map with text keys.
///
/// After each key the caller must read its value, with exactly one of the methods that read or skip a value.
#[derive(Debug)]
pub(crate) struct MapReader<'a> {
    cursor: Cursor<'a>,
    count: Count,
    seen: usize,
    /// How many containers are around the entries, this map included.
    depth: u16,
}

impl<'a> MapReader<'a> {
    /// Enters the map at `cursor`, which `outer` containers are around.
    pub(crate) fn open(cursor: Cursor<'a>, outer: u16) -> Result<Self> {
        let mut inside = cursor;
        let head = inside.item_head()?;
        if head.major != major::MAP {
            return Err(head.wrong_type(Kind::Map));
        }
        inside.claimed_items(&head, 2)?;
        Ok(Self { cursor: inside, count: Count::of(&head), seen: 0, depth: outer.saturating_add(1) })
    }

    /// Continues in the outermost map `encoded`, which announces `count` entries. `seen` of them were read, and `rest` is
    /// what is left of its bytes. `None` if `seen` exceeds `count`, or if `rest` is too short for the other entries.
    #[inline]
    pub(crate) fn resume(encoded: Cursor<'a>, rest: &'a [u8], count: u8, seen: u8) -> Option<Self> {
        let left = usize::from(count.checked_sub(seen)?);
        if left.wrapping_mul(2) > rest.len() {
            return None;
        }
        Some(Self { cursor: encoded.at_rest(rest), count: Count::exactly(count.into()), seen: seen.into(), depth: 1 })
    }

    /// Reads the next key; `None` after the last entry.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Result<Option<Text<'a>>> {
        if self.count.is_end(&mut self.cursor, self.seen)? {
            return Ok(None);
        }
        self.seen = self.seen.saturating_add(1);
        let mut ahead = self.cursor;
        let head = ahead.item_head()?;
        if head.major != major::TEXT {
            return Err(head.error(ErrorKind::NonTextKey));
        }
        self.text().map(Some)
    }

    /// Reads the next key and looks it up among the names of `K`; `None` after the last entry.
    #[inline]
    pub(crate) fn next_name<K: WireName>(&mut self) -> Result<Option<Name<K>>> {
        let of_text = |key: Text<'_>| Name::from(key.known());
        if !self.count.is_counted() {
            return Ok(self.next_key()?.map(of_text));
        }
        if self.count.is_end(&mut self.cursor, self.seen)? {
            return Ok(None);
        }
        let offset = self.offset();
        if let Some(bytes) = self.cursor.take_short_text() {
            self.seen = self.seen.saturating_add(1);
            return known(bytes, offset).map(|name| Some(name.into()));
        }
        Ok(self.next_key()?.map(of_text))
    }

    /// Steps over the next key, and returns whether there was one.
    #[inline]
    pub(crate) fn skip_key(&mut self) -> Result<bool> {
        if !IS_SMALL && self.count.is_counted() && self.count.left(self.seen) > 0 {
            let offset = self.offset();
            if let Some(bytes) = self.cursor.take_short_text() {
                self.seen = self.seen.saturating_add(1);
                return check_utf8(bytes, offset.saturating_add(1)).map(|()| true);
            }
        }
        Ok(self.next_key()?.is_some())
    }

    /// Reads a text and looks it up among the names of `K`; `None` for any other text.
    #[inline]
    pub(crate) fn name<K: WireName>(&mut self) -> Result<Option<K>> {
        let offset = self.offset();
        match self.cursor.take_short_text() {
            Some(bytes) => known(bytes, offset),
            None => self.text().map(Text::known),
        }
    }

    /// Reads a value of any type.
    pub(crate) fn value(&mut self) -> Result<Value<'a>> {
        Value::read_item(&mut self.cursor, Check::Utf8, self.depth)
    }

    /// Steps over a value, and returns the position where it starts.
    pub(crate) fn walked(&mut self) -> Result<Cursor<'a>> {
        let start = self.cursor;
        self.skip()?;
        Ok(start)
    }

    /// Whether the next value is null or undefined.
    pub(crate) fn is_at_null(&self) -> bool {
        self.cursor.is_at_null()
    }

    /// Steps over a value.
    #[inline]
    pub(crate) fn skip(&mut self) -> Result<()> {
        self.cursor.skip_item(Check::Utf8, self.depth)
    }

    /// Steps over a value. This is quicker than [`Self::skip`] if the value is an array of unsigned integers.
    pub(crate) fn skip_uints(&mut self) -> Result<()> {
        let mut ahead = self.cursor;
        if Uints::read(&mut ahead).is_err() {
            return self.skip();
        }
        self.cursor = ahead;
        Ok(())
    }

    /// Reads text.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<Text<'a>> {
        if let Some(whole) = self.cursor.take_str()? {
            return Ok(Text::Whole(whole));
        }
        self.value()?.as_text()
    }

    /// Steps over text.
    #[inline]
    pub(crate) fn skip_text(&mut self) -> Result<()> {
        let offset = self.offset();
        match self.cursor.take_short_text() {
            Some(bytes) => check_utf8(bytes, offset.saturating_add(1)),
            None => self.text().map(|_| ()),
        }
    }

    /// Reads an unsigned integer.
    #[inline]
    pub(crate) fn u64(&mut self) -> Result<u64> {
        uints::read(&mut self.cursor)
    }

    /// Reads an array of unsigned integers.
    pub(crate) fn uints(&mut self) -> Result<Uints<'a>> {
        Uints::read(&mut self.cursor)
    }

    /// Reads an array of unsigned integers; returns their number, and their product if it fits 64 bits.
    #[inline]
    pub(crate) fn dimensions(&mut self) -> Result<(usize, Option<u64>)> {
        read_dimensions(&mut self.cursor)
    }

    /// How many containers are around the entries, this map included.
    pub(super) const fn depth(&self) -> u16 {
        self.depth
    }

    /// The cursor, for a reader that takes the next value itself.
    pub(super) const fn cursor_mut(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    /// Where the next key or value starts, in bytes from the start of the caller's slice.
    pub(crate) const fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// The position after everything that was read.
    pub(crate) const fn position(&self) -> &Cursor<'a> {
        &self.cursor
    }
}

/// The choice that a text of at most 23 bytes, whose head is at `offset`, stands for.
#[inline]
fn known<K: WireName>(bytes: &[u8], offset: u64) -> Result<Option<K>> {
    let known = K::from_bytes(bytes);
    // Bytes that are a known name are ASCII.
    if known.is_none() {
        check_utf8(bytes, offset.saturating_add(1))?;
    }
    Ok(known)
}

/// A key that was looked up among names.
pub(crate) enum Name<K> {
    /// A known name.
    Known(K),
    /// Any other text.
    Other,
}

impl<K> From<Option<K>> for Name<K> {
    fn from(known: Option<K>) -> Self {
        known.map_or(Self::Other, Self::Known)
    }
}
