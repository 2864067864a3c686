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
use crate::encode::frame::{FrameForm, WrittenFrame, append_cbor_frame, padded};
use crate::encode::message::{Tensor, preamble, write_completed, write_postamble};
use crate::encode::object::Object;
use crate::encode::object_builder::ObjectBuilder;
use crate::encode::part_error::PartError;
use crate::encode::sink::Output;
use crate::model::metadata::{RESERVED_KEY, write_global_metadata, write_hash_list, write_index};
use crate::model::params::metadata;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

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
    objects: Vec<Written>,
    preceder: Option<BTreeMap<String, Value>>,
    is_broken: bool,
}

/// What the footer will say about an object.
#[derive(Debug)]
struct Written {
    /// What metadata repeats of its descriptor.
    tensor: Tensor<'static>,
    /// What its preceder said.
    preceder: Option<BTreeMap<String, Value>>,
    /// Where its frame begins in the message.
    offset: u64,
    frame: WrittenFrame,
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
            objects: Vec::new(),
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
        self.objects.clear();
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
        let mut start = preamble(flags, 0).as_bytes().to_vec();
        append_cbor_frame(&mut start, FrameType::HeaderMetadata, self.options.hashing, |writer| {
            write_global_metadata(&self.metadata, writer)
        })?;
        self.attempt(|message| message.sink.write(&start))
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
        let preceder = GlobalMetadata { base: vec![entry], ..GlobalMetadata::default() };
        let mut frame = Vec::new();
        append_cbor_frame(&mut frame, FrameType::PrecederMetadata, self.options.hashing, |writer| {
            write_global_metadata(&preceder, writer)
        })?;
        self.attempt(|message| message.sink.write(&frame))?;
        self.preceder = preceder.base.into_iter().next();
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
        let options = &self.options;
        let threads = Threads::resolve(options.threads, data.len() as u64, options.parallel_threshold_bytes)?;
        let resources = CodecResources { backend: options.compression_backend, threads };
        let object = Object::of_values(descriptor, data, options, resources);
        self.write_prepared(object.and_then(Object::compressed), metadata)
    }

    /// Encodes and writes an object.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_object`](super::StreamingEncoder::write_object).
    pub(crate) fn write_object(&mut self, descriptor: &DataObjectDescriptor, data: &[u8]) -> Result<()> {
        self.write_described(descriptor, data, BTreeMap::new())
    }

    /// Writes an object whose bytes went through the pipeline before.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_object_pre_encoded`](super::StreamingEncoder::write_object_pre_encoded).
    pub(crate) fn write_object_pre_encoded(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        self.write_prepared(Object::pre_encoded(descriptor, region), BTreeMap::new())
    }

    /// Writes an object that went through all stages before.
    ///
    /// # Errors
    /// The errors of [`StreamingEncoder::write_region`](super::StreamingEncoder::write_region).
    pub(crate) fn write_region(&mut self, descriptor: &DataObjectDescriptor, region: &[u8]) -> Result<()> {
        self.write_prepared(Object::taken_over(descriptor, region), BTreeMap::new())
    }

    /// Writes an object after its metadata, if it has any. Nothing is written of an object that is an error.
    fn write_prepared(&mut self, object: Result<Object<'_>>, metadata: BTreeMap<String, Value>) -> Result<()> {
        let named = PartError::of(self.object_count());
        let object = object.map_err(&named)?;
        if !metadata.is_empty() {
            self.write_preceder(metadata)?;
        }
        let (tensor, offset) = (Tensor::of(&object.descriptor).into_owned(), self.sink.written());
        self.sink.make_room(padded(object.expected_len()))?;
        let frame = self.attempt(|message| {
            Ok(object.write_to(&mut message.sink, FrameForm::of(&message.options)).map_err(&named)?)
        })?;
        let preceder = self.preceder.take();
        self.objects.push(Written { tensor, preceder, offset, frame });
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
        let (objects, hashing) = (&self.objects, self.options.hashing);
        let (start, mut footer) = (self.sink.written(), Vec::new());
        append_cbor_frame(&mut footer, FrameType::FooterMetadata, hashing, |writer| {
            let described = objects.iter().map(|object| (object.tensor.clone(), object.preceder.as_ref()));
            write_completed(&self.metadata, described, &self.options, writer)
        })?;
        if self.lists_digests() && !objects.is_empty() {
            append_cbor_frame(&mut footer, FrameType::FooterHash, hashing, |writer| {
                write_hash_list(objects.iter().map(|object| object.frame.digest), writer)
            })?;
        }
        append_cbor_frame(&mut footer, FrameType::FooterIndex, hashing, |writer| {
            let lens = objects.iter().map(|object| object.frame.len);
            write_index(objects.iter().map(|object| object.offset), lens, writer)
        })?;
        write_postamble(&mut footer, start, 0)?;
        self.attempt(|message| message.sink.write(&footer))
    }

    /// How many objects were written.
    pub(crate) const fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// Writes, and sends everything to the sink. An error if an earlier write failed and left the message incomplete.
    fn attempt<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.is_broken {
            return Err(framing("an earlier write failed: the message cannot be continued"));
        }
        self.is_broken = true;
        let written = write(self)?;
        self.sink.send()?;
        self.is_broken = false;
        Ok(written)
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
