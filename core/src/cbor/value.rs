//! Items as views of the bytes that encode them.

use core::fmt;

use half::f16;

use super::container::{Array, Container, Map};
use super::cursor::Cursor;
use super::head::{Head, info, major, simple, tag};
use super::string::{Bytes, Text};
use super::utf8::Check;
use crate::error::{Error, ErrorKind, Result};
use crate::names::Kind;

/// One CBOR item, borrowed from the bytes `'a` that encode it.
///
/// Each `as_*` method returns the item as one type. If the item has another type, or is out of range, the error says what
/// it is. A lookup that finds no item returns `None` instead of a `Value`.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    head: Head,
    /// The whole item, and no byte after it.
    encoded: Cursor<'a>,
}

impl<'a> Value<'a> {
    /// Reads the next item, walking it to its end: O(bytes of the item).
    ///
    /// # Errors
    /// The errors of [`Cursor::skip`].
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        Self::read_item(cursor, Check::Utf8, 0)
    }

    /// [`Self::read`] for an item that was walked before.
    pub(crate) fn walked(cursor: &mut Cursor<'a>) -> Result<Self> {
        Self::read_item(cursor, Check::Done, 0)
    }

    /// Reads the next item, which `outer` containers are around. With [`Check::Done`] the item was walked before, and
    /// `outer` may be 0.
    #[inline]
    pub(super) fn read_item(cursor: &mut Cursor<'a>, check: Check, outer: u16) -> Result<Self> {
        let start = *cursor;
        let head = start.clone().item_head()?;
        cursor.skip_item(check, outer)?;
        Ok(Self { head, encoded: start.until(cursor) })
    }

    /// Reads the item that `bytes` begin with, and ignores the bytes after it. Errors count from `offset` bytes before
    /// `bytes`.
    ///
    /// # Errors
    /// The errors of [`Cursor::skip`].
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

    /// The item's type. A bignum is a [`Kind::Tag`], also if [`Self::as_integer`] accepts it.
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
        if self.kind() == Kind::Bool { Ok(self.is_true()) } else { Err(self.wrong_type(Kind::Bool)) }
    }

    const fn is_true(&self) -> bool {
        self.head.argument == simple::TRUE as u64
    }

    /// The item as an integer from −2⁶⁴ to 2⁶⁴ − 1: the range of CBOR heads, and of bignums of 64 bits.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`]; [`ErrorKind::IntegerRange`] for a bignum beyond 64 bits.
    pub fn as_integer(&self) -> Result<i128> {
        let (is_negative, magnitude) = self.as_sign_and_magnitude()?;
        Ok(if is_negative { !i128::from(magnitude) } else { i128::from(magnitude) })
    }

    /// The item as an integer n: whether n is negative, and its magnitude, which is n or −1 − n.
    fn as_sign_and_magnitude(&self) -> Result<(bool, u64)> {
        match self.head.major {
            major::UNSIGNED => Ok((false, self.head.argument)),
            major::NEGATIVE => Ok((true, self.head.argument)),
            major::TAG => self.bignum(),
            _ => Err(self.wrong_type(Kind::Integer)),
        }
    }

    /// The sign and magnitude of tags 2 and 3: their byte string is the magnitude.
    #[cold]
    #[inline(never)]
    fn bignum(&self) -> Result<(bool, u64)> {
        let (tag::POSITIVE_BIGNUM | tag::NEGATIVE_BIGNUM, Ok(content)) = (self.head.argument, self.tagged().as_bytes())
        else {
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
        Ok((self.head.argument == tag::NEGATIVE_BIGNUM, magnitude))
    }

    /// The item as an unsigned 64-bit integer.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`] if it is not an integer, [`ErrorKind::IntegerRange`] if it is negative or too large.
    pub fn as_u64(&self) -> Result<u64> {
        match self.head.major {
            major::UNSIGNED => Ok(self.head.argument),
            major::NEGATIVE => Err(self.head.error(ErrorKind::IntegerRange)),
            major::TAG => match self.bignum()? {
                (false, magnitude) => Ok(magnitude),
                (true, _) => Err(self.head.error(ErrorKind::IntegerRange)),
            },
            _ => Err(self.wrong_type(Kind::Integer)),
        }
    }

    /// The item as a signed 64-bit integer.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`] if it is not an integer, [`ErrorKind::IntegerRange`] if it does not fit.
    pub fn as_i64(&self) -> Result<i64> {
        let (is_negative, magnitude) = self.as_sign_and_magnitude()?;
        let integer = i64::try_from(magnitude).map_err(|_| self.head.error(ErrorKind::IntegerRange))?;
        // A negative integer is −1 − magnitude, and that is the complement of the magnitude's bits.
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

    /// The item as a float without rounding (FORMAT §3.5): a float, or an integer within ±2⁵³.
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
        if self.head.major != major::TEXT {
            return Err(self.wrong_type(Kind::Text));
        }
        let bytes = self.string();
        Ok(match bytes.as_slice().and_then(|whole| core::str::from_utf8(whole).ok()) {
            Some(whole) => Text::Whole(whole),
            None => Text::Chunked(bytes),
        })
    }

    /// The item as text in one piece. Every known writer of the format writes text like this.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`], also for text in several pieces; [`Self::as_text`] accepts that.
    pub fn as_str(&self) -> Result<&'a str> {
        self.as_text()?.as_str().ok_or_else(|| self.wrong_type(Kind::Text))
    }

    /// The item as a byte string.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_bytes(&self) -> Result<Bytes<'a>> {
        if self.head.major == major::BYTES { Ok(self.string()) } else { Err(self.wrong_type(Kind::Bytes)) }
    }

    /// The content of a byte string or text. The caller has checked that the item is one.
    pub(super) fn string(&self) -> Bytes<'a> {
        Bytes::new(self.content(), &self.head)
    }

    /// The item as an array.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_array(&self) -> Result<Array<'a>> {
        if self.head.major == major::ARRAY { Ok(Array(self.container())) } else { Err(self.wrong_type(Kind::Array)) }
    }

    /// The item as a map.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_map(&self) -> Result<Map<'a>> {
        if self.head.major == major::MAP { Ok(Map(self.container())) } else { Err(self.wrong_type(Kind::Map)) }
    }

    fn container(&self) -> Container<'a> {
        Container::new(&self.head, self.content())
    }

    /// The item as a tag: its number, and the tagged item.
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`].
    pub fn as_tag(&self) -> Result<(u64, Self)> {
        let is_tag = self.head.major == major::TAG;
        if is_tag { Ok((self.head.argument, self.tagged())) } else { Err(self.wrong_type(Kind::Tag)) }
    }

    /// The item inside a tag. For any other item, the item itself.
    fn tagged(&self) -> Self {
        match self.content().item_head() {
            Ok(head) if self.head.major == major::TAG => Self { head, encoded: self.content() },
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

    /// The position after the head.
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
            Kind::Bool => fmt::Debug::fmt(&self.is_true(), f),
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
pub(super) fn float_of(head: &Head) -> f64 {
    match head.info {
        #[expect(clippy::cast_possible_truncation, reason = "the head holds as many bits as its width says")]
        info::TWO_BYTES => f16::from_bits(head.argument as u16).to_f64(),
        #[expect(clippy::cast_possible_truncation, reason = "the head holds as many bits as its width says")]
        info::FOUR_BYTES => f64::from(f32::from_bits(head.argument as u32)),
        _ => f64::from_bits(head.argument),
    }
}
