//! One request and its answer.

use std::fmt::Write as _;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, HeaderValue};
use object_store::client::{HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpResponse};

use crate::read::{FetchErrorKind, Fetched, Tag, Want};
use crate::remote::answer::{Head, Refusal, behind, ignores_ranges, read_head, tag};
use crate::remote::body::{BodyError, error_code, read_at_most, read_exactly};

/// What is asked for, and of which version.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) want: Want,
    pub(super) unchanged: Option<Tag>,
    /// The longest file that is read whole if the server ignores ranges.
    pub(super) whole_body: u64,
}

impl Ask {
    /// The value of the header `Range`.
    pub(super) fn range(&self) -> String {
        match &self.want {
            // Servers count in signed numbers.
            Want::At(range) => format!("bytes={}-{}", range.start, range.end.clamp(1, i64::MAX as u64) - 1),
            Want::Suffix(len) => format!("bytes=-{len}"),
        }
    }

    /// The tag that the server is asked to hold on to.
    pub(super) fn if_match(&self) -> Option<&str> {
        match &self.unchanged {
            Some(Tag::Strong(tag)) => Some(tag),
            _ => None,
        }
    }
}

/// What came of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    Fetched(Fetched),
    /// What is wanted begins after the end, if the server can be believed. How long the source is was not said.
    NotThere,
    Refused(Refusal),
    /// The server failed with this answer.
    Failed {
        answer: HttpResponse,
        after: Option<Duration>,
    },
    /// The connection failed.
    Broken(HttpError),
}

/// Sends `request`, which asks for `ask`, and reads the answer.
pub(super) async fn exchange(client: &HttpClient, mut request: HttpRequest, ask: &Ask) -> Outcome {
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let answer = match client.execute(request).await {
        Ok(answer) => answer,
        Err(error) => return Outcome::Broken(error),
    };
    let (head, body) = answer.into_parts();
    let tag = tag(&head.headers);
    let read = match read_head(&ask.want, ask.unchanged.as_ref(), ask.whole_body, &head) {
        Ok(Head::Part { offset, len, size }) => {
            read_exactly(body, len).await.map(|bytes| Fetched { offset, bytes, size, tag })
        }
        Ok(Head::Whole { len, limit }) => {
            let bytes = match len {
                Some(len) => read_exactly(body, len).await,
                None => read_at_most(body, limit).await,
            };
            bytes.map(|bytes| Fetched { offset: 0, size: Some(bytes.len() as u64), bytes, tag })
        }
        Ok(Head::Behind { size }) => return Outcome::Fetched(nothing_at(&ask.want, size, tag)),
        Ok(Head::NotThere) => return Outcome::NotThere,
        Ok(Head::Failed { after }) => return Outcome::Failed { answer: HttpResponse::from_parts(head, body), after },
        Err(mut refusal) => {
            // Only an answer with an error status has a body that says what was wrong.
            if head.status.is_client_error()
                && let Some(code) = error_code(body).await
            {
                let _ = write!(refusal.text, ", {code}");
            }
            if let Some(region) = head.headers.get("x-amz-bucket-region").and_then(|region| region.to_str().ok())
                && (head.status.is_redirection() || head.status == http::StatusCode::BAD_REQUEST)
            {
                let _ = write!(refusal.text, " (the bucket is in region {region}: set aws_region)");
            }
            return Outcome::Refused(refusal);
        }
    };
    match read {
        Ok(fetched) => Outcome::Fetched(fetched),
        // An answer that breaks off may be whole the next time, whatever the connection says of it.
        Err(BodyError::Broken(error)) if error.kind() == HttpErrorKind::Timeout => Outcome::Broken(error),
        Err(BodyError::Broken(error)) => Outcome::Broken(HttpError::new(HttpErrorKind::Interrupted, error)),
        Err(BodyError::Short { len, expected }) => {
            Outcome::Broken(HttpError::new(HttpErrorKind::Interrupted, ShortBody { len, expected }))
        }
        Err(BodyError::Refused(refusal)) => Outcome::Refused(refusal),
    }
}

/// The answer to a want that begins where a source of `size` bytes ends, or after that.
fn nothing_at(want: &Want, size: u64, tag: Option<Tag>) -> Fetched {
    let offset = match want {
        Want::At(range) => range.start,
        Want::Suffix(_) => size,
    };
    Fetched { offset, bytes: Vec::new(), size: Some(size), tag }
}

/// Sends a GET without a range and reads only the head of the answer, which says how long the source is. The connection
/// is dropped with its body.
pub(super) async fn ask_size(client: &HttpClient, request: HttpRequest, ask: &Ask) -> Outcome {
    let answer = match client.execute(request).await {
        Ok(answer) => answer,
        Err(error) => return Outcome::Broken(error),
    };
    let (head, body) = answer.into_parts();
    let everything = Want::At(0..u64::MAX);
    match read_head(&everything, ask.unchanged.as_ref(), ask.whole_body, &head) {
        Ok(Head::Whole { len: Some(size), .. }) => match behind(&ask.want, size) {
            Ok(_) => Outcome::Fetched(nothing_at(&ask.want, size, tag(&head.headers))),
            Err(refusal) => Outcome::Refused(refusal),
        },
        Ok(Head::Failed { after }) => Outcome::Failed { answer: HttpResponse::from_parts(head, body), after },
        Ok(_) => Outcome::Refused(Refusal::new(FetchErrorKind::NoRanges, ignores_ranges(0).text)),
        Err(refusal) => Outcome::Refused(refusal),
    }
}

/// A body that ends before its length.
#[derive(Debug)]
struct ShortBody {
    len: u64,
    expected: u64,
}

impl std::fmt::Display for ShortBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the answer ends after {} of {} bytes", self.len, self.expected)
    }
}

impl std::error::Error for ShortBody {}

/// How often a connection is tried that cannot be made. A host without a name or with a wrong certificate should be
/// told soon.
const CONNECTS: u32 = 3;

/// Whether another try may succeed after `tries` of them.
pub(super) fn may_pass(error: &HttpError, tries: u32) -> bool {
    match error.kind() {
        HttpErrorKind::Connect => tries < CONNECTS,
        HttpErrorKind::Request | HttpErrorKind::Timeout | HttpErrorKind::Interrupted => true,
        // Such as an address that the options do not allow.
        _ => false,
    }
}

/// The kind and the text of a broken connection.
pub(super) fn broken(error: &HttpError) -> Refusal {
    let kind = match error.kind() {
        HttpErrorKind::Timeout => FetchErrorKind::Timeout,
        _ => FetchErrorKind::Unavailable,
    };
    // The first causes say only that sending failed; the last one says why.
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text = match kind {
        FetchErrorKind::Timeout => "the answer did not come in time".into(),
        _ => format!("the connection failed: {cause}"),
    };
    Refusal::new(kind, text)
}
