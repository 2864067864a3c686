//! What a task still needs, and the requests that are made of it.

use std::borrow::Cow;
use std::ops::Range;

use super::fetch::Want;
use super::known_bytes::KnownBytes;
use super::options::ReadOptions;
use crate::base::span::{span, span_len};

/// The bytes that one step of a task found missing.
///
/// A step asks for all that it can name before it gives up, so that one round trip answers as much as possible.
#[derive(Debug, Default)]
pub(crate) struct MissingRanges {
    ranges: Vec<Range<u64>>,
    suffix: u64,
    /// The longest request of this step, if that is shorter than the options say.
    most: Option<u64>,
    /// The longest gap of this step, if that is longer than the options say.
    gap: u64,
}

impl MissingRanges {
    /// Asks for bytes. Known bytes and bytes after the source's end are left out when requests are made.
    pub(crate) fn push(&mut self, range: Range<u64>) {
        if !range.is_empty() {
            self.ranges.push(range);
        }
    }

    /// Asks for the last `len` bytes of a source whose length is not known.
    pub(crate) fn push_suffix(&mut self, len: u64) {
        self.suffix = self.suffix.max(len);
    }

    /// Splits the requests of this step where they are longer than `most`.
    pub(crate) fn split_at(&mut self, most: u64) {
        self.most = Some(most);
    }

    /// Merges what this step asks for over gaps of up to `gap` bytes.
    pub(crate) fn bridge(&mut self, gap: u64) {
        self.gap = self.gap.max(gap);
    }

    /// The bytes of `range`, or `None` after asking for them.
    pub(crate) fn need<'k>(&mut self, known: &'k KnownBytes, range: &Range<u64>) -> Option<Cow<'k, [u8]>> {
        let found = known.bytes(range);
        if found.is_none() {
            self.push(range.clone());
        }
        found
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.suffix == 0
    }

    /// The requests that fetch what is wanted and not known: ranges that are close are merged, long ones are split.
    pub(crate) fn requests(self, known: &KnownBytes, options: &ReadOptions) -> Vec<Want> {
        let most = self.most.map_or(options.request, |most| most.min(options.request));
        let clipped = self.ranges.iter().map(|range| match known.size() {
            Some(size) => range.start.min(size)..range.end.min(size),
            // The answer tells the length. A range may go far beyond it, so no more than one request is made.
            None => range.start..range.end.min(span(range.start, most.max(1)).end),
        });
        let mut missing: Vec<_> = clipped.flat_map(|range| known.missing(&range)).collect();
        // In this order, a range can overlap or touch only the last one of the list.
        missing.sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in missing {
            match merged.last_mut() {
                // Bytes that were asked for twice are fetched once, whatever the options say.
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                Some(last) if self.is_near(last, &range, options, most) => last.end = range.end,
                _ => merged.push(range),
            }
        }
        let mut requests: Vec<_> = merged.iter().flat_map(|range| pieces(range, most)).map(Want::At).collect();
        // Once the length is known, tasks ask for the source's end by its place.
        if self.suffix > 0 && known.size().is_none() {
            requests.push(Want::Suffix(self.suffix));
        }
        requests
    }

    /// Whether two ranges are fetched by one request.
    fn is_near(&self, before: &Range<u64>, after: &Range<u64>, options: &ReadOptions, most: u64) -> bool {
        let Some(gap) = options.gap else { return false };
        span_len(&(before.end..after.start)) <= gap.max(self.gap) && span_len(&(before.start..after.end)) <= most
    }
}

/// The range in pieces of at most `most` bytes.
fn pieces(range: &Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let (mut at, end, most) = (range.start, range.end, most.max(1));
    std::iter::from_fn(move || {
        let start = at;
        at = end.min(span(start, most).end);
        (start < end).then_some(start..at)
    })
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges")]
mod tests {
    use super::*;
    use crate::read::Fetched;

    fn requests(ranges: &[Range<u64>], options: &ReadOptions) -> Vec<Range<u64>> {
        let mut known = KnownBytes::default();
        let answer = Fetched { offset: 100, bytes: vec![0; 50], size: Some(1000), tag: None };
        assert_eq!(known.insert(&Want::At(100..150), answer, "a test"), Ok(()));
        let mut wants = MissingRanges::default();
        for range in ranges {
            wants.push(range.clone());
        }
        let requests = wants.requests(&known, options);
        requests.into_iter().map(|want| if let Want::At(range) = want { range } else { 0..0 }).collect()
    }

    #[test]
    fn known_bytes_are_not_asked_for_and_near_ranges_are_merged() {
        let options = ReadOptions { gap: Some(10), request: 300, ..ReadOptions::remote() };
        assert_eq!(requests(&[90..120], &options), [90..100]);
        assert_eq!(requests(&[90..160], &options), [90..100, 150..160]);
        assert_eq!(requests(&[300..310, 200..295], &options), [200..310]);
        assert_eq!(requests(&[200..210, 221..230], &options), [200..210, 221..230]);
        assert_eq!(requests(&[990..2000, 3000..4000], &options), [990..1000]);
        assert_eq!(requests(&[200..900], &options), [200..500, 500..800, 800..900]);
    }

    #[test]
    fn without_a_gap_ranges_stay_apart_unless_they_overlap() {
        let touching = [200..210, 210..220];
        let never = ReadOptions { gap: None, ..ReadOptions::remote() };
        assert_eq!(requests(&touching, &never), touching);
        assert_eq!(requests(&touching, &ReadOptions { gap: Some(0), ..never }), [200..220]);
        assert_eq!(requests(&[200..210, 205..220], &never), [200..220]);
    }
}
