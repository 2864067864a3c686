//! Intervals of a stream as a stream of their own.
//!
//! ```text
//! stream     │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │        wanted: 5 and 6
//! fetched                │ 3 │ 4 │ 5 │ 6 │ 7 │
//!                          └ read: both must end where the next stored offset says
//! part                           │ 5 │ 6 │ 7 │        its first bit is moved to a byte's start
//! ```
//!
//! The stored offsets say where to fetch, and are not trusted further: see [`RsiFinder::confirm`]. The interval after the
//! part is fetched too, because a wrong offset may lie a few blocks too early.

use std::borrow::Cow;
use std::ops::Range;

use tgm_core::descriptor::Descriptor;
use tgm_core::stored::stored_len;
use tgm_core::szip::{Params, RsiFinder};

use super::{Szip, params};
use crate::codecs::part::Divisible;

/// Intervals before a part that are read to confirm where it starts.
const WITNESSES: u64 = 2;

/// The stored offsets around a part, and which intervals they are of.
struct Around {
    /// The first interval that is fetched.
    first: u64,
    /// Where it starts, and where all intervals up to the part's end start, in bits of the stream. The start of the interval
    /// after the fetched ones comes last; the end of the payload has none.
    offsets: Vec<u64>,
    /// Whether the fetched bytes reach to the payload's end.
    is_last: bool,
}

impl Around {
    /// `None` without offsets, and with offsets that cannot be right.
    fn new(descriptor: &Descriptor<'_>, params: &Params, elements: &Range<u64>) -> Option<Self> {
        let grain = u64::from(params.samples_per_rsi().get());
        let all = stored_len(descriptor).ok()?.div_ceil(params.container_size() as u64);
        let count = params.rsi_count(all);
        let stored = descriptor.szip_block_offsets().ok()??;
        if stored.len() as u64 != count || !stored.is_ascending() {
            return None;
        }
        let first = (elements.start / grain).saturating_sub(WITNESSES);
        let behind = elements.end.div_ceil(grain).checked_add(1)?;
        let taken = usize::try_from(behind.min(count.saturating_sub(1)).checked_sub(first)?).ok()?.checked_add(1)?;
        let offsets: Vec<_> = stored.iter().skip(usize::try_from(first).ok()?).take(taken).collect();
        Some(Self { first, offsets, is_last: behind >= count })
    }

    /// The byte in which the first interval starts.
    fn first_byte(&self) -> Option<u64> {
        Some(self.offsets.first()? / 8)
    }
}

impl Divisible for Szip {
    fn grain(&self, descriptor: &Descriptor<'_>) -> Option<u64> {
        let params = params(descriptor).ok()?;
        Some(u64::from(params.samples_per_rsi().get()))
    }

    fn bytes_of(&self, descriptor: &Descriptor<'_>, payload_len: u64, elements: &Range<u64>) -> Option<Range<u64>> {
        let around = Around::new(descriptor, &params(descriptor).ok()?, elements)?;
        let start = around.first_byte()?;
        let end = if around.is_last { payload_len } else { around.offsets.last()?.div_ceil(8) };
        (start <= end && end <= payload_len).then_some(start..end)
    }

    fn payload_of<'b>(
        &self,
        descriptor: &Descriptor<'_>,
        elements: &Range<u64>,
        bytes: &'b [u8],
    ) -> Option<Cow<'b, [u8]>> {
        let params = params(descriptor).ok()?;
        let around = Around::new(descriptor, &params, elements)?;
        let origin = around.first_byte()?.checked_mul(8)?;
        let stored = |index: u64| around.offsets.get(usize::try_from(index).ok()?)?.checked_sub(origin);
        let before = (elements.start / u64::from(params.samples_per_rsi().get())).checked_sub(around.first)?;
        let mut finder = RsiFinder::new(bytes, &params);
        let start = if around.first == 0 {
            // These few intervals are read from the start of the stream, which is always right.
            finder.find(before, |_| None).ok().filter(|_| origin == 0)?
        } else {
            finder.confirm(stored, 0, before)?
        };
        from_bit(bytes, start)
    }
}

/// The bytes from bit `start` on, moved so that this bit is the first of a byte.
fn from_bit(bytes: &[u8], start: u64) -> Option<Cow<'_, [u8]>> {
    let rest = bytes.get(usize::try_from(start / 8).ok()?..)?;
    let shift = start % 8;
    if shift == 0 {
        return Some(Cow::Borrowed(rest));
    }
    let moved = |byte: u8, next: u8| byte << shift | next >> (8 - shift);
    // Vectors, but for the last byte.
    let inner = rest.iter().zip(rest.get(1..).unwrap_or_default()).map(|(byte, next)| moved(*byte, *next));
    let mut all = Vec::with_capacity(rest.len());
    all.extend(inner);
    all.extend(rest.last().map(|last| moved(*last, 0)));
    Some(all.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_begin_at_any_bit_and_zeros_follow_the_last_one() {
        let bytes: Vec<u8> = (0..100_u32).map(|at| (at * 167 + 13).to_le_bytes()[0]).collect();
        let bit = |bytes: &[u8], at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
        for start in 0..=bytes.len() * 8 {
            let moved = from_bit(&bytes, start as u64).expect("it begins within the bytes");
            assert_eq!(moved.len(), bytes.len() - start / 8);
            for at in 0..moved.len() * 8 {
                assert_eq!(bit(&moved, at), bit(&bytes, start + at), "bit {at} from {start}");
            }
        }
        assert!(from_bit(&bytes, 801 + 7).is_none() && from_bit(&[], 0).is_some_and(|moved| moved.is_empty()));
    }
}
