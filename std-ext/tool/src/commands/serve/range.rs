//! Ranges of bytes and tags of answers, as RFC 9110 has them.

use std::ops::Range;

/// What a header `Range` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Everything: there is no range, or one that a server may pass over.
    Whole,
    /// These bytes.
    Part(Range<u64>),
    /// Bytes that are not there.
    Beyond,
}

/// What a header asks of `len` bytes. Several ranges, other units and what is not a range are passed over.
pub(super) fn asked(header: Option<&str>, len: u64) -> Asked {
    let part = header.and_then(|text| {
        let (unit, range) = text.split_once('=')?;
        unit.trim().eq_ignore_ascii_case("bytes").then_some(())?;
        range.trim().split_once('-')
    });
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| parsed(text));
    let Some((first, last)) = part else { return Asked::Whole };
    let (Some(first), Some(last)) = (number(first), number(last)) else { return Asked::Whole };
    match (first, last) {
        (None, None) => Asked::Whole,
        (Some(first), Some(last)) if last < first => Asked::Whole,
        (Some(first), _) if first >= len => Asked::Beyond,
        (Some(first), last) => Asked::Part(first..last.map_or(len, |last| last.saturating_add(1).min(len))),
        (None, Some(count)) if count == 0 || len == 0 => Asked::Beyond,
        (None, Some(count)) => Asked::Part(len.saturating_sub(count)..len),
    }
}

/// A number of digits. `None` for no digit. One beyond 64 bits is beyond all bytes, as their greatest number is.
fn parsed(digits: &str) -> Option<u64> {
    if digits.is_empty() { None } else { Some(digits.parse().unwrap_or(u64::MAX)) }
}

/// Whether a list of tags (`If-Match`, `If-None-Match`) has one. Weak tags count where `is_weak` allows it.
pub(super) fn has_tag(list: &str, tag: &str, is_weak: bool) -> bool {
    list.split(',').map(str::trim).any(|one| {
        let one = if is_weak { one.strip_prefix("W/").unwrap_or(one) } else { one };
        one == "*" || one == tag
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_rfc_9110() {
        let part = |range| Asked::Part(range);
        let cases = [
            ("bytes=0-499", part(0..500)),
            ("bytes=500-999", part(500..1000)),
            ("bytes=-500", part(9500..10_000)),
            ("bytes=9500-", part(9500..10_000)),
            ("bytes=0-0", part(0..1)),
            ("bytes=-1", part(9999..10_000)),
            ("Bytes = 5-7", part(5..8)),
            ("bytes=0-20000", part(0..10_000)),
            ("bytes=-20000", part(0..10_000)),
            ("bytes=0-99999999999999999999", part(0..10_000)),
            ("bytes=10000-", Asked::Beyond),
            ("bytes=99999999999999999999-", Asked::Beyond),
            ("bytes=-0", Asked::Beyond),
            // Passed over: wrong, several, or of another unit.
            ("bytes=7-5", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("bytes=+1-5", Asked::Whole),
            ("bytes=1-x", Asked::Whole),
            ("bytes=0-1,5-6", Asked::Whole),
            ("lines=1-2", Asked::Whole),
            ("bytes", Asked::Whole),
        ];
        for (text, expected) in cases {
            assert_eq!(asked(Some(text), 10_000), expected, "{text}");
        }
        assert_eq!((asked(None, 5), asked(Some("bytes=0-"), 0)), (Asked::Whole, Asked::Beyond));
        assert_eq!(asked(Some("bytes=-5"), 0), Asked::Beyond);
    }

    #[test]
    fn weak_tags_count_only_where_they_may() {
        let tag = "\"a\"";
        assert!(has_tag("\"b\", \"a\"", tag, false) && has_tag("*", tag, false) && has_tag("W/\"a\"", tag, true));
        assert!(!has_tag("W/\"a\"", tag, false) && !has_tag("\"b\"", tag, true) && !has_tag("", tag, true));
    }
}
