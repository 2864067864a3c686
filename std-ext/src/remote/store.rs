//! Objects in stores: S3, Google Cloud Storage, Azure.

use std::error::Error as _;
use std::sync::Arc;

use object_store::client::HttpError;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore};

use crate::read::{AsyncRangeFetch, BoxFuture, FetchError, FetchErrorKind, FetchTraits, Fetched, Tag, Want};
use crate::remote::answer::{Refusal, behind};
use crate::remote::connection::{Answer, OfObject, Ticket, failed};
use crate::remote::exchange::{Ask, broken};
use crate::remote::options::Credentials;
use crate::remote::pieces::Pieces;

/// An object in a store.
#[derive(Debug)]
pub(super) struct StoreSource {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) path: Path,
    pub(super) name: String,
    pub(super) credentials: Credentials,
    /// Azure refuses ranges that count from the end.
    pub(super) suffix: bool,
    pub(super) whole_body: u64,
}

impl StoreSource {
    async fn fetch_asked(&self, ask: &Ask, ticket: &Ticket) -> Result<Fetched, Refusal> {
        if matches!(ask.want, Want::Suffix(_)) && !self.suffix {
            return Err(Refusal::new(FetchErrorKind::NoRanges, "Azure gives no ranges that count from the end"));
        }
        let range = match &ask.want {
            Want::At(range) => GetRange::Bounded(range.start..range.end.min(i64::MAX as u64)),
            Want::Suffix(len) => GetRange::Suffix(*len),
        };
        let mut options = GetOptions::new().with_range(Some(range)).with_if_match(ask.if_match());
        options.extensions.insert(ticket.clone());
        let result = self.store.get_opts(&self.path, options).await;
        match ticket.take() {
            Some(Answer::Fetched(fetched)) => Ok(fetched),
            Some(Answer::Refused(refusal)) => Err(refusal),
            Some(Answer::NotThere) => self.nothing_there(ask).await,
            None => match result {
                Err(error) => Err(Self::failure(&error, ticket)),
                // All stores that are opened here send their requests by our connection.
                Ok(_) => Err(Refusal::new(FetchErrorKind::Protocol, "the store did not send the request")),
            },
        }
    }

    /// Asks for all of a range, in several requests if the server answers with fewer bytes. `ticket` is that of the last one.
    async fn fetch_all(&self, ask: &Ask, ticket: &mut Ticket) -> Result<Fetched, Refusal> {
        let mut pieces = Pieces::new(ask);
        while let Some(ask) = pieces.next() {
            *ticket = Ticket::new(ask.clone());
            pieces.take(self.fetch_asked(&ask, ticket).await?)?;
        }
        pieces.finish()
    }

    /// The server refused a range and did not say how long the object is: asks for the object, and reads only the head
    /// of the answer.
    async fn nothing_there(&self, ask: &Ask) -> Result<Fetched, Refusal> {
        let mut options = GetOptions::new().with_if_match(ask.if_match());
        options.extensions.insert(OfObject);
        let answer = self.store.get_opts(&self.path, options).await;
        let answer = answer.map_err(|error| Self::failure(&error, &Ticket::new(ask.clone())))?;
        let size = answer.meta.size;
        behind(&ask.want, size)?;
        let offset = match &ask.want {
            Want::At(range) => range.start,
            Want::Suffix(_) => size,
        };
        Ok(Fetched { offset, bytes: Vec::new(), size: Some(size), tag: ask.unchanged.clone() })
    }

    /// Why a store gave up.
    fn failure(error: &Error, ticket: &Ticket) -> Refusal {
        if let Some(status) = ticket.status() {
            return failed(status);
        }
        let mut cause = error.source();
        let mut last = None;
        while let Some(next) = cause {
            if let Some(http) = next.downcast_ref::<HttpError>()
                && ticket.tries() > 0
            {
                return broken(http);
            }
            last = Some(next);
            cause = next.source();
        }
        // The text of the last cause has no address in it.
        let text = last.map_or_else(|| "the store failed".to_string(), ToString::to_string);
        match error {
            Error::NotFound { .. } => Refusal::new(FetchErrorKind::NotFound, text),
            Error::NotSupported { .. } | Error::NotImplemented { .. } => Refusal::new(FetchErrorKind::NoRanges, text),
            Error::Precondition { .. } => Refusal::new(FetchErrorKind::Changed, text),
            _ if ticket.tries() == 0 => {
                Refusal::new(FetchErrorKind::Denied, format!("the credentials cannot be had: {text}"))
            }
            _ => Refusal::new(FetchErrorKind::Protocol, text),
        }
    }
}

impl AsyncRangeFetch for StoreSource {
    fn fetch<'a>(&'a self, want: &'a Want, unchanged: Option<&'a Tag>) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        Box::pin(async move {
            let ask = Ask { want: want.clone(), unchanged: unchanged.cloned(), whole_body: self.whole_body };
            let mut ticket = Ticket::new(ask.clone());
            self.fetch_all(&ask, &mut ticket).await.map_err(|refusal| {
                let tries = match ticket.tries() {
                    0 | 1 => String::new(),
                    tries => format!(" (after {tries} tries)"),
                };
                let credentials = match refusal.kind {
                    FetchErrorKind::Denied | FetchErrorKind::NotFound => format!("; {}", self.credentials.text()),
                    _ => String::new(),
                };
                let text = format!("{}: {}: {}{tries}{credentials}", self.name, ask.range(), refusal.text);
                FetchError::new(refusal.kind, text)
            })
        })
    }

    fn traits(&self) -> FetchTraits {
        FetchTraits { suffix: self.suffix, ..FetchTraits::default() }
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
