//! Messages written object by object, to a sink that need not seek (FORMAT §4.5).
//!
//! The index, the digests and the complete metadata are known only at the end, so they go into the footer. The preamble
//! does not state the message's length, unless the sink can seek and the length is filled in afterwards.

use std::collections::BTreeMap;
use std::io::{Cursor, Seek, SeekFrom, Write};

use ciborium::Value;

use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::options::EncodeOptions;
use crate::encode::object_builder::ObjectBuilder;
use crate::encode::sink::Stream;
use crate::encode::streamed::{Streamed, length_fields};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// Writes one message to `W`, object by object.
///
/// An object is encoded before any of it is written, so that an error of the pipeline leaves the message as it was. After
/// an error of the sink nothing more can be written. An encoder that is dropped leaves its message without an end.
///
/// Two things differ from the reference. Metadata that only the library writes is refused, as in
/// [`encode`](crate::encode()). [`Self::finish_with_backfill`] fills in the length of a message that begins at any
/// position of the sink.
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata};
/// use tgm_std::{ObjectBuilder, StreamingEncoder};
///
/// let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default())?;
/// encoder.write(ObjectBuilder::new(&[3], &[1_u8, 2, 3])?.metadata("name", "first"))?;
/// let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[3]);
/// encoder.write_object(&descriptor, &[4, 5, 6])?;
/// let message = encoder.finish()?;
/// let (_, objects) = tgm_std::decode(&message, &DecodeOptions::default())?;
/// assert_eq!(objects[1].1, [4, 5, 6]);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug)]
pub struct StreamingEncoder<W: Write> {
    message: Streamed<Stream<W>>,
}

impl<W: Write> StreamingEncoder<W> {
    /// Begins a message: writes its preamble, and the caller's metadata as it is now.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if the options put the list of digests into the header, because digests are not known
    /// yet; [`TensogramError::Metadata`] for metadata that only the library writes; [`TensogramError::Io`] from the sink.
    pub fn new(writer: W, metadata: &GlobalMetadata, options: &EncodeOptions) -> Result<Self> {
        Ok(Self { message: Streamed::begin(Stream::new(writer), metadata, options)? })
    }

    /// Writes metadata of the next object before it, for readers that cannot wait for the footer.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if the object of the last preceder was not written yet; [`TensogramError::Metadata`] for
    /// metadata that only the library writes; [`TensogramError::Io`] from the sink.
    pub fn write_preceder(&mut self, entry: BTreeMap<String, Value>) -> Result<()> {
        self.message.write_preceder(entry)
    }

    /// Encodes and writes an object of a builder. Its metadata, if it has any, is written before it, as by
    /// [`Self::write_preceder`].
    ///
    /// An error of the pipeline leaves the message as it was, without the metadata.
    ///
    /// # Errors
    /// The errors of [`Self::write_object`]; the errors of [`Self::write_preceder`] if the object has metadata;
    /// [`TensogramError::Metadata`] for the first key of the object that could not be set.
    ///
    /// ```
    /// use tgm_std::{DecodeOptions, EncodeOptions, GlobalMetadata, ObjectBuilder, StreamingEncoder, decode};
    ///
    /// let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default())?;
    /// for step in 0..3 {
    ///     let field = [20.0 + f64::from(step), 21.0]; // one step of a model run: it may be dropped once written
    ///     encoder.write(ObjectBuilder::new(&[2], &field)?.metadata("mars.step", step))?;
    /// }
    /// let (metadata, objects) = decode(&encoder.finish()?, &DecodeOptions::default())?;
    /// assert_eq!(objects.len(), 3);
    /// assert_eq!(metadata.get_at(2, "mars.step").and_then(|step| step.as_i64()), Some(2));
    /// # Ok::<(), tgm_std::TensogramError>(())
    /// ```
    pub fn write(&mut self, object: ObjectBuilder<'_>) -> Result<()> {
        self.message.write(object)
    }

    /// [`Self::write`] for the faces of other languages, where keys of metadata are not paths.
    ///
    /// # Errors
    /// As [`Self::write`].
    #[doc(hidden)]
    pub fn write_described(
        &mut self,
        descriptor: &DataObjectDescriptor,
        data: &[u8],
        metadata: BTreeMap<String, Value>,
    ) -> Result<()> {
        self.message.write_described(descriptor, data, metadata)
    }

    /// Encodes and writes an object: its descriptor, and its elements' bytes in row-major order and the descriptor's byte
    /// order.
    ///
    /// # Errors
    /// The errors of [`encode`](crate::encode()) about an object, and [`TensogramError::Io`] from the sink.
    pub fn write_object(&mut self, descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
        self.message.write_object(descriptor, data)
    }

    /// Writes an object whose bytes went through the pipeline before.
    ///
    /// # Errors
    /// The errors of [`encode_pre_encoded`](crate::encode_pre_encoded) about an object, and [`TensogramError::Io`] from the
    /// sink.
    pub fn write_object_pre_encoded(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        self.message.write_object_pre_encoded(descriptor, region)
    }

    /// Writes an object whose bytes went through all stages before, masks among them: the result of
    /// [`encode_pipeline`](crate::pipeline::encode_pipeline), as [`Part::Region`](crate::encode::Part::Region) takes it over.
    ///
    /// # Errors
    /// The errors of [`encode_parts`](crate::encode::encode_parts) about a region, and [`TensogramError::Io`] from the sink.
    pub fn write_region(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        self.message.write_region(descriptor, region)
    }

    /// Writes the footer, flushes the sink and returns it.
    ///
    /// The message does not state its length. The metadata of the footer counts; entries of `base` beyond the number of
    /// objects are left out of it.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if the object of a preceder was not written; [`TensogramError::Io`] from the sink.
    pub fn finish(mut self) -> Result<W> {
        self.end()?;
        Ok(self.message.sink.writer)
    }

    fn end(&mut self) -> Result<()> {
        self.message.end()?;
        Ok(self.message.sink.writer.flush()?)
    }

    /// How many objects were written.
    pub const fn object_count(&self) -> usize {
        self.message.object_count()
    }

    /// How many bytes were written, padding included.
    pub const fn bytes_written(&self) -> u64 {
        self.message.sink.written
    }
}

impl<W: Write + Seek> StreamingEncoder<W> {
    /// [`Self::finish`], then writes the message's length into preamble and postamble. The sink then stands at the end of
    /// the message.
    ///
    /// # Errors
    /// The errors of [`Self::finish`].
    pub fn finish_with_backfill(mut self) -> Result<W> {
        self.end()?;
        self.fill_in_length()?;
        Ok(self.message.sink.writer)
    }

    fn fill_in_length(&mut self) -> Result<()> {
        let (len, writer) = (self.message.sink.written, &mut self.message.sink.writer);
        let end = writer.stream_position()?;
        for position in length_fields(end, len)? {
            writer.seek(SeekFrom::Start(position))?;
            writer.write_all(&len.to_be_bytes())?;
        }
        writer.seek(SeekFrom::Start(end))?;
        Ok(writer.flush()?)
    }
}

impl StreamingEncoder<Cursor<Vec<u8>>> {
    /// Ends the message and returns it. Begins another one with the same metadata and options.
    ///
    /// # Errors
    /// The errors of [`Self::finish`].
    pub fn finish_and_reset(&mut self) -> Result<Vec<u8>> {
        self.end()?;
        self.reset()
    }

    /// [`Self::finish_and_reset`] of a message that states its length.
    ///
    /// # Errors
    /// The errors of [`Self::finish`].
    pub fn finish_and_reset_with_backfill(&mut self) -> Result<Vec<u8>> {
        self.end()?;
        self.fill_in_length()?;
        self.reset()
    }

    fn reset(&mut self) -> Result<Vec<u8>> {
        let message = self.message.begin_another(Stream::new(Cursor::new(Vec::new())))?;
        Ok(message.writer.into_inner())
    }
}
