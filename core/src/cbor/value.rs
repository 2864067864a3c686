//! Items as views of the bytes that encode them.

use core::fmt;

use half::f16;

use super::Kind;
use super::container::{Array, Container, Map};
use super::cursor::{Check, Cursor, Head};
use super::string::{Bytes, Text};
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
        Bytes::new(self.content(), &self.head)
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
