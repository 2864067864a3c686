//! Files on servers of the web.

use http::header::{AUTHORIZATION, HeaderValue, IF_MATCH, RANGE};
use http::{HeaderMap, Uri};
use object_store::client::{HttpClient, HttpRequest, HttpRequestBody};
use url::Url;

use crate::base::source_name::SourceName;
use crate::base::trace;
use crate::read::{AsyncRangeFetch, BoxFuture, FetchError, FetchErrorKind, Fetched, Tag, Want};
use crate::remote::answer::Refusal;
use crate::remote::connection::failed;
use crate::remote::exchange::{Ask, Outcome, ask_size, broken, exchange, may_pass};
use crate::remote::options::Retry;
use crate::remote::pieces::Pieces;
use crate::remote::retry::Tries;

/// A file at an address of the web, with its query.
#[derive(Debug)]
pub(super) struct HttpSource {
    client: HttpClient,
    uri: Uri,
    authorization: Option<HeaderValue>,
    name: String,
    retry: Retry,
    whole_body: u64,
}

impl HttpSource {
    /// # Errors
    /// [`FetchErrorKind::Invalid`] if the address cannot be requested.
    pub(super) fn new(client: HttpClient, url: &Url, retry: Retry, whole_body: u64) -> Result<Self, FetchError> {
        let name = SourceName::of(url.as_str()).to_string();
        let invalid = |what: &str| FetchError::new(FetchErrorKind::Invalid, format!("{name}: {what}"));
        let mut plain = url.clone();
        plain.set_fragment(None);
        let authorization = match (url.username(), url.password()) {
            ("", None) => None,
            (user, password) => {
                let pair = format!("{}:{}", decoded(user), decoded(password.unwrap_or("")));
                let mut value = HeaderValue::try_from(format!("Basic {}", base64(pair.as_bytes())))
                    .map_err(|_| invalid("user and password cannot be sent"))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        plain.set_username("").and_then(|()| plain.set_password(None)).map_err(|()| invalid("no host"))?;
        let uri = plain.as_str().parse().map_err(|_| invalid("the address cannot be requested"))?;
        Ok(Self { client, uri, authorization, name, retry, whole_body })
    }

    fn request(&self, ask: &Ask, ranged: bool) -> Result<HttpRequest, Refusal> {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.uri_mut() = self.uri.clone();
        let headers: &mut HeaderMap = request.headers_mut();
        let value = |text: &str| {
            HeaderValue::from_str(text)
                .map_err(|_| Refusal::new(FetchErrorKind::Protocol, "the server's tag cannot be sent back"))
        };
        if ranged {
            headers.insert(RANGE, value(&ask.range())?);
        }
        if let Some(tag) = ask.if_match() {
            headers.insert(IF_MATCH, value(tag)?);
        }
        if let Some(authorization) = &self.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }

    /// Asks for all of a range, in several requests if the server answers with fewer bytes.
    async fn fetch_all(&self, ask: &Ask, tries: &mut Tries) -> Result<Fetched, Refusal> {
        let mut pieces = Pieces::new(ask);
        while let Some(ask) = pieces.next() {
            pieces.take(self.fetch_tried(&ask, tries).await?)?;
        }
        pieces.finish()
    }

    async fn fetch_tried(&self, ask: &Ask, tries: &mut Tries) -> Result<Fetched, Refusal> {
        let mut ranged = true;
        loop {
            let request = self.request(ask, ranged)?;
            let outcome = if ranged {
                exchange(&self.client, request, ask).await
            } else {
                ask_size(&self.client, request, ask).await
            };
            let (refusal, after) = match outcome {
                Outcome::Fetched(fetched) => return Ok(fetched),
                Outcome::Refused(refusal) => return Err(refusal),
                Outcome::NotThere => {
                    ranged = false;
                    continue;
                }
                Outcome::Failed { answer, after } => (failed(answer.status()), after),
                Outcome::Broken(error) if may_pass(&error, tries.failed() + 1) => (broken(&error), None),
                Outcome::Broken(error) => {
                    // Counted, and not repeated.
                    let _ = tries.pause(None);
                    return Err(broken(&error));
                }
            };
            match tries.pause(after) {
                Some(pause) => {
                    trace::retried(&self.name, tries.failed(), pause, &refusal.text);
                    tokio::time::sleep(pause).await;
                }
                None => return Err(refusal),
            }
        }
    }
}

impl AsyncRangeFetch for HttpSource {
    fn fetch<'a>(&'a self, want: &'a Want, unchanged: Option<&'a Tag>) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        Box::pin(async move {
            let ask = Ask { want: want.clone(), unchanged: unchanged.cloned(), whole_body: self.whole_body };
            let mut tries = Tries::new(self.retry);
            self.fetch_all(&ask, &mut tries).await.map_err(|refusal| {
                let text = format!("{}: {}: {}{}", self.name, ask.range(), refusal.text, tries.text());
                FetchError::new(refusal.kind, text)
            })
        })
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// Text of an address, with its `%` taken back.
fn decoded(text: &str) -> String {
    url::form_urlencoded::parse(text.replace('+', "%2B").as_bytes())
        .map(|(key, value)| if value.is_empty() { key.into_owned() } else { format!("{key}={value}") })
        .collect()
}

/// Base64 with padding, for the header `Authorization`.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS.get((group >> (18 - 6 * place)) as usize & 63).copied().map_or('=', char::from);
            out.push(if place <= chunk.len() { digit } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_padding() {
        for (text, expected) in [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("abc", "YWJj"), ("a:\u{ff}?>", "YTrDvz8+")] {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn percent_signs_are_taken_back() {
        assert_eq!(decoded("a%3Ab%20c+d=e"), "a:b c+d=e");
    }
}
