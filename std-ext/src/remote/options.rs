//! How an address is opened.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// How an address is opened, and how often a request is tried.
///
/// ```
/// use tgm_std::remote::RemoteOptions;
///
/// let options = RemoteOptions::new([("region", "eu-west-1"), ("skip_signature", "true"), ("timeout", "10 s")]);
/// assert!(tgm_std::remote::open("s3://bucket/file.tgm", &options).is_ok());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteOptions {
    /// Options by name, as object stores know them: `aws_region`, `azure_storage_account_name`,
    /// `google_service_account`, `timeout` (30 s by default), `connect_timeout` (5 s), `allow_http`, `proxy_url` …
    /// Upper and lower case are the same.
    ///
    /// `allow_http` is true for addresses that begin with `http://` unless it is given. `max_retries` and
    /// `retry_timeout` are [`Self::retry`] by name.
    pub storage: BTreeMap<String, String>,
    /// What to do with names in `storage` that the kind of address does not know.
    pub unknown_keys: UnknownKeys,
    /// Whether to read variables of the environment that begin with `AWS_`, `GOOGLE_` or `AZURE_`, which one depending
    /// on the address. What `storage` says goes first. If it has credentials, the credentials of the environment are
    /// not used at all, so that the two are never mixed.
    pub environment: bool,
    /// How often a failed request is repeated.
    pub retry: Retry,
    /// The longest file that is read whole from a server that ignores ranges.
    pub whole_body: u64,
}

impl RemoteOptions {
    /// The default options with these in `storage`.
    pub fn new<K: Into<String>, V: Into<String>>(storage: impl IntoIterator<Item = (K, V)>) -> Self {
        let storage = storage.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self { storage, ..Self::default() }
    }
}

impl fmt::Debug for RemoteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { storage, unknown_keys, environment, retry, whole_body } = self;
        // Keys of stores are secrets.
        let storage: BTreeMap<_, _> = storage.keys().map(|key| (key, "…")).collect();
        f.debug_struct("RemoteOptions")
            .field("storage", &storage)
            .field("unknown_keys", unknown_keys)
            .field("environment", environment)
            .field("retry", retry)
            .field("whole_body", whole_body)
            .finish()
    }
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            storage: BTreeMap::new(),
            unknown_keys: UnknownKeys::Refuse,
            environment: true,
            retry: Retry::default(),
            whole_body: 16 << 20,
        }
    }
}

/// What to do with options that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownKeys {
    /// Open nothing. The error lists names that are spelled alike.
    #[default]
    Refuse,
    /// Ignore them.
    Ignore,
}

/// How often a request is repeated that met a server's failure (status 429 or 5xx), a broken connection or a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often it is repeated at most. 0 tries once.
    pub max_retries: u32,
    /// The pause before the first repetition. Each pause is about twice the one before.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// The time from the first try after which nothing is repeated.
    pub within: Duration,
}

impl Default for Retry {
    /// 10 repetitions within 3 minutes, with pauses of 0.1 to 15 seconds.
    fn default() -> Self {
        Self {
            max_retries: 10,
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(15),
            within: Duration::from_mins(3),
        }
    }
}

/// Where credentials come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credentials {
    /// From the options.
    Options,
    /// From variables of the environment.
    Environment,
    /// There are none, and requests are not signed.
    Anonymous,
    /// Neither options nor environment have any: the cloud that the program runs in is asked for them.
    Instance,
}

impl Credentials {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Options => "credentials: from the options",
            Self::Environment => "credentials: from the environment",
            Self::Anonymous => "credentials: none, unsigned request",
            Self::Instance => {
                "credentials: none in the options and in the environment, so the cloud instance was asked for its own \
                 (instance_credentials=false switches that off); the storage option skip_signature reads public objects without any"
            }
        }
    }
}
