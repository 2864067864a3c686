//! Integers back into groups.

use super::super::codes::{NONE, Writer};
use super::{Before, Complex, Groups};
use tgm_std::Result;

impl Complex {
    /// What the data have for an integer that follows `before`.
    pub(super) fn difference(&self, before: &Before, integer: i64, least: i64) -> Option<i64> {
        if self.order == 0 {
            return Some(integer);
        }
        before.predict(self.order).and_then(|next| integer.checked_sub(next)?.checked_sub(least))
    }

    /// Section 7 from octet 6 on, of integers that were decoded. `None` if the groups have no place for them.
    ///
    /// # Errors
    /// The errors of the head.
    pub(in super::super) fn encode(&self, integers: &[i64], groups: Groups<'_>) -> Result<Option<Vec<u8>>> {
        if integers.is_empty() {
            return Ok(None);
        }
        let head = self.head(groups.head)?;
        let count = integers.len() as u64;
        if head.len != groups.head.len() || u64::from(self.groups) > count {
            return Ok(None);
        }
        let (firsts, least) = self.firsts(&head)?;
        let mut firsts = firsts.iter().zip(groups.unused).take(self.order());
        let mut before = Before::default();
        let (mut writer, mut left) = (Writer::behind(groups.head.to_vec()), integers);
        for group in self.groups(&head) {
            let group = group?;
            let split = usize::try_from(group.length).ok().and_then(|length| left.split_at_checked(length));
            let Some((part, rest)) = split else { return Ok(None) };
            left = rest;
            let (all_missing, end) =
                (self.is_missing(&group), group.end(if group.width == 0 { 0 } else { self.missing }));
            for integer in part {
                if *integer == NONE {
                    if !all_missing && (self.missing == 0 || group.width == 0) {
                        return Ok(None);
                    }
                    writer.put(u64::MAX, group.width);
                    continue;
                }
                let difference = match firsts.next() {
                    Some((first, unused)) if first == integer => i64::try_from(unused).ok(),
                    Some(_) => None,
                    None => self.difference(&before, *integer, least),
                };
                before.push(*integer);
                let above =
                    difference.and_then(|difference| u64::try_from(difference).ok()?.checked_sub(group.reference));
                match above.filter(|above| *above < end && !all_missing) {
                    Some(above) => writer.put(above, group.width),
                    None => return Ok(None),
                }
            }
        }
        Ok(left.is_empty().then(|| writer.finish()))
    }
}
