//! How a file was opened.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use tgm_std::file::{RemoteScanOptions, SourceName, is_remote_url};
use tgm_std::{TensogramError, TensogramFile as Library};

/// How a file was opened. This is all that is needed to open it once more, in this process or in another one.
#[derive(Clone)]
pub(crate) struct Origin {
    /// The path or the address as the program gave it.
    pub(crate) source: PathBuf,
    /// Options of the object store. `None` for a source that was not opened as remote.
    pub(crate) storage: Option<BTreeMap<String, String>>,
    /// Whether an address is searched for messages from both ends.
    pub(crate) bidirectional: bool,
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The options have keys of stores.
        f.debug_struct("Origin").field("source", &self.name()).finish_non_exhaustive()
    }
}

impl Origin {
    /// The source as texts show it.
    pub(crate) fn name(&self) -> SourceName<'_> {
        SourceName::of(&self.source)
    }

    /// Whether this is an address.
    pub(crate) fn is_remote(&self) -> bool {
        self.storage.is_some() || self.source.to_str().is_some_and(is_remote_url)
    }

    /// Opens the file.
    ///
    /// # Errors
    /// The errors of the library; a directory is an error.
    pub(crate) fn open(&self) -> tgm_std::Result<Library> {
        let scan = RemoteScanOptions { bidirectional: self.bidirectional };
        if self.is_remote() {
            let none = BTreeMap::new();
            // An address that is not text counts as none.
            return open_remote(&self.source.to_string_lossy(), self.storage.as_ref().unwrap_or(&none), scan);
        }
        if self.source.is_dir() {
            return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory).into());
        }
        Library::open(&self.source)
    }
}

/// Options that the store does not know are ignored, because programs pass options of other libraries along.
#[cfg(feature = "remote")]
fn open_remote(address: &str, storage: &BTreeMap<String, String>, scan: RemoteScanOptions) -> tgm_std::Result<Library> {
    use tgm_std::remote::{RemoteOptions, UnknownKeys};
    if !address.contains("://") {
        let address = SourceName::of(address);
        return Err(TensogramError::Remote(format!("invalid URL: {address} is not an address").into()));
    }
    let options =
        RemoteOptions { unknown_keys: UnknownKeys::Ignore, storage: storage.clone(), ..RemoteOptions::default() };
    Library::open_remote_with(address, &options, Some(scan))
}

#[cfg(not(feature = "remote"))]
fn open_remote(
    address: &str,
    _storage: &BTreeMap<String, String>,
    _scan: RemoteScanOptions,
) -> tgm_std::Result<Library> {
    let address = SourceName::of(address);
    Err(TensogramError::Remote(format!("{address}: this build reads no addresses (feature remote)").into()))
}
