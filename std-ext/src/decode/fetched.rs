//! Ranges of an object whose payload is fetched only in part. Each part is a [`Stretch`] for the decoder of ranges.
//!
//! ```text
//! payload   │ ░░ │    │    │ ░░ │ ░░ │    │           a box is a grain: the compression can be cut between grains
//! ranges      a                b──c                   ░░ is fetched
//! parts     │one │         │   one   │                neighbouring grains are one part
//! ```
//!
//! Masks are stored after the payload. They are restored when the parts are decoded.

mod rows;

use std::borrow::Cow;
use std::ops::Range;

use tgm_codec::part::Divisible;
use tgm_core::descriptor::{Compression, Descriptor, Filter};
use tgm_core::stored::{stored_len, window_of};

pub(crate) use self::rows::{gathered, spans};
use super::bounds::check_ranges;
use super::each_range::{Stretch, decode_stretches, refuse_as_the_reference};
use super::trust::{Proof, Trusted};
use crate::base::error::Result;
use crate::base::options::DecodeOptions;
use crate::base::span::span_len;

/// The grain of a payload without compression. Eight values of any width in bits begin and end at a byte.
const GROUP: u64 = 8;
/// If the parts take this share of the payload, in percent, or more, all of it is read. That is one request, and its digest
/// can be checked. All of a payload of less than 100 bytes is read too.
const WORTH_ALL: u64 = 70;

/// The parts of an object's payload that hold the values of ranges.
#[derive(Debug)]
pub(crate) struct Division {
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

impl Division {
    /// The parts for `ranges`. `None` if the caller has to read the whole frame: because most of the payload is needed,
    /// because the payload cannot be cut, or because the digest is to be checked.
    ///
    /// # Errors
    /// The errors that [`Read::ranges`](crate::Read::ranges) finds in the descriptor: for ranges that the object does not have, and for
    /// ranges beyond the limits.
    pub(crate) fn new(
        descriptor: &Descriptor<'_>,
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
        descriptor: &Descriptor<'_>,
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
            known => Some(divisible(known, options)?),
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
        let fetched: u64 = parts.iter().map(|part| span_len(&part.bytes)).sum();
        (fetched < payload_len / 100 * WORTH_ALL).then_some(Self { payload_len, parts })
    }

    /// The bytes of the payload that have to be fetched.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = Range<u64>> {
        self.parts.iter().map(|part| part.bytes.clone())
    }

    /// The values of the ranges that [`Self::new`] was given, of the object that `descriptor` describes.
    ///
    /// `fetched` has the bytes of each range of [`Self::bytes`], in the same order. `blobs` are the bytes after the payload.
    /// They begin at byte `blobs_offset` of the message, and are not used if masks are not restored.
    ///
    /// `None` if something cannot be decoded, or if the bytes of a part are not proven to be the part. The caller then reads
    /// the whole frame, which gives the values or the error.
    ///
    /// # Errors
    /// As `Proof::of_bare_bytes`.
    pub(crate) fn decode(
        &self,
        descriptor: &Descriptor<'_>,
        fetched: &[Vec<u8>],
        (blobs, blobs_offset): (&[u8], u64),
        ranges: &[(u64, u64)],
        options: &DecodeOptions,
    ) -> Result<Option<Vec<Vec<u8>>>> {
        let Some(payloads) = self.payloads(descriptor, fetched, options) else { return Ok(None) };
        let proof = Proof::of_bare_bytes(options)?;
        let stretches = self.parts.iter().zip(&payloads).map(|(part, (descriptor, payload))| {
            let object = Trusted::without_frame(descriptor, payload, 0, proof)?;
            Ok(Stretch { elements: part.elements.clone(), object })
        });
        let Ok(stretches) = stretches.collect::<Result<Vec<_>>>() else { return Ok(None) };
        let object = Trusted::without_payload(descriptor, self.payload_len, blobs, blobs_offset, proof);
        Ok(decode_stretches(object, &stretches, ranges, options).ok())
    }

    /// Each part as an object: what it is, and its payload. `None` if the bytes of one are not proven to be the part.
    fn payloads<'d, 'b>(
        &self,
        descriptor: &Descriptor<'d>,
        fetched: &'b [Vec<u8>],
        options: &DecodeOptions,
    ) -> Option<Vec<(Descriptor<'d>, Cow<'b, [u8]>)>> {
        let codec = match descriptor.compression().known()? {
            Compression::None => None,
            known => Some(divisible(known, options)?),
        };
        let payloads = self.parts.iter().zip(fetched).map(|(part, bytes)| {
            let payload = match codec {
                None => Cow::Borrowed(&**bytes),
                Some(codec) => codec.payload_of(descriptor, &part.elements, bytes)?,
            };
            Some((descriptor.of_part(part.elements.end.checked_sub(part.elements.start)?), payload))
        });
        payloads.collect()
    }
}

/// How many elements lie between two places where an object's payload can be cut. `None` if it cannot be cut.
pub(crate) fn grain(descriptor: &Descriptor<'_>, options: &DecodeOptions) -> Option<u64> {
    if descriptor.filter().known() != Some(Filter::None) {
        return None;
    }
    match descriptor.compression().known()? {
        Compression::None => Some(1),
        known => divisible(known, options)?.grain(descriptor),
    }
}

/// The codec that says where a compressed payload can be cut. `None` if it cannot be cut.
fn divisible(compression: Compression, options: &DecodeOptions) -> Option<&'static dyn Divisible> {
    tgm_codec::codec(compression, options.compression_backend).ok()?.divisible()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests;
