//! Items as views of the bytes that encode them.

use core::fmt;
use core::iter::FusedIterator;

use half::f16;

use super::Kind;
use super::cursor::{Check, Cursor, Head};
use crate::error::{Error, ErrorKind, Result};

/// One CBOR item, borrowed from the bytes `'a` that encode it.
///
/// The `as_*` methods answer "of this type, and within its range?" with an error that says what stands there instead;
/// whether an item exists at all is said by the `Option` of whoever looked it up.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    head: Head,
    /// The whole item, and nothing behind it.
    encoded: Cursor<'a>,
}

impl<'a> Value<'a> {
    /// Reads the next item, walking it to its end: O(bytes of the item).
    ///
    /// # Errors
    /// Those of [`Cursor::skip`].
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        Self::read_item(cursor, Check::Utf8, 0)
    }

    /// [`Self::read`] for an item that was walked before.
    pub(crate) fn walked(cursor: &mut Cursor<'a>) -> Result<Self> {
        Self::read_item(cursor, Check::Done, 0)
    }

    /// [`Self::read`] for an item that is inside of `outer` containers which nobody has walked yet, or, with
    /// [`Check::Done`], of one that was walked.
    #[inline]
    pub(super) fn read_item(cursor: &mut Cursor<'a>, check: Check, outer: u16) -> Result<Self> {
        let start = *cursor;
        let head = start.clone().item_head()?;
        cursor.skip_item(check, outer)?;
        Ok(Self { head, encoded: start.until(cursor) })
    }

    /// Reads the one item that `bytes` begin with; what follows it is ignored. `offset` says where `bytes` lie in the
    /// slice that errors are to count from.
    ///
    /// # Errors
    /// Those of [`Cursor::skip`].
    ///
    /// ```
    /// use tgm_core::cbor::Value;
    ///
    /// let item = Value::parse(&[0xa1, 0x61, b'k', 0x18, 0x2a], 0)?;
    /// assert_eq!(item.as_map()?.get("k")?.map(|v| v.as_u64()), Some(Ok(42)));
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        Self::read(&mut Cursor::new(bytes, offset))
    }

    /// The item's type. Tagged integers beyond 64 bits stay [`Kind::Tag`].
    pub const fn kind(&self) -> Kind {
        self.head.kind()
    }

    /// Where the item starts, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.head.offset
    }

    fn wrong_type(&self, expected: Kind) -> Error {
        self.head.wrong_type(expected)
    }

    /// Whether the item is null or undefined.
    pub const fn is_null(&self) -> bool {
        matches!(self.kind(), Kind::Null)
    }

    /// The item as a truth value.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_bool(&self) -> Result<bool> {
        if self.kind() == Kind::Bool { Ok(self.head.argument == 21) } else { Err(self.wrong_type(Kind::Bool)) }
    }

    /// The item as an integer of any range that CBOR heads and 64-bit bignums have (−2⁶⁴ to 2⁶⁴ − 1).
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`]; [`ErrorKind::IntegerRange`] for a bignum beyond 64 bits.
    pub fn as_integer(&self) -> Result<i128> {
        let (is_negative, magnitude) = self.as_sign_and_magnitude()?;
        Ok(if is_negative { !i128::from(magnitude) } else { i128::from(magnitude) })
    }

    /// The item as an integer n: whether it is negative, and n or else −1 − n.
    fn as_sign_and_magnitude(&self) -> Result<(bool, u64)> {
        match self.head.major {
            0 => Ok((false, self.head.argument)),
            1 => Ok((true, self.head.argument)),
            6 => self.bignum(),
            _ => Err(self.wrong_type(Kind::Integer)),
        }
    }

    /// Tags 2 and 3: a byte string as the magnitude of an integer.
    #[cold]
    #[inline(never)]
    fn bignum(&self) -> Result<(bool, u64)> {
        let (2 | 3, Ok(content)) = (self.head.argument, self.tagged().as_bytes()) else {
            return Err(self.wrong_type(Kind::Integer));
        };
        let mut magnitude = 0_u64;
        for byte in content.chunks().flat_map(|chunk| chunk.iter().copied()) {
            let overflows = magnitude >> 56 != 0;
            if overflows {
                return Err(self.head.error(ErrorKind::IntegerRange));
            }
            magnitude = magnitude << 8 | u64::from(byte);
        }
        Ok((self.head.argument == 3, magnitude))
    }

    /// The item as an unsigned 64-bit integer.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`] if it is no integer, [`ErrorKind::IntegerRange`] if it is negative or too large.
    pub fn as_u64(&self) -> Result<u64> {
        match self.head.major {
            0 => Ok(self.head.argument),
            1 => Err(self.head.error(ErrorKind::IntegerRange)),
            6 => match self.bignum()? {
                (false, magnitude) => Ok(magnitude),
                (true, _) => Err(self.head.error(ErrorKind::IntegerRange)),
            },
            _ => Err(self.wrong_type(Kind::Integer)),
        }
    }

    /// The item as a signed 64-bit integer.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`] if it is no integer, [`ErrorKind::IntegerRange`] if it does not fit.
    pub fn as_i64(&self) -> Result<i64> {
        let (is_negative, magnitude) = self.as_sign_and_magnitude()?;
        let integer = i64::try_from(magnitude).map_err(|_| self.head.error(ErrorKind::IntegerRange))?;
        // A negative integer is −1 − magnitude, which is the complement of the bits.
        Ok(if is_negative { !integer } else { integer })
    }

    /// The item as a float: a float of any width, or an integer (rounded to nearest if it has more than 53 bits).
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_f64(&self) -> Result<f64> {
        match self.kind() {
            Kind::Float => Ok(float_of(&self.head)),
            Kind::Integer => Ok(rounded(self.as_sign_and_magnitude()?)),
            _ => Err(self.wrong_type(Kind::Float)),
        }
    }

    /// The item as a float parameter (FORMAT §3.5): a float, or an integer within ±2⁵³ so that nothing is rounded.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`], [`ErrorKind::IntegerRange`].
    pub fn as_exact_f64(&self) -> Result<f64> {
        const LIMIT: u64 = 1 << 53;
        match self.as_sign_and_magnitude() {
            Ok((is_negative, magnitude)) if magnitude > LIMIT.saturating_sub(is_negative.into()) => {
                Err(self.head.error(ErrorKind::IntegerRange))
            }
            _ => self.as_f64(),
        }
    }

    /// The item as text.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_text(&self) -> Result<Text<'a>> {
        if self.head.major != 3 {
            return Err(self.wrong_type(Kind::Text));
        }
        let bytes = self.string();
        Ok(match bytes.as_slice().and_then(|whole| core::str::from_utf8(whole).ok()) {
            Some(whole) => Text::Whole(whole),
            None => Text::Chunked(bytes),
        })
    }

    /// The item as text that lies in one piece, as every writer of the format leaves it.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`], also for text in several chunks (use [`Self::as_text`]).
    pub fn as_str(&self) -> Result<&'a str> {
        self.as_text()?.as_str().ok_or_else(|| self.wrong_type(Kind::Text))
    }

    /// The item as a byte string.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_bytes(&self) -> Result<Bytes<'a>> {
        if self.head.major == 2 { Ok(self.string()) } else { Err(self.wrong_type(Kind::Bytes)) }
    }

    /// The content of a string of either type; what an item of another type gives makes no sense.
    pub(super) fn string(&self) -> Bytes<'a> {
        Bytes { content: self.content(), major: self.head.major, indefinite: self.head.is_indefinite() }
    }

    /// The item as an array.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_array(&self) -> Result<Array<'a>> {
        if self.head.major == 4 { Ok(Array(self.container())) } else { Err(self.wrong_type(Kind::Array)) }
    }

    /// The item as a map.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_map(&self) -> Result<Map<'a>> {
        if self.head.major == 5 { Ok(Map(self.container())) } else { Err(self.wrong_type(Kind::Map)) }
    }

    fn container(&self) -> Container<'a> {
        Container::new(&self.head, self.content())
    }

    /// The item as a tag's number and the item that it tags.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_tag(&self) -> Result<(u64, Self)> {
        if self.head.major == 6 { Ok((self.head.argument, self.tagged())) } else { Err(self.wrong_type(Kind::Tag)) }
    }

    /// The item inside a tag; for another item, the item itself.
    fn tagged(&self) -> Self {
        match self.content().item_head() {
            Ok(head) if self.head.major == 6 => Self { head, encoded: self.content() },
            _ => *self,
        }
    }

    /// The item's head.
    pub(super) const fn head(&self) -> &Head {
        &self.head
    }

    /// The bytes that encode the item.
    pub const fn as_encoded(&self) -> &'a [u8] {
        self.encoded.rest()
    }

    /// A cursor over the whole item.
    pub(crate) const fn encoded(&self) -> Cursor<'a> {
        self.encoded
    }

    /// What follows the head.
    fn content(&self) -> Cursor<'a> {
        let mut content = self.encoded;
        // Cannot fail: this head was read when the view was made.
        content.head().ok();
        content
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Null => f.write_str("null"),
            Kind::Bool => fmt::Debug::fmt(&(self.head.argument == 21), f),
            Kind::Integer => fmt::Debug::fmt(&self.as_integer(), f),
            Kind::Float => fmt::Debug::fmt(&float_of(&self.head), f),
            Kind::Text => fmt::Debug::fmt(&self.as_text(), f),
            kind => write!(f, "{kind} of {} bytes", self.as_encoded().len()),
        }
    }
}

/// The float nearest to an integer, given as sign and magnitude.
#[expect(clippy::cast_precision_loss, reason = "rounding is what the caller asked for")]
const fn rounded((is_negative, magnitude): (bool, u64)) -> f64 {
    match (is_negative, magnitude.checked_add(1)) {
        (false, _) => magnitude as f64,
        (true, Some(positive)) => -(positive as f64),
        // −2⁶⁴
        (true, None) => -18_446_744_073_709_551_616.0,
    }
}

/// The value of a float head.
fn float_of(head: &Head) -> f64 {
    match head.info {
        #[expect(clippy::cast_possible_truncation, reason = "the head holds as many bits as its width says")]
        25 => f16::from_bits(head.argument as u16).to_f64(),
        #[expect(clippy::cast_possible_truncation, reason = "the head holds as many bits as its width says")]
        26 => f64::from(f32::from_bits(head.argument as u32)),
        _ => f64::from_bits(head.argument),
    }
}

/// A byte string, in one piece or in chunks.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    content: Cursor<'a>,
    major: u8,
    indefinite: bool,
}

impl<'a> Bytes<'a> {
    /// The bytes, if they lie in one piece.
    pub const fn as_slice(&self) -> Option<&'a [u8]> {
        if self.indefinite { None } else { Some(self.content.rest()) }
    }

    /// The pieces that the bytes lie in.
    pub const fn chunks(&self) -> Chunks<'a> {
        Chunks { string: *self, done: false }
    }

    /// How many bytes there are, in all chunks.
    pub fn len(&self) -> usize {
        self.chunks().fold(0, |sum, chunk| sum.saturating_add(chunk.len()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.chunks().all(<[u8]>::is_empty)
    }

    /// Whether the bytes, put together, are `other`.
    pub fn eq_bytes(&self, other: &[u8]) -> bool {
        if let Some(whole) = self.as_slice() {
            return whole == other;
        }
        let mut left = other;
        for chunk in self.chunks() {
            match left.split_at_checked(chunk.len()) {
                Some((front, rest)) if front == chunk => left = rest,
                _ => return false,
            }
        }
        left.is_empty()
    }
}

/// The pieces of a string.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    string: Bytes<'a>,
    done: bool,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.done {
            return None;
        }
        if !self.string.indefinite {
            self.done = true;
            return Some(self.string.content.rest());
        }
        let chunk = self.string.content.string_chunk(self.string.major, Check::Done).ok();
        self.done = chunk.is_none();
        chunk
    }
}

impl FusedIterator for Chunks<'_> {}

/// A text string.
#[derive(Clone, Copy)]
pub enum Text<'a> {
    /// In one piece, as every writer of the format leaves it.
    Whole(&'a str),
    /// In chunks, each of them UTF-8.
    Chunked(Bytes<'a>),
}

impl<'a> Text<'a> {
    /// The text, if it lies in one piece.
    pub const fn as_str(&self) -> Option<&'a str> {
        match *self {
            Self::Whole(text) => Some(text),
            Self::Chunked(_) => None,
        }
    }

    /// The pieces that the text lies in.
    pub fn chunks(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let (whole, chunks) = match *self {
            Self::Whole(text) => (Some(text), None),
            Self::Chunked(bytes) => (None, Some(bytes.chunks())),
        };
        let chunks = chunks.into_iter().flatten().map(|chunk| core::str::from_utf8(chunk).unwrap_or_default());
        whole.into_iter().chain(chunks)
    }

    /// Whether the text, put together, is empty.
    pub fn is_empty(&self) -> bool {
        self.chunks().all(str::is_empty)
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        match self {
            Self::Whole(text) => *text == other,
            Self::Chunked(bytes) => bytes.eq_bytes(other.as_bytes()),
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunks().try_for_each(|chunk| f.write_str(chunk))
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

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
        let mut entries = self.iter();
        let mut found = None;
        while let Some(hit) = entries.find_key(key) {
            found = Some(hit?);
        }
        Ok(found)
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

    /// The value of the next entry whose key is the text `key`.
    fn find_key(&mut self, key: &str) -> Option<Result<Value<'a>>> {
        let found = self.seek_key(key).transpose();
        self.done = !matches!(found, Some(Ok(_)));
        found
    }

    fn seek_key(&mut self, wanted: &str) -> Result<Option<Value<'a>>> {
        if !self.seek(wanted)? {
            return Ok(None);
        }
        Value::read_item(&mut self.cursor, Check::Done, 0).map(Some)
    }

    /// Steps behind the next key that is the text `wanted`; whether there is one. Its value must be read next.
    #[inline]
    fn seek(&mut self, wanted: &str) -> Result<bool> {
        while !self.done && !self.map.is_end(&mut self.cursor, self.seen)? {
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
        let mut found = None;
        while let Some(value) = entries.seek_key(key)? {
            found = Some(value);
        }
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
