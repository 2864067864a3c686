//! Objects that went through all stages but the compressor.

use std::borrow::Cow;

use ciborium::Value;
use tgm_codec::kernels::finite::{PackedMasks, zero_masked};
use tgm_codec::shuffle;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::{ByteOrder, Dtype, Encoding, Key};

use super::described::Described;
use super::ready::Object;
use crate::base::error::Result;
use crate::base::limits::reserve_more;
use crate::base::options::EncodeOptions;
use crate::encode::compress::{CodecResources, compress_payload};
use crate::encode::finite::find;
use crate::encode::frame::{OpenFrame, WrittenFrame};
use crate::encode::packing::{self, Packer};
use crate::encode::payload_region::{Payload, Region};
use crate::encode::plan::{Compressor, Plan, encoding};
use crate::encode::{checks, masks, value_order};
use crate::model::cbor::Writer;
use crate::model::metadata::write_object_descriptor;
use crate::model::types::{DataObjectDescriptor, MasksMetadata};

/// An object before its compressor.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub(super) descriptor: Described<'a>,
    pub(super) payload: Payload<'a>,
    /// The byte order of the values in `payload`, for compressors of numbers.
    order: ByteOrder,
    pub(super) compressor: Option<Compressor>,
    /// The blobs of masks. The descriptor counts their offsets from the first of them.
    blobs: Vec<u8>,
    resources: CodecResources,
}

impl<'a> Draft<'a> {
    /// Puts `data`, elements in the descriptor's byte order, through all stages but the compressor.
    ///
    /// # Errors
    /// The errors of FORMAT §4.2, in its order.
    pub(super) fn new(
        descriptor: &'a DataObjectDescriptor,
        data: &'a [u8],
        options: &EncodeOptions,
        resources: CodecResources,
    ) -> Result<Self> {
        let count = checks::descriptor(descriptor, data.len(), false)?;
        // Masks in a descriptor that was read belong to the values that were read with it, not to `data`.
        let mut descriptor = match descriptor.masks {
            None => Described::Borrowed(descriptor),
            Some(_) => DataObjectDescriptor { masks: None, ..descriptor.clone() }.into(),
        };
        let order = value_order::determine(&descriptor, data, options.value_order)?;
        let masks = complete_and_find(&mut descriptor, data, order, options, resources.threads)?;
        let (plan, width) = (Plan::new(&descriptor)?, descriptor.dtype.byte_width());
        let is_plain = plan.has_no_stage();
        // Without stages, masked elements become zeros while they are written, and there is no copy.
        let data = if masks.is_empty() || is_plain { Cow::Borrowed(data) } else { zeroed(data, width, &masks)? };
        let payload = transform(data, &plan, order, resources.threads)?;
        let mut blobs = Vec::new();
        if !masks.is_empty() {
            let (metadata, stored) = masks::store(&masks, count, options)?;
            descriptor.to_mut().masks = Some(metadata);
            blobs = stored;
        }
        let payload = match payload {
            Payload::Bytes(bytes) if is_plain && !masks.is_empty() => Payload::Masked { bytes, width, masks },
            made => made,
        };
        Ok(Self { descriptor, payload, order, compressor: plan.compressor, blobs, resources })
    }

    /// Compresses the payload into a buffer of its own, if there is a compressor.
    ///
    /// # Errors
    /// The errors of the compressor, and of the descriptor's CBOR.
    pub(super) fn into_object(mut self) -> Result<Object<'a>> {
        let payload = match self.compressor {
            None => self.payload,
            compressor => {
                let mut payload = Vec::new();
                let offsets =
                    compress_payload(compressor.as_ref(), self.payload, self.order, self.resources, &mut payload)?;
                insert_offsets(&mut self.descriptor, offsets);
                payload.shrink_to_fit();
                Payload::Bytes(Cow::Owned(payload))
            }
        };
        place_masks(&mut self.descriptor, payload.len());
        Object::new(self.descriptor, Region { payload, blobs: self.blobs })
    }

    /// Appends the frame to `out`. The payload is compressed to its final place.
    ///
    /// # Errors
    /// The errors of the compressor, and of the descriptor's CBOR.
    pub(super) fn append_to(mut self, out: &mut Vec<u8>, hashing: bool) -> Result<WrittenFrame> {
        let frame = OpenFrame::begin(out);
        let start = out.len();
        let offsets = compress_payload(self.compressor.as_ref(), self.payload, self.order, self.resources, out)?;
        insert_offsets(&mut self.descriptor, offsets);
        place_masks(&mut self.descriptor, out.len() - start);
        out.extend_from_slice(&self.blobs);
        let cbor_start = out.len();
        write_object_descriptor(&self.descriptor, &mut Writer::new(out))?;
        Ok(frame.finish_object(out, cbor_start, hashing))
    }
}

impl<'a> Object<'a> {
    /// Puts `data`, elements in the descriptor's byte order, through the pipeline.
    ///
    /// # Errors
    /// The errors of FORMAT §4.2, in its order.
    pub(crate) fn encode(
        descriptor: &'a DataObjectDescriptor,
        data: &'a [u8],
        options: &EncodeOptions,
        resources: CodecResources,
    ) -> Result<Self> {
        Draft::new(descriptor, data, options, resources)?.into_object()
    }
}

/// Completes the parameters of packing, if values are packed, and finds the elements that are not finite.
///
/// If several things are wrong, the error is about the value that is not allowed.
fn complete_and_find(
    descriptor: &mut Described<'_>,
    data: &[u8],
    order: ByteOrder,
    options: &EncodeOptions,
    threads: Threads,
) -> Result<PackedMasks> {
    let dtype = descriptor.dtype;
    if encoding(descriptor)? != Encoding::SimplePacking {
        return find(data, dtype, order, options, threads);
    }
    if dtype != Dtype::Float64 {
        let found = find(data, dtype, order, options, threads)?;
        packing::check_dtype(descriptor)?;
        return Ok(found);
    }
    match packing::complete(descriptor.to_mut(), data, order, threads) {
        // Deriving parameters has looked at every value already.
        Ok(true) => Ok(PackedMasks::new()),
        completed => {
            let found = find(data, dtype, order, options, threads)?;
            completed.map(|_| found)
        }
    }
}

/// Moves the offsets of masks, which count from the end of the payload, by the payload's length `len`.
fn place_masks(descriptor: &mut Described<'_>, len: usize) {
    // A borrowed descriptor without masks stays borrowed.
    if descriptor.masks.is_none() {
        return;
    }
    if let Some(masks) = &mut descriptor.to_mut().masks {
        let MasksMetadata { nan, pos_inf, neg_inf } = masks;
        [nan, pos_inf, neg_inf].into_iter().flatten().for_each(|mask| mask.offset += len as u64);
    }
}

/// Records where szip's intervals start.
fn insert_offsets(descriptor: &mut Described<'_>, offsets: Option<Vec<u64>>) {
    if let Some(offsets) = offsets {
        let offsets: Vec<_> = offsets.into_iter().map(Value::from).collect();
        descriptor.to_mut().set_param(Key::SzipBlockOffsets, offsets);
    }
}

/// A copy of `data` with zeros where `masks` are set.
fn zeroed<'a>(data: &[u8], width: usize, masks: &PackedMasks) -> Result<Cow<'a, [u8]>> {
    let mut copy = Vec::new();
    reserve_more(&mut copy, data.len())?;
    copy.extend_from_slice(data);
    zero_masked(&mut copy, width, masks, 0);
    Ok(Cow::Owned(copy))
}

/// The first two stages. If only one of them is on, its output is computed where it is written.
fn transform<'a>(data: Cow<'a, [u8]>, plan: &Plan, order: ByteOrder, threads: Threads) -> Result<Payload<'a>> {
    let payload = match &plan.packing {
        None => Payload::Bytes(data),
        Some(packing) => {
            let packer = Packer::new(packing)?;
            let len = packer.packed_len(data.len() / size_of::<f64>());
            Payload::Packed { bytes: data, order, packer, len, threads }
        }
    };
    let Some(size) = plan.shuffle else { return Ok(payload) };
    let bytes = payload.into_bytes()?;
    shuffle::check_len(bytes.len(), size)?;
    Ok(Payload::Shuffled { bytes, size: size.get(), threads })
}
