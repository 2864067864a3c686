//! Files at addresses: servers and object stores.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::file::remote::RemoteScanOptions;
use crate::file::remote_backing::{Remote, check, reader};
use crate::file::tensogram_file::{Backing, TensogramFile};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};
use crate::read::{AsyncReader, is_remote_url};
use crate::remote::{RemoteOptions, RemoteSource, wait};

/// Default options with these in [`RemoteOptions::storage`].
fn storage(storage: &BTreeMap<String, String>) -> RemoteOptions {
    RemoteOptions { storage: storage.clone(), ..RemoteOptions::default() }
}

impl TensogramFile {
    /// Opens a source by its address. The first 64 KiB are read, which says whether it can be read. A source without messages
    /// is an error, which says what it looks like: a page of HTML, GRIB, nothing at all.
    ///
    /// [`RemoteOptions::storage`] describes `storage_options`. Names that are not known are an error. Credentials that are
    /// not given are looked for in the environment. [`AsyncReader`] and [`crate::remote::open`] take more options.
    ///
    /// It may be called from any thread, also from tasks of tokio: requests run on two threads of this library.
    ///
    /// # Errors
    /// [`TensogramError::Remote`]: [`Reason::fetch_error_kind`](crate::error::Reason::fetch_error_kind) says of which kind.
    pub fn open_remote(
        source: &str,
        storage_options: &BTreeMap<String, String>,
        scan_options: Option<RemoteScanOptions>,
    ) -> Result<Self> {
        Self::open_remote_with(source, &storage(storage_options), scan_options)
    }

    /// [`Self::open_remote`] with all options.
    ///
    /// # Errors
    /// The errors of [`Self::open_remote`].
    ///
    /// ```no_run
    /// use tgm_std::TensogramFile;
    /// use tgm_std::remote::{RemoteOptions, UnknownKeys};
    ///
    /// let options = RemoteOptions { unknown_keys: UnknownKeys::Ignore, ..RemoteOptions::new([("my_own", "1")]) };
    /// let file = TensogramFile::open_remote_with("https://example.org/a.tgm", &options, None)?;
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    pub fn open_remote_with(
        source: &str,
        options: &RemoteOptions,
        scan_options: Option<RemoteScanOptions>,
    ) -> Result<Self> {
        let remote = Remote::new(reader(source, options, scan_options)?);
        let (reader, name) = (Arc::clone(&remote.reader), source.to_owned());
        wait(async move { check(&reader, &name).await })??;
        Ok(Self { path: PathBuf::from(source), backing: Backing::Remote(remote), writer: None })
    }

    /// [`Self::open_remote`] without reading: for a caller whose first question is about a place that it knows.
    ///
    /// # Errors
    /// [`TensogramError::Remote`] for an address that cannot be understood.
    pub(crate) fn open_remote_unread(source: &str) -> Result<Self> {
        let remote = Remote::new(reader(source, &storage(&BTreeMap::new()), None)?);
        Ok(Self { path: PathBuf::from(source), backing: Backing::Remote(remote), writer: None })
    }

    /// Object `object` of each of the messages. What they need is fetched together.
    ///
    /// # Errors
    /// The errors of [`Self::decode_object`], for the first message that fails; [`TensogramError::Io`] for a local file.
    pub fn decode_object_batch(
        &self,
        indices: &[usize],
        object: usize,
        options: &DecodeOptions,
    ) -> Result<Vec<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)>> {
        let reader = self.batch_reader("object")?;
        let (indices, options) = (indices.to_vec(), options.clone());
        wait(async move { reader.decode_object_batch(&indices, object, &options).await })?
    }

    /// Ranges of the values of object `object` of each of the messages, fetched together.
    ///
    /// # Errors
    /// The errors of [`Self::decode_range`], for the first message that fails; [`TensogramError::Io`] for a local file.
    pub fn decode_range_batch(
        &self,
        indices: &[usize],
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Vec<(DataObjectDescriptor, Vec<Vec<u8>>)>> {
        let reader = self.batch_reader("range")?;
        let (indices, ranges, options) = (indices.to_vec(), ranges.to_vec(), options.clone());
        wait(async move { reader.decode_range_batch(&indices, object, &ranges, &options).await })?
    }

    /// [`Self::open_remote`] without blocking.
    ///
    /// # Errors
    /// The errors of [`Self::open_remote`].
    pub async fn open_remote_async(
        source: &str,
        storage_options: &BTreeMap<String, String>,
        scan_options: Option<RemoteScanOptions>,
    ) -> Result<Self> {
        Self::open_remote_with_async(source, &storage(storage_options), scan_options).await
    }

    /// [`Self::open_remote_with`] without blocking.
    ///
    /// # Errors
    /// The errors of [`Self::open_remote`].
    pub async fn open_remote_with_async(
        source: &str,
        options: &RemoteOptions,
        scan_options: Option<RemoteScanOptions>,
    ) -> Result<Self> {
        let remote = Remote::new(reader(source, options, scan_options)?);
        check(&remote.reader, source).await?;
        Ok(Self { path: PathBuf::from(source), backing: Backing::Remote(remote), writer: None })
    }

    /// [`Self::open_source`] without blocking.
    ///
    /// # Errors
    /// The errors of [`Self::open_source`].
    pub async fn open_source_async(source: impl AsRef<str>, options: Option<RemoteScanOptions>) -> Result<Self> {
        let source = source.as_ref();
        if is_remote_url(source) {
            return Self::open_remote_async(source, &BTreeMap::new(), options).await;
        }
        Self::open_async(source).await
    }

    /// Fetches the metadata and index of these messages together, so that later calls need not. Does nothing for a local file.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn prefetch_layouts_async(&self, indices: &[usize]) -> Result<()> {
        match &self.backing {
            Backing::Remote(remote) => remote.reader.prefetch(indices).await,
            _ => Ok(()),
        }
    }

    /// [`Self::decode_object_batch`] without blocking.
    ///
    /// # Errors
    /// The errors of [`Self::decode_object_batch`].
    pub async fn decode_object_batch_async(
        &self,
        indices: &[usize],
        object: usize,
        options: &DecodeOptions,
    ) -> Result<Vec<(GlobalMetadata, DataObjectDescriptor, Vec<u8>)>> {
        self.batch_reader("object")?.decode_object_batch(indices, object, options).await
    }

    /// [`Self::decode_range_batch`] without blocking.
    ///
    /// # Errors
    /// The errors of [`Self::decode_range_batch`].
    pub async fn decode_range_batch_async(
        &self,
        indices: &[usize],
        object: usize,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Vec<(DataObjectDescriptor, Vec<Vec<u8>>)>> {
        self.batch_reader("range")?.decode_range_batch(indices, object, ranges, options).await
    }

    /// The reader of a source at an address; batches of local files are refused.
    pub(super) fn batch_reader(&self, what: &str) -> Result<Arc<AsyncReader<RemoteSource>>> {
        match &self.backing {
            Backing::Remote(remote) => Ok(Arc::clone(&remote.reader)),
            _ => {
                Err(TensogramError::Io(std::io::Error::other(format!("batch {what} decode requires a remote backend"))))
            }
        }
    }
}
