//! Where messages go: memory, files, anything with `write`.

use std::io::Write;
use std::path::Path;

use ciborium::Value;

use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::encode::{GrowingMessage, ObjectBuilder};
use crate::file::{AppendOptions, TensogramFile};
use crate::model::metadata::{PathOwner, path_owner, set_path};
use crate::model::types::GlobalMetadata;

/// Something that messages are written to.
pub trait MessageSink {
    /// Takes a whole message.
    ///
    /// # Errors
    /// [`TensogramError::Io`]; for a file, the errors of [`TensogramFile::append_message`].
    fn take_message(&mut self, message: &[u8]) -> Result<()>;

    /// Waits until all messages are where they should be.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    fn flush_messages(&mut self) -> Result<()>;
}

impl<W: Write> MessageSink for W {
    fn take_message(&mut self, message: &[u8]) -> Result<()> {
        Ok(self.write_all(message)?)
    }

    fn flush_messages(&mut self) -> Result<()> {
        Ok(self.flush()?)
    }
}

/// Messages are appended, each in one step. [`AppendOptions`] are the default ones.
impl MessageSink for TensogramFile {
    fn take_message(&mut self, message: &[u8]) -> Result<()> {
        self.append_message(message, &AppendOptions::default()).map(drop)
    }

    fn flush_messages(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Writes messages, object by object. Objects are encoded when they are given, and their values are not needed any more. The
/// message is in memory until it ends, and is then written in one step.
///
/// | messages go to | made by | [`finish`](Self::finish) gives |
/// |---|---|---|
/// | memory | [`Writer::memory`] | the bytes |
/// | a file | [`Writer::create`], [`Writer::append`] | the file |
/// | anything with [`Write`] | [`Writer::new`] | that |
///
/// A message of more objects than memory holds is written by [`StreamingEncoder`](crate::StreamingEncoder).
///
/// ```
/// use tgm_std::{Archive, Compress, ObjectBuilder, Writer};
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("fields.tgm");
/// let mut writer = Writer::create(&path)?;
/// let mut field = [0.0_f64; 100];
/// for step in 0..3 {
///     field.fill(280.0 + f64::from(step));
///     writer.object(ObjectBuilder::new(&[10, 10], &field)?.metadata("mars.step", step).compress(Compress::Within(0.01))?)?;
/// }
/// writer.finish()?;
/// assert_eq!(Archive::open(&path)?.query(&"mars.step = 2".parse().unwrap())?.len(), 1);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
#[must_use = "the last message is written by `finish`"]
pub struct Writer<S> {
    sink: S,
    options: EncodeOptions,
    metadata: GlobalMetadata,
    message: GrowingMessage,
}

impl Writer<Vec<u8>> {
    /// Writes to memory.
    pub fn memory() -> Self {
        Self::new(Vec::new())
    }
}

impl Writer<TensogramFile> {
    /// Writes to a new file, in directories that are made. An existing file is emptied at once: the new one grows by whole messages, and
    /// readers follow it meanwhile. What a program that ends early has written is there.
    ///
    /// Where the old file is to stay until the new one is complete, write to another name beside it and rename that:
    ///
    /// ```
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("fields.tgm");
    /// let new = path.with_extension("new");
    /// let mut writer = tgm_std::Writer::create(&new)?;
    /// writer.object(tgm_std::ObjectBuilder::new(&[2], &[1_i32, 2])?)?;
    /// writer.finish()?;
    /// std::fs::rename(&new, &path)?;
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::new(TensogramFile::create(path)?))
    }

    /// Writes after the messages of a file, which must be there.
    ///
    /// # Errors
    /// [`TensogramError::Io`].
    pub fn append(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::new(TensogramFile::open(path)?))
    }
}

impl<S: MessageSink> Writer<S> {
    /// Writes to anything that takes bytes, or to a file that is open.
    pub fn new(sink: S) -> Self {
        let options = EncodeOptions::default();
        let message = GrowingMessage::new(&options);
        Self { sink, options, metadata: GlobalMetadata::default(), message }
    }

    /// Sets how to encode. It holds from the next message on if objects were written to this one.
    pub fn options(mut self, options: EncodeOptions) -> Self {
        if self.message.object_count() == 0 {
            self.message = GrowingMessage::new(&options);
        }
        self.options = options;
        self
    }

    /// Sets metadata of the message that is being written: an entry of `_extra_`. Dots in `key` lead into maps.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a key that cannot be set, or that begins with `extra.` itself.
    pub fn extra(&mut self, key: &str, value: impl Into<Value>) -> Result<()> {
        if let PathOwner::Message(Some(path)) = path_owner(key) {
            let text = format!("{key}: what `extra` sets is the message's already: write {path:?}");
            return Err(TensogramError::Metadata(text.into()));
        }
        set_path(&mut self.metadata.extra, key, value)
    }

    /// The number of objects of the message that is being written.
    pub const fn object_count(&self) -> usize {
        self.message.object_count()
    }

    /// Encodes an object and adds it to the message.
    ///
    /// # Errors
    /// The errors of [`encode`](crate::encode()) about an object, and of its metadata. After an error of encoding the message
    /// cannot be finished.
    pub fn object(&mut self, object: ObjectBuilder<'_>) -> Result<()> {
        let metadata = self.message.add_object(object, &self.options)?;
        self.metadata.base.push(metadata);
        Ok(())
    }

    /// Ends the message and writes it. The next object begins another one.
    ///
    /// # Errors
    /// The errors of [`encode`](crate::encode()) about a message; the errors of the sink.
    pub fn end_message(&mut self) -> Result<()> {
        let message = std::mem::replace(&mut self.message, GrowingMessage::new(&self.options));
        let metadata = std::mem::take(&mut self.metadata);
        self.sink.take_message(&message.finish(&metadata)?)
    }

    /// Ends the message, if there is one, and returns what was written to.
    ///
    /// # Errors
    /// The errors of [`Self::end_message`]; [`TensogramError::Io`].
    pub fn finish(mut self) -> Result<S> {
        if self.message.object_count() > 0 || !self.metadata.extra.is_empty() {
            self.end_message()?;
        }
        self.sink.flush_messages()?;
        Ok(self.sink)
    }
}
