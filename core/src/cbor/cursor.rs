//! Stepping over encoded items.
//!
//! Most items of the format's maps are short texts and integers side by side. [`Cursor::skip_flat`] steps over one of those
//! with a few comparisons; only where an item holds others does [`Cursor::skip`] keep count of levels.

use core::fmt;
use core::str::Utf8Error;

use heapless::Vec;

use super::{Kind, MAX_NESTING, Value, plain};
use crate::error::{Error, ErrorKind, Result};

/// Additional information that announces an indefinite length, or a break.
const INDEFINITE: u8 = 31;

/// Nesting levels kept in one stack frame of [`Cursor::skip`]; deeper items recurse once for as many again.
const LEVELS: u8 = 8;

/// Whether text has yet to be found to be UTF-8. Views are made of items that were walked with [`Check::Utf8`]; walking them
/// again need not look at their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Look at it.
    Utf8,
    /// It was looked at before.
    Done,
}

/// The first bytes of an item: what it is and its length, value or count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Upper three bits of the first byte.
    pub(super) major: u8,
    /// Lower five bits of the first byte.
    pub(super) info: u8,
    /// The value of the bits or bytes that follow; 0 where the length is indefinite.
    pub(super) argument: u64,
    /// Where the head starts.
    pub(super) offset: u64,
}

impl Head {
    /// Whether the item goes on until a break.
    pub(super) const fn is_indefinite(&self) -> bool {
        self.info == INDEFINITE
    }

    /// Whether this is no item but the end of one.
    const fn is_break(&self) -> bool {
        self.major == 7 && self.is_indefinite()
    }

    /// The type of the item.
    pub(super) const fn kind(&self) -> Kind {
        match self.major {
            0 | 1 => Kind::Integer,
            2 => Kind::Bytes,
            3 => Kind::Text,
            4 => Kind::Array,
            5 => Kind::Map,
            6 => Kind::Tag,
            _ if self.info > 24 => Kind::Float,
            _ if self.argument < 22 => Kind::Bool,
            _ => Kind::Null,
        }
    }

    /// An error about this item.
    pub(super) const fn error(&self, kind: ErrorKind) -> Error {
        kind.at(self.offset)
    }

    /// This item is of another type than `expected`.
    pub(super) const fn wrong_type(&self, expected: Kind) -> Error {
        self.error(ErrorKind::WrongType { expected, found: self.kind() })
    }
}

/// A position in encoded CBOR: the bytes not yet read, and where they lie in the caller's slice.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    /// Where `rest` ends in the caller's slice. Steps leave it as it is.
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

    /// The position `bytes` further on; the end, if that is nearer.
    pub(crate) fn ahead(&self, bytes: u32) -> Self {
        Self { rest: self.rest.get(bytes as usize..).unwrap_or_default(), end: self.end }
    }

    /// The position where only `rest`, an end of what is unread here, is left.
    pub(super) const fn at_rest(&self, rest: &'a [u8]) -> Self {
        Self { rest, end: self.end }
    }

    /// How many bytes lie between this position and the `later` one in the same slice.
    #[inline]
    pub(crate) const fn len_until(&self, later: &Self) -> usize {
        self.rest.len().saturating_sub(later.rest.len())
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
    #[expect(clippy::inline_always, reason = "a few instructions, called for every item")]
    #[inline(always)]
    pub(super) fn head(&mut self) -> Result<Head> {
        let offset = self.offset();
        let Some((&first, after)) = self.rest.split_first() else { return Err(self.truncated()) };
        let info = first & 0x1f;
        let argument = if info < 24 {
            self.rest = after;
            u64::from(info)
        } else {
            self.long_argument(first, after)?
        };
        Ok(Head { major: first >> 5, info, argument, offset })
    }

    /// The argument of a head whose first byte does not hold it.
    #[inline]
    fn long_argument(&mut self, first: u8, after: &'a [u8]) -> Result<u64> {
        let (width, argument) = match first & 0x1f {
            24 => (1, after.first_chunk().map(|bytes| u64::from(u8::from_be_bytes(*bytes)))),
            25 => (2, after.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes)))),
            26 => (4, after.first_chunk().map(|bytes| u64::from(u32::from_be_bytes(*bytes)))),
            27 => (8, after.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))),
            INDEFINITE if matches!(first >> 5, 2..=5 | 7) => (0, Some(0)),
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

    /// Reads a break if one stands here.
    pub(super) fn take_break(&mut self) -> Result<bool> {
        let mut ahead = *self;
        let at_break = ahead.head()?.is_break();
        if at_break {
            *self = ahead;
        }
        Ok(at_break)
    }

    /// Steps over the next item, which was walked before; whether it is the text `wanted`.
    #[inline]
    pub(super) fn take_text(&mut self, wanted: &str) -> Result<bool> {
        let start = *self;
        let head = self.head()?;
        if head.major == 3 && !head.is_indefinite() {
            return Ok(self.take(head.argument)? == wanted.as_bytes());
        }
        *self = start;
        let key = Value::read_item(self, Check::Done, 0)?;
        Ok(key.as_text().is_ok_and(|text| text == *wanted))
    }

    /// Takes the next item if it is text of less than 24 bytes in one piece, as names are, not yet known to be UTF-8; anything
    /// else stays.
    #[expect(clippy::inline_always, reason = "a few instructions, called for every key")]
    #[inline(always)]
    pub(super) fn take_short_text(&mut self) -> Option<&'a [u8]> {
        let (&head, after) = self.rest.split_first()?;
        let len = head.wrapping_sub(0x60);
        let (text, rest) = after.split_at_checked(len.into()).filter(|_| len < 24)?;
        self.rest = rest;
        Some(text)
    }

    /// Takes the head of an array of less than 24 items, for which there are bytes enough; anything else stays.
    #[inline]
    pub(super) fn take_short_array(&mut self) -> Option<u8> {
        let (&head, after) = self.rest.split_first()?;
        let items = head.wrapping_sub(0x80);
        if items >= 24 || usize::from(items) > after.len() {
            return None;
        }
        self.rest = after;
        Some(items)
    }

    /// Takes the next item if it is text in one piece; anything else stays.
    #[inline]
    pub(super) fn take_str(&mut self) -> Result<Option<&'a str>> {
        let mut ahead = *self;
        let head = ahead.item_head()?;
        if head.major != 3 || head.is_indefinite() {
            return Ok(None);
        }
        let start = ahead.offset();
        let bytes = ahead.take(head.argument)?;
        *self = ahead;
        core::str::from_utf8(bytes).map(Some).map_err(|error| not_utf8(error, start))
    }

    /// Steps over the next item, however it is nested: O(bytes of the item).
    ///
    /// Everything that [the module](super) says is refused is found here.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] and the kinds that begin with `Cbor`.
    #[inline]
    pub fn skip(&mut self) -> Result<()> {
        self.skip_item(Check::Utf8, 0)
    }

    /// [`Self::skip`] for an item in which at most `nesting` containers and tags may be inside each other; [`MAX_NESTING`]
    /// holds whatever is given.
    ///
    /// # Errors
    /// Those of [`Self::skip`].
    pub fn skip_limited(&mut self, nesting: u16) -> Result<()> {
        self.skip_item(Check::Utf8, MAX_NESTING.saturating_sub(nesting))
    }

    /// [`Self::skip`] for an item that is inside of `outer` containers already.
    #[inline]
    pub(super) fn skip_item(&mut self, check: Check, outer: u16) -> Result<()> {
        if self.skip_flat(check)? {
            return Ok(());
        }
        let nesting = MAX_NESTING.saturating_sub(outer);
        match plain::skip(self.rest, check, nesting) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => self.skip_nested(check, nesting),
        }
    }

    /// Steps over the next item if it is a scalar or a string in one piece; otherwise stays and says so.
    #[expect(clippy::inline_always, reason = "a few instructions, called for every item")]
    #[inline(always)]
    fn skip_flat(&mut self, check: Check) -> Result<bool> {
        let mut ahead = *self;
        let head = ahead.head()?;
        match head.major {
            0 | 1 => {}
            2 | 3 if !head.is_indefinite() => _ = ahead.chunk(&head, check)?,
            7 if !head.is_indefinite() => check_simple(&head)?,
            _ => return Ok(false),
        }
        *self = ahead;
        Ok(true)
    }

    /// Steps over the next item, in which at most `nesting` containers and tags may be inside each other.
    ///
    /// Stack: a small frame for every [`LEVELS`] levels that are really nested.
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
                if open.is_full() {
                    *self = start;
                    self.skip_deeper(check, nesting)?;
                } else if !level.is_empty() {
                    // Never fails: there is room.
                    open.push(level).ok();
                    if !self.skip_flat_items(&mut open, check)? {
                        continue;
                    }
                }
            }
            loop {
                if finish_item(&mut open) {
                    return Ok(());
                }
                if !self.skip_flat_items(&mut open, check)? {
                    break;
                }
            }
        }
    }

    /// Steps over flat items of the innermost level for as long as they come; whether the level ended with one of them. It
    /// is then closed, and an item of its parent that has yet to be counted.
    #[inline]
    fn skip_flat_items(&mut self, open: &mut Levels, check: Check) -> Result<bool> {
        let Some(level) = open.last_mut() else { return Ok(false) };
        while self.skip_flat(check)? {
            if level.count_item() {
                open.pop();
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// [`Self::skip_nested`] for an item that finds no room among the levels of its parents.
    #[cold]
    #[inline(never)]
    fn skip_deeper(&mut self, check: Check, nesting: u16) -> Result<()> {
        self.skip_nested(check, nesting.saturating_sub(LEVELS.into()))
    }

    /// Reads the rest of a scalar or string; returns the level that a container or tag opens.
    #[inline]
    fn enter(&mut self, head: &Head, check: Check) -> Result<Option<Level>> {
        match head.major {
            0 | 1 => Ok(None),
            2 | 3 => self.skip_string(head, check).map(|()| None),
            4 => Ok(Some(self.level(head, 1)?)),
            5 => Ok(Some(self.level(head, 2)?)),
            6 => Ok(Some(Level { items: 1, indefinite: false, is_map: false })),
            _ => check_simple(head).map(|()| None),
        }
    }

    /// The level of an array (`items_per_entry` 1) or map (2).
    fn level(&self, head: &Head, items_per_entry: u64) -> Result<Level> {
        let is_map = items_per_entry == 2;
        if head.is_indefinite() {
            return Ok(Level { items: 0, indefinite: true, is_map });
        }
        let items = self.claimed_items(head, items_per_entry)?;
        Ok(Level { items, indefinite: false, is_map })
    }

    /// How many items a definite container announces. Each takes a byte at least, so a claim that the bytes cannot hold
    /// is refused before anybody counts to it.
    pub(super) fn claimed_items(&self, head: &Head, items_per_entry: u64) -> Result<u64> {
        head.argument
            .checked_mul(items_per_entry)
            .filter(|&items| items <= self.rest.len() as u64)
            .ok_or_else(|| self.truncated())
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
        if head.major == 3 && check == Check::Utf8 {
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

/// The containers and tags that one stack frame of [`Cursor::skip`] is inside of, outermost first.
type Levels = Vec<Level, { LEVELS as usize }>;

/// A container or tag that [`Cursor::skip`] is inside of.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Items still to come; where the length is indefinite, items seen.
    items: u64,
    indefinite: bool,
    is_map: bool,
}

impl Level {
    /// Whether nothing will come.
    const fn is_empty(&self) -> bool {
        !self.indefinite && self.items == 0
    }

    /// Counts an item that ended; whether it was the last.
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

/// Ends the innermost level, which must be of indefinite length and must not wait for a value.
fn close_at_break(open: &mut Levels, head: &Head) -> Result<()> {
    match open.pop() {
        Some(level) if level.indefinite && !(level.is_map && level.items & 1 == 1) => Ok(()),
        _ => Err(head.error(ErrorKind::CborBreak)),
    }
}

/// Counts an item that ended, and ends the levels that ended with it; whether none is left open.
fn finish_item(open: &mut Levels) -> bool {
    while let Some(level) = open.last_mut() {
        if !level.count_item() {
            return false;
        }
        open.pop();
    }
    true
}

/// Checks that `bytes`, which start at `offset`, are UTF-8.
#[inline]
pub(super) fn check_utf8(bytes: &[u8], offset: u64) -> Result<()> {
    // Keys and names: shorter than what the library's check needs to get going.
    if bytes.len() < 32 && bytes.iter().fold(0, |all, byte| all | byte) < 0x80 {
        return Ok(());
    }
    core::str::from_utf8(bytes).map(|_| ()).map_err(|error| not_utf8(error, offset))
}

#[cold]
fn not_utf8(error: Utf8Error, offset: u64) -> Error {
    ErrorKind::CborUtf8.at(offset.saturating_add(error.valid_up_to() as u64))
}

/// Checks a head of major type 7.
#[inline]
fn check_simple(head: &Head) -> Result<()> {
    match head.info {
        25..=27 => Ok(()),
        INDEFINITE => Err(head.error(ErrorKind::CborBreak)),
        // Also in a byte more than it takes, as the reference reads it.
        _ if matches!(head.argument, 20..=23) => Ok(()),
        _ => Err(head.error(ErrorKind::CborSimple(u8::try_from(head.argument).unwrap_or(u8::MAX)))),
    }
}
