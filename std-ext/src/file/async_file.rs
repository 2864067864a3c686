//! Methods of files that do not block, for programs on tokio.

use std::io;
use std::path::Path;

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
#[cfg(feature = "remote")]
use crate::file::tensogram_file::Backing;
use crate::file::tensogram_file::TensogramFile;
use crate::model::types::{DecodedObject, GlobalMetadata};
use crate::read::question::whole::{Bytes, Message, Outline};
use crate::read::question::{Question, object_method, question_methods};
use crate::scan::MessageLayout;

/// # On tokio
/// These methods do what their namesakes do. Local files are read and values are decoded on the threads that tokio
/// keeps for calls that block, so that tasks go on meanwhile. They need a runtime of tokio, of either kind, and panic
/// without one. The futures are `Send`.
///
/// A future that is dropped leaves the file as it is. What it began goes on, and its result is dropped.
impl TensogramFile {
    /// [`Self::open`], with the scan, on another thread.
    ///
    /// # Errors
    /// The errors of [`Self::open`] and [`Self::message_count`].
    pub async fn open_async(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        on_thread(move || {
            let file = Self::open(path)?;
            file.table()?;
            Ok(file)
        })
        .await
    }

    /// [`Self::message_count`] on another thread.
    ///
    /// # Errors
    /// The errors of [`Self::message_count`].
    pub async fn message_count_async(&self) -> Result<usize> {
        #[cfg(feature = "remote")]
        if let Backing::Remote(remote) = &self.backing {
            return remote.reader.message_count().await;
        }
        self.elsewhere(Self::message_count).await
    }

    /// [`Self::message_layouts`] on another thread.
    ///
    /// # Errors
    /// The errors of [`Self::message_layouts`].
    pub async fn message_layouts_async(&self) -> Result<Vec<MessageLayout>> {
        #[cfg(feature = "remote")]
        if let Backing::Remote(remote) = &self.backing {
            return remote.reader.message_layouts().await;
        }
        self.elsewhere(Self::message_layouts).await
    }

    /// [`Self::read_message`] on another thread.
    ///
    /// # Errors
    /// The errors of [`Self::read_message`].
    pub async fn read_message_async(&self, index: usize) -> Result<Vec<u8>> {
        self.ask_async(index, Bytes).await
    }

    /// [`Self::read_message_object`] on another thread.
    ///
    /// # Errors
    /// The errors of [`Self::read_message_object`].
    pub async fn read_message_object_async(&self, index: usize, object: usize) -> Result<Vec<u8>> {
        self.ask_async(index, Outline(Some(object))).await
    }

    /// [`Self::decode_message`] on another thread.
    ///
    /// # Errors
    /// The errors of [`Self::decode_message`].
    pub async fn decode_message_async(
        &self,
        index: usize,
        options: &DecodeOptions,
    ) -> Result<(GlobalMetadata, Vec<DecodedObject>)> {
        self.ask_async(index, Message(options.clone())).await
    }

    question_methods!(
        [async await] ask_async,
        decode_metadata_async, decode_descriptors_async, decode_range_async, select_async,
    );
    object_method!([async await] ask_async, decode_object_async);

    /// The answer of message `index`. A source at an address is read by the task itself, and what takes time is
    /// computed on a thread that may block.
    async fn ask_async<Q: Question + 'static>(&self, index: usize, question: Q) -> Result<Q::Answer>
    where
        Q::Answer: 'static,
    {
        #[cfg(feature = "remote")]
        if let Backing::Remote(remote) = &self.backing {
            return remote.reader.ask(index, question).await;
        }
        self.elsewhere(move |file| file.ask(index, question)).await
    }

    /// Calls `read` with this local file on a thread that may block.
    async fn elsewhere<T: Send + 'static>(&self, read: impl FnOnce(&Self) -> Result<T> + Send + 'static) -> Result<T> {
        let shared = Self { path: self.path.clone(), backing: self.backing.clone(), writer: None };
        on_thread(move || read(&shared)).await
    }
}

/// Calls `work` on a thread that may block.
///
/// # Errors
/// The errors of `work`; [`TensogramError::Io`] if it panicked or the runtime ended.
async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let joined = tokio::task::spawn_blocking(work).await;
    joined.unwrap_or_else(|error| Err(TensogramError::Io(io::Error::other(error))))
}
