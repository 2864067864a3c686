//! Arrays of unsigned integers: shapes, strides, index offsets and lengths, szip block offsets.

use core::fmt;
use core::iter::FusedIterator;

use super::container::Container;
use super::cursor::Cursor;
use super::head::major;
use super::runs::{self, EIGHT};
use super::value::Value;
#[cfg(doc)]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::names::Kind;

/// A CBOR array whose items are all unsigned integers. They stay encoded.
///
/// Making one walks the whole array, so its length is known and its items are valid. Each read decodes again. It takes
/// four machine words, for an array of any length.
///
/// ```
/// use tgm_core::cbor::{Cursor, Uints};
///
/// // [1, 300]
/// let shape = Uints::read(&mut Cursor::new(&[0x82, 0x01, 0x19, 0x01, 0x2c], 0))?;
/// assert_eq!((shape.len(), shape.get(1)), (2, Some(300)));
/// assert_eq!(shape.into_iter().product::<u64>(), 300);
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Uints<'a> {
    items: Cursor<'a>,
    len: usize,
}

impl<'a> Uints<'a> {
    /// An array without items.
    pub const EMPTY: Self = Self { items: Cursor::new(&[], 0), len: 0 };

    /// Reads the array of unsigned integers at `cursor` and checks every item: O(items).
    ///
    /// # Errors
    /// [`ErrorKind::WrongType`] if the item is not an array, or at an element that is not an integer;
    /// [`ErrorKind::IntegerRange`] at a negative element; the errors of [`Cursor::skip`].
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let head = cursor.item_head()?;
        if head.major != major::ARRAY {
            return Err(head.wrong_type(Kind::Array));
        }
        cursor.claimed_items(&head, 1)?;
        let items = Container::new(&head, *cursor);
        let first = *cursor;
        let mut len = 0_usize;
        while !items.is_end(cursor, len)? {
            let (alike, rest) = runs::skip_alike(cursor.rest(), items.left(len));
            if alike == 0 {
                read(cursor)?;
            } else {
                *cursor = cursor.at_rest(rest);
            }
            len = len.saturating_add(alike.max(1));
        }
        Ok(Self { items: first.until(cursor), len })
    }

    /// The array of `len` integers at `cursor`, which was read before.
    pub(crate) fn walked(mut cursor: Cursor<'a>, len: usize) -> Self {
        cursor.head().ok();
        Self { items: cursor, len }
    }

    /// Reads `value` as an array of unsigned integers.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    pub fn parse(value: &Value<'a>) -> Result<Self> {
        Self::read(&mut value.encoded())
    }

    /// The number of integers.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the array has no items.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the first integer starts, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.items.offset()
    }

    /// The integers in order.
    pub const fn iter(&self) -> UintsIter<'a> {
        UintsIter { items: self.items, left: self.len }
    }

    /// The integer at `index`: O(index), with a fraction of a nanosecond for each integer before it.
    pub fn get(&self, index: usize) -> Option<u64> {
        self.iter().nth(index)
    }

    /// Whether each integer is greater than the one before it: O(integers), with a fraction of a nanosecond for each.
    pub fn is_ascending(&self) -> bool {
        let (mut items, mut left, mut before) = (self.items, self.len, None);
        while left > 0 {
            if let Some((eight, rest)) = runs::take_eight(items.rest(), left) {
                items = items.at_rest(rest);
                let is_above = before.is_none_or(|before| eight.first().is_some_and(|&first| before < first));
                if !is_above || !eight.is_sorted_by(|a, b| a < b) {
                    return false;
                }
                before = eight.last().copied();
                left = left.saturating_sub(EIGHT);
            } else {
                let next = read(&mut items).ok();
                if before >= next {
                    return false;
                }
                before = next;
                left = left.saturating_sub(1);
            }
        }
        true
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
        // Cannot fail: the same bytes were read when the view was made.
        read(&mut self.items).ok()
    }

    fn nth(&mut self, n: usize) -> Option<u64> {
        let mut to_skip = n.min(self.left);
        self.left = self.left.saturating_sub(to_skip);
        while to_skip > 0 {
            let (alike, rest) = runs::skip_alike(self.items.rest(), to_skip);
            if alike == 0 {
                read(&mut self.items).ok()?;
            } else {
                self.items = self.items.at_rest(rest);
            }
            to_skip = to_skip.saturating_sub(alike.max(1));
        }
        self.next()
    }

    /// Reads integers of two and four bytes eight at a time, because none of the eight loads waits for another.
    fn fold<B, F: FnMut(B, u64) -> B>(mut self, init: B, mut f: F) -> B {
        let mut folded = init;
        loop {
            while let Some((eight, rest)) = runs::take_eight(self.items.rest(), self.left) {
                self.items = self.items.at_rest(rest);
                folded = eight.into_iter().fold(folded, &mut f);
                self.left = self.left.saturating_sub(EIGHT);
            }
            let Some(next) = self.next() else { return folded };
            folded = f(folded, next);
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for UintsIter<'_> {}
impl FusedIterator for UintsIter<'_> {}

/// Reads an array of unsigned integers; returns their number, and their product if it fits 64 bits.
///
/// With a zero among them the product is 0, even if the other integers alone would exceed 64 bits.
///
/// # Errors
/// The errors of [`Uints::read`].
#[inline]
pub(super) fn read_dimensions(cursor: &mut Cursor<'_>) -> Result<(usize, Option<u64>)> {
    let (mut count, all) = (Product::default(), Uints::read(cursor)?);
    all.iter().for_each(|dim| count.multiply(dim));
    Ok((all.len(), count.get()))
}

/// The product of dimensions.
struct Product {
    /// The product of all dimensions, `None` beyond 64 bits.
    of_all: Option<u64>,
    has_zero: bool,
}

impl Default for Product {
    fn default() -> Self {
        Self { of_all: Some(1), has_zero: false }
    }
}

impl Product {
    #[inline]
    fn multiply(&mut self, dim: u64) {
        self.has_zero |= dim == 0;
        self.of_all = self.of_all.and_then(|product| product.checked_mul(dim));
    }

    #[inline]
    fn get(&self) -> Option<u64> {
        if self.has_zero { Some(0) } else { self.of_all }
    }
}

/// Reads one unsigned integer. A positive bignum that fits 64 bits counts as one.
#[inline]
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<u64> {
    let start = *cursor;
    let head = cursor.head()?;
    if head.major == major::UNSIGNED {
        return Ok(head.argument);
    }
    *cursor = start;
    read_unusual(cursor)
}

/// [`read`] for an item that is not a plain head: a bignum, or an error.
#[cold]
#[inline(never)]
fn read_unusual(cursor: &mut Cursor<'_>) -> Result<u64> {
    Value::read(cursor)?.as_u64()
}
