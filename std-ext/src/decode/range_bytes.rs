//! The stored bytes that ranges need: all of an object, or parts that its codec decompresses one after the other.

use std::iter;
use std::ops::Range;

use tgm_core::stored::Stored;

use super::payload_parts::PayloadParts;
use super::plan::{Plan, WayToParts};
use super::stored::{codec_error, open};
use crate::base::error::Result;
use crate::codec::{CodecError, PartReader, Workspace};
use crate::kernels;
use crate::kernels::packing::Value;

/// The stored bytes of an object, opened for ranges.
pub(super) enum RangeBytes<'s> {
    /// All of them: those of the message, or decompressed once for all ranges.
    All(Stored<'s>),
    /// A payload that is decompressed part by part.
    Parts(PayloadParts<'s>),
}

impl<'s> RangeBytes<'s> {
    /// Opens an object for ranges that end with element `end` at the latest.
    ///
    /// # Errors
    /// The errors of [`Plan::parts`] and of [`Plan::stored`], and of the codec.
    pub(super) fn open<'a: 's>(
        plan: &Plan<'s, 'a>,
        end: u64,
        bytes: &'s mut Vec<u8>,
        work: &'s mut Workspace,
    ) -> Result<Self> {
        Self::open_unless(plan, end, bytes, work, |_, _| Ok(false))
    }

    /// [`Self::open`], but all stored bytes are decompressed at once if `is_dear` says so of the parts and of the
    /// number of stored bytes.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(super) fn open_unless<'a: 's>(
        plan: &Plan<'s, 'a>,
        end: u64,
        bytes: &'s mut Vec<u8>,
        work: &'s mut Workspace,
        is_dear: impl FnOnce(&mut (dyn PartReader + 's), u64) -> std::result::Result<bool, CodecError>,
    ) -> Result<Self> {
        let Some(WayToParts { codec, total, end }) = plan.parts(end)? else {
            return Ok(Self::All(open(plan, plan.stored()?, bytes, work)?));
        };
        let parts = codec.open_parts(plan.object.payload(), plan.object.descriptor(), total, end, work);
        if let Some(mut parts) = parts.map_err(|error| codec_error(codec, &error))?
            && !is_dear(&mut *parts, total).map_err(|error| codec_error(codec, &error))?
        {
            return Ok(Self::Parts(PayloadParts::new(codec, parts, bytes)));
        }
        // This codec has no parts, or all of them are wanted. The workspace is lent to the answer that said so.
        let way = plan.decompressed(codec, total)?;
        Ok(Self::All(open(plan, way, bytes, &mut Workspace::default())?))
    }

    /// Writes the values of `range` to all of `out`. `coming` are this range and those behind it, in ascending order.
    ///
    /// # Errors
    /// The errors of the codec and of the stages.
    pub(super) fn decode_into(
        &mut self,
        plan: &Plan<'_, '_>,
        range: &Range<u64>,
        coming: impl Iterator<Item = Range<u64>>,
        out: &mut [u8],
    ) -> Result<()> {
        let stored = self.stored(plan, coming)?;
        kernels::decode_stored_into(&stored, range.clone(), plan.order, out)
            .map_err(|e| e.shift(plan.object.region_offset()).into())
    }

    /// Unpacks values from element `start` on, which the object has, to all of `out`.
    ///
    /// # Errors
    /// The errors of the codec and of the stages.
    pub(super) fn unpack_into<T: Value>(mut self, plan: &Plan<'_, '_>, start: u64, out: &mut [T]) -> Result<()> {
        let range = start..start.saturating_add(out.len() as u64);
        let stored = self.stored(plan, iter::once(range))?;
        let unpacked = match stored.as_packed_from() {
            Some((bytes, packing, first)) if first <= start => {
                kernels::packing::unpack_into(bytes, &packing, start - first, out)
            }
            // Shuffled values.
            _ => stored.unpack_into(start, out),
        };
        unpacked.map_err(|e| e.shift(plan.object.region_offset()).into())
    }

    /// Stored bytes that hold the values of the first range of `coming`.
    fn stored(&mut self, plan: &Plan<'_, '_>, coming: impl Iterator<Item = Range<u64>>) -> Result<Stored<'_>> {
        match self {
            Self::All(stored) => Ok(*stored),
            Self::Parts(parts) => parts.stored(plan.object.descriptor(), coming, plan.options),
        }
    }
}
