//! Methods of files that do not block, for programs on tokio.

use std::io;
use std::path::Path;

use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
#[cfg(feature = "remote")]
use crate::file::tensogram_file::Backing;
use crate::file::tensogram_file::TensogramFile;
use crate::model::types::{DecodedObject, GlobalMetadata};
use crate::read::question::{Bytes, Message, Outline, Question, question_methods};
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
        decode_metadata_async, decode_descriptors_async, decode_object_async, decode_range_async, select_async,
    );

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

#[cfg(test)]
mod tests {
    use std::future::Future;

    use super::*;
    #[cfg(feature = "remote")]
    use crate::base::options::EncodeOptions;
    use crate::encode::{MessageBuilder, ObjectBuilder};
    use crate::file::AppendOptions;

    fn run<T>(future: impl Future<Output = T> + Send) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    fn messages() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file.tgm");
        let mut file = TensogramFile::create(&path).unwrap();
        for step in 0..3 {
            let (small, large) = ([1.5_f64, f64::NAN, 2.5], vec![step; 100_000]);
            let message = MessageBuilder::new()
                .allow_nan()
                .object(ObjectBuilder::new(&[3], &small).unwrap().metadata("step", step))
                .object(ObjectBuilder::new(&[100_000], &large).unwrap());
            message.append_to(&mut file, &AppendOptions::default()).unwrap();
        }
        (dir, path)
    }

    /// Each method against its namesake.
    fn check(file: &TensogramFile) {
        let options = DecodeOptions::default();
        assert_eq!(run(file.message_count_async()).unwrap(), 3);
        assert_eq!(run(file.message_layouts_async()).unwrap(), file.message_layouts().unwrap());
        for index in 0..3 {
            assert!(run(file.read_message_async(index)).unwrap() == file.read_message(index).unwrap());
            let found = run(file.read_message_object_async(index, 1)).unwrap();
            assert!(found == file.read_message_object(index, 1).unwrap());
            let found = run(file.decode_message_async(index, &options)).unwrap();
            assert_eq!(found, file.decode_message(index, &options).unwrap());
            assert_eq!(run(file.decode_metadata_async(index)).unwrap(), file.decode_metadata(index).unwrap());
            assert_eq!(run(file.decode_descriptors_async(index)).unwrap(), file.decode_descriptors(index).unwrap());
            let found = run(file.decode_object_async(index, 1, &options)).unwrap();
            assert_eq!(found, file.decode_object(index, 1, &options).unwrap());
            let found = run(file.decode_range_async(index, 0, &[(1, 2)], &options)).unwrap();
            assert_eq!(found, file.decode_range(index, 0, &[(1, 2)], &options).unwrap());
            assert!(f64::from_ne_bytes(found.1[0][..8].try_into().unwrap()).is_nan());
        }
        assert!(matches!(run(file.read_message_async(3)), Err(TensogramError::Framing(_))));
        let object = run(file.decode_object_async(0, 2, &options));
        assert!(matches!(object, Err(TensogramError::Object(_))));
    }

    #[test]
    fn what_does_not_block_gives_what_blocks_gives() {
        let (_dir, path) = messages();
        check(&run(TensogramFile::open_async(&path)).unwrap());
        check(&TensogramFile::open(&path).unwrap());
        #[cfg(feature = "mmap")]
        check(&TensogramFile::open_mmap(&path).unwrap());
    }

    #[test]
    fn a_missing_file_is_an_error_of_input_and_output() {
        let error = run(TensogramFile::open_async("/no/such/file")).unwrap_err();
        assert!(matches!(&error, TensogramError::Io(_)) && error.to_string().contains("/no/such/file"), "{error}");
    }

    // Tokio has threads and clocks with feature `remote`.
    #[cfg(feature = "remote")]
    #[test]
    fn a_file_can_be_appended_to_while_a_dropped_call_goes_on() {
        let (_dir, path) = messages();
        let mut file = TensogramFile::open(&path).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        for more in 1..20 {
            runtime.block_on(async {
                let wait = std::time::Duration::from_micros(more as u64 * 10);
                let _ = tokio::time::timeout(wait, file.message_count_async()).await;
            });
            file.append(&GlobalMetadata::default(), &[], &EncodeOptions::default()).unwrap();
            assert_eq!(file.message_count().unwrap(), 3 + more);
        }
    }
}
