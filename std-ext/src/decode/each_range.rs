//! The values of several ranges of elements, decoded so that what the ranges share is done once.
//!
//! ```text
//! ranges as given ─ Visits ─► in ascending order ─┬─ RangeBytes: the stored bytes of each
//!                                                 └─ AscendingMasks: the masked values of each
//! ```

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Filter};

use super::Scratch;
use super::bounds::{check_output, check_ranges, range_len};
use super::cost::is_whole_cheaper;
use super::masks::Masks;
use super::plan::{Plan, target_order};
use super::range_bytes::RangeBytes;
use super::trust::Trusted;
use super::visits::{Visit, Visits};
use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::base::options::DecodeOptions;
use crate::base::threads::Threads;

/// [`ranges`](super::ranges) of an object that may be trusted.
///
/// # Errors
/// The errors of [`ranges`](super::ranges), digests excepted.
pub(super) fn trusted_ranges(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    if options.reference_range_refusals {
        refuse_as_the_reference(object.descriptor(), ranges.is_empty())?;
    }
    decode_ranges(object, ranges, options)
}

/// The values of each range, in a buffer of its own.
///
/// # Errors
/// [`TensogramError::Encoding`] for a range that the object does not have; those of [`Plan`], the stages and the masks.
pub(super) fn decode_ranges(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    let order = target_order(object.descriptor(), options);
    check_ranges(object.descriptor(), ranges, options)?;
    let mut parts = vec![Vec::new(); ranges.len()];
    decode_each_range(object, ranges, order, options, &mut Scratch::default(), |visit, len, decode| {
        let mut out = reserve(len)?;
        decode(&mut out)?;
        if let Some(part) = parts.get_mut(visit.index) {
            *part = out;
        }
        Ok(())
    })?;
    Ok(parts)
}

/// The values of the ranges in `order`, one range behind the other, into all of `out`. Each range begins with a byte of
/// its own, bits too.
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; those of [`decode_ranges`].
pub(super) fn decode_ranges_into(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    order: ByteOrder,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    check_output(check_ranges(object.descriptor(), ranges, options)?, out)?;
    decode_each_range(object, ranges, order, options, scratch, |visit, len, decode| {
        let end = visit.offset.saturating_add(len);
        let part = out.get_mut(visit.offset..end);
        decode(part.ok_or_else(|| TensogramError::encoding("ranges are longer than they were found to be"))?)
    })
}

/// Calls `place` for each range, in ascending order. It is given the range's place in the caller's list, the length of
/// the range's values in bytes, and a function that decodes them into a buffer of that length.
///
/// Every function of ranges ends here. All ranges together cost at most what decoding everything once costs, and a copy
/// of what was asked for: if they touch most blocks of the payload, all of it is decoded.
fn decode_each_range(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    order: ByteOrder,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    mut place: impl FnMut(Visit, usize, &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    if ranges.is_empty() {
        return Ok(());
    }
    let descriptor = object.descriptor();
    let end = ranges.iter().map(|(start, count)| start.saturating_add(*count)).max().unwrap_or(0);
    let Scratch { bytes, masks, runs, visits, work, .. } = scratch;
    let len_of = |range| options.limits.check_bytes(u64::MAX, range_len(descriptor, range)?);
    let visits = Visits::new(ranges, visits, len_of)?;
    let plan = Plan::new(object, options, order, Threads::NONE)?;
    // One range is one part, which costs no more than the whole.
    let source = RangeBytes::open_unless(&plan, end, bytes, work, |parts, total| {
        let out_len = ranges.iter().fold(0, |sum: u64, (_, count)| sum.saturating_add(*count));
        let out_len = descriptor.dtype().byte_len(out_len).unwrap_or(u64::MAX);
        Ok(ranges.len() > 1 && is_whole_cheaper(parts, descriptor, |_| visits.from(0), total, out_len)?)
    });
    let mut source = source?;
    let masks = if plan.must_restore() { Masks::read(object, options, masks)? } else { Masks::none(object) };
    let mut masks = masks.in_order(runs);
    let mut behind = 0_usize;
    for number in 0..ranges.len() {
        let mut coming = visits.from(number);
        let (Some(given), Some(range)) = (visits.range(number), coming.next()) else { break };
        // Masks keep what the next range may need again, which is known from where it starts.
        let next = coming.next().map(|next| next.start);
        let (visit, len) = (visits.place(number, behind), len_of(given)?);
        behind = behind.saturating_add(len);
        place(visit, len, &mut |out| {
            source.decode_into(&plan, &range, visits.from(number), out)?;
            masks.restore_into(&range, next, order, out)
        })?;
    }
    // A defect behind the last range is an error too, so that the answer does not depend on the ranges.
    masks.finish()
}

/// Refuses the cases in which the reference gives no ranges (FORMAT §5.5).
pub(super) fn refuse_as_the_reference(descriptor: &Descriptor<'_>, is_empty: bool) -> Result<()> {
    if descriptor.filter().known() != Some(Filter::None) {
        return Err(TensogramError::encoding("decode_range is not supported when a filter (e.g. shuffle) is applied"));
    }
    if descriptor.dtype() == Dtype::Bitmask {
        return Err(TensogramError::encoding("partial range decode not supported for bitmask dtype"));
    }
    match descriptor.compression().known() {
        Some(Compression::Szip) if descriptor.szip_block_offsets()?.is_none() => Err(TensogramError::Compression(
            "missing szip_block_offsets in payload metadata (required for partial range decode)".into(),
        )),
        Some(Compression::Zstd | Compression::Lz4 | Compression::Sz3) if !is_empty => {
            Err(TensogramError::encoding("range decode not supported for this compressor"))
        }
        _ => Ok(()),
    }
}
