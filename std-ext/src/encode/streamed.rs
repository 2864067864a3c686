//! A message that is written object by object, to whatever takes its bytes (FORMAT §4.5).
//!
//! The index, the digests and the complete metadata are known only at the end, so they go into the footer. The preamble
//! does not state the message's length. The encoders, [`StreamingEncoder`](super::StreamingEncoder) and the one for
//! tokio's writers, fill it in afterwards if their sinks can seek.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_codec::threads::Threads;
use tgm_core::wire::{FrameType, MessageFlags, POSTAMBLE_SIZE, Postamble, Preamble};
use zerocopy::IntoBytes as _;

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::options::{AggregateHashPolicy, EncodeOptions};
use crate::encode::checks;
use crate::encode::compress::CodecResources;
use crate::encode::frame::{FrameForm, pad, padded, write_frame};
use crate::encode::message::{Tensor, preamble, write_completed, write_postamble};
use crate::encode::object::Object;
use crate::encode::object_builder::ObjectBuilder;
use crate::encode::part_error::PartError;
use crate::encode::sink::Output;
use crate::model::cbor;
use crate::model::metadata::RESERVED_KEY;
use crate::model::metadata::{global_metadata_to_cbor, index_to_cbor, write_hash_list};
use crate::model::params::metadata;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata, IndexFrame};

/// Bytes from the start of a message to its preamble's `total_length`.
const IN_PREAMBLE: u64 = Preamble::TOTAL_LENGTH_OFFSET as u64;
/// Bytes from its postamble's `total_length` to the end of a message.
const BEFORE_END: u64 = (POSTAMBLE_SIZE - Postamble::TOTAL_LENGTH_OFFSET) as u64;

/// A message that goes to `S`, piece by piece.
#[derive(Debug)]
pub(crate) struct Streamed<S> {
    pub(crate) sink: S,
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

impl<S: Output> Streamed<S> {
    /// Begins a message: its preamble, and the caller's metadata as it is now.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::new`](super::StreamingEncoder::new).
    pub(crate) fn begin(sink: S, metadata: &GlobalMetadata, options: &EncodeOptions) -> Result<Self> {
        if matches!(options.aggregate_hash, AggregateHashPolicy::Header | AggregateHashPolicy::Both) {
            return Err(TensogramError::encoding(format!(
                "AggregateHashPolicy::{:?} is not supported in streaming mode (Header/Both is not supported in streaming, \
                 as digests are not known when the header is written): {}",
                options.aggregate_hash,
                Hint::StreamedHashes
            )));
        }
        checks::reserved(metadata)?;
        let mut message = Self {
            sink,
            metadata: metadata.clone(),
            options: options.clone(),
            objects: Written::default(),
            preceder: None,
            is_broken: false,
        };
        message.write_start()?;
        Ok(message)
    }

    /// Begins another message with the same metadata and options, after the end of this one. Returns the sink of this
    /// one.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(crate) fn begin_another(&mut self, sink: S) -> Result<S> {
        let before = std::mem::replace(&mut self.sink, sink);
        self.objects = Written::default();
        self.write_start()?;
        Ok(before)
    }

    fn write_start(&mut self) -> Result<()> {
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
        self.attempt(|message| {
            message.sink.write(preamble(flags, 0).as_bytes())?;
            write_frame(&mut message.sink, FrameType::HeaderMetadata, &metadata, message.options.hashing)?;
            Ok(())
        })
    }

    /// Whether the footer has a list of digests, if there are objects.
    const fn lists_digests(&self) -> bool {
        self.options.hashing
            && matches!(self.options.aggregate_hash, AggregateHashPolicy::Auto | AggregateHashPolicy::Footer)
    }

    /// Writes metadata of the next object.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_preceder`](super::StreamingEncoder::write_preceder).
    pub(crate) fn write_preceder(&mut self, entry: BTreeMap<String, Value>) -> Result<()> {
        if self.preceder.is_some() {
            return Err(framing("write_preceder called twice without an object between"));
        }
        if entry.contains_key(RESERVED_KEY) {
            return Err(metadata(format!("client code must not write '{RESERVED_KEY}' in preceder metadata")));
        }
        let frame = GlobalMetadata { base: vec![entry], ..GlobalMetadata::default() };
        let cbor = global_metadata_to_cbor(&frame)?;
        self.attempt(|message| {
            write_frame(&mut message.sink, FrameType::PrecederMetadata, &cbor, message.options.hashing).map(|_| ())
        })?;
        self.preceder = frame.base.into_iter().next();
        Ok(())
    }

    /// Encodes and writes an object of a builder, with its metadata before it.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write`](super::StreamingEncoder::write).
    pub(crate) fn write(&mut self, object: ObjectBuilder<'_>) -> Result<()> {
        let (descriptor, data, metadata) = object.into_parts(self.object_count())?;
        self.write_described(&descriptor, &data, metadata)
    }

    /// Encodes an object, and writes it after its metadata.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(crate) fn write_described(
        &mut self,
        descriptor: &DataObjectDescriptor,
        data: &[u8],
        metadata: BTreeMap<String, Value>,
    ) -> Result<()> {
        let encoded = self.encoded(descriptor, data)?;
        if !metadata.is_empty() {
            self.write_preceder(metadata)?;
        }
        self.write_encoded(&encoded)
    }

    /// Encodes and writes an object.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_object`](super::StreamingEncoder::write_object).
    pub(crate) fn write_object(&mut self, descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
        let encoded = self.encoded(descriptor, data)?;
        self.write_encoded(&encoded)
    }

    fn encoded<'a>(&self, descriptor: &'a DataObjectDescriptor, data: &'a [u8]) -> Result<Object<'a>> {
        let options = &self.options;
        let threads = Threads::resolve(options.threads, data.len() as u64, options.parallel_threshold_bytes)?;
        let resources = CodecResources { backend: options.compression_backend, threads };
        Ok(Object::encode(descriptor, data, options, resources).map_err(self.in_next_object())?)
    }

    /// Names the next object in an error about it.
    fn in_next_object(&self) -> impl Fn(TensogramError) -> PartError + use<S> {
        PartError::of(self.object_count())
    }

    /// Writes an object whose bytes went through the pipeline before.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_object_pre_encoded`](super::StreamingEncoder::write_object_pre_encoded).
    pub(crate) fn write_object_pre_encoded(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        self.write_encoded(&Object::pre_encoded(descriptor, region).map_err(self.in_next_object())?)
    }

    /// Writes an object that went through all stages before.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_region`](super::StreamingEncoder::write_region).
    pub(crate) fn write_region(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        self.write_encoded(&Object::taken_over(descriptor, region).map_err(self.in_next_object())?)
    }

    fn write_encoded(&mut self, object: &Object<'_>) -> Result<()> {
        let (offset, len) = (self.sink.written(), object.frame_len());
        self.sink.make_room(padded(len))?;
        self.attempt(|message| {
            let written = object.write_to(&mut message.sink, FrameForm::of(&message.options));
            let digest = written.map_err(message.in_next_object())?;
            message.objects.digests.extend(digest);
            pad(&mut message.sink, len)
        })?;
        self.objects.index.offsets.push(offset);
        self.objects.index.lengths.push(len);
        self.objects.tensors.push(Tensor::of(&object.descriptor).into_owned());
        self.objects.preceders.push(self.preceder.take());
        Ok(())
    }

    /// Writes the footer.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::finish`](super::StreamingEncoder::finish).
    pub(crate) fn end(&mut self) -> Result<()> {
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
        self.attempt(|message| {
            let (start, hashing, sink) = (message.sink.written(), message.options.hashing, &mut message.sink);
            write_frame(sink, FrameType::FooterMetadata, &metadata, hashing)?;
            if let Some(hashes) = &hashes {
                write_frame(sink, FrameType::FooterHash, hashes, hashing)?;
            }
            write_frame(sink, FrameType::FooterIndex, &index, hashing)?;
            write_postamble(sink, start, 0)
        })
    }

    /// How many objects were written.
    pub(crate) const fn object_count(&self) -> usize {
        self.objects.tensors.len()
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

/// The places of the two fields that hold a message's length, for a message of `len` bytes that ends at `end`.
///
/// # Errors
/// [`TensogramError::Framing`] if the sink is not where the message ends.
pub(crate) fn length_fields(end: u64, len: u64) -> Result<[u64; 2]> {
    let start = end.checked_sub(len).ok_or_else(|| framing("the sink is not where the message ends"))?;
    Ok([start + IN_PREAMBLE, end - BEFORE_END])
}

pub(crate) fn framing(text: &str) -> TensogramError {
    TensogramError::Framing(text.into())
}
