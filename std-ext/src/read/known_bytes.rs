//! What is known of a source: its length, its version, how fast it answers, and some of its bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::fetch::{FetchError, FetchErrorKind, Fetched, Tag, Want};
use super::pace::Pace;
use crate::base::span::{head, span, span_len, tail};

/// The bytes of a source that were fetched. Copies share the bytes.
///
/// A byte that was not fetched has no value here. No zeros stand for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownBytes {
    /// Ascending and disjoint.
    segments: Vec<Segment>,
    size: Option<u64>,
    tag: Option<Tag>,
    pub(super) pace: Pace,
}

/// Bytes that were fetched together. They lie in the source, so their end does too.
#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    bytes: Arc<Vec<u8>>,
}

impl Segment {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// The bytes from `offset` on: none before the segment or after it.
    fn from(&self, offset: u64) -> &[u8] {
        offset.checked_sub(self.start).map_or(&[], |start| tail(&self.bytes, start))
    }
}

impl KnownBytes {
    /// Nothing is known but the length of the source.
    pub(crate) fn of_size(size: u64) -> Self {
        Self { size: Some(size), ..Self::default() }
    }

    /// The length of the source, once an answer has told it.
    pub(crate) const fn size(&self) -> Option<u64> {
        self.size
    }

    /// The version that all known bytes are of.
    pub(crate) const fn tag(&self) -> Option<&Tag> {
        self.tag.as_ref()
    }

    /// Bytes that are kept.
    pub(crate) fn byte_len(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes.len() as u64).sum()
    }

    /// The first segment that ends after `offset`, and those after it.
    fn segments_from(&self, offset: u64) -> &[Segment] {
        let first = self.segments.partition_point(|segment| segment.end() <= offset);
        tail(&self.segments, first as u64)
    }

    /// The known bytes from `offset` on, as far as they were fetched together. Empty if the byte at `offset` is not known.
    pub(crate) fn from(&self, offset: u64) -> &[u8] {
        match self.segments_from(offset) {
            [segment, ..] if segment.start <= offset => segment.from(offset),
            _ => &[],
        }
    }

    /// The end of the known bytes that begin at `offset` and have no gap.
    pub(crate) fn known_until(&self, offset: u64) -> u64 {
        let mut end = offset;
        for segment in self.segments_from(offset) {
            if segment.start > end {
                break;
            }
            end = segment.end();
        }
        end
    }

    /// The bytes of `range`, if all of them are known. They are copied if they were not fetched together.
    pub(crate) fn bytes(&self, range: &Range<u64>) -> Option<Cow<'_, [u8]>> {
        let len = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        if len == 0 {
            return Some(Cow::Borrowed(&[]));
        }
        if let Some(bytes) = self.from(range.start).get(..len) {
            return Some(Cow::Borrowed(bytes));
        }
        if self.known_until(range.start) < range.end {
            return None;
        }
        let mut joined = Vec::new();
        joined.try_reserve_exact(len).ok()?;
        for segment in self.segments_from(range.start) {
            let part = segment.from(range.start.max(segment.start));
            joined.extend_from_slice(head(part, (len - joined.len()) as u64));
            if joined.len() == len {
                break;
            }
        }
        Some(Cow::Owned(joined))
    }

    /// Copies known bytes from `offset` on to `out`. `None` if one of them is not known.
    pub(crate) fn copy_to(&self, offset: u64, out: &mut [u8]) -> Option<()> {
        let end = offset.checked_add(out.len() as u64)?;
        out.copy_from_slice(&self.bytes(&(offset..end))?);
        Some(())
    }

    /// The parts of `range` that are not known.
    pub(crate) fn missing(&self, range: &Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let mut at = range.start;
        for segment in self.segments_from(range.start) {
            if segment.start >= range.end {
                break;
            }
            if segment.start > at {
                missing.push(at..segment.start);
            }
            at = at.max(segment.end());
        }
        if at < range.end {
            missing.push(at..range.end);
        }
        missing
    }

    /// Whether no byte of `range` is known.
    fn is_unknown(&self, range: &Range<u64>) -> bool {
        self.segments_from(range.start).first().is_none_or(|segment| segment.start >= range.end)
    }

    /// Takes in the answer to `want`. Bytes that are known already stay as they are.
    ///
    /// # Errors
    /// [`FetchErrorKind::Changed`] if the answer is of another version, or of a source of another length;
    /// [`FetchErrorKind::Protocol`] if it does not begin where it was asked to, or ends too soon.
    pub(crate) fn insert(&mut self, want: &Want, answer: Fetched, name: &str) -> Result<(), FetchError> {
        let wrong = |text: String| Err(FetchError::new(FetchErrorKind::Protocol, format!("{name}: {text}")));
        let Fetched { offset, bytes, size, tag } = answer;
        let Some(end) = offset.checked_add(bytes.len() as u64) else {
            return wrong(format!("an answer of {} bytes at {offset}", bytes.len()));
        };
        self.agree(size, tag, name)?;
        let Some(size) = self.size else { return wrong("the answer does not say how long the source is".into()) };
        if end > size {
            return wrong(format!("{} bytes at {offset} of a source of {size} bytes", bytes.len()));
        }
        // A request may reach after the source's end. Only what the source has must come.
        let wanted = want.within(size);
        if offset > wanted.start || end < wanted.end {
            return wrong(format!("bytes {offset} to {end} came for bytes {} to {}", wanted.start, wanted.end));
        }
        self.keep(offset, bytes);
        Ok(())
    }

    /// Compares length and version of an answer with the length and version of earlier answers.
    fn agree(&mut self, size: Option<u64>, tag: Option<Tag>, name: &str) -> Result<(), FetchError> {
        let changed = |text: String| Err(FetchError::new(FetchErrorKind::Changed, format!("{name}: {text}")));
        match (self.size, size) {
            (Some(before), Some(now)) if before != now => {
                return changed(format!("the source had {before} bytes, and now has {now}"));
            }
            (None, Some(_)) => self.size = size,
            _ => {}
        }
        match (&self.tag, tag) {
            (Some(before), Some(now)) if *before != now => changed("the source has changed since it was opened".into()),
            // The first tag that comes names the version. Every later answer must agree with it.
            (None, now) => {
                self.tag = now;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn keep(&mut self, offset: u64, bytes: Vec<u8>) {
        let range = span(offset, bytes.len() as u64);
        // Mostly nothing of it is known. Then the answer is kept without copying its bytes.
        if self.is_unknown(&range) {
            self.add(offset, bytes);
            return;
        }
        let missing = self.missing(&range);
        let whole = Segment { start: offset, bytes: Arc::new(bytes) };
        for part in missing {
            self.add(part.start, head(whole.from(part.start), span_len(&part)).to_vec());
        }
    }

    fn add(&mut self, start: u64, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            let at = self.segments.partition_point(|segment| segment.start < start);
            self.segments.insert(at, Segment { start, bytes: Arc::new(bytes) });
        }
    }

    /// Takes over what another call has fetched. It is of the same version, or else nothing of it is taken.
    pub(crate) fn adopt(&mut self, other: &Self) {
        let agrees =
            self.size.is_none_or(|size| other.size == Some(size)) && (self.tag.is_none() || self.tag == other.tag);
        if !agrees {
            return;
        }
        (self.size, self.tag, self.pace) = (other.size, other.tag.clone(), other.pace);
        for segment in &other.segments {
            let range = segment.start..segment.end();
            // Segments that overlap known bytes are left out. Taking a part of one would copy bytes, under the lock.
            if self.is_unknown(&range) {
                let at = self.segments.partition_point(|known| known.start < segment.start);
                self.segments.insert(at, segment.clone());
            }
        }
    }

    /// Forgets bytes until at most `most` are kept: the longest segments first, and of the longest the one nearest to the start,
    /// which a caller who reads from start to end is done with.
    pub(crate) fn shrink_to(&mut self, most: u64) {
        self.shrink_before(u64::MAX, most);
    }

    /// Forgets all but the last `most` pieces.
    pub(crate) fn keep_last(&mut self, most: usize) {
        self.segments.drain(..self.segments.len().saturating_sub(most));
    }

    /// [`Self::shrink_to`] for bytes before `end` only.
    pub(crate) fn shrink_before(&mut self, end: u64, most: u64) {
        while self.byte_len() > most {
            // Long segments are payloads mostly. Metadata, indexes and descriptors are short, and later calls need them.
            let before = self.segments.iter().enumerate().rev().filter(|(_, segment)| segment.end() <= end);
            let longest = before.max_by_key(|(_, segment)| segment.bytes.len());
            let Some((index, _)) = longest else { break };
            self.segments.remove(index);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use FetchErrorKind::{Changed, Protocol};
    use proptest::prelude::*;

    use super::*;

    fn answer(offset: u64, bytes: &[u8], size: u64) -> Fetched {
        Fetched { offset, bytes: bytes.to_vec(), size: Some(size), tag: None }
    }

    proptest! {
        #[test]
        fn knows_what_was_inserted_and_nothing_else(
            parts in proptest::collection::vec((0..200_u64, 0..60_u64), 0..20),
            asked in (0..200_u64, 0..100_u64),
        ) {
            let bytes: Vec<u8> = (0..=199).collect();
            let (mut known, mut is_known) = (KnownBytes::default(), vec![false; 200]);
            for (start, len) in parts {
                let end = (start + len).min(200);
                let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
                known.insert(&Want::At(start..end), answer(start, &bytes[range.clone()], 200), "a test").unwrap();
                is_known[range].fill(true);
            }
            let range = asked.0..(asked.0 + asked.1).min(200);
            let slots = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            let found = known.bytes(&range);
            prop_assert_eq!(found.is_some(), is_known[slots.clone()].iter().all(|known| *known));
            if let Some(found) = found {
                prop_assert_eq!(&*found, &bytes[slots.clone()]);
            }
            let missing: u64 = known.missing(&range).iter().map(|part| part.end - part.start).sum();
            prop_assert_eq!(missing, is_known[slots].iter().filter(|known| !**known).count() as u64);
        }
    }

    #[test]
    fn answers_that_contradict_the_request_or_earlier_answers_are_refused() {
        let insert =
            |known: &mut KnownBytes, want: Want, answer| known.insert(&want, answer, "a test").map_err(|e| e.kind());
        let mut known = KnownBytes::default();
        insert(&mut known, Want::At(0..4), answer(0, &[1; 4], 9)).unwrap();
        let kinds = [
            insert(&mut known, Want::At(4..6), answer(5, &[1; 2], 9)),
            insert(&mut known, Want::At(4..6), answer(4, &[1; 1], 9)),
            insert(&mut known, Want::At(4..6), answer(4, &[1; 6], 9)),
            insert(&mut known, Want::At(4..6), answer(u64::MAX, &[1; 6], 9)),
            insert(&mut known, Want::At(4..6), answer(4, &[1; 2], 10)),
            insert(&mut KnownBytes::default(), Want::At(0..1), Fetched { size: None, ..answer(0, &[1], 0) }),
        ];
        assert_eq!(kinds.map(Result::unwrap_err), [Protocol, Protocol, Protocol, Protocol, Changed, Protocol]);
        assert_eq!(known.byte_len(), 4);
        insert(&mut known, Want::Suffix(20), answer(0, &[1; 9], 9)).unwrap();
        assert_eq!(known.known_until(0), 9);
    }

    #[test]
    fn versions_must_agree() {
        let tagged = |tag: &str| Fetched { tag: Some(Tag::Strong(tag.into())), ..answer(0, &[1], 9) };
        let mut known = KnownBytes::default();
        known.insert(&Want::At(0..1), tagged("a"), "a test").unwrap();
        let error = known.insert(&Want::At(0..1), tagged("b"), "a test").unwrap_err();
        assert_eq!(error.kind(), Changed);
        assert_eq!(known.tag(), Some(&Tag::Strong("a".into())));
    }
}
