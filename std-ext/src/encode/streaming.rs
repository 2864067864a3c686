//! Messages written object by object, to a sink that need not seek (FORMAT §4.5).
//!
//! The index, the digests and the complete metadata are known only at the end, so they go into the footer. The preamble
//! does not state the message's length, unless the sink can seek and the length is filled in afterwards.

use std::collections::BTreeMap;
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::mem;

use ciborium::Value;
use tgm_core::wire::{FrameType, MessageFlags, POSTAMBLE_SIZE, Postamble, Preamble};
use zerocopy::IntoBytes as _;

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::options::{AggregateHashPolicy, EncodeOptions};
use crate::base::threads::Threads;
use crate::encode::builder::ObjectBuilder;
use crate::encode::checks;
use crate::encode::compress::Means;
use crate::encode::frame::{FrameForm, pad, write_frame};
use crate::encode::message::{Tensor, preamble, write_completed, write_postamble};
use crate::encode::object::Object;
use crate::encode::sink::{Sink as _, Stream};
use crate::model::cbor;
use crate::model::metadata::RESERVED_KEY;
use crate::model::metadata::{global_metadata_to_cbor, index_to_cbor, write_hash_list};
use crate::model::params::metadata;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata, IndexFrame};

/// Bytes from the start of a message to its preamble's `total_length`.
const IN_PREAMBLE: u64 = Preamble::TOTAL_LENGTH_OFFSET as u64;
/// Bytes from its postamble's `total_length` to the end of a message.
const BEFORE_END: u64 = (POSTAMBLE_SIZE - Postamble::TOTAL_LENGTH_OFFSET) as u64;

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
    sink: Stream<W>,
    metadata: GlobalMetadata,
    options: EncodeOptions,
    objects: Written,
    preceder: Option<BTreeMap<String, Value>>,
    is_broken: bool,
}

/// What the footer will say about the objects.
#[derive(Debug, Default)]
struct Written {
    /// What metadata repeats of the objects' descriptors.
    tensors: Vec<Tensor<'static>>,
    /// What preceders said about them.
    preceders: Vec<Option<BTreeMap<String, Value>>>,
    index: IndexFrame,
    digests: Vec<u64>,
}

impl<W: Write> StreamingEncoder<W> {
    /// Begins a message: writes its preamble, and the caller's metadata as it is now.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if the options put the list of digests into the header, because digests are not known
    /// yet; [`TensogramError::Metadata`] for metadata that only the library writes; [`TensogramError::Io`] from the sink.
    pub fn new(writer: W, metadata: &GlobalMetadata, options: &EncodeOptions) -> Result<Self> {
        if matches!(options.aggregate_hash, AggregateHashPolicy::Header | AggregateHashPolicy::Both) {
            return Err(TensogramError::encoding(format!(
                "AggregateHashPolicy::{:?} puts digests into the header of a streamed message, where they are not known \
                 yet: {}",
                options.aggregate_hash,
                Hint::StreamedHashes
            )));
        }
        checks::reserved(metadata)?;
        let mut encoder = Self {
            sink: Stream::new(writer),
            metadata: metadata.clone(),
            options: options.clone(),
            objects: Written::default(),
            preceder: None,
            is_broken: false,
        };
        encoder.begin()?;
        Ok(encoder)
    }

    fn begin(&mut self) -> Result<()> {
        let mut flags = MessageFlags::HEADER_METADATA
            | MessageFlags::FOOTER_METADATA
            | MessageFlags::FOOTER_INDEX
            | MessageFlags::PRECEDER_METADATA;
        if self.options.hashing {
            flags |= MessageFlags::HASHES_PRESENT;
        }
        if self.lists_digests() {
            flags |= MessageFlags::FOOTER_HASHES;
        }
        let metadata = global_metadata_to_cbor(&self.metadata)?;
        self.attempt(|encoder| {
            encoder.sink.write(preamble(flags, 0).as_bytes())?;
            write_frame(&mut encoder.sink, FrameType::HeaderMetadata, &metadata, encoder.options.hashing)?;
            Ok(())
        })
    }

    /// Whether the footer has a list of digests, if there are objects.
    const fn lists_digests(&self) -> bool {
        self.options.hashing
            && matches!(self.options.aggregate_hash, AggregateHashPolicy::Auto | AggregateHashPolicy::Footer)
    }

    /// Writes metadata of the next object before it, for readers that cannot wait for the footer.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if the object of the last preceder was not written yet; [`TensogramError::Metadata`] for
    /// metadata that only the library writes; [`TensogramError::Io`] from the sink.
    pub fn write_preceder(&mut self, entry: BTreeMap<String, Value>) -> Result<()> {
        if self.preceder.is_some() {
            return Err(framing("write_preceder called twice without an object between"));
        }
        if entry.contains_key(RESERVED_KEY) {
            return Err(metadata(format!("client code must not write '{RESERVED_KEY}' in preceder metadata")));
        }
        let frame = GlobalMetadata { base: vec![entry], ..GlobalMetadata::default() };
        let cbor = global_metadata_to_cbor(&frame)?;
        self.attempt(|encoder| {
            write_frame(&mut encoder.sink, FrameType::PrecederMetadata, &cbor, encoder.options.hashing).map(|_| ())
        })?;
        self.preceder = frame.base.into_iter().next();
        Ok(())
    }

    /// Encodes and writes an object of a builder. Its metadata, if it has any, is written before it, as by
    /// [`Self::write_preceder`].
    ///
    /// An error of the pipeline leaves the message as it was, without the metadata.
    ///
    /// # Errors
    /// Those of [`Self::write_object`]; those of [`Self::write_preceder`] if the object has metadata;
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
        let (descriptor, data, metadata) = object.into_parts(self.object_count())?;
        let encoded = self.encoded(&descriptor, &data)?;
        if !metadata.is_empty() {
            self.write_preceder(metadata)?;
        }
        self.write_encoded(&encoded)
    }

    /// Encodes and writes an object: its descriptor, and its elements' bytes in row-major order and the descriptor's byte
    /// order.
    ///
    /// # Errors
    /// Those of [`encode`](crate::encode()) about an object, and [`TensogramError::Io`] from the sink.
    pub fn write_object(&mut self, descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
        let encoded = self.encoded(descriptor, data)?;
        self.write_encoded(&encoded)
    }

    fn encoded<'a>(&self, descriptor: &'a DataObjectDescriptor, data: &'a [u8]) -> Result<Object<'a>> {
        let options = &self.options;
        let threads = Threads::resolve(options.threads, data.len() as u64, options.parallel_threshold_bytes)?;
        let means = Means { backend: options.compression_backend, threads };
        Object::encode(descriptor, data, options, means)
    }

    /// Writes an object whose bytes went through the pipeline before.
    ///
    /// # Errors
    /// Those of [`encode_pre_encoded`](crate::encode_pre_encoded) about an object, and [`TensogramError::Io`] from the
    /// sink.
    pub fn write_object_pre_encoded(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        self.write_encoded(&Object::pre_encoded(descriptor, region)?)
    }

    fn write_encoded(&mut self, object: &Object<'_>) -> Result<()> {
        let (offset, len) = (self.sink.written, object.frame_len());
        self.attempt(|encoder| {
            let digest = object.write_to(&mut encoder.sink, FrameForm::of(&encoder.options))?;
            encoder.objects.digests.extend(digest);
            pad(&mut encoder.sink, len)
        })?;
        self.objects.index.offsets.push(offset);
        self.objects.index.lengths.push(len);
        self.objects.tensors.push(Tensor::of(&object.descriptor).into_owned());
        self.objects.preceders.push(self.preceder.take());
        Ok(())
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
        Ok(self.sink.writer)
    }

    fn end(&mut self) -> Result<()> {
        if self.preceder.is_some() {
            return Err(framing("dangling PrecederMetadata: finish called before the object that it is about"));
        }
        let preceders = self.objects.preceders.iter().map(Option::as_ref);
        let objects = self.objects.tensors.iter().cloned().zip(preceders);
        let metadata = cbor::written(|writer| write_completed(&self.metadata, objects, &self.options, writer))?;
        let lists_digests = self.lists_digests() && !self.objects.digests.is_empty();
        let hashes = lists_digests
            .then(|| cbor::written(|writer| write_hash_list(self.objects.digests.iter().copied(), writer)));
        let hashes = hashes.transpose()?;
        let index = index_to_cbor(&self.objects.index)?;
        self.attempt(|encoder| {
            let (start, hashing, sink) = (encoder.sink.written, encoder.options.hashing, &mut encoder.sink);
            write_frame(sink, FrameType::FooterMetadata, &metadata, hashing)?;
            if let Some(hashes) = &hashes {
                write_frame(sink, FrameType::FooterHash, hashes, hashing)?;
            }
            write_frame(sink, FrameType::FooterIndex, &index, hashing)?;
            write_postamble(sink, start, 0)?;
            sink.send()?;
            Ok(sink.writer.flush()?)
        })
    }

    /// How many objects were written.
    pub const fn object_count(&self) -> usize {
        self.objects.tensors.len()
    }

    /// How many bytes were written, padding included.
    pub const fn bytes_written(&self) -> u64 {
        self.sink.written
    }

    /// Writes, and sends everything to the sink. An error if an earlier write failed and left the message incomplete.
    fn attempt(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.is_broken {
            return Err(framing("an earlier write failed: the message cannot be continued"));
        }
        self.is_broken = true;
        write(self)?;
        self.sink.send()?;
        self.is_broken = false;
        Ok(())
    }
}

impl<W: Write + Seek> StreamingEncoder<W> {
    /// [`Self::finish`], then writes the message's length into preamble and postamble. The sink then stands at the end of
    /// the message.
    ///
    /// # Errors
    /// Those of [`Self::finish`].
    pub fn finish_with_backfill(mut self) -> Result<W> {
        self.end()?;
        self.fill_in_length()?;
        Ok(self.sink.writer)
    }

    fn fill_in_length(&mut self) -> Result<()> {
        let (len, writer) = (self.sink.written, &mut self.sink.writer);
        let end = writer.stream_position()?;
        let start = end.checked_sub(len).ok_or_else(|| framing("the sink is not where the message ends"))?;
        for position in [start + IN_PREAMBLE, end - BEFORE_END] {
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
    /// Those of [`Self::finish`].
    pub fn finish_and_reset(&mut self) -> Result<Vec<u8>> {
        self.end()?;
        self.reset()
    }

    /// [`Self::finish_and_reset`] of a message that states its length.
    ///
    /// # Errors
    /// Those of [`Self::finish`].
    pub fn finish_and_reset_with_backfill(&mut self) -> Result<Vec<u8>> {
        self.end()?;
        self.fill_in_length()?;
        self.reset()
    }

    fn reset(&mut self) -> Result<Vec<u8>> {
        let message = mem::replace(&mut self.sink, Stream::new(Cursor::new(Vec::new()))).writer.into_inner();
        self.objects = Written::default();
        self.begin()?;
        Ok(message)
    }
}

fn framing(text: &str) -> TensogramError {
    TensogramError::Framing(text.into())
}
