//! Messages written object by object, to a writer of tokio.

use std::collections::BTreeMap;
use std::io::SeekFrom;

use ciborium::Value;
use tokio::io::{AsyncSeek, AsyncSeekExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::options::EncodeOptions;
use crate::encode::object_builder::ObjectBuilder;
use crate::encode::sink::{Output as _, Piece};
use crate::encode::streamed::{Streamed, framing, length_fields};
#[cfg(doc)]
use crate::encode::streaming::StreamingEncoder;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// [`StreamingEncoder`] for writers of tokio. The bytes are the same.
///
/// Each frame is built in memory and goes to the writer in one `write_all`, so the largest frame must fit into memory
/// twice: once as the caller's values. Values are encoded on the task that calls, which they occupy meanwhile. To keep
/// a runtime responsive, encode large objects by [`tokio::task::spawn_blocking`] and hand them to
/// [`Self::write_object_pre_encoded`].
///
/// **A future that is dropped before it is ready may have written a part of a frame.** The message is then torn: all
/// later calls return an error, and the bytes of the writer from the start of the message on are of no use. Readers of
/// a file skip them. The same is true of an error of the writer, and of an encoder that is dropped.
///
/// ```
/// use tgm_std::encode::AsyncStreamingEncoder;
/// use tgm_std::{DecodeOptions, EncodeOptions, GlobalMetadata, ObjectBuilder};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let (metadata, options) = (GlobalMetadata::default(), EncodeOptions::default());
/// let mut encoder = AsyncStreamingEncoder::new(Vec::new(), &metadata, &options).await?;
/// encoder.write(ObjectBuilder::new(&[3], &[1_u8, 2, 3])?.metadata("name", "first")).await?;
/// let message = encoder.finish().await?;
/// let (_, objects) = tgm_std::decode(&message, &DecodeOptions::default())?;
/// assert_eq!(objects[0].1, [1, 2, 3]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// # })?;
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
pub struct AsyncStreamingEncoder<W: AsyncWrite + Unpin> {
    message: Streamed<Piece>,
    writer: W,
    /// A piece is on its way to the writer, or did not arrive there.
    is_torn: bool,
}

impl<W: AsyncWrite + Unpin> AsyncStreamingEncoder<W> {
    /// Begins a message: writes its preamble, and the caller's metadata as it is now.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::new`].
    pub async fn new(writer: W, metadata: &GlobalMetadata, options: &EncodeOptions) -> Result<Self> {
        let message = Streamed::begin(Piece::default(), metadata, options)?;
        let mut encoder = Self { message, writer, is_torn: false };
        encoder.send().await?;
        Ok(encoder)
    }

    /// Writes metadata of the next object before it, for readers that cannot wait for the footer.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_preceder`].
    pub async fn write_preceder(&mut self, entry: BTreeMap<String, Value>) -> Result<()> {
        self.check_whole()?;
        self.message.write_preceder(entry)?;
        self.send().await
    }

    /// Encodes and writes an object of a builder, with its metadata before it.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write`].
    pub async fn write(&mut self, object: ObjectBuilder<'_>) -> Result<()> {
        self.check_whole()?;
        self.message.write(object)?;
        self.send().await
    }

    /// Encodes and writes an object: its descriptor, and its elements' bytes in row-major order and the descriptor's
    /// byte order.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_object`].
    pub async fn write_object(&mut self, descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
        self.check_whole()?;
        self.message.write_object(descriptor, data)?;
        self.send().await
    }

    /// Writes an object whose bytes went through the pipeline before.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_object_pre_encoded`].
    pub async fn write_object_pre_encoded(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        self.check_whole()?;
        self.message.write_object_pre_encoded(descriptor, region)?;
        self.send().await
    }

    /// Writes the footer, flushes the writer and returns it. The message does not state its length.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::finish`].
    pub async fn finish(mut self) -> Result<W> {
        self.end().await?;
        Ok(self.writer)
    }

    async fn end(&mut self) -> Result<()> {
        self.check_whole()?;
        self.message.end()?;
        self.send().await?;
        Ok(self.writer.flush().await?)
    }

    /// How many objects were written.
    pub const fn object_count(&self) -> usize {
        self.message.object_count()
    }

    /// How many bytes were written, padding included.
    pub fn bytes_written(&self) -> u64 {
        self.message.sink.written()
    }

    /// Writes the piece that was made. If the future is dropped meanwhile, the mark stays.
    async fn send(&mut self) -> Result<()> {
        self.is_torn = true;
        self.writer.write_all(self.message.sink.as_bytes()).await?;
        self.message.sink.next();
        self.is_torn = false;
        Ok(())
    }

    fn check_whole(&self) -> Result<()> {
        if self.is_torn {
            return Err(framing("an earlier write failed or was dropped: the message cannot be continued"));
        }
        Ok(())
    }
}

impl<W: AsyncWrite + AsyncSeek + Unpin> AsyncStreamingEncoder<W> {
    /// [`Self::finish`], then writes the message's length into preamble and postamble. The message may begin anywhere
    /// in the writer, which then stands at the end of the message.
    ///
    /// # Errors
    /// The errors of [`Self::finish`].
    pub async fn finish_with_backfill(mut self) -> Result<W> {
        self.end().await?;
        let len = self.message.sink.written();
        let end = self.writer.stream_position().await?;
        for position in length_fields(end, len)? {
            self.writer.seek(SeekFrom::Start(position)).await?;
            self.writer.write_all(&len.to_be_bytes()).await?;
        }
        self.writer.seek(SeekFrom::Start(end)).await?;
        self.writer.flush().await?;
        Ok(self.writer)
    }
}
