//! Stepping over encoded items.
//!
//! `skip_nested` steps over any item. It counts the levels of nesting, and it says what is wrong. Before it, [`Cursor::skip`]
//! tries two ways that are quicker, and give up at what they do not expect:
//!
//! 1. [`plain::skip`](super::plain) steps over items as writers of the format leave them.
//! 2. [`runs`] steps over long arrays of unsigned integers.

use core::fmt;

use heapless::Vec;

use super::head::{Head, first, info, major, simple, split_first_byte};
use super::utf8::{Check, as_utf8, check_utf8};
use super::{plain, runs};
use crate::error::{Error, ErrorKind, Result};
use crate::names::Kind;
use crate::target::READS_ONE_BY_ONE;

/// Containers and tags inside each other, at most: the reference's recursion limit.
pub const MAX_NESTING: u16 = 256;

/// Levels of nesting that one stack frame of [`Cursor::skip`] keeps. Deeper items recurse once for every further 8 levels.
const LEVELS: u8 = 8;

/// A position in encoded CBOR: the bytes not yet read, and where they lie in the caller's slice.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    /// Where `rest` ends in the caller's slice. A step changes `rest` alone, so it writes two words and not three.
    end: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first byte of `bytes`, which lies `offset` bytes into the caller's slice.
    pub const fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, end: offset.wrapping_add(bytes.len() as u64) }
    }

    /// The bytes not yet read.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Where the cursor stands, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.end.wrapping_sub(self.rest.len() as u64)
    }

    /// Whether every byte has been read.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The position `bytes` further on, but not beyond the end.
    pub(crate) fn ahead(&self, bytes: u32) -> Self {
        Self { rest: self.rest.get(bytes as usize..).unwrap_or_default(), end: self.end }
    }

    /// The position at which only `rest` is left to read. `rest` must be the last part of the unread bytes.
    pub(super) const fn at_rest(&self, rest: &'a [u8]) -> Self {
        Self { rest, end: self.end }
    }

    /// How many bytes lie between this position and the `later` one in the same slice.
    #[inline]
    pub(crate) const fn len_until(&self, later: &Self) -> usize {
        self.rest.len().saturating_sub(later.rest.len())
    }

    /// How many bytes lie between this position and the `later` one, as views keep it.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] beyond 32 bits.
    #[inline]
    pub(crate) fn position_of(&self, later: &Self) -> Result<u32> {
        u32::try_from(self.len_until(later)).map_err(|_| ErrorKind::TooLarge.at(later.offset()))
    }

    /// Bytes between this position and the `later` one in the same slice.
    pub(crate) fn bytes_until(&self, later: &Self) -> &'a [u8] {
        self.rest.get(..self.len_until(later)).unwrap_or_default()
    }

    /// This position, with nothing readable beyond the `later` one.
    pub(crate) fn until(&self, later: &Self) -> Self {
        Self { rest: self.bytes_until(later), end: later.offset() }
    }

    #[cold]
    fn truncated(&self) -> Error {
        ErrorKind::Truncated.at(self.end)
    }

    /// Takes the next `len` bytes.
    #[inline]
    pub(super) fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((taken, rest)) = split else { return Err(self.truncated()) };
        self.rest = rest;
        Ok(taken)
    }

    /// Reads the head of the next item, or a break.
    // A small machine calls it: 500 to 700 bytes of flash less.
    #[cfg_attr(
        target_pointer_width = "64",
        expect(clippy::inline_always, reason = "called for every item"),
        inline(always)
    )]
    pub(super) fn head(&mut self) -> Result<Head> {
        let offset = self.offset();
        let Some((&first, after)) = self.rest.split_first() else { return Err(self.truncated()) };
        let (major, info) = split_first_byte(first);
        let argument = if info < info::SHORT_END {
            self.rest = after;
            u64::from(info)
        } else {
            self.long_argument(major, info, after)?
        };
        Ok(Head { major, info, argument, offset })
    }

    /// Reads an argument that lies `after` the first byte.
    #[inline]
    fn long_argument(&mut self, major: u8, info: u8, after: &'a [u8]) -> Result<u64> {
        // Only these types have an indefinite length or, with the last one, a break.
        let may_be_indefinite = matches!(major, major::BYTES..=major::MAP | major::SIMPLE);
        let (width, argument) = match info {
            info::ONE_BYTE => (1, after.first_chunk().map(|bytes| u64::from(u8::from_be_bytes(*bytes)))),
            info::TWO_BYTES => (2, after.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes)))),
            info::FOUR_BYTES => (4, after.first_chunk().map(|bytes| u64::from(u32::from_be_bytes(*bytes)))),
            info::EIGHT_BYTES => (8, after.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))),
            info::INDEFINITE if may_be_indefinite => (0, Some(0)),
            info => return Err(ErrorKind::CborHead(info).at(self.offset())),
        };
        let (Some(argument), Some(rest)) = (argument, after.get(width..)) else { return Err(self.truncated()) };
        self.rest = rest;
        Ok(argument)
    }

    /// The head of the next item, which must not be a break.
    #[inline]
    pub(super) fn item_head(&mut self) -> Result<Head> {
        let head = self.head()?;
        if head.is_break() { Err(head.error(ErrorKind::CborBreak)) } else { Ok(head) }
    }

    /// Whether the next item is null or undefined.
    pub(crate) fn is_at_null(mut self) -> bool {
        self.head().is_ok_and(|head| head.kind() == Kind::Null)
    }

    /// Takes a break if the next byte is one, and returns whether it was.
    pub(super) fn take_break(&mut self) -> Result<bool> {
        let mut ahead = *self;
        let at_break = ahead.head()?.is_break();
        if at_break {
            *self = ahead;
        }
        Ok(at_break)
    }

    /// Takes the next item if it is a text whose head is one byte, as every name of the format is. Otherwise takes nothing.
    ///
    /// The bytes are not checked to be UTF-8.
    #[expect(clippy::inline_always, reason = "a few instructions, called for every key")]
    #[inline(always)]
    pub(super) fn take_short_text(&mut self) -> Option<&'a [u8]> {
        let (&head, after) = self.rest.split_first()?;
        // One comparison tests the major type too: any other type wraps around to a length that is too large.
        let len = head.wrapping_sub(first::TEXT);
        let (text, rest) = after.split_at_checked(len.into()).filter(|_| len < info::SHORT_END)?;
        self.rest = rest;
        Some(text)
    }

    /// Takes the next item if it is text in one piece. Otherwise takes nothing.
    #[inline]
    pub(super) fn take_str(&mut self) -> Result<Option<&'a str>> {
        let mut ahead = *self;
        let head = ahead.item_head()?;
        if head.major != major::TEXT || head.is_indefinite() {
            return Ok(None);
        }
        let start = ahead.offset();
        let bytes = ahead.take(head.argument)?;
        *self = ahead;
        as_utf8(bytes, start).map(Some)
    }

    /// Steps over the next item with everything inside it: O(bytes of the item).
    ///
    /// This finds everything that [the module](super) says is refused.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] and the kinds that begin with `Cbor`.
    #[inline]
    pub fn skip(&mut self) -> Result<()> {
        self.skip_item(Check::Utf8, 0)
    }

    /// Steps over the next item, in which at most `nesting` containers and tags may be inside each other.
    ///
    /// A `nesting` above [`MAX_NESTING`] counts as [`MAX_NESTING`].
    ///
    /// # Errors
    /// The errors of [`Self::skip`].
    pub fn skip_limited(&mut self, nesting: u16) -> Result<()> {
        self.skip_item(Check::Utf8, MAX_NESTING.saturating_sub(nesting))
    }

    /// Steps over the next item, which `outer` containers are around.
    #[inline]
    pub(super) fn skip_item(&mut self, check: Check, outer: u16) -> Result<()> {
        let nesting = MAX_NESTING.saturating_sub(outer);
        match plain::skip(self.rest, check, nesting) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None if nesting > 0 && self.skip_uints() => Ok(()),
            None => self.skip_nested(check, nesting),
        }
    }

    /// Steps over an array of many items if all of them are plain unsigned integers, and returns whether it did. Otherwise
    /// stays where it is.
    fn skip_uints(&mut self) -> bool {
        let mut ahead = *self;
        let rest = ahead.head().ok().and_then(|head| ahead.after_uints(&head));
        rest.inspect(|rest| self.rest = rest).is_some()
    }

    /// The bytes after the array of many items that `head` begins, if all of them are plain unsigned integers.
    fn after_uints(&self, head: &Head) -> Option<&'a [u8]> {
        if READS_ONE_BY_ONE || head.major != major::ARRAY || head.argument < info::SHORT_END.into() {
            return None;
        }
        runs::skip_all(self.rest, self.claimed_items(head, 1).ok()?)
    }

    /// Steps over the next item, in which at most `nesting` containers and tags may be inside each other.
    ///
    /// The levels that are open are kept in a fixed array. An item nested deeper recurses, once for each [`LEVELS`]
    /// levels, so shallow items take little stack:
    ///
    /// ```text
    /// loop:
    ///     read a head
    ///     if it is a break:      close the innermost level
    ///     if it opens a level:   push the level; recurse if the array is full; go on with the level's first item
    ///     count the item; close each level that it completes; return if no level is left
    /// ```
    pub(super) fn skip_nested(&mut self, check: Check, nesting: u16) -> Result<()> {
        let mut open = Levels::new();
        loop {
            let start = *self;
            let head = self.head()?;
            if head.is_break() {
                close_at_break(&mut open, &head)?;
            } else if let Some(level) = self.enter(&head, check)? {
                if open.len() >= usize::from(nesting) {
                    return Err(head.error(ErrorKind::CborNesting));
                }
                if let Some(rest) = self.after_uints(&head) {
                    self.rest = rest;
                } else if open.is_full() {
                    *self = start;
                    self.skip_deeper(check, nesting)?;
                } else if !level.is_empty() {
                    // Cannot fail: the array is not full.
                    open.push(level).ok();
                    continue;
                }
            }
            if finish_item(&mut open) {
                return Ok(());
            }
        }
    }

    /// [`Self::skip_nested`] for an item whose parents fill the array of levels.
    #[cold]
    #[inline(never)]
    fn skip_deeper(&mut self, check: Check, nesting: u16) -> Result<()> {
        self.skip_nested(check, nesting.saturating_sub(LEVELS.into()))
    }

    /// Reads the rest of a scalar or string, or returns the level that a container or tag opens.
    #[inline]
    fn enter(&mut self, head: &Head, check: Check) -> Result<Option<Level>> {
        match head.major {
            major::UNSIGNED | major::NEGATIVE => Ok(None),
            major::BYTES | major::TEXT => self.skip_string(head, check).map(|()| None),
            major::ARRAY => Ok(Some(self.level(head, 1)?)),
            major::MAP => Ok(Some(self.level(head, 2)?)),
            major::TAG => Ok(Some(Level { items: 1, indefinite: false, is_map: false })),
            _ => check_simple(head).map(|()| None),
        }
    }

    /// The level of an array (`items_per_entry` 1) or map (2).
    fn level(&self, head: &Head, items_per_entry: usize) -> Result<Level> {
        let is_map = items_per_entry == 2;
        if head.is_indefinite() {
            return Ok(Level { items: 0, indefinite: true, is_map });
        }
        let items = self.claimed_items(head, items_per_entry)?;
        Ok(Level { items, indefinite: false, is_map })
    }

    /// How many items a container of definite length announces.
    ///
    /// Each item takes at least one byte. So a number that the remaining bytes cannot hold is refused here, before any
    /// loop counts up to it.
    pub(super) fn claimed_items(&self, head: &Head, items_per_entry: usize) -> Result<usize> {
        let items = usize::try_from(head.argument).ok().and_then(|entries| entries.checked_mul(items_per_entry));
        items.filter(|&items| items <= self.rest.len()).ok_or_else(|| self.truncated())
    }

    fn skip_string(&mut self, head: &Head, check: Check) -> Result<()> {
        if !head.is_indefinite() {
            return self.chunk(head, check).map(|_| ());
        }
        while !self.take_break()? {
            self.string_chunk(head.major, check)?;
        }
        Ok(())
    }

    /// The bytes of a definite string, checked to be UTF-8 if it is text.
    #[inline]
    fn chunk(&mut self, head: &Head, check: Check) -> Result<&'a [u8]> {
        let start = self.offset();
        let bytes = self.take(head.argument)?;
        if head.major == major::TEXT && check == Check::Utf8 {
            check_utf8(bytes, start)?;
        }
        Ok(bytes)
    }

    /// One definite chunk of a string of indefinite length.
    pub(super) fn string_chunk(&mut self, major: u8, check: Check) -> Result<&'a [u8]> {
        let head = self.head()?;
        if head.major != major || head.is_indefinite() {
            return Err(head.error(ErrorKind::CborHead(head.info)));
        }
        self.chunk(&head, check)
    }
}

impl fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("offset", &self.offset()).field("left", &self.rest.len()).finish()
    }
}

/// The containers and tags that one stack frame of [`Cursor::skip`] has open, outermost first.
type Levels = Vec<Level, { LEVELS as usize }>;

/// A container or tag that [`Cursor::skip`] has open.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Items still to come. With an indefinite length: items seen.
    items: usize,
    indefinite: bool,
    is_map: bool,
}

impl Level {
    /// Whether it has no items.
    const fn is_empty(&self) -> bool {
        !self.indefinite && self.items == 0
    }

    /// Counts an item that ended, and returns whether it was the last one.
    #[inline]
    const fn count_item(&mut self) -> bool {
        if self.indefinite {
            self.items = self.items.wrapping_add(1);
            return false;
        }
        self.items = self.items.saturating_sub(1);
        self.items == 0
    }
}

/// Ends the innermost level at a break. It must be of indefinite length, and a map must not lack the value of a key.
fn close_at_break(open: &mut Levels, head: &Head) -> Result<()> {
    match open.pop() {
        Some(level) if level.indefinite && !(level.is_map && level.items & 1 == 1) => Ok(()),
        _ => Err(head.error(ErrorKind::CborBreak)),
    }
}

/// Counts an item that ended, closes every level that it completes, and returns whether no level is left.
fn finish_item(open: &mut Levels) -> bool {
    while let Some(level) = open.last_mut() {
        if !level.count_item() {
            return false;
        }
        open.pop();
    }
    true
}

/// Checks a head of major type 7.
#[inline]
fn check_simple(head: &Head) -> Result<()> {
    match head.info {
        info::TWO_BYTES..=info::EIGHT_BYTES => Ok(()),
        info::INDEFINITE => Err(head.error(ErrorKind::CborBreak)),
        // Also in two bytes where one would do: the reference accepts that.
        _ if (u64::from(simple::FALSE)..=u64::from(simple::UNDEFINED)).contains(&head.argument) => Ok(()),
        _ => Err(head.error(ErrorKind::CborSimple(u8::try_from(head.argument).unwrap_or(u8::MAX)))),
    }
}
