//! Messages made of objects that come from different places: values to be encoded, and payloads of other messages.

use std::fmt;

use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::base::threads::Threads;
use crate::encode::compress::Means;
use crate::encode::object::{Object, Planned};
use crate::encode::{assemble, fitting};
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// What becomes an object of a message.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Elements' bytes, in row-major order and the descriptor's byte order, which go through the pipeline that the
    /// descriptor says, NaN and infinities treated as the object's own options say.
    Values(&'a DataObjectDescriptor, &'a [u8], &'a EncodeOptions),
    /// The payload region of an object that was read, masks included, and its descriptor: taken over as they are.
    Region(&'a DataObjectDescriptor, &'a [u8]),
}

/// An error, and the object it concerns.
#[derive(Debug)]
pub struct PartError {
    /// Which object of the message; `None` for what concerns all of it.
    pub object_index: Option<usize>,
    /// What is wrong.
    pub error: TensogramError,
}

impl PartError {
    /// What concerns all of the message.
    pub(crate) const fn of_all(error: TensogramError) -> Self {
        Self { object_index: None, error }
    }
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.object_index {
            Some(index) => write!(f, "object {index}: {}", self.error),
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for PartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<PartError> for TensogramError {
    fn from(error: PartError) -> Self {
        error.error
    }
}

/// Encodes a message of `parts`. The message itself, its digests and the threads are as `options` say.
///
/// Unlike [`encode_pre_encoded`](crate::encode_pre_encoded) this takes over compressed and masked payloads of any encoding:
/// that a region is what its descriptor says is for the caller to know.
///
/// # Errors
/// Those of [`encode`](crate::encode()), with the object they concern: of a region, only what its descriptor alone shows.
///
/// ```
/// use tgm_std::encode::{Part, encode_parts};
/// use tgm_std::{DecodeOptions, EncodeOptions, decode, decode_descriptors};
///
/// # let bytes = std::fs::read("../tests/data/zfp/fixed_accuracy-0.1.tgm").unwrap();
/// let (mut metadata, descriptors) = decode_descriptors(&bytes)?;
/// metadata.reserved.clear();
/// metadata.base.iter_mut().for_each(|entry| drop(entry.remove("_reserved_")));
/// let object = tgm_core::Message::parse(&bytes)?.object(0)?;
/// let copy = encode_parts(&metadata, &[Part::Region(&descriptors[0], object.region())], &EncodeOptions::default())?;
/// assert_eq!(decode(&copy, &DecodeOptions::default())?.1, decode(&bytes, &DecodeOptions::default())?.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode_parts(
    metadata: &GlobalMetadata,
    parts: &[Part<'_>],
    options: &EncodeOptions,
) -> Result<Vec<u8>, PartError> {
    let bytes = parts.iter().map(|part| part.bytes().len() as u64).sum();
    let threads =
        Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes).map_err(PartError::of_all)?;
    // Several objects at a time, or else one after the other on several threads.
    let inner = if parts.len() > 1 { threads.alone() } else { threads };
    let means = Means { backend: options.compression_backend, threads: inner };
    let numbered: Vec<_> = parts.iter().enumerate().collect();
    let objects = threads.map(&numbered, |(index, part)| {
        part.plan(means, !threads.is_one()).map_err(|error| PartError { object_index: Some(*index), error })
    })?;
    let mut message = Vec::new();
    assemble(metadata, objects, options, &mut message)?;
    Ok(fitting(message))
}

impl<'a> Part<'a> {
    const fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Values(_, bytes, _) | Self::Region(_, bytes) => bytes,
        }
    }

    /// The object, `compressed` in any case or when it is written.
    fn plan(&self, means: Means, compressed: bool) -> Result<Planned<'a>> {
        match *self {
            Self::Values(descriptor, data, options) if compressed => {
                Object::encode(descriptor, data, options, means).map(Planned::Object)
            }
            Self::Values(descriptor, data, options) => Planned::new(descriptor, data, options, means),
            Self::Region(descriptor, region) => Object::taken_over(descriptor, region).map(Planned::Object),
        }
    }
}
