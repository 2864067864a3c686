//! A walk that enters containers and reads every byte once.

use super::cursor::Cursor;
use super::head::{Head, major, tag};
use super::utf8::Check;
use super::value::Value;
use crate::error::Result;

/// What one step of a walk into containers finds: see [`Cursor::step`].
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A scalar, a string, or a big number (tags 2 and 3 around a byte string). The cursor stands after it.
    Item(Value<'a>),
    /// An array of this many items; with `None` they go up to [`Self::Break`]. The items come next.
    Array(Option<u64>),
    /// A map of this many entries; with `None` they go up to [`Self::Break`]. Keys and values come next, in turns.
    Map(Option<u64>),
    /// A tag with this number. The tagged item comes next.
    Tag(u64),
    /// The end of the innermost container of indefinite length.
    Break,
}

impl<'a> Cursor<'a> {
    /// Reads the next item; of a container or tag, only the head: O(bytes read).
    ///
    /// Steps visit each byte once. Views do not: making a view walks its whole item, so opening containers inside
    /// containers by views walks the inner ones again at each level. To read everything, take steps.
    ///
    /// Steps are for items that were walked before, such as the item of a view. They do not limit nesting, and they do not
    /// check that text is UTF-8; [`Value::as_text`] does.
    ///
    /// # Errors
    /// The errors of [`Cursor::skip`] except [`ErrorKind::CborNesting`](crate::ErrorKind::CborNesting).
    ///
    /// ```
    /// use tgm_core::cbor::{Cursor, Step};
    ///
    /// // [1, [2, 3]]
    /// let mut cursor = Cursor::new(&[0x82, 0x01, 0x82, 0x02, 0x03], 0);
    /// let mut sum = 0;
    /// while !cursor.is_empty() {
    ///     if let Step::Item(item) = cursor.step()? {
    ///         sum += item.as_u64()?;
    ///     }
    /// }
    /// assert_eq!(sum, 6);
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    pub fn step(&mut self) -> Result<Step<'a>> {
        let start = *self;
        let head = self.head()?;
        let count = |head: &Head| (!head.is_indefinite()).then_some(head.argument);
        match head.major {
            major::ARRAY => Ok(Step::Array(count(&head))),
            major::MAP => Ok(Step::Map(count(&head))),
            major::TAG if !self.is_big_number(&head) => Ok(Step::Tag(head.argument)),
            _ if head.is_break() => Ok(Step::Break),
            _ => {
                *self = start;
                Value::read_item(self, Check::Done, 0).map(Step::Item)
            }
        }
    }

    /// Whether `tag` and the item after it are an integer. The cursor stands after the tag.
    fn is_big_number(mut self, tag: &Head) -> bool {
        matches!(tag.argument, tag::POSITIVE_BIGNUM | tag::NEGATIVE_BIGNUM)
            && self.head().is_ok_and(|head| head.major == major::BYTES)
    }
}
