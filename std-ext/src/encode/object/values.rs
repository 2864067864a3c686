//! Objects of values: all stages but the compressor.

use std::borrow::Cow;

use tgm_codec::kernels::finite::{PackedMasks, zero_masked};
use tgm_codec::shuffle;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::{ByteOrder, Dtype, Encoding};

use super::described::Described;
use super::{Object, complete};
use crate::base::error::Result;
use crate::base::limits::reserve_more;
use crate::base::options::EncodeOptions;
use crate::encode::compress::{CodecResources, LastStage};
use crate::encode::finite::find;
use crate::encode::packing::{self, Packer};
use crate::encode::payload::Payload;
use crate::encode::plan::{Plan, encoding};
use crate::encode::{checks, masks, value_order};
use crate::model::types::DataObjectDescriptor;

impl<'a> Object<'a> {
    /// Puts `data`, elements in the descriptor's byte order, through all stages but the compressor.
    ///
    /// # Errors
    /// The errors of FORMAT §4.2, in its order.
    pub(crate) fn of_values(
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
        if let Some(compressor) = plan.compressor {
            let last_stage = Some(LastStage { compressor, order, resources });
            return Ok(Self { descriptor, cbor: Vec::new(), payload, blobs, last_stage });
        }
        complete(&mut descriptor, None, payload.len());
        Self::ready(descriptor, payload, blobs)
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
