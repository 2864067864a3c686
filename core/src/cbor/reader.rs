//! Reading items that nobody has walked yet, checked and typed in one pass.

use super::container::Count;
use super::cursor::{Check, Cursor, check_utf8};
use super::text_maps::TextMaps;
use super::uints::read_dimensions;
use super::{Kind, MAX_NESTING, Map, Text, Uints, Value, plain};
use crate::error::{ErrorKind, Result};
use crate::target::IS_SMALL;

/// The entries of a map with text keys. After each key its value must be read, by exactly one of the methods that do.
#[derive(Debug)]
pub(crate) struct MapReader<'a> {
    cursor: Cursor<'a>,
    count: Count,
    seen: usize,
    /// Containers that the entries are inside of, this map included.
    depth: u16,
}

impl<'a> MapReader<'a> {
    /// Enters the map at `cursor`, which is inside of `outer` containers.
    pub(crate) fn open(cursor: Cursor<'a>, outer: u16) -> Result<Self> {
        let mut inside = cursor;
        let head = inside.item_head()?;
        if head.major != 5 {
            return Err(head.wrong_type(Kind::Map));
        }
        inside.claimed_items(&head, 2)?;
        Ok(Self { cursor: inside, count: Count::of(&head), seen: 0, depth: outer.saturating_add(1) })
    }

    /// Goes on in the outermost map `encoded`, which announces `count` entries: `seen` were read, and `rest` is left of
    /// its bytes. `None` if it has less entries, or bytes are left for less.
    #[inline]
    pub(crate) fn resume(encoded: Cursor<'a>, rest: &'a [u8], count: u8, seen: u8) -> Option<Self> {
        let left = usize::from(count.checked_sub(seen)?);
        if left.wrapping_mul(2) > rest.len() {
            return None;
        }
        Some(Self { cursor: encoded.at_rest(rest), count: Count::exactly(count.into()), seen: seen.into(), depth: 1 })
    }

    /// Reads the next key; `None` behind the last entry.
    #[inline]
    pub(crate) fn next_key(&mut self) -> Result<Option<Text<'a>>> {
        if self.count.is_end(&mut self.cursor, self.seen)? {
            return Ok(None);
        }
        self.seen = self.seen.saturating_add(1);
        let mut ahead = self.cursor;
        let head = ahead.item_head()?;
        if head.major != 3 {
            return Err(head.error(ErrorKind::NonTextKey));
        }
        self.text().map(Some)
    }

    /// Reads the next key and looks it up; `None` behind the last entry.
    #[inline]
    pub(crate) fn next_name<K: WireName>(&mut self) -> Result<Option<Name<K>>> {
        let of_text = |key| Name::from(K::from_text(key));
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

    /// Steps over the next key; whether there is one.
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

    /// Reads text and looks it up: `None` for one that is no such name.
    #[inline]
    pub(crate) fn name<K: WireName>(&mut self) -> Result<Option<K>> {
        let offset = self.offset();
        match self.cursor.take_short_text() {
            Some(bytes) => known(bytes, offset),
            None => self.text().map(K::from_text),
        }
    }

    /// Reads a value, whatever it is.
    pub(crate) fn value(&mut self) -> Result<Value<'a>> {
        Value::read_item(&mut self.cursor, Check::Utf8, self.depth)
    }

    /// Steps over a value, and returns where it starts.
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

    /// [`Self::skip`] for a value that should be an array of unsigned integers, over which it is fast.
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
        super::uints::read(&mut self.cursor)
    }

    /// Reads an array of unsigned integers.
    pub(crate) fn uints(&mut self) -> Result<Uints<'a>> {
        Uints::read(&mut self.cursor)
    }

    /// Reads an array of unsigned integers: how many there are, and their product unless it exceeds 64 bits.
    #[inline]
    pub(crate) fn dimensions(&mut self) -> Result<(usize, Option<u64>)> {
        read_dimensions(&mut self.cursor)
    }

    /// Reads a map with text keys.
    pub(crate) fn text_map(&mut self) -> Result<Map<'a>> {
        read_text_map(&mut self.cursor, self.depth)
    }

    /// Reads an array of maps with text keys.
    pub(crate) fn text_maps(&mut self) -> Result<TextMaps<'a>> {
        TextMaps::read(&mut self.cursor, self.depth)
    }

    /// Where the next key or value stands, in bytes from the start of the caller's slice.
    pub(crate) const fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// The position behind what has been read.
    pub(crate) const fn position(&self) -> &Cursor<'a> {
        &self.cursor
    }
}

/// What a text of at most 23 bytes, whose head is at `offset`, stands for.
#[inline]
fn known<K: WireName>(bytes: &[u8], offset: u64) -> Result<Option<K>> {
    let known = K::from_bytes(bytes);
    if known.is_none() {
        check_utf8(bytes, offset.saturating_add(1))?;
    }
    Ok(known)
}

/// A key, looked up among names.
pub(crate) enum Name<K> {
    /// One of them.
    Known(K),
    /// None of them.
    Other,
}

impl<K> From<Option<K>> for Name<K> {
    fn from(known: Option<K>) -> Self {
        known.map_or(Self::Other, Self::Known)
    }
}

/// A choice that has a name of at most 23 bytes on the wire.
pub(crate) trait WireName: Copy {
    /// The one whose name these bytes are.
    fn from_bytes(name: &[u8]) -> Option<Self>;
    /// The one whose name this text is.
    fn from_text(name: Text<'_>) -> Option<Self>;
}

/// Reads a map whose keys are text, inside of `outer` containers.
pub(crate) fn read_text_map<'a>(cursor: &mut Cursor<'a>, outer: u16) -> Result<Map<'a>> {
    let start = *cursor;
    match plain::skip_text_map(cursor.rest(), Check::Utf8, MAX_NESTING.saturating_sub(outer), &mut ()) {
        Some(rest) => *cursor = cursor.at_rest(rest),
        None => skip_text_map(cursor, outer)?,
    }
    Ok(Map::walked(start.until(cursor)))
}

/// Steps over a map whose keys are text, however it is made.
pub(super) fn skip_text_map(cursor: &mut Cursor<'_>, outer: u16) -> Result<()> {
    let mut entries = MapReader::open(*cursor, outer)?;
    while entries.skip_key()? {
        entries.skip()?;
    }
    *cursor = entries.cursor;
    Ok(())
}
