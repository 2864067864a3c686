//! The frame of one data object, without a message around it.

use tgm_core::wire::{FRAME_HEADER_SIZE, FrameFlags, FrameType};

use super::frame::{FrameWriter, object_frame_len};
use super::packing;
use super::sink::Sink as _;
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::model::metadata::object_descriptor_to_cbor;
use crate::model::types::DataObjectDescriptor;

/// Writes the frame of a data object, without padding. With `cbor_before`, the descriptor comes before `payload`, and
/// otherwise after it.
///
/// # Errors
/// [`TensogramError::Metadata`] for a descriptor that cannot be written as CBOR; [`TensogramError::Encoding`] for
/// `simple_packing` of another type than float64, which no reader decodes.
///
/// Format: FORMAT §1.7.
pub fn encode_data_object_frame(
    descriptor: &DataObjectDescriptor,
    payload: &[u8],
    cbor_before: bool,
    hashing: bool,
) -> Result<Vec<u8>> {
    packing::check_dtype(descriptor)?;
    let cbor = object_descriptor_to_cbor(descriptor)?;
    let len = object_frame_len(payload.len() as u64, cbor.len() as u64);
    let flags = if cbor_before { 0 } else { FrameFlags::CBOR_AFTER_PAYLOAD };
    let (first, second) = if cbor_before { (&*cbor, payload) } else { (payload, &*cbor) };
    let mut out = Vec::new();
    let mut frame = FrameWriter::begin(&mut out, FrameType::NTensorFrame, flags, len, hashing)?;
    frame.write(first)?;
    frame.write(second)?;
    let before = if cbor_before { 0 } else { payload.len() as u64 };
    frame.finish_object(FRAME_HEADER_SIZE as u64 + before)?;
    Ok(out)
}
