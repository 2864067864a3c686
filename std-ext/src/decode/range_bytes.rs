//! The stored bytes that ranges need: all of an object, or parts that its codec decompresses one after the other.

use std::iter;
use std::ops::Range;

use tgm_codec::kernels;
use tgm_codec::kernels::packing::Value;
use tgm_codec::{CodecError, PartReader, Workspace};
use tgm_core::packing::Packing;
use tgm_core::stored::Stored;

use super::payload_parts::PayloadParts;
use super::plan::{Plan, WayToParts};
use super::stored::{codec_error, open};
use crate::base::error::Result;
use crate::base::span::span;

/// The stored bytes of an object, opened for ranges.
pub(super) enum RangeBytes<'s> {
    /// All of them: borrowed from the message, or decompressed once for all ranges.
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
        let at = plan.object.region_offset();
        let parts = codec.open_parts(plan.object.payload(), plan.object.descriptor(), total, end, work);
        if let Some(mut parts) = parts.map_err(|error| codec_error(codec, error, at))?
            && !is_dear(&mut *parts, total).map_err(|error| codec_error(codec, error, at))?
        {
            return Ok(Self::Parts(PayloadParts::new(codec, at, parts, bytes)));
        }
        // This codec has no parts, or all of them are wanted. The workspace is lent to the answer that said so.
        let way = plan.decompressed(codec, total)?;
        Ok(Self::All(open(plan, way, bytes, &mut Workspace::default())?))
    }

    /// Writes the values of `range` to all of `out`. `coming` are this range and those after it, in ascending order.
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
        let range = span(start, out.len() as u64);
        let stored = self.stored(plan, iter::once(range))?;
        let unpacked = match packed_from(&stored, start) {
            Some((bytes, packing, skip)) => kernels::packing::unpack_into(bytes, &packing, skip, out),
            // Shuffled values.
            None => stored.unpack_into(start, out),
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

/// Packed values as the kernels take them: their bytes, and how many of them lie before element `start`. `None` if they are
/// shuffled, or begin after it.
fn packed_from<'s>(stored: &Stored<'s>, start: u64) -> Option<(&'s [u8], Packing, u64)> {
    let (bytes, packing, first) = stored.as_packed_from()?;
    Some((bytes, packing, start.checked_sub(first)?))
}

#[cfg(test)]
mod tests {
    use tgm_codec::threads::Threads;
    use tgm_core::Message;

    use super::super::scratch::Scratch;
    use super::super::trust::Trusted;
    use super::*;
    use crate::base::options::DecodeOptions;
    use crate::encode::{MessageBuilder, ObjectBuilder};

    /// What the kernels are given for values from `start` on: how many values they skip.
    fn skipped(object: ObjectBuilder<'_>, start: u64) -> Option<u64> {
        let message = MessageBuilder::new().object(object).encode().unwrap();
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
        let order = tgm_core::descriptor::ByteOrder::NATIVE;
        let plan = Plan::new(Trusted::new(&object, &options).unwrap(), &options, order, Threads::NONE).unwrap();
        let mut source = RangeBytes::open(&plan, start + 1, &mut scratch.bytes, &mut scratch.work).unwrap();
        let stored = source.stored(&plan, iter::once(start..start + 1)).unwrap();
        packed_from(&stored, start).map(|(_, _, skip)| skip)
    }

    #[test]
    fn the_kernels_unpack_all_packed_values_but_shuffled_ones() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let packed = || ObjectBuilder::new(&[1000], &values).unwrap().simple_packing(16);
        for start in [0, 1, 500, 999] {
            assert_eq!(skipped(packed(), start), Some(start));
            assert!(skipped(packed().szip(), start).is_some_and(|skip| skip <= start));
            assert_eq!(skipped(packed().shuffle(), start), None);
        }
    }
}
