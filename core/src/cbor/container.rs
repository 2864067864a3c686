//! Arrays and maps as views of the bytes that encode them. [`super::entries`] reads what is inside.

use super::cursor::Cursor;
use super::head::Head;
use crate::error::Result;

/// The number of entries that an array or map announces; `None` if a break ends them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count(Option<usize>);

impl Count {
    /// The count that `head` announces. The caller has checked that the bytes can hold that many entries.
    pub(super) fn of(head: &Head) -> Self {
        Self((!head.is_indefinite()).then(|| usize::try_from(head.argument).unwrap_or(usize::MAX)))
    }

    /// A known count.
    pub(super) const fn exactly(count: usize) -> Self {
        Self(Some(count))
    }

    /// The count, if it is known.
    pub(super) const fn get(self) -> Option<usize> {
        self.0
    }

    /// How many entries can follow after the first `seen`.
    #[inline]
    pub(super) fn left(self, seen: usize) -> usize {
        self.0.unwrap_or(usize::MAX).saturating_sub(seen)
    }

    /// Whether the entries end at `cursor`, where `seen` of them have been read. Takes the break that ends them.
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
    /// The container that `head` opens and whose first item is at `items`. The caller has checked that the bytes can hold
    /// the items that the head announces.
    pub(super) fn new(head: &Head, items: Cursor<'a>) -> Self {
        Self { items, count: Count::of(head) }
    }

    /// The same container, with nothing readable after `end`.
    pub(super) fn until(self, end: &Cursor<'a>) -> Self {
        Self { items: self.items.until(end), ..self }
    }

    /// The first `count` entries. The caller knows that there are so many.
    pub(super) const fn first(self, count: usize) -> Self {
        Self { count: Count::exactly(count), ..self }
    }

    /// The position of the first item.
    pub(super) const fn items(&self) -> Cursor<'a> {
        self.items
    }

    /// The number of entries, if the container announces it.
    pub(super) const fn count(&self) -> Option<usize> {
        self.count.get()
    }

    /// How many entries can follow after the first `seen`.
    pub(super) fn left(&self, seen: usize) -> usize {
        self.count.left(seen)
    }

    /// Whether the entries end at `cursor`, where `seen` of them have been read. Takes the break that ends them.
    #[inline]
    pub(super) fn is_end(&self, cursor: &mut Cursor<'_>, seen: usize) -> Result<bool> {
        self.count.is_end(cursor, seen)
    }
}

/// An array.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a>(pub(super) Container<'a>);

/// A map. Its entries come in the order of the bytes, repeated keys included.
#[derive(Clone, Copy, Debug)]
pub struct Map<'a>(pub(super) Container<'a>);

impl<'a> Map<'a> {
    /// A map without entries.
    pub const EMPTY: Self = Self(Container { items: Cursor::new(&[], 0), count: Count(Some(0)) });

    /// The map at `encoded`, which was walked before.
    pub(crate) fn walked(mut encoded: Cursor<'a>) -> Self {
        match encoded.head() {
            Ok(head) => Self(Container::new(&head, encoded)),
            Err(_) => Self::EMPTY,
        }
    }

    /// The bytes from the first entry on, and how many entries the map announces; `None` if a break ends them. Bytes of other
    /// items may follow the last entry.
    ///
    /// For readers that take the encoding apart themselves. [`Self::iter`] gives the entries as views.
    pub const fn entry_bytes(&self) -> (&'a [u8], Option<usize>) {
        (self.0.items.rest(), self.0.count())
    }

    /// Bytes from the first entry to the end of the slice that this view was made from.
    pub(crate) const fn byte_len(&self) -> u64 {
        self.0.items.rest().len() as u64
    }
}
