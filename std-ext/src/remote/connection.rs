//! Connections: the HTTP client, as `object_store` sets it up by its options.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http::StatusCode;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};

use crate::read::{FetchErrorKind, Fetched};
use crate::remote::answer::Refusal;
use crate::remote::exchange::{Ask, Outcome, exchange, may_pass};
use crate::remote::keys::Settings;
use crate::remote::options::Credentials;

/// A client with these options.
///
/// # Errors
/// The options are wrong.
pub(super) fn connect(options: &ClientOptions) -> object_store::Result<HttpClient> {
    // The client's TLS asks for the cryptography of the process, and panics if there is none. Whatever the program
    // installed stays. If it installed nothing, it is given ring's. A program that wants another one installs it before
    // it opens the first source.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Another thread may have been faster. One of both is there then.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    ReqwestConnector::default().connect(options)
}

/// What is asked for and what came of it, handed to the connection and back through a store.
///
/// A store tells little of an answer: no status, no length of a source that ends before the range, no bytes of a server
/// that ignores ranges. So the connection reads the answer, leaves it here, and stops the store.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    ask: Ask,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    tries: u32,
    status: Option<StatusCode>,
    result: Option<Answer>,
}

/// An answer that needs no other try.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Fetched(Fetched),
    NotThere,
    Refused(Refusal),
}

impl Ticket {
    pub(super) fn new(ask: Ask) -> Self {
        Self { ask, state: Arc::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer, if one came that needs no other try.
    pub(super) fn take(&self) -> Option<Answer> {
        self.state().result.take()
    }

    /// How many requests were sent.
    pub(super) fn tries(&self) -> u32 {
        self.state().tries
    }

    /// The status of the last answer, if the server failed.
    pub(super) fn status(&self) -> Option<StatusCode> {
        self.state().status
    }
}

/// Makes clients for stores. Requests with a [`Ticket`] are answered there.
#[derive(Debug)]
pub(super) struct Connector {
    /// How long the cloud instance is asked for credentials. `None` if others are there.
    asks_for: Option<Duration>,
}

/// How long the cloud instance is asked at most.
const INSTANCE: Duration = Duration::from_secs(5);

impl Connector {
    pub(super) fn of<K>(settings: &Settings<K>) -> Self {
        let is_asked = settings.credentials == Credentials::Instance;
        Self { asks_for: is_asked.then(|| INSTANCE.min(settings.options.retry.within)) }
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let asking = Asking { limit: self.asks_for, since: Mutex::default() };
        Ok(HttpClient::new(Noting { client: connect(options)?, asking }))
    }
}

#[derive(Debug)]
struct Noting {
    client: HttpClient,
    asking: Asking,
}

/// For how long credentials have been asked for. The store repeats requests that fail, for minutes.
#[derive(Debug)]
struct Asking {
    limit: Option<Duration>,
    since: Mutex<Option<Instant>>,
}

impl Asking {
    /// Sends a request for credentials. A request for an object has limits of its own.
    async fn execute(&self, client: &HttpClient, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let Some(limit) = self.limit.filter(|_| request.extensions().get::<OfObject>().is_none()) else {
            return client.execute(request).await;
        };
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(Instant::now);
        let left = limit.saturating_sub(since.elapsed());
        // An error of this kind is not followed by another try.
        let over = || HttpError::new(HttpErrorKind::Unknown, NoAnswer(limit));
        let answer = tokio::time::timeout(left, client.execute(request)).await.map_err(|_| over())?;
        if answer.is_err() && since.elapsed() >= limit {
            return Err(over());
        }
        if answer.is_ok() {
            *self.since.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        answer
    }
}

/// Marks a request for an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfObject;

/// The cloud instance did not answer.
#[derive(Debug)]
struct NoAnswer(Duration);

impl std::fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no cloud instance answered within {} s", self.0.as_secs_f64())
    }
}

impl std::error::Error for NoAnswer {}

/// Stops a store: the answer is in the ticket.
#[derive(Debug)]
struct Taken;

impl std::fmt::Display for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the answer was taken")
    }
}

impl std::error::Error for Taken {}

/// The same as the macro of `async_trait` makes.
type Answering<'a> = std::pin::Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'a>>;

impl HttpService for Noting {
    fn call<'this, 'future>(&'this self, request: HttpRequest) -> Answering<'future>
    where
        'this: 'future,
        Self: 'future,
    {
        Box::pin(async move {
            let Some(ticket) = request.extensions().get::<Ticket>().cloned() else {
                // It asks for credentials, or for no range.
                return self.asking.execute(&self.client, request).await;
            };
            ticket.state().tries += 1;
            ticket.state().status = None;
            let answer = match exchange(&self.client, request, &ticket.ask).await {
                Outcome::Fetched(fetched) => Answer::Fetched(fetched),
                Outcome::NotThere => Answer::NotThere,
                Outcome::Refused(refusal) => Answer::Refused(refusal),
                // The store tries again, or gives up.
                Outcome::Failed { answer, .. } => {
                    ticket.state().status = Some(answer.status());
                    return Ok(answer);
                }
                Outcome::Broken(error) if may_pass(&error, ticket.tries()) => return Err(error),
                // Errors of this kind are not tried again.
                Outcome::Broken(error) => return Err(HttpError::new(HttpErrorKind::Unknown, error)),
            };
            ticket.state().result = Some(answer);
            // As above.
            Err(HttpError::new(HttpErrorKind::Unknown, Taken))
        })
    }
}

/// The refusal for a server that failed.
pub(super) fn failed(status: StatusCode) -> Refusal {
    Refusal::new(FetchErrorKind::Unavailable, format!("the server failed: status {status}"))
}
