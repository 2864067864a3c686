//! Arrays of unsigned integers: shapes, strides, index offsets and lengths, szip block offsets.

use core::fmt;
use core::iter::FusedIterator;

use super::cursor::Cursor;
use super::value::Container;
use super::{Kind, Value};
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;

/// A CBOR array all of whose items are unsigned integers, still encoded.
///
/// Made by a walk over the whole array, so that its length is known and its items are good; each read decodes again.
/// Four machine words, whatever the array's length.
#[derive(Clone, Copy)]
pub struct Uints<'a> {
    items: Cursor<'a>,
    len: usize,
}

impl<'a> Uints<'a> {
    /// An array without items.
    pub const EMPTY: Self = Self { items: Cursor::new(&[], 0), len: 0 };

    /// Reads the array of unsigned integers at `cursor`, every item checked: O(items).
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`] if it is no array, or at an item that is no integer; [`ErrorKind::IntegerRange`] at a
    /// negative one; those of [`Cursor::skip`].
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let head = cursor.item_head()?;
        if head.major != 4 {
            return Err(head.wrong_type(Kind::Array));
        }
        cursor.claimed_items(&head, 1)?;
        let items = Container::new(&head, *cursor);
        let first = *cursor;
        let mut len = 0_usize;
        while !items.is_end(cursor, len)? {
            read(cursor)?;
            len = len.saturating_add(1);
        }
        Ok(Self { items: first.until(cursor), len })
    }

    /// The array of `len` integers at `cursor`, which [`Self::read`] was through before.
    pub(crate) fn walked(mut cursor: Cursor<'a>, len: usize) -> Self {
        cursor.head().ok();
        Self { items: cursor, len }
    }

    /// Reads the array of unsigned integers that `value` is.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn parse(value: &Value<'a>) -> Result<Self> {
        Self::read(&mut value.encoded())
    }

    /// How many integers there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the first integer lies, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.items.offset()
    }

    /// The integers in order.
    pub const fn iter(&self) -> UintsIter<'a> {
        UintsIter { items: self.items, left: self.len }
    }

    /// The integer at `index`: O(index), a byte or two read for each one skipped.
    pub fn get(&self, index: usize) -> Option<u64> {
        self.iter().nth(index)
    }
}

impl fmt::Debug for Uints<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for Uints<'a> {
    type Item = u64;
    type IntoIter = UintsIter<'a>;

    fn into_iter(self) -> UintsIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Uints<'a> {
    type Item = u64;
    type IntoIter = UintsIter<'a>;

    fn into_iter(self) -> UintsIter<'a> {
        self.iter()
    }
}

/// The integers of a [`Uints`].
#[derive(Clone, Debug)]
pub struct UintsIter<'a> {
    items: Cursor<'a>,
    left: usize,
}

impl Iterator for UintsIter<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        // Cannot fail: `Uints::parse` has read the same bytes.
        read(&mut self.items).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for UintsIter<'_> {}
impl FusedIterator for UintsIter<'_> {}

/// Reads one unsigned integer; a positive bignum that fits 64 bits is one too.
#[inline]
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<u64> {
    let start = *cursor;
    let head = cursor.head()?;
    if head.major == 0 {
        return Ok(head.argument);
    }
    *cursor = start;
    read_unusual(cursor)
}

/// [`read`] for anything but a plain head.
#[cold]
#[inline(never)]
fn read_unusual(cursor: &mut Cursor<'_>) -> Result<u64> {
    Value::read(cursor)?.as_u64()
}
