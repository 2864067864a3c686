//! All stages of one object together, without a message around them.

use tgm_codec::threads::Threads;

use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::options::{DecodeOptions, EncodeOptions};
use crate::decode::frameless::decode_region;
use crate::encode::compress::CodecResources;
use crate::encode::object::Object;
use crate::model::types::DataObjectDescriptor;

/// Puts the bytes of an object's elements through the stages that `descriptor` says: masks, packing, filter,
/// compression.
///
/// `data` holds the elements row-major, in the descriptor's byte order unless the options say otherwise. Returns the
/// descriptor to store, and the payload region. The descriptor has the parameters that were derived, the masks, and
/// szip's offsets.
///
/// The result goes into a message by [`encode_pre_encoded`](crate::encode_pre_encoded). If it has masks, or is
/// compressed without being packed, it goes there by [`Part::Region`](crate::encode::Part::Region). The options about
/// non-finite values, threads, codecs and the order of values count; the others are about messages.
///
/// # Errors
/// The errors of [`encode`](crate::encode()) about an object.
///
/// Format: PIPELINE §2.
///
/// ```
/// use tgm_std::pipeline::{decode_pipeline, encode_pipeline};
/// use tgm_std::{DecodeOptions, EncodeOptions, ObjectBuilder};
///
/// let values = [0.0, 1.0, 2.0, 3.0];
/// let data: Vec<u8> = values.iter().flat_map(|value: &f64| value.to_ne_bytes()).collect();
/// let object = ObjectBuilder::new(&[4], &values)?.simple_packing(2);
/// let (descriptor, payload) = encode_pipeline(object.descriptor(), &data, &EncodeOptions::default())?;
/// assert_eq!(payload, [0b00_01_10_11]);
/// assert_eq!(descriptor.params["sp_reference_value"], 0.0.into());
/// assert_eq!(decode_pipeline(&descriptor, &payload, &DecodeOptions::default())?, data);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn encode_pipeline(
    descriptor: &DataObjectDescriptor,
    data: &[u8],
    options: &EncodeOptions,
) -> Result<(DataObjectDescriptor, Vec<u8>)> {
    let threads = Threads::resolve(options.threads, data.len() as u64, options.parallel_threshold_bytes)?;
    let resources = CodecResources { backend: options.compression_backend, threads };
    Object::of_values(descriptor, data, options, resources)?.into_region()
}

/// The elements of a payload region: the reverse of [`encode_pipeline`].
///
/// They are bytes, row-major, in the byte order that the options say, masked ones restored if the options say so. The
/// region is decoded where it lies. Offsets in errors count as in a frame that holds the region and, after it, the
/// descriptor.
///
/// # Errors
/// [`TensogramError::MissingHash`] with `verify_hash`, always: only frames have digests. The errors of
/// [`decode`](crate::decode()) about an object.
///
/// Format: PIPELINE §2.
pub fn decode_pipeline(descriptor: &DataObjectDescriptor, region: &[u8], options: &DecodeOptions) -> Result<Vec<u8>> {
    decode_region(descriptor, region, options)
}
