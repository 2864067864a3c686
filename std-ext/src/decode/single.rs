//! Stages of decoding, one at a time, for measuring them.

use tgm_codec::Workspace;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::ByteOrder;
use tgm_core::object::DataObject;

use super::masks::{MaskBuffers, Masks};
use super::plan::Plan;
use super::stored::open;
use super::trust::Trusted;
use crate::base::error::Result;
use crate::base::options::DecodeOptions;

/// The bytes that an object's compressor was given. Empty if the object is not compressed.
///
/// # Errors
/// The errors of the codec.
pub(crate) fn decompressed(object: &DataObject<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    let len = object.descriptor().decoded_len()?;
    let threads = Threads::resolve(options.threads, len, options.parallel_threshold_bytes)?;
    let plan = Plan::new(Trusted::new(object, options)?, options, ByteOrder::NATIVE, threads)?;
    let mut bytes = Vec::new();
    open(&plan, plan.stored()?, &mut bytes, &mut Workspace::default())?;
    Ok(bytes)
}

/// Restores the masked ones of all values of an object, which are in `order`.
///
/// # Errors
/// The errors of the masks.
pub(crate) fn restore(
    object: &DataObject<'_>,
    order: ByteOrder,
    options: &DecodeOptions,
    values: &mut [u8],
) -> Result<()> {
    Masks::read(Trusted::new(object, options)?, options, &mut MaskBuffers::default())?.restore_into(0, order, values)
}
