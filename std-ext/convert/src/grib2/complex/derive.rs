//! Heads that follow from the integers: most encoders give each group its least integer as the reference, and the width that
//! the others need. Then the lengths of the groups are all that has to be kept.

use super::super::codes::{NONE, Reader, Writer, packed_len};
use super::{Before, Complex, Groups, Head};
use tgm_std::Result;

/// What a head follows from, beside the integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Lengths {
    /// First values and the least difference, and the lengths of the groups, as the head has them.
    pub(in super::super) bytes: Vec<u8>,
    /// Whether widths have room for missing values in groups without them too.
    pub(in super::super) is_roomy: bool,
    /// As in [`Groups`].
    pub(in super::super) unused: [u64; 2],
}

impl Complex {
    /// What the head of these groups follows from. `None` if it does not follow from the integers.
    ///
    /// # Errors
    /// The errors of the head.
    pub(in super::super) fn lengths(&self, integers: &[i64], groups: Groups<'_>) -> Result<Option<Lengths>> {
        let Head { firsts, lengths, .. } = self.head(groups.head)?;
        for is_roomy in [false, true] {
            let lengths = Lengths { bytes: [firsts, lengths].concat(), is_roomy, unused: groups.unused };
            if self.derive(integers, &lengths)?.as_deref() == Some(groups.head) {
                return Ok(Some(lengths));
            }
        }
        Ok(None)
    }

    /// The head that groups of these lengths have. `None` if the integers do not have these lengths.
    ///
    /// # Errors
    /// [`Encoding`](tgm_std::TensogramError::Encoding) if memory runs out.
    pub(in super::super) fn derive(&self, integers: &[i64], kept: &Lengths) -> Result<Option<Vec<u8>>> {
        let firsts_len = self.firsts_len();
        let Some((firsts, lengths)) = kept.bytes.split_at_checked(firsts_len) else { return Ok(None) };
        let groups = u64::from(self.groups);
        let lengths_len = packed_len(groups, self.length_bits)?;
        if lengths.len() != lengths_len || groups > integers.len() as u64 {
            return Ok(None);
        }
        let mut references = Writer::behind(firsts.to_vec());
        let mut widths = Writer::new(packed_len(groups, self.width_bits)?)?;
        let head = Head { firsts, references: &[], widths: &[], lengths, len: 0 };
        let (first_values, least) = self.firsts(&head)?;
        let mut firsts = first_values.iter().zip(kept.unused).take(self.order());
        let (mut before, mut left, mut reader) = (Before::default(), integers, Reader::new(lengths));
        for number in 1..=self.groups {
            let Some(length) = self.length(reader.take(self.length_bits), number) else { return Ok(None) };
            let split = usize::try_from(length).ok().and_then(|length| left.split_at_checked(length));
            let Some((part, rest)) = split else { return Ok(None) };
            left = rest;
            let (mut range, mut has_missing) = (None, false);
            for integer in part {
                if *integer == NONE {
                    has_missing = true;
                    continue;
                }
                let difference = match firsts.next() {
                    Some((_, unused)) => i64::try_from(unused).ok(),
                    None => self.difference(&before, *integer, least),
                };
                let difference = difference.and_then(|difference| u64::try_from(difference).ok());
                let Some(difference) = difference else { return Ok(None) };
                before.push(*integer);
                let (low, high) = range.unwrap_or((difference, difference));
                range = Some((difference.min(low), difference.max(high)));
            }
            let (reference, width) = match range {
                None => (u64::MAX, 0),
                Some((low, high)) => {
                    let room = if has_missing || kept.is_roomy { u64::from(self.missing) } else { 0 };
                    let greatest = (high - low).saturating_add(room);
                    (low, u64::BITS - greatest.leading_zeros())
                }
            };
            references.put(reference, self.reference_bits);
            let Some(width) = width.checked_sub(self.width_base) else { return Ok(None) };
            widths.put(width.into(), self.width_bits);
        }
        let mut head = references.finish();
        head.extend_from_slice(&widths.finish());
        head.extend_from_slice(lengths);
        Ok(left.is_empty().then_some(head))
    }
}
