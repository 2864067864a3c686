//! Addresses, and what they open.

use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{ClientConfigKey, ClientOptions, ObjectStore, ObjectStoreScheme};
use url::Url;

use crate::base::source_name::SourceName;
use crate::base::trace;
use crate::read::{
    AsyncLocalFile, AsyncRangeFetch, BoxFuture, FetchError, FetchErrorKind, FetchTraits, Fetched, LocalFile, Tag, Want,
};
use crate::remote::connection::{Connector, connect};
use crate::remote::http::HttpSource;
use crate::remote::keys::{Settings, settings};
use crate::remote::options::{Credentials, RemoteOptions};
use crate::remote::store::StoreSource;

/// A source that was opened by its address. Clones share its connections.
#[derive(Clone)]
pub struct RemoteSource {
    source: Arc<dyn AsyncRangeFetch>,
    credentials: Credentials,
}

impl RemoteSource {
    /// Where the credentials come from.
    pub const fn credentials(&self) -> Credentials {
        self.credentials
    }
}

impl std::fmt::Debug for RemoteSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteSource")
            .field("name", &self.name())
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}

impl AsyncRangeFetch for RemoteSource {
    fn fetch<'a>(&'a self, want: &'a Want, unchanged: Option<&'a Tag>) -> BoxFuture<'a, Result<Fetched, FetchError>> {
        // Ranges without bytes cannot be asked for.
        match want {
            Want::At(range) if range.is_empty() => {
                let nothing = Fetched { offset: range.start, bytes: Vec::new(), size: None, tag: None };
                Box::pin(std::future::ready(Ok(nothing)))
            }
            Want::Suffix(0) => self.source.fetch(&Want::Suffix(1), unchanged),
            _ => self.source.fetch(want, unchanged),
        }
    }

    fn traits(&self) -> FetchTraits {
        self.source.traits()
    }

    fn name(&self) -> String {
        self.source.name()
    }
}

/// How addresses of object stores begin.
const STORES: [&str; 8] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl"];

/// Opens an address. Nothing is requested yet, so an object that is not there is an error of the first read.
///
/// | address | source |
/// |---|---|
/// | `https://`, `http://` | a file on a server, with the query and the user of the address |
/// | `s3://BUCKET/KEY`, `s3a://` | S3 and what speaks its protocol (`aws_endpoint`) |
/// | `gs://BUCKET/KEY` | Google Cloud Storage |
/// | `az://CONTAINER/KEY`, `azure://`, `abfs://`, `abfss://`, `adl://` | Azure |
/// | `file:///PATH` | a local file |
///
/// An `https://` address of S3 or Azure is read as a file on a server, unless credentials for the store are known and
/// the address has no query. Then requests are signed.
///
/// Where neither the options nor the environment have credentials for a store, the cloud instance is asked for its own when
/// the first bytes are read, for up to 5 seconds. The option `instance_credentials=false` switches that off, and so do the
/// variables `TGM_INSTANCE_CREDENTIALS=false` and, for S3, `AWS_EC2_METADATA_DISABLED=true`.
///
/// # Errors
/// [`FetchErrorKind::Invalid`] if the address or an option is wrong; the errors of the file for a local one. Error
/// texts leave out the address's user and query.
pub fn open(address: &str, options: &RemoteOptions) -> Result<RemoteSource, FetchError> {
    trace::opened(&SourceName::of(address), "address");
    open_in(address, options, || {
        // Our names and values are text. Variables that are not text belong to other programs.
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
    })
}

/// [`open`] with these variables of the environment.
pub(super) fn open_in<E: IntoIterator<Item = (String, String)>>(
    address: &str,
    options: &RemoteOptions,
    environment: impl Fn() -> E,
) -> Result<RemoteSource, FetchError> {
    let invalid = |what: &str| FetchError::new(FetchErrorKind::Invalid, format!("{}: {what}", SourceName::of(address)));
    let url = Url::parse(address).map_err(|error| invalid(&format!("not an address ({error})")))?;
    if url.scheme() == "file" {
        let path = url.to_file_path().map_err(|()| invalid("not the path of a file on this machine"))?;
        let source = Arc::new(AsyncLocalFile::new(LocalFile::open(path)?));
        return Ok(RemoteSource { source, credentials: Credentials::Anonymous });
    }
    let is_web = matches!(url.scheme(), "http" | "https");
    let (scheme, path) = match ObjectStoreScheme::parse(&url) {
        Ok(parsed) if is_web || !url.path().ends_with('/') => parsed,
        // Such a path is not a key of a store, and may be one of a server.
        Err(_) if is_web => return web(&url, options).map_err(|what| invalid(&what)),
        _ if STORES.contains(&url.scheme()) && url.path().len() > 1 => {
            return Err(invalid("keys with an empty part (\"//\", or \"/\" at the end) cannot be asked for"));
        }
        Ok(_) => return Err(invalid("the address names no object")),
        Err(_) => return Err(invalid("addresses of this kind are not known")),
    };
    if is_web && (scheme == ObjectStoreScheme::Http || url.query().is_some() || !url.username().is_empty()) {
        return web(&url, options).map_err(|what| invalid(&what));
    }
    let opening = Opening { url: &url, path, is_web, options };
    let opened = match scheme {
        ObjectStoreScheme::AmazonS3 => opening.store::<AmazonS3ConfigKey>(environment(), |url, settings| {
            let builder = AmazonS3Builder::new().with_url(url).with_retry(settings.options.retry.config());
            let builder = builder.with_http_connector(Connector::of(settings));
            let values = settings.values.iter();
            let builder = values.fold(builder, |builder, (key, value)| builder.with_config(*key, value));
            Ok(Arc::new(builder.build()?))
        }),
        ObjectStoreScheme::GoogleCloudStorage => opening.store::<GoogleConfigKey>(environment(), |url, settings| {
            let builder = GoogleCloudStorageBuilder::new().with_url(url).with_retry(settings.options.retry.config());
            let builder = builder.with_http_connector(Connector::of(settings));
            let values = settings.values.iter();
            let builder = values.fold(builder, |builder, (key, value)| builder.with_config(*key, value));
            Ok(Arc::new(builder.build()?))
        }),
        ObjectStoreScheme::MicrosoftAzure => opening.store::<AzureConfigKey>(environment(), |url, settings| {
            let builder = MicrosoftAzureBuilder::new().with_url(url).with_retry(settings.options.retry.config());
            let builder = builder.with_http_connector(Connector::of(settings));
            let values = settings.values.iter();
            let builder = values.fold(builder, |builder, (key, value)| builder.with_config(*key, value));
            Ok(Arc::new(builder.build()?))
        }),
        _ => Err("addresses of this kind are not known".into()),
    };
    match opened.map_err(|what| invalid(&what))? {
        Some(source) => Ok(source),
        None => web(&url, options).map_err(|what| invalid(&what)),
    }
}

/// Why a store is not opened without credentials.
const NOT_ASKED: &str = "there are no credentials in the options and in the environment, and the cloud instance is not asked for its own \
                         (instance_credentials, TGM_INSTANCE_CREDENTIALS or AWS_EC2_METADATA_DISABLED switches that off); \
                         the storage option skip_signature reads public objects without any";

struct Opening<'a> {
    url: &'a Url,
    path: Path,
    is_web: bool,
    options: &'a RemoteOptions,
}

impl Opening<'_> {
    /// An object in a store. `None` if the address is to be read as a file on a server.
    ///
    /// # Errors
    /// What is wrong with the address or the options.
    fn store<K: StoreKeyOf>(
        self,
        environment: impl IntoIterator<Item = (String, String)>,
        build: impl FnOnce(&str, &Settings<K>) -> object_store::Result<Arc<dyn ObjectStore>>,
    ) -> Result<Option<RemoteSource>, String> {
        let settings = settings::<K>(self.options, environment)?;
        if self.is_web && matches!(settings.credentials, Credentials::Anonymous | Credentials::Instance) {
            return Ok(None);
        }
        if settings.credentials == Credentials::Instance && !settings.may_ask_instance {
            return Err(NOT_ASKED.into());
        }
        if self.url.query().is_some() || self.url.fragment().is_some() {
            return Err("what stands after ? or # has no meaning in an address of an object store".into());
        }
        if self.path.as_ref().is_empty() {
            return Err("the address names no object".into());
        }
        let endpoint = settings.values.iter().rev().find(|(key, _)| K::is_endpoint(*key));
        if endpoint.is_some_and(|(_, value)| value.starts_with("http://")) && settings.allows_http != Some(true) {
            return Err("the endpoint is not encrypted, which the storage option allow_http allows".into());
        }
        let store = build(self.url.as_str(), &settings).map_err(|error| cause(&error))?;
        let source = StoreSource {
            store,
            path: self.path,
            name: SourceName::of(self.url.as_str()).to_string(),
            credentials: settings.credentials,
            suffix: K::SUFFIX,
            whole_body: settings.options.whole_body,
        };
        Ok(Some(RemoteSource { source: Arc::new(source), credentials: settings.credentials }))
    }
}

/// What is known of a kind of store by its options.
trait StoreKeyOf: crate::remote::keys::StoreKey {
    /// Whether it gives ranges that count from the end.
    const SUFFIX: bool;

    /// The option that says where the store is.
    fn is_endpoint(self) -> bool;
}

impl StoreKeyOf for AmazonS3ConfigKey {
    const SUFFIX: bool = true;

    fn is_endpoint(self) -> bool {
        matches!(self, Self::Endpoint | Self::S3Endpoint)
    }
}

impl StoreKeyOf for GoogleConfigKey {
    const SUFFIX: bool = true;

    // Its client allows unencrypted connections by itself.
    fn is_endpoint(self) -> bool {
        false
    }
}

impl StoreKeyOf for AzureConfigKey {
    const SUFFIX: bool = false;

    fn is_endpoint(self) -> bool {
        matches!(self, Self::Endpoint)
    }
}

/// A file on a server.
///
/// # Errors
/// What is wrong with the address or the options.
fn web(url: &Url, options: &RemoteOptions) -> Result<RemoteSource, String> {
    let settings = settings::<ClientConfigKey>(options, [])?;
    let client = ClientOptions::new().with_allow_http(url.scheme() == "http");
    let client = settings.values.iter().fold(client, |client, (key, value)| client.with_config(*key, value));
    let client = connect(&client).map_err(|error| cause(&error))?;
    let Settings { options: RemoteOptions { retry, whole_body, .. }, .. } = settings;
    let source = HttpSource::new(client, url, retry, whole_body).map_err(|error| error.to_string())?;
    Ok(RemoteSource { source: Arc::new(source), credentials: Credentials::Anonymous })
}

/// The last cause of an error: what it says is not said by those before it, which may repeat the address.
fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
