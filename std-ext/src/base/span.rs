//! Places and lengths of bytes and elements, as ranges.
//!
//! Places come from input and lie anywhere in 64 bits. No source, message or object has anything at place `u64::MAX`, so a
//! range that would reach beyond it ends there: whoever reads it finds, by the length of what came, that some is missing.

use std::ops::Range;

/// The `len` places from `start` on.
pub(crate) const fn span(start: u64, len: u64) -> Range<u64> {
    start..start.saturating_add(len)
}

/// The `len` places before `end`, or as many as there are.
pub(crate) const fn span_before(end: u64, len: u64) -> Range<u64> {
    end.saturating_sub(len)..end
}

/// How many places a range has: none if it ends before it starts, as [`Range::is_empty`] says.
pub(crate) const fn span_len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// A place as an index. Where this machine cannot address it, it is the largest one, at which no slice has an element.
pub(crate) fn index(place: u64) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}

/// The first `len` elements of a slice, or all of a shorter one.
pub(crate) fn head<T>(slice: &[T], len: u64) -> &[T] {
    slice.get(..index(len)).unwrap_or(slice)
}

/// [`head`] of a slice that is written to.
pub(crate) fn head_mut<T>(slice: &mut [T], len: u64) -> &mut [T] {
    let len = index(len).min(slice.len());
    slice.split_at_mut(len).0
}

/// The elements of a slice from `start` on: none of a shorter one.
pub(crate) fn tail<T>(slice: &[T], start: u64) -> &[T] {
    slice.get(index(start)..).unwrap_or(&[])
}

/// The last `len` elements of a slice, or all of a shorter one.
pub(crate) fn last<T>(slice: &[T], len: usize) -> &[T] {
    tail(slice, slice.len().saturating_sub(len) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A size that a message may claim leads to a range that nothing has, and never to another place.
    #[test]
    fn hostile_places_lead_nowhere() {
        assert_eq!(span(u64::MAX - 2, 10), u64::MAX - 2..u64::MAX);
        assert_eq!(span_before(3, u64::MAX), 0..3);
        assert_eq!((span_len(&(3..9)), span_len(&Range { start: 9, end: 3 })), (6, 0));
        assert_eq!((head(&[1, 2, 3], 2), head(&[1, 2, 3], u64::MAX)), (&[1, 2][..], &[1, 2, 3][..]));
        assert_eq!((head_mut(&mut [1, 2, 3], 2).len(), head_mut(&mut [1, 2, 3], u64::MAX).len()), (2, 3));
        assert_eq!((last(&[1, 2, 3], 2), last(&[1, 2, 3], 4)), (&[2, 3][..], &[1, 2, 3][..]));
        assert_eq!((tail(&[1, 2, 3], 2), tail(&[1, 2, 3], u64::MAX)), (&[3][..], &[][..]));
    }
}
