//! Messages out of descriptors and data (FORMAT §4).
//!
//! ```text
//! data ─ substitute ─ simple_packing ─ shuffle ─ compress ─┐
//!            └────── masks ────────────────────────────────┴─ payload region ─ frame ─ message
//! ```
//!
//! What needs no compressor is made where it ends up: the message is one allocation, values are read once for their
//! parameters and once to be packed, and hashed while they are near.

pub mod builder;
pub(crate) mod checks;
pub(crate) mod compress;
pub(crate) mod defaults;
pub(crate) mod finite;
pub(crate) mod frame;
mod masks;
pub(crate) mod message;
pub(crate) mod object;
pub(crate) mod object_frame;
pub(crate) mod packing;
mod parts;
mod plan;
mod reframe;
mod region;
pub(crate) mod shuffle;
pub(crate) mod sink;
pub mod streaming;
mod value_order;

pub use self::builder::{MessageBuilder, ObjectBuilder};
pub use self::message::HashFramePolicy;
pub use self::object_frame::encode_data_object_frame;
pub use self::reframe::{TakenObject, reframe};
pub use crate::base::options::{AggregateHashPolicy, Blosc2Codec, EncodeOptions, MaskMethod, Provenance, ValueOrder};

pub use self::parts::{Part, PartError, encode_parts};
pub use self::streaming::StreamingEncoder;
pub use crate::model::number::Number;

use self::compress::Means;
use self::object::{Object, Planned};
use crate::base::error::Result;
use crate::base::threads::Threads;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// Encodes a message of `objects`, each a descriptor and its elements' bytes in row-major order and the descriptor's byte
/// order.
///
/// That is the order of all bytes, those of objects that zfp and sz3 compress too: these code numbers. The crate `tensogram`
/// gives the two codecs the bytes as this machine's numbers, whatever the descriptor says.
/// [`EncodeOptions::value_order`] says that bytes come like that. Where it says nothing, values that only make sense in this
/// machine's order are an error.
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
    let mut message = Vec::new();
    encode_into(metadata, objects, options, &mut message)?;
    Ok(fitting(message))
}

/// [`encode()`] into a buffer that the caller keeps: the message takes the place of what it held.
///
/// A buffer that has held a message like this one costs no memory: fresh memory can take longer than all else. After an
/// error it holds nothing of use, and its memory may be gone.
///
/// # Errors
/// As [`encode()`].
///
/// ```
/// use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, EncodeOptions, GlobalMetadata, encode_into};
///
/// let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[3]);
/// let (metadata, options) = (GlobalMetadata::default(), EncodeOptions::default());
/// let mut message = Vec::new();
/// for values in [[1, 2, 3], [4, 5, 6]] {
///     encode_into(&metadata, &[(&descriptor, &values)], &options, &mut message)?;
///     assert_eq!(tgm_core::Message::parse(&message)?.object(0)?.payload(), values);
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn encode_into(
    metadata: &GlobalMetadata,
    objects: &[(&DataObjectDescriptor, &[u8])],
    options: &EncodeOptions,
    message: &mut Vec<u8>,
) -> Result<()> {
    encode_all(metadata, objects, options, message)
}

/// [`encode_into`], whose objects need not know that both parts of them are borrowed for as long as each other.
fn encode_all<'a>(
    metadata: &GlobalMetadata,
    objects: &[(&'a DataObjectDescriptor, &'a [u8])],
    options: &EncodeOptions,
    message: &mut Vec<u8>,
) -> Result<()> {
    let bytes = objects.iter().map(|(_, data)| data.len() as u64).sum();
    let threads = Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes)?;
    // Several objects at a time, or else one after the other on several threads.
    let inner = if objects.len() > 1 { threads.alone() } else { threads };
    let means = Means { backend: options.compression_backend, threads: inner };
    // What is made at a time is made in memory of its own.
    let at_a_time = objects.len() > 1 && !threads.is_one();
    let plan = |(descriptor, data): &(&'a DataObjectDescriptor, &'a [u8])| {
        if at_a_time {
            return Object::encode(descriptor, data, options, means).map(Planned::Object);
        }
        Planned::new(descriptor, data, options, means)
    };
    Ok(assemble(metadata, threads.map(objects, plan)?, options, message)?)
}

/// Encodes a message of objects whose bytes have been through the pipeline already: they become the payload regions as they
/// are, and nothing is derived from them.
///
/// # Errors
/// As [`encode`], but for what the pipeline would say: `simple_packing` of another type than float64 is refused here too,
/// and the four parameters of packing must be there. [`TensogramError::Metadata`](crate::TensogramError::Metadata) for
/// `szip_block_offsets` that are no array of integers, are empty, do not begin with 0, do not increase, lead past the end
/// of the bytes, or come with another compression than szip.
pub fn encode_pre_encoded(
    metadata: &GlobalMetadata,
    objects: &[(&DataObjectDescriptor, &[u8])],
    options: &EncodeOptions,
) -> Result<Vec<u8>> {
    let objects = objects.iter().map(|(descriptor, region)| Ok(Object::pre_encoded(descriptor, region)?.into()));
    let mut message = Vec::new();
    assemble(metadata, objects.collect::<Result<Vec<_>>>()?, options, &mut message)?;
    Ok(message)
}

fn assemble(
    metadata: &GlobalMetadata,
    objects: Vec<Planned<'_>>,
    options: &EncodeOptions,
    message: &mut Vec<u8>,
) -> Result<(), PartError> {
    checks::message(metadata, objects.len()).map_err(PartError::of_all)?;
    message::write_message(metadata, objects, options, message)
}

/// Bytes of memory that a message may have and not need.
const SLACK: usize = 64 << 10;

/// A message that was compressed to where it is, without the memory that a compressor might have needed.
fn fitting(mut message: Vec<u8>) -> Vec<u8> {
    if message.capacity() - message.len() > SLACK {
        message.shrink_to_fit();
    }
    message
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may panic")]
mod tests;
