//! What a table says of one message.

use tgm_core::Message;
#[cfg(doc)]
use tgm_std::TensogramError;
use tgm_std::metadata::query::codec;
use tgm_std::{GlobalMetadata, Result, decode_descriptors};

/// A message without its payloads, and its place in a file.
#[derive(Clone, Debug)]
pub struct Described {
    pub(super) file: String,
    pub(super) message: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) metadata: GlobalMetadata,
    pub(super) objects: Vec<Object>,
}

/// An object without its payload.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) dtype: &'static str,
    pub(super) shape: Vec<u64>,
    pub(super) codec: String,
    pub(super) bytes: Option<u64>,
    pub(super) stored: u64,
}

impl Described {
    /// Describes message number `message` of `file`, at byte `offset`. Payloads in `bytes` are not read: they may be zeros.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] and [`TensogramError::Metadata`] for bytes that are not a message.
    pub fn new(file: &str, message: u64, offset: u64, bytes: &[u8]) -> Result<Self> {
        let (metadata, _) = decode_descriptors(bytes)?;
        let view = Message::parse(bytes)?;
        let mut objects = Vec::new();
        for object in view.objects() {
            let object = object?;
            let descriptor = object.descriptor();
            objects.push(Object {
                dtype: descriptor.dtype().name(),
                shape: descriptor.shape().iter().collect(),
                codec: codec(descriptor),
                bytes: descriptor.decoded_len().ok(),
                stored: object.region().len() as u64,
            });
        }
        Ok(Self { file: file.to_string(), message, offset, length: bytes.len() as u64, metadata, objects })
    }
}
