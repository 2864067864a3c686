//! All values of an object, as bytes: in memory of their own, borrowed, or in the caller's buffer.
//!
//! One allocation holds the values, or the caller's buffer does. What a decompressor writes for a filter or an encoding
//! takes the buffer of the scratch memory.

use std::borrow::Cow;

use tgm_codec::kernels::byteswap;
use tgm_codec::threads::Threads;
use tgm_codec::{Codec, Workspace};
use tgm_core::descriptor::ByteOrder;

use super::bounds::check_output;
use super::masks::{MaskBuffers, Masks};
use super::plan::{Plan, WayToValues, target_order};
use super::scratch::Scratch;
use super::stored::{codec_error, open, write_values};
use super::trust::Trusted;
use crate::base::error::Result;
use crate::base::limits::reserve;
use crate::base::options::DecodeOptions;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::DecodedObject;

/// All values of an object, in the byte order that the options say; masked ones restored if they say so.
///
/// # Errors
/// The errors of [`Plan`], of the stages and of the masks.
pub(crate) fn decode_values<'a>(
    object: Trusted<'_, 'a>,
    options: &DecodeOptions,
    threads: Threads,
) -> Result<Cow<'a, [u8]>> {
    let plan = Plan::new(object, options, target_order(object.descriptor(), options), threads)?;
    let mut values = match plan.all()? {
        WayToValues::Borrow(values) => Cow::Borrowed(values),
        WayToValues::ByCodec { codec, unpacks, len } => {
            let mut out = reserve(len)?;
            write_by_codec(&plan, codec, unpacks, &mut Workspace::default(), &mut out)?;
            Cow::Owned(out)
        }
        WayToValues::FromStored { stored, len } => {
            let mut bytes = Vec::new();
            // Decompressed first: a damaged payload is an error before memory for values is taken.
            let stored = open(&plan, stored, &mut bytes, &mut Workspace::default())?;
            let mut out = reserve(len)?;
            write_values(&plan, &stored, &mut out)?;
            Cow::Owned(out)
        }
    };
    if plan.must_restore() {
        let mut restored = options.limits.owned(values)?;
        Masks::read(object, options, &mut MaskBuffers::default())?.restore_into(0, plan.order, &mut restored)?;
        values = Cow::Owned(restored);
    }
    Ok(values)
}

/// [`decode_values`] in memory of their own.
///
/// # Errors
/// The errors of [`decode_values`].
pub(crate) fn decode_owned_values(
    object: Trusted<'_, '_>,
    options: &DecodeOptions,
    threads: Threads,
) -> Result<Vec<u8>> {
    options.limits.owned(decode_values(object, options, threads)?)
}

/// All values of an object that may be trusted, on the threads that the options allow.
///
/// # Errors
/// The errors of `decode_values`.
pub fn trusted_values<'a>(object: Trusted<'_, 'a>, options: &DecodeOptions) -> Result<Cow<'a, [u8]>> {
    let len = object.payload().len() as u64;
    let threads = Threads::resolve(options.threads, len, options.parallel_threshold_bytes)?;
    decode_values(object, options, threads)
}

/// The descriptor and the values of an object, both owned.
///
/// # Errors
/// The errors of [`decode_values`], and of the limit of metadata.
pub(super) fn decoded_object(
    object: Trusted<'_, '_>,
    options: &DecodeOptions,
    threads: Threads,
    budget: &MetadataBudget,
) -> Result<DecodedObject> {
    let values = decode_owned_values(object, options, threads)?;
    Ok((to_owned::descriptor(object.descriptor(), budget)?, values))
}

/// [`decode_values`] in `order` into all of `out`.
///
/// # Errors
/// [`TensogramError::Encoding`](crate::TensogramError::Encoding) if `out` is shorter or longer than the values; the
/// errors of [`decode_values`].
pub(super) fn decode_values_into(
    object: Trusted<'_, '_>,
    order: ByteOrder,
    options: &DecodeOptions,
    threads: Threads,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    check_output(object.descriptor().decoded_len()?, out)?;
    let Scratch { bytes, masks, work, .. } = scratch;
    let plan = Plan::new(object, options, order, threads)?;
    match plan.all()? {
        WayToValues::Borrow(values) => {
            check_output(values.len() as u64, out)?;
            options.limits.check_bytes(u64::MAX, values.len() as u64)?;
            out.copy_from_slice(values);
        }
        WayToValues::ByCodec { codec, unpacks, .. } => write_by_codec(&plan, codec, unpacks, work, out)?,
        WayToValues::FromStored { stored, .. } => write_values(&plan, &open(&plan, stored, bytes, work)?, out)?,
    }
    if plan.must_restore() {
        Masks::read(object, options, masks)?.restore_into(0, order, out)?;
    }
    Ok(())
}

/// Lets `codec` write all values to `out`, which is as long as they are.
fn write_by_codec(
    plan: &Plan<'_, '_>,
    codec: &'static dyn Codec,
    unpacks: bool,
    work: &mut Workspace,
    out: &mut [u8],
) -> Result<()> {
    let (payload, descriptor) = (plan.object.payload(), plan.object.descriptor());
    let payload_offset = plan.object.region_offset();
    if unpacks {
        let unpacked = codec.unpack_into(payload, descriptor, plan.order, out, plan.threads);
        return unpacked.map_err(|error| codec_error(codec, error, payload_offset));
    }
    let decompressed = codec.decompress_on(plan.threads, payload, descriptor, out, work);
    decompressed.map_err(|error| codec_error(codec, error, payload_offset))?;
    if let Some(unit) = plan.swap_unit() {
        plan.threads.pieces(out, unit, |_, piece| byteswap::swap_in_place(piece, unit))?;
    }
    Ok(())
}
