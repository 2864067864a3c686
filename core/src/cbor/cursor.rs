//! Stepping over encoded items.

use heapless::Vec;

use super::{Kind, MAX_NESTING};
use crate::error::{Error, ErrorKind, Result};

/// Additional information that announces an indefinite length, or a break.
const INDEFINITE: u8 = 31;

/// Nesting levels kept in one stack frame of [`Cursor::skip`]; deeper items recurse once for as many again.
const LEVELS: u8 = 8;

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
            _ if self.info < 22 => Kind::Bool,
            _ if self.info < 25 => Kind::Null,
            _ => Kind::Float,
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
    offset: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at the first byte of `bytes`, which lies `offset` bytes into the caller's slice.
    pub const fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, offset }
    }

    /// The bytes not yet read.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Where the cursor stands, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether every byte has been read.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Bytes between this position and the `later` one in the same slice.
    pub(crate) fn bytes_until(&self, later: &Self) -> &'a [u8] {
        let len = self.rest.len().saturating_sub(later.rest.len());
        self.rest.get(..len).unwrap_or_default()
    }

    /// This position, with nothing readable beyond the `later` one.
    pub(crate) fn until(&self, later: &Self) -> Self {
        Self { rest: self.bytes_until(later), offset: self.offset }
    }

    fn truncated(&self) -> Error {
        ErrorKind::Truncated.at(self.offset.saturating_add(self.rest.len() as u64))
    }

    fn advance(&mut self, rest: &'a [u8]) {
        let read = self.rest.len().saturating_sub(rest.len());
        self.offset = self.offset.saturating_add(read as u64);
        self.rest = rest;
    }

    /// Takes the next `len` bytes.
    pub(super) fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        let split = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let (taken, rest) = split.ok_or_else(|| self.truncated())?;
        self.advance(rest);
        Ok(taken)
    }

    /// Reads the head of the next item, or a break.
    #[inline]
    pub(super) fn head(&mut self) -> Result<Head> {
        let offset = self.offset;
        let (&first, after) = self.rest.split_first().ok_or_else(|| self.truncated())?;
        let info = first & 0x1f;
        let (argument, rest) = match info {
            0..=23 => Some((u64::from(info), after)),
            24 => after.split_first_chunk().map(|(b, rest)| (u64::from(u8::from_be_bytes(*b)), rest)),
            25 => after.split_first_chunk().map(|(b, rest)| (u64::from(u16::from_be_bytes(*b)), rest)),
            26 => after.split_first_chunk().map(|(b, rest)| (u64::from(u32::from_be_bytes(*b)), rest)),
            27 => after.split_first_chunk().map(|(b, rest)| (u64::from_be_bytes(*b), rest)),
            INDEFINITE if matches!(first >> 5, 2..=5 | 7) => Some((0, after)),
            _ => return Err(ErrorKind::CborHead(info).at(offset)),
        }
        .ok_or_else(|| self.truncated())?;
        self.advance(rest);
        Ok(Head { major: first >> 5, info, argument, offset })
    }

    /// The head of the next item, which must not be a break.
    pub(super) fn item_head(&mut self) -> Result<Head> {
        let head = self.head()?;
        if head.is_break() { Err(head.error(ErrorKind::CborBreak)) } else { Ok(head) }
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

    /// Steps over the next item, however it is nested: O(bytes of the item).
    ///
    /// Everything that [the module](super) says is refused is found here.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] and the kinds that begin with `Cbor`.
    #[inline]
    pub fn skip(&mut self) -> Result<()> {
        self.skip_within(0)
    }

    /// [`Self::skip`] for an item that is inside of `outer` containers already.
    #[inline]
    pub(super) fn skip_within(&mut self, outer: u16) -> Result<()> {
        let mut ahead = *self;
        let head = ahead.item_head()?;
        if ahead.enter(&head)?.is_some() {
            return self.skip_nested(MAX_NESTING.saturating_sub(outer));
        }
        *self = ahead;
        Ok(())
    }

    /// Steps over the next item, in which at most `nesting` containers and tags may be inside each other.
    ///
    /// Stack: a small frame for every [`LEVELS`] levels that are really nested.
    fn skip_nested(&mut self, nesting: u16) -> Result<()> {
        let mut open: Levels = Vec::new();
        loop {
            let start = *self;
            let head = self.head()?;
            if head.is_break() {
                close_at_break(&mut open, &head)?;
            } else if let Some(level) = self.enter(&head)? {
                if open.len() >= usize::from(nesting) {
                    return Err(head.error(ErrorKind::CborNesting));
                }
                if open.is_full() {
                    *self = start;
                    self.skip_deeper(nesting)?;
                } else if !level.is_empty() {
                    // Never fails: there is room.
                    open.push(level).ok();
                    continue;
                }
            }
            if finish_item(&mut open) {
                return Ok(());
            }
        }
    }

    /// [`Self::skip_nested`] for an item that finds no room among the levels of its parents.
    #[cold]
    #[inline(never)]
    fn skip_deeper(&mut self, nesting: u16) -> Result<()> {
        self.skip_nested(nesting.saturating_sub(LEVELS.into()))
    }

    /// Reads the rest of a scalar or string; returns the level that a container or tag opens.
    #[inline]
    fn enter(&mut self, head: &Head) -> Result<Option<Level>> {
        match head.major {
            0 | 1 => Ok(None),
            2 | 3 => self.skip_string(head).map(|()| None),
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

    fn skip_string(&mut self, head: &Head) -> Result<()> {
        if !head.is_indefinite() {
            return self.chunk(head).map(|_| ());
        }
        while !self.take_break()? {
            self.string_chunk(head.major)?;
        }
        Ok(())
    }

    /// The bytes of a definite string, checked to be UTF-8 if it is text.
    fn chunk(&mut self, head: &Head) -> Result<&'a [u8]> {
        let start = self.offset;
        let bytes = self.take(head.argument)?;
        if head.major == 3 {
            check_utf8(bytes, start)?;
        }
        Ok(bytes)
    }

    /// One definite chunk of a string of indefinite length.
    pub(super) fn string_chunk(&mut self, major: u8) -> Result<&'a [u8]> {
        let head = self.head()?;
        if head.major != major || head.is_indefinite() {
            return Err(head.error(ErrorKind::CborHead(head.info)));
        }
        self.chunk(&head)
    }
}

impl core::fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cursor").field("offset", &self.offset).field("left", &self.rest.len()).finish()
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
fn check_utf8(bytes: &[u8], offset: u64) -> Result<()> {
    match core::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(ErrorKind::CborUtf8.at(offset.saturating_add(error.valid_up_to() as u64))),
    }
}

/// Checks a head of major type 7 that is not a break.
pub(super) fn check_simple(head: &Head) -> Result<()> {
    match head.info {
        20..=23 | 25..=27 => Ok(()),
        INDEFINITE => Err(head.error(ErrorKind::CborBreak)),
        _ => Err(head.error(ErrorKind::CborSimple(u8::try_from(head.argument).unwrap_or(u8::MAX)))),
    }
}
