//! The parts of a payload that ranges need, each decoded as an object of its own.
//!
//! ```text
//! payload   │ ░░ │    │    │ ░░ │ ░░ │    │           grains of the compression
//! ranges      a                b──c
//! parts      one object      one object               masks are restored afterwards
//! ```

use std::ops::Range;

use tgm_core::descriptor::{Compression, Descriptor, Filter};
use tgm_core::stored::{stored_len, window_of};

use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::codec;
use crate::codec::part::Divisible;
use crate::decode::bounds::{check_ranges, range_len};
use crate::decode::each_range::refuse_as_the_reference;
use crate::decode::frameless::{self, decode_payload_ranges};
use crate::decode::masks::{MaskBuffers, MaskRuns, Masks};
use crate::decode::plan::target_order;
use crate::decode::trust::{Proof, Trusted};
use crate::decode::visits::Visits;
use crate::model::room::Room;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, MasksMetadata};

/// Elements whose values begin and end with a byte, whatever their width in bits.
const GROUP: u64 = 8;
/// If the parts are at least this much of the payload, in percent, all of it is read: that is one request, and its digest
/// can be checked.
const WORTH_ALL: u64 = 70;

/// The parts of an object's payload that hold the values of ranges.
pub(crate) struct Division<'d, 'a> {
    descriptor: &'d Descriptor<'a>,
    /// What divides the payload; `None` if it is not compressed.
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
    /// The parts for `ranges`. `None` if all of the payload is needed, or as good as all.
    ///
    /// # Errors
    /// As the [`ranges`](crate::ranges) of the whole object: for ranges that it does not have, and for limits.
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
        // An object beyond the limits may have other faults, which come first.
        let fits = |len| options.limits.check_bytes(payload_len, len).is_ok();
        if !descriptor.decoded_len().is_ok_and(fits) {
            return Ok(None);
        }
        Ok(Self::of_payload(descriptor, payload_len, ranges, options))
    }

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
            known => Some(codec::codec(known, options.compression_backend).ok()?.divisible()?),
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

    /// The values of `ranges`. `fetched` gives the bytes of [`Self::bytes`], in their order. `blobs` are the bytes behind
    /// the payload, which begin at byte `region_offset` of the message; they are not read if masks are not restored.
    ///
    /// `None` if the bytes do not prove to be the right ones. All of the payload then decides.
    ///
    /// # Errors
    /// Those of masks.
    pub(crate) fn decode(
        &self,
        fetched: &[&[u8]],
        blobs: &[u8],
        blobs_offset: u64,
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Option<(DataObjectDescriptor, Vec<Vec<u8>>)>> {
        let room = Room::new(&options.limits);
        let descriptor = to_owned::descriptor(self.descriptor, &room)?;
        let Some(mut values) = self.decode_parts(&descriptor, fetched, ranges, options) else { return Ok(None) };
        if options.restore_non_finite && !self.descriptor.masks().is_empty() {
            self.restore(&descriptor, blobs, blobs_offset, ranges, options, &mut values)?;
        }
        Ok(Some((descriptor, values)))
    }

    fn decode_parts(
        &self,
        descriptor: &DataObjectDescriptor,
        fetched: &[&[u8]],
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Option<Vec<Vec<u8>>> {
        let mut values = vec![Vec::new(); ranges.len()];
        // Both parts and ranges in ascending order, so that each range is looked at once.
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        let start_of = |place: usize| ranges.get(place).map_or(0, |(start, _)| *start);
        order.sort_unstable_by_key(|place| (start_of(*place), *place));
        let mut order = order.into_iter().peekable();
        for (part, bytes) in self.parts.iter().zip(fetched) {
            let mut of_part = descriptor.clone();
            let count = part.elements.end.saturating_sub(part.elements.start);
            (of_part.shape, of_part.strides, of_part.ndim) = (vec![count], vec![1], 1);
            of_part.params.remove("szip_block_offsets");
            let payload = match self.codec {
                None => Some((*bytes).into()),
                Some(codec) => codec.payload_of(self.descriptor, &part.elements, bytes),
            };
            let payload = payload?;
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
        // The blobs lie in no region here, so their offsets count from the first of them.
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
