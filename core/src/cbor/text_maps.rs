//! Arrays of maps with text keys, as `base` is one.

use super::container::{Array, ArrayIter, Container, Map};
use super::cursor::{Check, Cursor};
use super::reader::{read_text_map, skip_text_map};
use super::siblings::{FEW, Siblings};
use super::{Kind, MAX_NESTING};
use crate::error::Result;

/// An array in which nothing but maps with text keys was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextMaps<'a> {
    array: Array<'a>,
    /// Bytes of each map, if all have as many; otherwise 0.
    each: usize,
}

impl<'a> TextMaps<'a> {
    /// Reads an array that is inside of `outer` containers.
    pub(super) fn read(cursor: &mut Cursor<'a>, outer: u16) -> Result<Self> {
        let mut inside = *cursor;
        let head = inside.item_head()?;
        if head.major != 4 {
            return Err(head.wrong_type(Kind::Array));
        }
        inside.claimed_items(&head, 1)?;
        let (container, outer) = (Container::new(&head, inside), outer.saturating_add(1));
        let each = if container.left(0) > FEW {
            skip_siblings(&container, &mut inside, outer)?
        } else {
            skip_each(&container, &mut inside, |cursor| read_text_map(cursor, outer).map(|_| ()))?
        };
        *cursor = inside;
        Ok(Self { array: Array(container.until(&inside)), each })
    }

    /// How many maps there are.
    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// The maps in order.
    pub(crate) const fn iter(&self) -> ArrayIter<'a> {
        self.array.iter()
    }

    /// The map at `index`. Those before it are stepped over, if they differ in length; the map itself is not looked at.
    pub(crate) fn get(&self, index: usize) -> Result<Option<Map<'a>>> {
        if !self.array.0.announces(index) {
            return self.array.get(index)?.map(|item| item.as_map()).transpose();
        }
        let mut cursor = self.array.0.items();
        let skipped = self.each.checked_mul(index).filter(|_| self.each > 0);
        if let Some(rest) = skipped.and_then(|bytes| cursor.rest().get(bytes..)) {
            cursor = cursor.at_rest(rest);
        } else if index > FEW {
            skip_walked_siblings(&mut cursor, index)?;
        } else {
            (0..index).try_for_each(|_| cursor.skip_item(Check::Done, 0))?;
        }
        Ok(Some(Map::walked(cursor)))
    }
}

/// Steps over the maps of an array by `skip`; how long each of them is, or 0.
#[inline]
fn skip_each<'a>(
    array: &Container<'a>,
    cursor: &mut Cursor<'a>,
    mut skip: impl FnMut(&mut Cursor<'a>) -> Result<()>,
) -> Result<usize> {
    let (mut seen, mut each) = (0_usize, 0);
    while !array.is_end(cursor, seen)? {
        let start = *cursor;
        skip(cursor)?;
        let len = start.len_until(cursor);
        each = if seen == 0 || each == len { len } else { 0 };
        seen = seen.saturating_add(1);
    }
    Ok(each)
}

/// [`skip_each`] for more than a [`FEW`].
#[inline(never)]
fn skip_siblings<'a>(array: &Container<'a>, cursor: &mut Cursor<'a>, outer: u16) -> Result<usize> {
    let mut siblings = Siblings::new();
    skip_each(array, cursor, |cursor| {
        match siblings.skip(cursor.rest(), Check::Utf8, MAX_NESTING.saturating_sub(outer)) {
            Some(rest) => *cursor = cursor.at_rest(rest),
            None => skip_text_map(cursor, outer)?,
        }
        Ok(())
    })
}

/// Steps over `count` maps that were walked before.
#[inline(never)]
fn skip_walked_siblings(cursor: &mut Cursor<'_>, count: usize) -> Result<()> {
    let mut siblings = Siblings::new();
    (0..count).try_for_each(|_| match siblings.skip(cursor.rest(), Check::Done, MAX_NESTING) {
        Some(rest) => {
            *cursor = cursor.at_rest(rest);
            Ok(())
        }
        None => cursor.skip_item(Check::Done, 0),
    })
}
