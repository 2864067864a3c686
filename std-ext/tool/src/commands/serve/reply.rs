//! An answer: conditions, ranges and headers.

use std::ops::Range;

use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName,
    HeaderValue, IF_MATCH, IF_NONE_MATCH, IF_RANGE, RANGE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Response, StatusCode};

use crate::commands::serve::body::Reply;
use crate::commands::serve::range::{Asked, asked, has_tag};

/// What pages may load: nothing but what is served beside them.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; \
                      connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A request, as far as an answer depends on it.
#[derive(Debug)]
pub(super) struct Request<'r> {
    pub(super) method: &'r Method,
    pub(super) headers: &'r HeaderMap,
}

/// What is at an address.
#[derive(Debug)]
pub(super) struct Entity {
    pub(super) len: u64,
    /// A strong tag.
    pub(super) tag: String,
    pub(super) kind: &'static str,
}

/// Answers with what is at an address, or with a part of it: `bytes` makes the bytes of a range.
pub(super) fn entity(
    request: &Request<'_>,
    entity: &Entity,
    bytes: impl FnOnce(Range<u64>) -> Reply,
) -> Response<Reply> {
    let (status, range) = outcome(request, entity);
    let mut answer = Response::new(empty());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // Whoever keeps it asks whether it is the same before he uses it again.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    put(headers, ETAG, &entity.tag);
    let of_range = match (status, &range) {
        (StatusCode::PARTIAL_CONTENT, Some(range)) => {
            Some(format!("bytes {}-{}/{}", range.start, range.end.saturating_sub(1), entity.len))
        }
        (StatusCode::RANGE_NOT_SATISFIABLE, _) => Some(format!("bytes */{}", entity.len)),
        _ => None,
    };
    if let Some(text) = of_range {
        put(headers, CONTENT_RANGE, &text);
    }
    let Some(range) = range else {
        return answer;
    };
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(entity.kind));
    put(headers, CONTENT_LENGTH, &range.end.saturating_sub(range.start).to_string());
    if request.method != Method::HEAD {
        *answer.body_mut() = bytes(range);
    }
    answer
}

/// The status of an answer, and the bytes that it has. `None` for an answer without content.
fn outcome(request: &Request<'_>, entity: &Entity) -> (StatusCode, Option<Range<u64>>) {
    let header = |name: HeaderName| request.headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if header(IF_MATCH).is_some_and(|list| !has_tag(list, &entity.tag, false)) {
        return (StatusCode::PRECONDITION_FAILED, None);
    }
    if header(IF_NONE_MATCH).is_some_and(|list| has_tag(list, &entity.tag, true)) {
        return (StatusCode::NOT_MODIFIED, None);
    }
    // A date in it is of no use here: it tells versions of one second apart only.
    let is_same = header(IF_RANGE).is_none_or(|tag| tag.trim() == entity.tag);
    let of_part = header(RANGE).filter(|_| is_same && request.method == Method::GET);
    match asked(of_part, entity.len) {
        Asked::Whole => (StatusCode::OK, Some(0..entity.len)),
        Asked::Part(range) => (StatusCode::PARTIAL_CONTENT, Some(range)),
        Asked::Beyond => (StatusCode::RANGE_NOT_SATISFIABLE, None),
    }
}

/// Answers with a sentence.
pub(super) fn sentence(status: StatusCode, text: &str) -> Response<Reply> {
    let mut answer = Response::new(Reply::of(Bytes::from(format!("{text}\n")), None));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// Adds the headers that every answer has. `origin` names the pages that may read it.
pub(super) fn finish(answer: &mut Response<Reply>, origin: Option<&str>, has_origins: bool) {
    let headers = answer.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert("content-security-policy", HeaderValue::from_static(POLICY));
    // Addresses have the token.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let readers = if has_origins { "cross-origin" } else { "same-origin" };
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static(readers));
    if has_origins {
        headers.insert("vary", HeaderValue::from_static("Origin"));
    }
    let Some(origin) = origin else { return };
    put(headers, HeaderName::from_static("access-control-allow-origin"), origin);
    let readable = HeaderValue::from_static("Accept-Ranges, Content-Length, Content-Range, ETag");
    headers.insert("access-control-expose-headers", readable);
}

/// Answers a page that asks which requests it may send.
pub(super) fn preflight() -> Response<Reply> {
    let mut answer = Response::new(empty());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    headers.insert("access-control-allow-methods", HeaderValue::from_static("GET, HEAD"));
    let asked = HeaderValue::from_static("If-Match, If-None-Match, If-Range, Range");
    headers.insert("access-control-allow-headers", asked);
    // Browsers ask so before a page of the net reads from this machine.
    headers.insert("access-control-allow-private-network", HeaderValue::from_static("true"));
    headers.insert("access-control-max-age", HeaderValue::from_static("600"));
    answer
}

fn empty() -> Reply {
    Reply::of(Bytes::new(), None)
}

/// Sets a header to a text. A text that a header cannot have is left away: no tag and no origin is one.
fn put(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}
