//! Ranges of an object whose payload is fetched only in part. Each part is decoded as if it were an object.
//!
//! ```text
//! payload   │ ░░ │    │    │ ░░ │ ░░ │    │           a box is a grain: the compression can be cut between grains
//! ranges      a                b──c                   ░░ is fetched
//! parts     │one │         │   one   │                neighbouring grains are one part
//! ```
//!
//! Masks are stored after the payload. They are restored when the parts are decoded.

mod rows;

use std::ops::Range;

use tgm_codec::part::Divisible;
use tgm_core::descriptor::{Compression, Descriptor, Filter};
use tgm_core::stored::{stored_len, window_of};

pub(crate) use self::rows::{gathered, spans};
use super::bounds::{check_ranges, range_len};
use super::each_range::refuse_as_the_reference;
use super::frameless::{self, decode_payload_ranges};
use super::masks::{MaskBuffers, MaskRuns, Masks};
use super::plan::target_order;
use super::range_order::Visits;
use super::trust::{Proof, Trusted};
use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::model::metadata_budget::MetadataBudget;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, MasksMetadata};

/// The grain of a payload without compression. Eight values of any width in bits begin and end at a byte.
const GROUP: u64 = 8;
/// If the parts take this share of the payload, in percent, or more, all of it is read. That is one request, and its digest
/// can be checked. All of a payload of less than 100 bytes is read too.
const WORTH_ALL: u64 = 70;

/// The parts of an object's payload that hold the values of ranges.
pub(crate) struct Division<'d, 'a> {
    descriptor: &'d Descriptor<'a>,
    /// The codec that says where the payload can be cut. `None` if the payload is not compressed.
    codec: Option<&'static dyn Divisible>,
    payload_len: u64,
    /// Ascending, without overlaps.
    parts: Vec<Part>,
}

/// A part of a payload.
#[derive(Clone, Debug)]
struct Part {
    elements: Range<u64>,
    /// Bytes of the payload.
    bytes: Range<u64>,
}

impl<'d, 'a> Division<'d, 'a> {
    /// The parts for `ranges`. `None` if the caller has to read the whole frame: because most of the payload is needed,
    /// because the payload cannot be cut, or because the digest is to be checked.
    ///
    /// # Errors
    /// The errors that [`ranges`](crate::ranges) finds in the descriptor: for ranges that the object does not have, and for
    /// ranges beyond the limits.
    pub(crate) fn new(
        descriptor: &'d Descriptor<'a>,
        payload_len: u64,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Option<Self>> {
        if options.reference_range_refusals {
            refuse_as_the_reference(descriptor, ranges.is_empty())?;
        }
        check_ranges(descriptor, ranges, options)?;
        // An object beyond the limits may have other faults, which are reported first. Reading the whole frame finds them.
        let fits = |len| options.limits.check_bytes(payload_len, len).is_ok();
        if !descriptor.decoded_len().is_ok_and(fits) {
            return Ok(None);
        }
        Ok(Self::of_payload(descriptor, payload_len, ranges, options))
    }

    /// [`Self::new`] for ranges that were checked.
    fn of_payload(
        descriptor: &'d Descriptor<'a>,
        payload_len: u64,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Option<Self> {
        if options.verify_hash || descriptor.filter().known() != Some(Filter::None) {
            return None;
        }
        let codec = match descriptor.compression().known()? {
            Compression::None if stored_len(descriptor).ok()? == payload_len => None,
            Compression::None => return None,
            known => Some(tgm_codec::codec(known, options.compression_backend).ok()?.divisible()?),
        };
        let grain = codec.map_or(Some(GROUP), |codec| codec.grain(descriptor))?;
        let all = descriptor.element_count();
        let aligned = |&(start, count): &(u64, u64)| {
            let end = start.checked_add(count)?.checked_next_multiple_of(grain)?.min(all);
            Some(start / grain * grain..end)
        };
        let wanted = ranges.iter().filter(|(_, count)| *count > 0);
        let mut wanted = wanted.map(aligned).collect::<Option<Vec<_>>>()?;
        wanted.sort_unstable_by_key(|elements| elements.start);
        // Join neighbours and overlaps.
        let mut parts: Vec<Part> = Vec::new();
        for elements in wanted {
            match parts.last_mut() {
                Some(last) if elements.start <= last.elements.end => {
                    last.elements.end = last.elements.end.max(elements.end);
                }
                _ => parts.push(Part { elements, bytes: 0..0 }),
            }
        }
        for part in &mut parts {
            part.bytes = match codec {
                None => window_of(descriptor, &part.elements).ok()?,
                Some(codec) => codec.bytes_of(descriptor, payload_len, &part.elements)?,
            };
        }
        let fetched: u64 = parts.iter().map(|part| part.bytes.end.saturating_sub(part.bytes.start)).sum();
        (fetched < payload_len / 100 * WORTH_ALL).then_some(Self { descriptor, codec, payload_len, parts })
    }

    /// The bytes of the payload that have to be fetched.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = Range<u64>> {
        self.parts.iter().map(|part| part.bytes.clone())
    }

    /// The values of `ranges`, which are those that [`Self::new`] was given.
    ///
    /// `fetched` has the bytes of each range of [`Self::bytes`], in the same order. `blobs` are the bytes after the payload.
    /// They begin at byte `blobs_offset` of the message, and are not used if masks are not restored.
    ///
    /// `None` if a part cannot be decoded, or if its bytes are not proven to be the part. The caller then reads the whole
    /// frame, which gives the values or the error.
    ///
    /// # Errors
    /// The errors of masks, and of a descriptor beyond the limits.
    pub(crate) fn decode(
        &self,
        fetched: &[&[u8]],
        blobs: &[u8],
        blobs_offset: u64,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Option<(DataObjectDescriptor, Vec<Vec<u8>>)>> {
        let budget = MetadataBudget::new(&options.limits);
        let descriptor = to_owned::descriptor(self.descriptor, &budget)?;
        let Some(mut values) = self.decode_parts(&descriptor, fetched, ranges, options) else { return Ok(None) };
        if options.restore_non_finite && !self.descriptor.masks().is_empty() {
            self.restore(&descriptor, blobs, blobs_offset, ranges, options, &mut values)?;
        }
        Ok(Some((descriptor, values)))
    }

    /// The values of `ranges` before masks are restored.
    fn decode_parts(
        &self,
        descriptor: &DataObjectDescriptor,
        fetched: &[&[u8]],
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Option<Vec<Vec<u8>>> {
        let mut values = vec![Vec::new(); ranges.len()];
        // Parts ascend. If ranges are visited in ascending order too, one pass finds the ranges of each part.
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        let start_of = |place: usize| ranges.get(place).map_or(0, |(start, _)| *start);
        order.sort_unstable_by_key(|place| (start_of(*place), *place));
        let mut order = order.into_iter().peekable();
        for (part, bytes) in self.parts.iter().zip(fetched) {
            // The part as an object: a vector. The szip offsets of the whole payload do not apply to it.
            let mut of_part = descriptor.clone();
            let count = part.elements.end.saturating_sub(part.elements.start);
            (of_part.shape, of_part.strides, of_part.ndim) = (vec![count], vec![1], 1);
            of_part.params.remove("szip_block_offsets");
            let payload = match self.codec {
                None => Some((*bytes).into()),
                Some(codec) => codec.payload_of(self.descriptor, &part.elements, bytes),
            };
            let payload = payload?;
            // The ranges in this part: their places in `ranges`, and the ranges counted from the part's first element.
            let (mut places, mut moved) = (Vec::new(), Vec::new());
            while let Some(place) = order.next_if(|place| start_of(*place) < part.elements.end) {
                if let Some((start, count)) = ranges.get(place).filter(|(_, count)| *count > 0) {
                    places.push(place);
                    moved.push((start.saturating_sub(part.elements.start), *count));
                }
            }
            let decoded = decode_payload_ranges(&of_part, &payload, &moved, options).ok()?;
            for (place, decoded) in places.into_iter().zip(decoded) {
                if let Some(slot) = values.get_mut(place) {
                    *slot = decoded;
                }
            }
        }
        Some(values)
    }

    /// Writes NaN and infinities into the values of the ranges.
    fn restore(
        &self,
        descriptor: &DataObjectDescriptor,
        blobs: &[u8],
        blobs_offset: u64,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
        values: &mut [Vec<u8>],
    ) -> Result<()> {
        // A mask's offset counts from the start of the payload. Only the blobs are at hand here, so the offsets are made to
        // count from the first blob.
        let mut moved = descriptor.clone();
        let first = self.payload_len;
        for mask in moved.masks.iter_mut().flat_map(MasksMetadata::iter_mut) {
            mask.offset = mask.offset.saturating_sub(first);
        }
        let cbor = frameless::cbor(&moved)?;
        let view = Descriptor::parse(&cbor, self.descriptor.offset())?;
        let object = Trusted::without_frame(&view, blobs, blobs_offset, Proof::of_bare_bytes(options)?)?;
        let mut buffers = MaskBuffers::default();
        let masks = Masks::read(object, options, &mut buffers)?;
        let (mut order, mut runs) = (Vec::new(), MaskRuns::default());
        let visits = Visits::new(ranges, &mut order, |range| {
            range_len(self.descriptor, range).map(|len| usize::try_from(len).unwrap_or(usize::MAX))
        })?;
        let mut masks = masks.in_order(&mut runs);
        for number in 0..ranges.len() {
            let mut coming = visits.from(number);
            let Some(range) = coming.next() else { break };
            let next = coming.next().map(|next| next.start);
            let place = visits.place(number, 0).index;
            if let Some(values) = values.get_mut(place) {
                masks.restore_into(&range, next, target_order(self.descriptor, options), values)?;
            }
        }
        masks.finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests;
