//! Archives of sources that answer later.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use tgm_core::wire::MAGIC;

use super::async_object::{AnyReader, AsyncObject};
use crate::base::error::Result;
use crate::base::foreign::{LOOKED_AT, error as foreign_file, kind_of};
use crate::model::query::Query;
use crate::model::types::GlobalMetadata;
use crate::read::question::about::{AllMetadata, objects_of};
use crate::read::question::whole::{Bytes, Outline};
use crate::read::{AsyncLocalFile, AsyncRangeFetch, AsyncReader, LocalFile, ReadOptions, is_remote_url};
use crate::scan::MessageLayout;
use crate::validate::check_message;

/// [`Archive`](super::Archive) for programs that do not wait: the same methods, followed by `.await`.
///
/// Futures are [`Send`], and may be dropped at any time. Any number of tasks may share the archive. Values are decoded on
/// threads for work that blocks, if this runs under tokio.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use tgm_std::AsyncArchive;
///
/// let archive = AsyncArchive::open("https://example.org/a.tgm").await?;
/// let found = archive.query(&"mars.param = 2t".parse()?).await?;
/// let values = found[0].read().ranges(&[(0, 100)]).values::<f32>().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AsyncArchive {
    reader: Arc<AnyReader>,
}

impl AsyncArchive {
    /// Opens a file by its path, or a source by its address: [`Archive::open`](super::Archive::open).
    ///
    /// # Errors
    /// The errors of [`Archive::open`](super::Archive::open).
    pub async fn open(source: impl AsRef<Path> + Send) -> Result<Self> {
        let path = source.as_ref();
        let address = path.to_str().filter(|text| is_remote_url(text));
        let (is_remote, name) = (address.is_some(), path.to_string_lossy());
        let archive = if let Some(address) = address {
            Self::at_address(address)?
        } else {
            Self::from_fetch(AsyncLocalFile::new(LocalFile::open(path)?), ReadOptions::local())
        };
        let start = archive.reader.read(0..LOOKED_AT as u64).await?;
        if start.starts_with(MAGIC) || start.is_empty() && !is_remote {
            return Ok(archive);
        }
        match archive.reader.message_layouts_in(0..1).await {
            Ok(found) if !found.is_empty() => Ok(archive),
            // A long one is not searched to its end.
            Err(error) if kind_of(&start).is_none() => Err(error),
            _ => Err(foreign_file(&name, is_remote, &start)),
        }
    }

    #[cfg(feature = "remote")]
    fn at_address(address: &str) -> Result<Self> {
        let source = crate::remote::open(address, &crate::remote::RemoteOptions::default())?;
        Ok(Self::from_fetch(source, ReadOptions::remote()))
    }

    #[cfg(not(feature = "remote"))]
    fn at_address(address: &str) -> Result<Self> {
        Err(crate::file::without_remote(address))
    }

    /// Reads ranges of bytes by a program's own [`AsyncRangeFetch`]. `options` say how much is asked for at once.
    pub fn from_fetch(source: impl AsyncRangeFetch + 'static, options: ReadOptions) -> Self {
        let fetch: Box<dyn AsyncRangeFetch> = Box::new(source);
        Self { reader: Arc::new(AsyncReader::new(fetch, options)) }
    }

    /// The number of messages. The first call searches for them.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn len(&self) -> Result<usize> {
        self.reader.message_count().await
    }

    /// The places of the messages.
    ///
    /// # Errors
    /// The errors of the source.
    pub async fn layouts(&self) -> Result<Vec<MessageLayout>> {
        self.reader.message_layouts().await
    }

    /// Message `index`. It is searched for when it is asked for something.
    pub fn message(&self, index: usize) -> AsyncMessage {
        AsyncMessage { reader: Arc::clone(&self.reader), index, metadata: OnceLock::new() }
    }

    /// Object `object` of message `index`.
    ///
    /// # Errors
    /// The errors of [`Archive::object`](super::Archive::object).
    pub async fn object(&self, index: usize, object: usize) -> Result<AsyncObject> {
        AsyncObject::open(&self.reader, index, object).await
    }

    /// The objects for which a query holds, in order: [`Archive::query`](super::Archive::query).
    ///
    /// # Errors
    /// The errors of [`Archive::query`](super::Archive::query).
    pub async fn query(&self, query: &Query) -> Result<Vec<AsyncObject>> {
        let mut found = Vec::new();
        for (number, layout) in self.layouts().await?.into_iter().enumerate() {
            let outline = Outline(None);
            let bytes = self.reader.ask(layout, outline).await?;
            let objects = objects_of(query, &bytes).map_err(|error| error.in_message(number))?;
            for object in objects {
                found.push(self.object(number, object).await?);
            }
        }
        Ok(found)
    }
}

/// One message of an [`AsyncArchive`]: [`Message`](super::Message), whose methods are followed by `.await`.
#[derive(Debug)]
pub struct AsyncMessage {
    reader: Arc<AnyReader>,
    index: usize,
    metadata: OnceLock<GlobalMetadata>,
}

impl AsyncMessage {
    /// The number of the message in its archive.
    pub const fn index(&self) -> usize {
        self.index
    }

    /// What the message says of itself and of its objects: [`Message::metadata`](super::Message::metadata).
    ///
    /// # Errors
    /// The errors of [`Message::metadata`](super::Message::metadata).
    pub async fn metadata(&self) -> Result<&GlobalMetadata> {
        if let Some(metadata) = self.metadata.get() {
            return Ok(metadata);
        }
        let metadata = self.reader.ask(self.index, AllMetadata { verify: true }).await?;
        Ok(self.metadata.get_or_init(|| metadata))
    }

    /// The number of objects: [`Message::len`](super::Message::len).
    ///
    /// # Errors
    /// The errors of [`Message::len`](super::Message::len).
    pub async fn len(&self) -> Result<usize> {
        if let Some(metadata) = self.metadata.get() {
            return Ok(metadata.base.len());
        }
        Ok(self.reader.ask(self.index, AllMetadata { verify: false }).await?.base.len())
    }

    /// Object `index`. Its descriptor is read, and no payload.
    ///
    /// # Errors
    /// The errors of [`Message::object`](super::Message::object).
    pub async fn object(&self, index: usize) -> Result<AsyncObject> {
        AsyncObject::open(&self.reader, self.index, index).await
    }

    /// All bytes of the message.
    ///
    /// # Errors
    /// The errors of [`Message::bytes`](super::Message::bytes).
    pub async fn bytes(&self) -> Result<Vec<u8>> {
        self.reader.ask(self.index, Bytes).await
    }

    /// Checks that the message is intact: [`Message::verify`](super::Message::verify).
    ///
    /// # Errors
    /// The errors of [`Message::verify`](super::Message::verify).
    pub async fn verify(&self) -> Result<()> {
        Ok(check_message(&self.bytes().await?)?)
    }
}
