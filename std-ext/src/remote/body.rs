//! Bodies of answers, read up to a limit.

use http_body_util::BodyExt as _;
use object_store::client::{HttpError, HttpResponseBody};

use crate::base::span::{head, index};
use crate::read::FetchErrorKind;
use crate::remote::answer::{Refusal, ignores_ranges};

/// A body that could not be read.
#[derive(Debug)]
pub(super) enum BodyError {
    /// It ended early, or the connection broke. Another try may succeed.
    Broken(HttpError),
    /// It ended early without an error of the connection.
    Short {
        len: u64,
        expected: u64,
    },
    Refused(Refusal),
}

/// Buffers of this length are allocated before bytes come.
const TRUSTED: u64 = 8 << 20;

/// Reads a body of `len` bytes.
///
/// # Errors
/// It has another length, or the connection broke.
pub(super) async fn read_exactly(body: HttpResponseBody, len: u64) -> Result<Vec<u8>, BodyError> {
    let refused = || {
        let text = format!("the answer is longer than the {len} bytes that it states");
        BodyError::Refused(Refusal::new(FetchErrorKind::Protocol, text))
    };
    let bytes = read(body, len, len.min(TRUSTED), refused).await?;
    match bytes.len() as u64 {
        found if found == len => Ok(bytes),
        found => Err(BodyError::Short { len: found, expected: len }),
    }
}

/// Reads a body of at most `limit` bytes.
///
/// # Errors
/// It is longer, or the connection broke.
pub(super) async fn read_at_most(body: HttpResponseBody, limit: u64) -> Result<Vec<u8>, BodyError> {
    read(body, limit, 0, || BodyError::Refused(ignores_ranges(limit))).await
}

async fn read(
    mut body: HttpResponseBody,
    limit: u64,
    expected: u64,
    too_long: impl Fn() -> BodyError,
) -> Result<Vec<u8>, BodyError> {
    let no_memory = |len: u64| {
        let text = format!("cannot allocate {len} bytes");
        BodyError::Refused(Refusal::new(FetchErrorKind::TooLarge, text))
    };
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(index(expected)).map_err(|_| no_memory(expected))?;
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(BodyError::Broken)?.into_data() else { continue };
        let len = bytes.len() as u64 + piece.len() as u64;
        if len > limit {
            return Err(too_long());
        }
        bytes.try_reserve(piece.len()).map_err(|_| no_memory(len))?;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// The code of an error that a store states in the body of its answer: `<Code>AccessDenied</Code>`.
pub(super) async fn error_code(mut body: HttpResponseBody) -> Option<String> {
    const LIMIT: usize = 16 << 10;
    let mut text = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(piece) = frame.into_data() {
            text.extend_from_slice(head(&piece, (LIMIT - text.len()) as u64));
        }
        if text.len() >= LIMIT {
            break;
        }
    }
    let text = String::from_utf8_lossy(&text);
    let code = text.split_once("<Code>")?.1.split_once("</Code>")?.0;
    let is_code = (1..=64).contains(&code.len()) && code.chars().all(|char| char.is_ascii_alphanumeric());
    is_code.then(|| code.to_string())
}
