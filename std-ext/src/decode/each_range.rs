//! The values of several ranges of elements, decoded so that what the ranges share is done once.
//!
//! ```text
//! ranges as given ─ Visits ─► in ascending order ─┬─ RangeBytes: the stored bytes of each
//!                                                 └─ AscendingMasks: the masked values of each
//! ```

use std::cell::OnceCell;
use std::ops::Range;

use tgm_codec::threads::Threads;
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Filter};

use super::bounds::{check_output, check_ranges, range_len};
use super::cost::is_whole_cheaper;
use super::masks::{AscendingMasks, Masks};
use super::plan::{Plan, target_order};
use super::range_bytes::RangeBytes;
use super::range_order::{Visit, Visits};
use super::scratch::Scratch;
use super::trust::Trusted;
use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::base::options::DecodeOptions;
use crate::base::span::span_len;

/// The values of ranges of an object that may be trusted, a buffer for each.
///
/// # Errors
/// The errors of [`decode_ranges`], and of the refusals that the options ask for.
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
/// [`TensogramError::Encoding`] for a range that the object does not have; the errors of [`Plan`], the stages and the
/// masks.
pub(super) fn decode_ranges(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    check_ranges(object.descriptor(), ranges, options)?;
    decode_stretches(object, &[Stretch::all(object)], ranges, options)
}

/// [`trusted_ranges`] of an object of which only `stretches` are at hand. They ascend, and hold all elements of the
/// ranges, which the object has. `object` gives the masks.
///
/// # Errors
/// The errors of [`Plan`], the stages and the masks.
pub(super) fn decode_stretches(
    object: Trusted<'_, '_>,
    stretches: &[Stretch<'_, '_>],
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    let order = target_order(object.descriptor(), options);
    let mut parts = vec![Vec::new(); ranges.len()];
    decode_each_range(object, stretches, ranges, order, options, &mut Scratch::default(), |visit, len, decode| {
        let mut out = reserve(len)?;
        decode(&mut out)?;
        if let Some(part) = parts.get_mut(visit.index) {
            *part = out;
        }
        Ok(())
    })?;
    Ok(parts)
}

/// Neighbouring elements of an object whose payload is at hand.
pub(super) struct Stretch<'o, 'a> {
    /// Which elements of the object.
    pub(super) elements: Range<u64>,
    /// These elements as an object of their own.
    pub(super) object: Trusted<'o, 'a>,
}

impl<'o, 'a> Stretch<'o, 'a> {
    /// All of an object.
    pub(super) const fn all(object: Trusted<'o, 'a>) -> Self {
        Self { elements: 0..object.descriptor().element_count(), object }
    }

    /// A range of the object, counted from the first element of the stretch. An empty range may lie before it, and is empty
    /// in it too.
    fn inside(&self, range: &Range<u64>) -> Range<u64> {
        range.start.saturating_sub(self.elements.start)..range.end.saturating_sub(self.elements.start)
    }
}

/// The values of the ranges in `order`, one range after the other, into all of `out`. Each range begins with a byte of
/// its own, bits too.
///
/// # Errors
/// [`TensogramError::Encoding`] if `out` is shorter or longer; the errors of [`decode_ranges`].
pub(super) fn decode_ranges_into(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    order: ByteOrder,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    check_output(check_ranges(object.descriptor(), ranges, options)?, out)?;
    decode_each_range(object, &[Stretch::all(object)], ranges, order, options, scratch, |visit, len, decode| {
        let part = out.get_mut(visit.offset..).and_then(|out| out.get_mut(..len));
        decode(part.ok_or_else(|| TensogramError::encoding("ranges are longer than they were found to be"))?)
    })
}

/// Calls `place` for each range, in ascending order. It is given the range's place in the caller's list, the length of
/// the range's values in bytes, and a function that decodes them into a buffer of that length.
///
/// Every function of ranges ends here: of objects at hand, which are one stretch, and of objects of which only parts were
/// fetched. All ranges together cost at most what decoding everything once costs, and a copy of what was asked for: if
/// they touch most blocks of a stretch, all of it is decoded.
fn decode_each_range(
    object: Trusted<'_, '_>,
    stretches: &[Stretch<'_, '_>],
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
    let Scratch { bytes, masks, runs, visits, work, .. } = scratch;
    let len_of = |range| options.limits.check_bytes(u64::MAX, range_len(descriptor, range)?);
    let visits = Visits::new(ranges, visits, len_of)?;
    // Read after the first payload is opened, so that the payload's errors come first, as with all values of the object.
    let (read, mut unread, mut masks_in_order) = (OnceCell::new(), Some((masks, runs)), None);
    let (mut number, mut behind) = (0, 0_usize);
    for (at, stretch) in stretches.iter().enumerate() {
        let is_last = at + 1 == stretches.len();
        // All ranges after the stretches before, up to the end of this one. Empty ranges lie in any stretch.
        let coming = |number| {
            let here = visits.from(number).take_while(|range| is_last || range.start < stretch.elements.end);
            here.map(|range| stretch.inside(&range))
        };
        let plan = Plan::new(stretch.object, options, order, Threads::NONE)?;
        let end = coming(number).map(|range| range.end).max().unwrap_or(0);
        // One range is one part, which costs no more than the whole.
        let source = RangeBytes::open_unless(&plan, end, bytes, work, |parts, total| {
            let descriptor = stretch.object.descriptor();
            let count = coming(number).try_fold(0_u64, |sum, range| sum.checked_add(span_len(&range)));
            // It is weighed against a cost: more than 64 bits outweigh any.
            let out_len = count.and_then(|count| descriptor.dtype().byte_len(count)).unwrap_or(u64::MAX);
            Ok(ranges.len() > 1 && is_whole_cheaper(parts, descriptor, |_| coming(number), total, out_len)?)
        });
        let mut source = source?;
        if let Some((buffers, runs)) = unread.take() {
            let must_restore = options.restore_non_finite && !descriptor.masks().is_empty();
            let masks = if must_restore { Masks::read(object, options, buffers)? } else { Masks::none(object) };
            masks_in_order = Some(read.get_or_init(|| masks).in_order(runs));
        }
        while let (Some(given), Some(range)) = (visits.range(number), coming(number).next()) {
            let mut in_object = visits.from(number);
            let (Some(window), next) = (in_object.next(), in_object.next()) else { break };
            let (visit, len) = (visits.place(number, behind), len_of(given)?);
            // The values before it are in memory.
            behind += len;
            place(visit, len, &mut |out| {
                if !range.is_empty() {
                    source.decode_into(&plan, &range, coming(number), out)?;
                }
                // Masks keep what the next range may need again, which is known from where it starts.
                let next = next.as_ref().map(|next| next.start);
                masks_in_order.as_mut().map_or(Ok(()), |masks| masks.restore_into(&window, next, order, out))
            })?;
            number += 1;
        }
    }
    // A defect after the last range is an error too, so that the answer does not depend on the ranges.
    masks_in_order.map_or(Ok(()), AscendingMasks::finish)
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

#[cfg(test)]
mod tests {
    use tgm_core::Message;

    use super::*;
    use crate::encode::{MessageBuilder, ObjectBuilder};
    use crate::model::types::DataObjectDescriptor;
    use crate::read;

    /// Whether ranges of an object are refused because the reference refuses them.
    fn is_refused(object: ObjectBuilder<'_>, wanted: &[(u64, u64)]) -> bool {
        let message = MessageBuilder::new().object(object).encode().unwrap();
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        assert!(read(&object).ranges(wanted).bytes().is_ok(), "we give them");
        let options = DecodeOptions { reference_range_refusals: true, ..DecodeOptions::default() };
        read(&object).ranges(wanted).options(&options).bytes().is_err()
    }

    #[test]
    fn the_reference_gives_no_ranges_of_filters_bitmasks_and_most_compressions() {
        let numbers: Vec<f64> = (0..100).map(f64::from).collect();
        let plain = || ObjectBuilder::new(&[100], &numbers).unwrap();
        let some = [(3, 4)];
        assert!(!is_refused(plain(), &some) && !is_refused(plain(), &[]));
        assert!(is_refused(plain().shuffle(), &some) && is_refused(plain().shuffle(), &[]));
        assert!(is_refused(ObjectBuilder::bitmask(&[8], &[1]), &[(0, 8)]));
        assert!(!is_refused(plain().simple_packing(12).szip(), &some), "its offsets are there");
        #[cfg(feature = "zstd")]
        assert!(is_refused(plain().zstd(3), &some) && !is_refused(plain().zstd(3), &[]));
        #[cfg(feature = "lz4")]
        assert!(is_refused(plain().lz4(), &some) && !is_refused(plain().lz4(), &[]));
    }

    #[test]
    fn of_szip_without_offsets_the_reference_gives_no_ranges() {
        let descriptor = DataObjectDescriptor::new(Dtype::Uint16, ByteOrder::Little, &[64]);
        let object = ObjectBuilder::from_parts(descriptor, vec![0; 128]).szip();
        let message = MessageBuilder::new().object(object).encode().unwrap();
        let whole = Message::parse(&message).unwrap().object(0).unwrap();
        let mut descriptor = crate::model::to_owned::descriptor(
            whole.descriptor(),
            &crate::model::metadata_budget::MetadataBudget::by_default(),
        );
        descriptor.as_mut().unwrap().params.remove("szip_block_offsets");
        let frame =
            crate::encode::encode_data_object_frame(&descriptor.unwrap(), whole.payload(), false, false).unwrap();
        let object = super::super::object_of_frame(&frame).unwrap();
        assert!(refuse_as_the_reference(whole.descriptor(), false).is_ok());
        let error = refuse_as_the_reference(object.descriptor(), false).unwrap_err();
        assert!(error.to_string().contains("missing szip_block_offsets"), "{error}");
    }
}
