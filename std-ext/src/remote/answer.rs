//! What the head of an answer says: which bytes follow, of what, or why there are none.

use std::ops::Range;
use std::time::Duration;

use http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED, RETRY_AFTER, TRANSFER_ENCODING,
};
use http::response::Parts;
use http::{HeaderMap, HeaderName, StatusCode, Version};

use crate::base::span::span_before;
use crate::read::{FetchErrorKind, Tag, Want};

/// A request that was refused, or an answer that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) kind: FetchErrorKind,
    pub(super) text: String,
}

impl Refusal {
    pub(super) fn new(kind: FetchErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// What the head of an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// `len` bytes from `offset` follow.
    Part { offset: u64, len: u64, size: Option<u64> },
    /// The server ignores ranges: all bytes follow, no more than `limit` of them.
    Whole { len: Option<u64>, limit: u64 },
    /// What is wanted begins at the end of the source, or after it.
    Behind { size: u64 },
    /// The same, perhaps: the server does not say how long the source is.
    NotThere,
    /// The server failed. Another try may succeed.
    Failed { after: Option<Duration> },
}

/// The text of a header.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The version that an answer names.
pub(super) fn tag(headers: &HeaderMap) -> Option<Tag> {
    match text(headers, ETAG).filter(|tag| !tag.is_empty()) {
        Some(tag) if tag.starts_with("W/") => Some(Tag::Weak(tag.into())),
        Some(tag) => Some(Tag::Strong(tag.into())),
        // A tag with bytes beyond ASCII is compared, and not sent back, which clients cannot do alike.
        None if let Some(tag) = headers.get(ETAG).filter(|tag| !tag.is_empty()) => {
            Some(Tag::Weak(tag.as_bytes().escape_ascii().to_string()))
        }
        None => text(headers, LAST_MODIFIED).map(|time| Tag::Weak(format!("Last-Modified: {time}"))),
    }
}

/// Whether both tags are known to name different versions. A server may weaken a tag of the same version.
fn differ(before: &Tag, now: &Tag) -> bool {
    let is_time = |tag: &str| tag.starts_with("Last-Modified: ");
    let (Tag::Strong(before) | Tag::Weak(before), Tag::Strong(now) | Tag::Weak(now)) = (before, now);
    if is_time(before) != is_time(now) {
        return false;
    }
    before.trim_start_matches("W/") != now.trim_start_matches("W/")
}

/// Reads the head of an answer to a GET of `want`.
///
/// # Errors
/// The answer is an error for good, or contradicts the request, itself, or the version.
pub(super) fn read_head(
    want: &Want,
    unchanged: Option<&Tag>,
    whole_body: u64,
    answer: &Parts,
) -> Result<Head, Refusal> {
    let (status, headers) = (answer.status, &answer.headers);
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT) || status.is_server_error() {
        // 501 does not pass with time: the server does not implement what was asked for.
        if status != StatusCode::NOT_IMPLEMENTED {
            let after = text(headers, RETRY_AFTER).and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
            return Ok(Head::Failed { after });
        }
    }
    match status {
        StatusCode::PARTIAL_CONTENT | StatusCode::OK => {}
        StatusCode::RANGE_NOT_SATISFIABLE => return not_satisfiable(want, headers),
        _ => return Err(refused(want, status)),
    }
    // S3 keeps `aws-chunked` of uploads in the headers of the object.
    if let Some(coding) = text(headers, CONTENT_ENCODING)
        && !matches!(coding.to_ascii_lowercase().as_str(), "" | "identity" | "aws-chunked")
    {
        let text = format!("the answer is encoded ({coding}): its bytes are not the bytes of the file");
        return Err(Refusal::new(FetchErrorKind::Protocol, text));
    }
    if let (Some(before), Some(now)) = (unchanged, tag(headers))
        && differ(before, &now)
    {
        return Err(Refusal::new(FetchErrorKind::Changed, format!("the content changed: {before:?} is now {now:?}")));
    }
    match status {
        StatusCode::PARTIAL_CONTENT => part(want, headers),
        _ => whole(want, whole_body, answer),
    }
}

/// An answer of status 206. Its range must be the one asked for, or end where the source ends, or be the first part of it: a server may
/// answer with fewer bytes (RFC 9110 §15.3.7), and the others are asked for after that.
fn part(want: &Want, headers: &HeaderMap) -> Result<Head, Refusal> {
    let protocol = |text: String| Refusal::new(FetchErrorKind::Protocol, text);
    let Some(stated) = text(headers, CONTENT_RANGE) else {
        return Err(protocol("the answer has status 206, and no Content-Range says which bytes it has".into()));
    };
    let Some((range, size)) = content_range(stated) else {
        return Err(protocol(format!("the answer's Content-Range is not understood: {stated:?}")));
    };
    let fits = match want {
        Want::At(asked) => {
            range.start == asked.start && (range.end == asked.end || (range.end < asked.end && size.is_some()))
        }
        // Without a size, the end of a suffix is the end of the source.
        Want::Suffix(len) => {
            let end = size.unwrap_or(range.end);
            range.end == end && range.start == span_before(end, *len).start
        }
    };
    if !fits {
        let asked = match want {
            // The last byte, as the header has it.
            Want::At(asked) => format!("bytes {} to {}", asked.start, asked.end.saturating_sub(1)),
            Want::Suffix(len) => format!("the last {len} bytes"),
        };
        return Err(protocol(format!("{asked} were asked for, and the server answers with others: {stated}")));
    }
    let len = range.end - range.start;
    if let Some(stated) = content_length(headers)
        && stated != len
    {
        return Err(protocol(format!("the answer's length is {stated}, and its Content-Range has {len} bytes")));
    }
    let size = size.or_else(|| matches!(want, Want::Suffix(_)).then_some(range.end));
    Ok(Head::Part { offset: range.start, len, size })
}

/// An answer of status 200: the server ignores ranges.
fn whole(want: &Want, whole_body: u64, answer: &Parts) -> Result<Head, Refusal> {
    let asked = match want {
        Want::At(range) if range.start == 0 => range.end,
        Want::At(_) => 0,
        Want::Suffix(len) => *len,
    };
    // A caller that asks for this many bytes can hold them. So a source of this length may be read whole.
    let limit = whole_body.max(asked);
    let len = content_length(&answer.headers);
    if len.is_some_and(|len| len > limit) {
        return Err(ignores_ranges(limit));
    }
    // Then the end of the connection is the end of the file, and a broken one looks the same.
    if len.is_none() && answer.version < Version::HTTP_2 && !answer.headers.contains_key(TRANSFER_ENCODING) {
        let text = "the server ignores ranges and does not say how long the file is";
        return Err(Refusal::new(FetchErrorKind::NoRanges, text));
    }
    Ok(Head::Whole { len, limit })
}

/// The file is longer than may be read whole.
pub(super) fn ignores_ranges(limit: u64) -> Refusal {
    let text = format!("the server ignores ranges, and the file is longer than {limit} bytes");
    Refusal::new(FetchErrorKind::NoRanges, text)
}

/// An answer of status 416.
fn not_satisfiable(want: &Want, headers: &HeaderMap) -> Result<Head, Refusal> {
    let size = text(headers, CONTENT_RANGE).and_then(|range| of_bytes(range)?.strip_prefix("*/")?.trim().parse().ok());
    match (want, size) {
        (_, None) => Ok(Head::NotThere),
        (want, Some(size)) => behind(want, size),
    }
}

/// What status 416 means for a source of `size` bytes.
///
/// # Errors
/// The range lies in the source: the server gives no ranges of that kind.
pub(super) fn behind(want: &Want, size: u64) -> Result<Head, Refusal> {
    match want {
        Want::At(range) if range.start >= size => Ok(Head::Behind { size }),
        Want::Suffix(_) if size == 0 => Ok(Head::Behind { size }),
        _ => {
            let text = format!("the server refuses this range of a file of {size} bytes (status 416)");
            Err(Refusal::new(FetchErrorKind::NoRanges, text))
        }
    }
}

fn refused(want: &Want, status: StatusCode) -> Refusal {
    let kind = match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => FetchErrorKind::NotFound,
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            FetchErrorKind::Denied
        }
        StatusCode::PRECONDITION_FAILED => FetchErrorKind::Changed,
        // Some servers refuse suffixes in this way.
        StatusCode::BAD_REQUEST | StatusCode::NOT_IMPLEMENTED if matches!(want, Want::Suffix(_)) => {
            FetchErrorKind::NoRanges
        }
        _ => FetchErrorKind::Protocol,
    };
    let text = match kind {
        FetchErrorKind::Changed => "the content changed since it was first read",
        _ => "the server refuses",
    };
    Refusal::new(kind, format!("{text}: status {status}"))
}

/// The length that the answer states for its body.
fn content_length(headers: &HeaderMap) -> Option<u64> {
    text(headers, CONTENT_LENGTH)?.parse().ok()
}

/// What follows `bytes `. Names of units have no case (RFC 9110 §14.1).
fn of_bytes(text: &str) -> Option<&str> {
    let (unit, rest) = text.split_once(' ')?;
    unit.eq_ignore_ascii_case("bytes").then(|| rest.trim_start())
}

/// `bytes FIRST-LAST/SIZE`, where SIZE may be `*`.
fn content_range(text: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (range, size) = of_bytes(text)?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    let size = match size.trim() {
        "*" => None,
        size => Some(size.parse().ok()?),
    };
    let end = last.checked_add(1)?;
    (first <= last && size.is_none_or(|size| end <= size)).then_some((first..end, size))
}
