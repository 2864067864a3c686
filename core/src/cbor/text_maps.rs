//! Maps with text keys, and arrays of them such as `base`.

use super::container::{Array, Container, Map};
use super::cursor::{Cursor, MAX_NESTING};
use super::entries::ArrayIter;
use super::head::major;
use super::plain;
use super::reader::MapReader;
use super::siblings::{FEW, Siblings};
use super::utf8::Check;
use crate::error::Result;
use crate::names::Kind;

impl<'a> MapReader<'a> {
    /// Reads a value that is a map with text keys.
    pub(crate) fn text_map(&mut self) -> Result<Map<'a>> {
        let depth = self.depth();
        read_text_map(self.cursor_mut(), depth)
    }

    /// Reads a value that is an array of maps with text keys.
    pub(crate) fn text_maps(&mut self) -> Result<TextMaps<'a>> {
        let depth = self.depth();
        TextMaps::read(self.cursor_mut(), depth)
    }
}

/// Reads a map whose keys are text, which `outer` containers are around.
pub(crate) fn read_text_map<'a>(cursor: &mut Cursor<'a>, outer: u16) -> Result<Map<'a>> {
    let start = *cursor;
    match plain::skip_text_map(cursor.rest(), Check::Utf8, MAX_NESTING.saturating_sub(outer), &mut ()) {
        Some(rest) => *cursor = cursor.at_rest(rest),
        None => skip_text_map(cursor, outer)?,
    }
    Ok(Map::walked(start.until(cursor)))
}

/// Steps over a map whose keys are text, in whatever way it is encoded.
fn skip_text_map(cursor: &mut Cursor<'_>, outer: u16) -> Result<()> {
    let mut entries = MapReader::open(*cursor, outer)?;
    while entries.next_key()?.is_some() {
        entries.skip()?;
    }
    *cursor = *entries.position();
    Ok(())
}

/// An array whose items are all maps with text keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextMaps<'a> {
    array: Array<'a>,
    /// Bytes of each map if all have the same length; otherwise 0.
    each: usize,
}

impl<'a> TextMaps<'a> {
    /// Reads an array that `outer` containers are around.
    pub(super) fn read(cursor: &mut Cursor<'a>, outer: u16) -> Result<Self> {
        let mut inside = *cursor;
        let head = inside.item_head()?;
        if head.major != major::ARRAY {
            return Err(head.wrong_type(Kind::Array));
        }
        inside.claimed_items(&head, 1)?;
        let (container, outer) = (Container::new(&head, inside), outer.saturating_add(1));
        let each = if container.left(0) > FEW {
            skip_siblings(&container, &mut inside, Check::Utf8, outer)?
        } else {
            skip_each(&container, &mut inside, |cursor| read_text_map(cursor, outer).map(|_| ()))?
        };
        *cursor = inside;
        Ok(Self { array: Array(container.until(&inside)), each })
    }

    /// The number of maps.
    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// The maps in order.
    pub(crate) const fn iter(&self) -> ArrayIter<'a> {
        self.array.iter()
    }

    /// The map at `index`. If the maps differ in length, the ones before it are stepped over. The map itself is not read.
    pub(crate) fn get(&self, index: usize) -> Result<Option<Map<'a>>> {
        if self.array.0.count().is_none_or(|count| index >= count) {
            return self.array.get(index)?.map(|item| item.as_map()).transpose();
        }
        let mut cursor = self.array.0.items();
        let skipped = self.each.checked_mul(index).filter(|_| self.each > 0);
        if let Some(rest) = skipped.and_then(|bytes| cursor.rest().get(bytes..)) {
            cursor = cursor.at_rest(rest);
        } else if index > FEW {
            skip_siblings(&self.array.0.first(index), &mut cursor, Check::Done, 0)?;
        } else {
            (0..index).try_for_each(|_| cursor.skip_item(Check::Done, 0))?;
        }
        Ok(Some(Map::walked(cursor)))
    }
}

/// Steps over the maps of an array with `skip`. Returns the length of each map if all have the same length, otherwise 0.
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

/// [`skip_each`] for an array of more than [`FEW`] maps.
// Never inlined: the model takes 1 KiB of stack, which short arrays do not need.
#[inline(never)]
fn skip_siblings<'a>(array: &Container<'a>, cursor: &mut Cursor<'a>, check: Check, outer: u16) -> Result<usize> {
    let mut siblings = Siblings::new();
    skip_each(array, cursor, |cursor| {
        match siblings.skip(cursor.rest(), check, MAX_NESTING.saturating_sub(outer)) {
            Some(rest) => *cursor = cursor.at_rest(rest),
            None => skip_text_map(cursor, outer)?,
        }
        Ok(())
    })
}
