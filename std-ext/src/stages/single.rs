//! The stages that have no functions of their own, one at a time, for measuring them. They change in any release.

use tgm_core::descriptor::ByteOrder;
use tgm_core::object::DataObject;

use crate::base::error::Result;
use crate::base::options::{DecodeOptions, EncodeOptions};
use crate::decode::{masks, stored};
use crate::encode::compress::compress_alone;
use crate::model::types::DataObjectDescriptor;

/// The bytes that an object's compressor was given. Empty if the object is not compressed.
///
/// # Errors
/// The errors of the codec.
pub fn decompress(object: &DataObject<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    stored::decompressed(object, options)
}

/// Compresses bytes that went through all other stages of an object with this descriptor: reverses [`decompress`].
///
/// # Errors
/// The errors of the descriptor and the codec.
pub fn compress(descriptor: &DataObjectDescriptor, bytes: &[u8], options: &EncodeOptions) -> Result<Vec<u8>> {
    compress_alone(descriptor, bytes, options)
}

/// Restores the masked ones of all values of an object, which are in `order`.
///
/// # Errors
/// The errors of the masks.
pub fn restore(object: &DataObject<'_>, order: ByteOrder, options: &DecodeOptions, values: &mut [u8]) -> Result<()> {
    masks::restore(object, order, options, values)
}
