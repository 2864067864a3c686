//! A walk that goes into containers, and over every byte once.

use super::Value;
use super::cursor::{Check, Cursor, Head};
use crate::error::Result;

/// What a walk into containers meets: see [`Cursor::step`].
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A scalar, a string, or a big number (tags 2 and 3 around a byte string). The cursor is behind it.
    Item(Value<'a>),
    /// An array of so many items, or of those up to [`Self::Break`]. They come next.
    Array(Option<u64>),
    /// A map of so many entries, or of those up to [`Self::Break`]. Their keys and values come next, in turns.
    Map(Option<u64>),
    /// A tag. What it tags comes next.
    Tag(u64),
    /// The end of the container that did not say how many items it has.
    Break,
}

impl<'a> Cursor<'a> {
    /// Reads the next item if it holds no others; of a container or tag, the head alone: O(bytes read).
    ///
    /// Views are walked to their end before there is one, so who opens containers within containers by views walks what is
    /// inside at each level again. Who wants everything takes steps.
    ///
    /// How containers nest is not looked at, nor whether text is UTF-8 before [`Value::as_text`] is asked: steps are for items
    /// that were walked before, as those of views were.
    ///
    /// # Errors
    /// Those of [`Cursor::skip`], nesting excepted.
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
            4 => Ok(Step::Array(count(&head))),
            5 => Ok(Step::Map(count(&head))),
            6 if !self.is_big_number(&head) => Ok(Step::Tag(head.argument)),
            7 if head.is_indefinite() => Ok(Step::Break),
            _ => {
                *self = start;
                Value::read_item(self, Check::Done, 0).map(Step::Item)
            }
        }
    }

    /// Whether `tag`, behind which the cursor is, and what it tags are an integer.
    fn is_big_number(mut self, tag: &Head) -> bool {
        matches!(tag.argument, 2 | 3) && self.head().is_ok_and(|head| head.major == 2)
    }
}
