//! Messages out of descriptors and data (FORMAT §4).
//!
//! ```text
//! data ─ substitute ─ simple_packing ─ shuffle ─ compress ─┐
//!            └────── masks ────────────────────────────────┴─ payload region ─ frame ─ message
//! ```
//!
//! What needs no compressor is made where it ends up: the message is one allocation, values are read once for their
//! parameters and once to be packed, and hashed while they are near.

pub(crate) mod checks;
pub(crate) mod compress;
pub(crate) mod finite;
pub(crate) mod frame;
mod masks;
pub(crate) mod message;
pub(crate) mod object;
pub(crate) mod packing;
mod parts;
mod plan;
mod reframe;
mod region;
mod shuffle;
pub(crate) mod sink;

pub use self::reframe::{TakenObject, reframe};
pub use crate::options::{AggregateHashPolicy, Blosc2Codec, EncodeOptions, MaskMethod, Provenance};

pub use self::parts::{Part, PartError, encode_parts};

use self::compress::Means;
use self::object::Object;
use crate::error::Result;
use crate::threads::Threads;
use crate::types::{DataObjectDescriptor, GlobalMetadata};

/// Encodes a message of `objects`, each a descriptor and its elements' bytes in row-major order and the descriptor's byte
/// order.
///
/// # Errors
/// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for descriptors that do not fit themselves or their data,
/// for metadata that is the library's to write, and for parameters; [`TensogramError::Encoding`](crate::TensogramError::Encoding) for NaN and infinities that are not
/// allowed, for names and combinations of stages that could not be read back, and from codecs.
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, decode, encode};
///
/// let values: Vec<u8> = [1.0_f32, 2.0, 3.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
/// let descriptor = DataObjectDescriptor {
///     obj_type: "ntensor".into(),
///     ndim: 1,
///     shape: vec![3],
///     strides: vec![1],
///     dtype: Dtype::Float32,
///     byte_order: ByteOrder::native(),
///     encoding: "none".into(),
///     filter: "none".into(),
///     compression: "none".into(),
///     masks: None,
///     params: Default::default(),
/// };
/// let message = encode(&GlobalMetadata::default(), &[(&descriptor, &values)], &EncodeOptions::default())?;
/// let (_, objects) = decode(&message, &DecodeOptions::default())?;
/// assert_eq!(objects[0].1, values);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn encode(
    metadata: &GlobalMetadata,
    objects: &[(&DataObjectDescriptor, &[u8])],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    encode_all(metadata, objects, options)
}

/// [`encode`], whose objects need not know that both parts of them are borrowed for as long as each other.
fn encode_all<'a>(
    metadata: &GlobalMetadata,
    objects: &[(&'a DataObjectDescriptor, &'a [u8])],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let bytes = objects.iter().map(|(_, data)| data.len() as u64).sum();
    let threads = Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes)?;
    // Several objects at a time, or else one after the other on several threads.
    let inner = if objects.len() > 1 { threads.alone() } else { threads };
    let means = Means { backend: options.compression_backend, threads: inner };
    let encode =
        |(descriptor, data): &(&'a DataObjectDescriptor, &'a [u8])| Object::encode(descriptor, data, options, means);
    assemble(metadata, &threads.map(objects, encode)?, options)
}

/// Encodes a message of objects whose bytes have been through the pipeline already: they become the payload regions as they
/// are, and nothing is derived from them.
///
/// # Errors
/// As [`encode`], but for what the pipeline would say, and [`TensogramError::Metadata`](crate::TensogramError::Metadata) for `szip_block_offsets` that cannot be.
pub fn encode_pre_encoded(
    metadata: &GlobalMetadata,
    objects: &[(&DataObjectDescriptor, &[u8])],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let objects = objects.iter().map(|(descriptor, region)| Object::pre_encoded(descriptor, region));
    assemble(metadata, &objects.collect::<Result<Vec<_>>>()?, options)
}

fn assemble(metadata: &GlobalMetadata, objects: &[Object<'_>], options: &EncodeOptions) -> Result<Vec<u8>> {
    checks::message(metadata, objects.len())?;
    message::write_message(metadata, objects, options)
}
