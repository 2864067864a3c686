//! Reading a map that was not walked before: its items are checked and typed in one pass.

use super::container::Count;
use super::cursor::Cursor;
use super::head::major;
use super::string::Text;
use super::uints::{self, Uints, read_dimensions};
use super::utf8::Check;
use super::value::Value;
use crate::error::{ErrorKind, Result};
use crate::names::{Kind, WireName};

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
        if self.is_end()? { Ok(None) } else { self.key().map(Some) }
    }

    /// Reads the next key and looks it up among the names of `K`; `None` after the last entry.
    #[inline]
    pub(crate) fn next_name<K: WireName>(&mut self) -> Result<Option<Name<K>>> {
        if self.is_end()? {
            return Ok(None);
        }
        match self.take_known() {
            Some(known) => Ok(Some(Name::Known(known))),
            None => self.key().map(|key| Some(key.known().into())),
        }
    }

    /// Reads a text and looks it up among the names of `K`; `None` for any other text.
    #[inline]
    pub(crate) fn name<K: WireName>(&mut self) -> Result<Option<K>> {
        match self.take_known() {
            Some(known) => Ok(Some(known)),
            None => self.text().map(Text::known),
        }
    }

    /// Whether there are no more entries. Otherwise the next one counts as read.
    #[inline]
    fn is_end(&mut self) -> Result<bool> {
        let is_end = self.count.is_end(&mut self.cursor, self.seen)?;
        self.seen = self.seen.saturating_add(1);
        Ok(is_end)
    }

    /// Takes the next item if it is a name of `K` with a head of one byte. Names are ASCII, so it need not be checked.
    #[inline]
    fn take_known<K: WireName>(&mut self) -> Option<K> {
        let mut ahead = self.cursor;
        let known = K::from_bytes(ahead.take_short_text()?)?;
        self.cursor = ahead;
        Some(known)
    }

    /// Reads a key.
    #[inline]
    fn key(&mut self) -> Result<Text<'a>> {
        match self.cursor.take_str()? {
            Some(whole) => Ok(Text::Whole(whole)),
            None => self.unusual_key(),
        }
    }

    /// Reads a key that is not text in one piece.
    #[cold]
    #[inline(never)]
    fn unusual_key(&mut self) -> Result<Text<'a>> {
        let head = self.cursor.clone().item_head()?;
        if head.major == major::TEXT {
            self.unusual_text()
        } else {
            Err(head.error(ErrorKind::NonTextKey(head.kind())))
        }
    }

    /// Reads text in several pieces. Anything else is an error.
    #[cold]
    #[inline(never)]
    fn unusual_text(&mut self) -> Result<Text<'a>> {
        self.value()?.as_text()
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

    /// Reads text.
    #[inline]
    pub(crate) fn text(&mut self) -> Result<Text<'a>> {
        match self.cursor.take_str()? {
            Some(whole) => Ok(Text::Whole(whole)),
            None => self.unusual_text(),
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

    /// The position after everything that was read.
    pub(crate) const fn position(&self) -> &Cursor<'a> {
        &self.cursor
    }
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
