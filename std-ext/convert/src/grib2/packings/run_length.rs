//! Template 5.200: runs of levels, which pictures of radars have.
//!
//! ```text
//! section 5, octet 12        bits b of a number
//!            13 to 14        highest level V of the data
//!            15 to 16        levels M
//!            17              decimal scale D
//!            18 on           an integer of 16 bits for each level from 1 to M
//! section 7                  numbers of b bits: one that is at most V is a level; those after it that are more are
//!                            the digits of how often it is repeated, lowest first, each less V + 1, in base 2^b - 1 - V
//! ```
//!
//! Level 0 is a missing value, and level k stands for its integer · 10^-D. So the integers are the ones of simple packing with R = 0 and
//! E = 0.

use tgm_core::packing::Packing;
use tgm_std::{DecodeLimits, Result, TensogramError};

use super::super::codes::{NONE, Reader, Writer};
use super::super::complex::reserve_numbers;
use super::super::error::{GribError, GribErrorKind};
use super::super::sections::Section;

/// The first octet of the list of levels, and the length of one.
const LEVELS_AT: usize = 18;
const LEVEL_LEN: usize = 2;
/// The most bits of a number.
const MAX_BITS: u8 = 16;

/// The parameters of template 5.200.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct RunLength {
    bits: u32,
    highest: u64,
    /// The integers of levels, from 1 on.
    levels: Vec<u16>,
    decimal: i32,
    at: usize,
}

impl RunLength {
    /// # Errors
    /// [`GribErrorKind::ShortSection`]; [`GribErrorKind::Bits`]; [`GribErrorKind::Levels`] for numbers that leave no digit.
    pub(in super::super) fn parse(section: Section<'_>) -> std::result::Result<Self, GribError> {
        let at = section.offset();
        let (bits, highest, count) = (section.u8(12)?, section.u16(13)?, section.u16(15)?);
        if bits > MAX_BITS || bits == 0 {
            return Err(GribErrorKind::Bits(bits).at(at));
        }
        let levels = section.from_octet(LEVELS_AT).as_chunks::<LEVEL_LEN>().0.get(..count.into());
        let levels = levels.ok_or(GribErrorKind::Levels.at(at))?;
        let levels = levels.iter().map(|level| u16::from_be_bytes(*level)).collect();
        if highest > count || u32::from(highest) >= (1 << bits) {
            return Err(GribErrorKind::Levels.at(at));
        }
        // The sign is the first bit, and the amount has 7 bits.
        let scale = section.u8(17)?;
        let amount = i32::from(scale & 0x7f);
        let decimal = if scale & 0x80 == 0 { amount } else { -amount };
        Ok(Self { bits: bits.into(), highest: highest.into(), levels, decimal, at })
    }

    /// The packing of the levels' integers.
    pub(in super::super) const fn packing(&self) -> Packing {
        Packing {
            reference_value: 0.0,
            binary_scale_factor: 0,
            decimal_scale_factor: self.decimal,
            bits_per_value: u16::BITS,
        }
    }

    /// The base of the digits.
    const fn base(&self) -> u64 {
        (1 << self.bits) - 1 - self.highest
    }

    fn integer(&self, level: u64) -> Option<i64> {
        let Some(place) = level.checked_sub(1) else { return Some(NONE) };
        usize::try_from(place).ok().and_then(|place| self.levels.get(place)).map(|level| (*level).into())
    }

    /// The integers of `count` values.
    ///
    /// # Errors
    /// [`GribErrorKind::Runs`] for runs of another length, or digits without a level; an error beyond the limits.
    pub(in super::super) fn decode(&self, data: &[u8], count: u64, limits: &DecodeLimits) -> Result<Vec<i64>> {
        let wrong = || TensogramError::from(GribErrorKind::Runs.at(self.at));
        let mut integers = reserve_numbers(data.len(), count, limits)?;
        let mut reader = Reader::new(data);
        let numbers = data.len() as u64 * 8 / u64::from(self.bits);
        let (mut held, mut power) = (None, 1_u64);
        for _ in 0..numbers {
            let number = reader.take(self.bits);
            let Some(digit) = number.checked_sub(self.highest + 1) else {
                if integers.len() as u64 == count {
                    // The spare bits after the last number may look like level 0.
                    if number == 0 {
                        break;
                    }
                    return Err(wrong());
                }
                let integer = self.integer(number).ok_or_else(wrong)?;
                integers.push(integer);
                (held, power) = (Some(integer), 1);
                continue;
            };
            let more = digit.checked_mul(power).ok_or_else(wrong)?;
            let (integer, room) = (held.ok_or_else(wrong)?, count - integers.len() as u64);
            if more > room {
                return Err(wrong());
            }
            integers.extend((0..more).map(|_| integer));
            // Powers beyond all counts are refused with the next digit that is not 0.
            power = power.saturating_mul(self.base());
        }
        if integers.len() as u64 == count { Ok(integers) } else { Err(wrong()) }
    }

    /// The data of integers, with the shortest run for each. `None` if one of them belongs to no level.
    ///
    /// # Errors
    /// An error if memory runs out.
    pub(in super::super) fn encode(&self, integers: &[i64]) -> Result<Option<Vec<u8>>> {
        let mut writer = Writer::new(0)?;
        for run in integers.chunk_by(|a, b| a == b) {
            let Some(level) = run.first().and_then(|integer| self.level(*integer)) else { return Ok(None) };
            writer.put(level, self.bits);
            let mut more = run.len() as u64 - 1;
            while more > 0 {
                // Without digits there is no other way than to write the level again.
                if self.base() < 2 {
                    return Ok(None);
                }
                writer.put(more % self.base() + self.highest + 1, self.bits);
                more /= self.base();
            }
        }
        Ok(Some(writer.finish()))
    }

    /// The first level with an integer.
    fn level(&self, integer: i64) -> Option<u64> {
        if integer == NONE {
            return Some(0);
        }
        let highest = usize::try_from(self.highest).ok()?;
        let used = self.levels.get(..highest)?;
        let place = used.iter().position(|level| i64::from(*level) == integer)?;
        Some(place as u64 + 1)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    const LIMITS: DecodeLimits = DecodeLimits { free_bytes: 1 << 20, ..DecodeLimits::UNLIMITED };

    /// Numbers of 4 bits, levels 10, 20 and 30: digits are 4 to 15, in base 12.
    fn parsed(edits: &[(usize, u8)]) -> std::result::Result<RunLength, GribError> {
        let mut bytes = vec![0, 0, 0, 23, 5, 0, 0, 0, 40, 0, 200, 4, 0, 3, 0, 3, 0x81, 0, 10, 0, 20, 0, 30];
        for (octet, byte) in edits {
            bytes[octet - 1] = *byte;
        }
        RunLength::parse(Section::parse(&bytes, 0)?)
    }

    #[test]
    fn runs_repeat_their_level_and_come_back() {
        let runs = parsed(&[]).unwrap();
        assert_eq!(runs.packing().decimal_scale_factor, -1);
        // Level 1, once more; level 0, 2 + 2 · 12 more; level 3 once.
        let data = [0x15, 0x06, 0x63];
        let integers = runs.decode(&data, 30, &LIMITS).unwrap();
        assert_eq!(integers, [&[10; 2][..], &[NONE; 27], &[30]].concat());
        assert_eq!(runs.encode(&integers).unwrap(), Some(data.to_vec()));
        assert_eq!(runs.encode(&[40]).unwrap(), None);
        assert!(runs.decode(&[], 0, &LIMITS).unwrap().is_empty());
    }

    #[test]
    fn runs_that_lie_are_errors() {
        let runs = parsed(&[]).unwrap();
        for (data, count) in [(&[0x15, 0x06, 0x63][..], 29), (&[0x15, 0x06, 0x63], 31), (&[0x50], 1), (&[], 1)] {
            let error = runs.decode(data, count, &LIMITS).unwrap_err().to_string();
            assert!(error.contains("runs of levels"), "{error}");
        }
        // A run of as many digits as there is room for claims more values than there are.
        assert!(runs.decode(&[0x1f; 1000], 1 << 30, &LIMITS).is_err());
        for edits in [[(12, 17)], [(12, 0)], [(14, 4)], [(16, 4)], [(12, 1)]] {
            assert!(parsed(&edits).is_err(), "{edits:?}");
        }
    }
}
