//! ECMWF's form: widths, lengths and first-order values of groups one after the other, each beginning at a whole octet, and integers.
//!
//! ```text
//! section's head    widths in bits of all these, how many groups, order k of differences; k first values and a bias, if k > 0
//! data              widths of groups, lengths of groups, first-order values, integers
//! ```
//!
//! With differences the integers are the k-th differences less the bias, from value k + 1 on.
//!
//! | octets of section 5 | 5.50001 | 5.50002 |
//! |---|---|---|
//! | 21 | width of first-order values | likewise |
//! | 22 to 25, 26 to 29 | groups, and integers in them | likewise |
//! | 30, 31 | width of widths, of lengths | likewise |
//! | 32 | order | flags: 1 every second row runs backwards |
//! | 33 | width w of first values and bias | order |
//! | 34 | these | w |
//! | 35 | | these |
//!
//! | octets of section 4 of edition 1 | |
//! |---|---|
//! | 11 | width of first-order values |
//! | 14 | flags: 8 this form, 4 every second row runs backwards, 3 order |
//! | 17 to 18, 21 | groups, and 65,536 times as many |
//! | 22, 23 | width of widths, of lengths |
//! | 26, 27 on | with an order: width w of first values and bias; these |
//!
//! Octets 12 to 13, 15 to 16 and 24 to 25 say where parts of the data begin. Each part begins where the one before it ends, so these say nothing more.

use tgm_std::{DecodeLimits, Result, TensogramError};

use super::super::super::codes::{Reader, Writer, packed_len};
use super::super::super::error::{GribError, GribErrorKind};
use super::super::super::sections::Section;
use super::groups::{Decoded, Group, bytes, integers, tightest};

/// The most bits of a width, a length and a first-order value.
const MAX_BITS: u32 = 32;
/// The highest order of differences.
const MAX_ORDER: usize = 3;
/// Integers beyond this are not exact as `f64`.
const GREATEST: i64 = 1 << 53;
/// The flag of rows that run to and fro.
const TO_AND_FRO: u8 = 1;
/// The octets of section 4 before differences, the flag of its rows in octet 14, and the bits there that are the order.
const FIRST_HEAD_LEN: usize = 25;
const FIRST_TO_AND_FRO: u8 = 4;
const ORDER: u8 = 3;

/// What the head of a section says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extended {
    pub(super) first_bits: u32,
    pub(super) groups: u64,
    pub(super) width_bits: u32,
    pub(super) length_bits: u32,
    pub(super) differences: Differences,
    /// Whether every second row runs backwards.
    pub(super) is_to_and_fro: bool,
    /// Where the section begins.
    pub(super) at: usize,
}

/// What differences begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    order: usize,
    firsts: [i64; MAX_ORDER],
    bias: i64,
}

impl Differences {
    /// `order` first values and the bias, of `bits` bits each.
    ///
    /// # Errors
    /// The order, or the bits, if there are no such ones; `None` if `bytes` end before.
    fn parse(bytes: &[u8], order: u8, bits: u8) -> std::result::Result<Option<Self>, GribErrorKind> {
        let count = usize::from(order);
        if count > MAX_ORDER {
            return Err(GribErrorKind::DifferenceOrder(order));
        }
        if count == 0 {
            return Ok(Some(Self::default()));
        }
        if u32::from(bits) > MAX_BITS {
            return Err(GribErrorKind::Bits(bits));
        }
        let bits = u32::from(bits);
        if (bytes.len() as u64) < Self::len(count, bits) {
            return Ok(None);
        }
        let (mut reader, mut firsts) = (Reader::new(bytes), [0; MAX_ORDER]);
        firsts.iter_mut().take(count).for_each(|first| *first = reader.take(bits).cast_signed());
        // The first bit is the sign.
        let (raw, sign) = (reader.take(bits), (1 << bits) >> 1);
        let amount = (raw & !sign).cast_signed();
        Ok(Some(Self { order: count, firsts, bias: if raw & sign == 0 { amount } else { -amount } }))
    }

    /// Octets of the first values and the bias.
    const fn len(order: usize, bits: u32) -> u64 {
        ((order as u64 + 1) * bits as u64).div_ceil(8)
    }

    /// What follows `before`, the last integers, latest first, if the difference is 0.
    fn predict(&self, before: [i64; MAX_ORDER]) -> i64 {
        let [last, second, third] = before;
        // All of them are within 2^53.
        match self.order {
            0 => 0,
            1 => last,
            2 => 2 * last - second,
            _ => 3 * (last - second) + third,
        }
    }

    /// The integers of differences, which follow as many zeros as there are first values.
    fn sum(&self, integers: &mut [i64]) -> Option<()> {
        let mut before = [0; MAX_ORDER];
        let mut firsts = self.firsts.iter().take(self.order);
        for integer in integers {
            *integer = match firsts.next() {
                Some(first) => *first,
                None => self.predict(before) + self.bias + *integer,
            };
            if !(-GREATEST..=GREATEST).contains(integer) {
                return None;
            }
            before = [*integer, before[0], before[1]];
        }
        Some(())
    }

    /// The inverse: differences from value k + 1 on. `None` if the first values are others.
    fn of(&self, integers: &[i64]) -> Option<Vec<i64>> {
        let (firsts, others) = integers.split_at_checked(self.order)?;
        let mut differences = Vec::new();
        differences.try_reserve_exact(others.len()).ok()?;
        let mut before = [0; MAX_ORDER];
        for (place, integer) in integers.iter().enumerate() {
            if !(-GREATEST..=GREATEST).contains(integer) {
                return None;
            }
            if place >= self.order {
                differences.push(integer - self.predict(before) - self.bias);
            }
            before = [*integer, before[0], before[1]];
        }
        firsts.iter().eq(self.firsts.iter().take(self.order)).then_some(differences)
    }
}

/// The parts of the data's head.
struct Head<'a> {
    widths: &'a [u8],
    lengths: &'a [u8],
    firsts: &'a [u8],
    len: usize,
}

impl Extended {
    /// Section 5 of template 5.50001, or of 5.50002 if it `has_flags`.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`], and those that name a number that is not supported.
    pub(super) fn parse(section: Section<'_>, has_flags: bool) -> std::result::Result<Self, GribError> {
        let at = section.offset();
        let end = 32 + usize::from(has_flags);
        let order = section.u8(end)?;
        let bits = if order > 0 { section.u8(end + 1)? } else { 0 };
        let differences = Differences::parse(section.from_octet(end + 2), order, bits).map_err(|kind| kind.at(at))?;
        let short = GribErrorKind::ShortSection { section: 5, octet: end + 2 }.at(at);
        let small = |octet| match section.u8(octet)? {
            bits if u32::from(bits) <= MAX_BITS => Ok(u32::from(bits)),
            bits => Err(GribErrorKind::Bits(bits).at(at)),
        };
        Ok(Self {
            first_bits: small(21)?,
            groups: section.u32(22)?.into(),
            width_bits: small(30)?,
            length_bits: small(31)?,
            differences: differences.ok_or(short)?,
            is_to_and_fro: has_flags && section.u8(32)? & TO_AND_FRO != 0,
            at,
        })
    }

    /// Section 4 of edition 1.
    ///
    /// # Errors
    /// The same.
    pub(super) fn parse_first_edition(section: Section<'_>) -> std::result::Result<Self, GribError> {
        let at = section.offset();
        let (flags, order) = (section.u8(14)?, section.u8(14)? & ORDER);
        let bits = if order > 0 { section.u8(FIRST_HEAD_LEN + 1)? } else { 0 };
        let from = section.from_octet(FIRST_HEAD_LEN + 2);
        let differences = Differences::parse(from, order, bits).map_err(|kind| kind.at(at))?;
        let short = GribErrorKind::ShortSection { section: 4, octet: FIRST_HEAD_LEN + 2 }.at(at);
        let small = |octet| match section.u8(octet)? {
            bits if u32::from(bits) <= MAX_BITS => Ok(u32::from(bits)),
            bits => Err(GribErrorKind::Bits(bits).at(at)),
        };
        Ok(Self {
            first_bits: small(11)?,
            groups: u64::from(section.u16(17)?) | u64::from(section.u8(21)?) << u16::BITS,
            width_bits: small(22)?,
            length_bits: small(23)?,
            differences: differences.ok_or(short)?,
            is_to_and_fro: flags & FIRST_TO_AND_FRO != 0,
            at,
        })
    }

    /// Octets of section 4 in front of the data.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`].
    pub(super) fn head_len(section: Section<'_>) -> std::result::Result<usize, GribError> {
        let order = section.u8(14)? & ORDER;
        if order == 0 {
            return Ok(FIRST_HEAD_LEN);
        }
        let bits = section.u8(FIRST_HEAD_LEN + 1)?;
        // At most 128 octets.
        let len = Differences::len(order.into(), bits.into());
        Ok(FIRST_HEAD_LEN + 1 + usize::try_from(len).unwrap_or(0))
    }

    /// Lengths in octets of widths, lengths and first-order values.
    fn lens(&self) -> Result<[usize; 3]> {
        let len = |bits| packed_len(self.groups, bits);
        Ok([len(self.width_bits)?, len(self.length_bits)?, len(self.first_bits)?])
    }

    fn head<'a>(&self, data: &'a [u8]) -> Result<Head<'a>> {
        let [widths, lengths, firsts] = self.lens()?;
        let part = |from: usize, len: usize| data.get(from..)?.get(..len);
        // Three lengths of at most 16 GiB.
        let (second, third) = (widths.wrapping_add(lengths), widths.wrapping_add(lengths).wrapping_add(firsts));
        let parts = part(0, widths).zip(part(widths, lengths)).zip(part(second, firsts));
        let Some(((widths, lengths), firsts)) = parts else {
            return Err(GribErrorKind::ShortData { needed: third as u64, found: data.len() as u64 }.at(self.at).into());
        };
        Ok(Head { widths, lengths, firsts, len: third })
    }

    fn groups<'a>(self, head: &Head<'a>) -> impl Iterator<Item = Group> + Clone + use<'a> {
        let (mut widths, mut lengths) = (Reader::new(head.widths), Reader::new(head.lengths));
        let mut firsts = Reader::new(head.firsts);
        (0..self.groups).map(move |_| Group {
            // It has 32 bits at most.
            width: u32::try_from(widths.take(self.width_bits)).unwrap_or(u32::MAX),
            length: lengths.take(self.length_bits),
            first: firsts.take(self.first_bits),
        })
    }

    /// The integers of `count` values.
    ///
    /// # Errors
    /// [`Framing`](TensogramError::Framing) for groups that contradict their number, their lengths or the data; an error beyond the limits.
    pub(super) fn decode<'a>(&self, data: &'a [u8], count: u64, limits: &DecodeLimits) -> Result<Decoded<'a>> {
        let error = |kind: GribErrorKind| TensogramError::from(kind.at(self.at));
        let order = self.differences.order as u64;
        // More groups than values would take time for nothing.
        let in_groups = count.checked_sub(order).filter(|count| self.groups <= *count);
        let groups = u32::try_from(self.groups).unwrap_or(u32::MAX);
        let in_groups = in_groups.ok_or_else(|| error(GribErrorKind::Groups { groups, values: count }))?;
        let head = self.head(data)?;
        let rest = data.get(head.len..).unwrap_or_default();
        let mut found = integers(self.groups(&head), rest, in_groups, limits, self.at)?;
        if order > 0 {
            found.splice(..0, std::iter::repeat_n(0, self.differences.order));
            self.differences.sum(&mut found).ok_or_else(|| error(GribErrorKind::GroupInteger))?;
        }
        Ok(Decoded { integers: found, head: data.get(..head.len).unwrap_or_default() })
    }

    /// The data of integers that were decoded. `None` if the groups of `head` have no place for them.
    ///
    /// # Errors
    /// The errors of the head.
    pub(super) fn encode(&self, integers: &[i64], head: &[u8]) -> Result<Option<Vec<u8>>> {
        let parts = self.head(head)?;
        if parts.len != head.len() || self.groups > integers.len() as u64 {
            return Ok(None);
        }
        let differences = self.differences.of(integers);
        Ok(differences.and_then(|integers| bytes(self.groups(&parts), &integers, head.to_vec())))
    }

    /// The part of `head` that the rest of it follows from: the lengths of groups. `None` if it does not follow.
    ///
    /// # Errors
    /// The errors of the head.
    pub(super) fn lengths<'a>(&self, integers: &[i64], head: &'a [u8]) -> Result<Option<&'a [u8]>> {
        let lengths = self.head(head)?.lengths;
        Ok((self.derive(integers, lengths)?.as_deref() == Some(head)).then_some(lengths))
    }

    /// The head of groups of these lengths whose references are the least integers, and whose widths are what the others need. `None` if the integers do
    /// not have these lengths.
    ///
    /// # Errors
    /// An error if memory runs out.
    pub(super) fn derive(&self, integers: &[i64], lengths: &[u8]) -> Result<Option<Vec<u8>>> {
        let [widths_len, lengths_len, firsts_len] = self.lens()?;
        let Some(differences) = self.differences.of(integers) else { return Ok(None) };
        if lengths.len() != lengths_len || self.groups > integers.len() as u64 {
            return Ok(None);
        }
        let (mut widths, mut firsts) = (Writer::new(widths_len)?, Writer::new(firsts_len)?);
        let (mut left, mut reader) = (differences.as_slice(), Reader::new(lengths));
        for _ in 0..self.groups {
            let length = usize::try_from(reader.take(self.length_bits)).ok();
            let Some((part, rest)) = length.and_then(|length| left.split_at_checked(length)) else { return Ok(None) };
            let Some(group) = tightest(part) else { return Ok(None) };
            left = rest;
            widths.put(group.width.into(), self.width_bits);
            firsts.put(group.first, self.first_bits);
        }
        Ok(left.is_empty().then(|| [&widths.finish(), lengths, &firsts.finish()].concat()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may panic, with small numbers")]
mod tests {
    use super::*;

    const LIMITS: DecodeLimits = DecodeLimits { free_bytes: 1 << 20, ..DecodeLimits::UNLIMITED };

    /// Two groups: first-order values of 8 bits, widths and lengths of 4. Differences have 8 bits.
    fn parsed(order: u8, rest: &[u8]) -> std::result::Result<Extended, GribError> {
        let mut bytes = vec![0; 33];
        (bytes[4], bytes[20], bytes[24], bytes[29], bytes[30], bytes[31]) = (5, 8, 2, 4, 4, order);
        bytes[32] = 8;
        bytes.extend_from_slice(rest);
        bytes[3] = bytes.len() as u8;
        Extended::parse(Section::parse(&bytes, 0)?, false)
    }

    /// Widths 2 and 0, lengths 3 and 2, first-order values 5 and 9; integers 0, 1, 3.
    const DATA: [u8; 5] = [0x20, 0x32, 5, 9, 0b0001_1100];

    #[test]
    fn differences_of_each_order_are_added_up_and_come_back() {
        for (order, rest, expected) in [
            (0, &[][..], vec![5, 6, 8, 9, 9]),
            (1, &[100, 0x87], vec![100, 98, 97, 98, 100, 102]),
            (2, &[100, 99, 0x87], vec![100, 99, 96, 92, 89, 88, 89]),
            (3, &[1, 2, 4, 0x87], vec![1, 2, 4, 5, 4, 2, 1, 3]),
        ] {
            let form = parsed(order, rest).unwrap();
            let count = expected.len() as u64;
            let decoded = form.decode(&DATA, count, &LIMITS).unwrap();
            assert_eq!((&decoded.integers, decoded.head), (&expected, &DATA[..4]), "{order}");
            assert_eq!(form.encode(&expected, decoded.head).unwrap().as_deref(), Some(&DATA[..]));
            // The head follows from the lengths.
            assert_eq!(form.lengths(&expected, decoded.head).unwrap(), Some(&DATA[1..2]));
            let mut edited = expected.clone();
            edited[0] -= 1;
            assert_eq!(form.encode(&edited, decoded.head).unwrap(), None);
            // Another count, and each shorter section.
            assert!(form.decode(&DATA, count + 1, &LIMITS).is_err() && form.decode(&DATA, 1, &LIMITS).is_err());
            assert!((0..5).all(|len| form.decode(&DATA[..len], count, &LIMITS).is_err()));
            assert!((0..rest.len()).all(|len| parsed(order, &rest[..len]).is_err()));
        }
        assert!(parsed(4, &[0; 9]).is_err());
    }

    #[test]
    fn groups_without_bits_cost_no_more_than_the_limits_allow() {
        let mut form = parsed(0, &[]).unwrap();
        (form.groups, form.width_bits, form.length_bits, form.first_bits) = (1 << 32, 0, 0, 0);
        let limits = DecodeLimits { free_bytes: 1 << 20, max_expansion: 100, ..DecodeLimits::default() };
        assert!(form.decode(&[], 5, &limits).unwrap_err().to_string().contains("groups of 5 values"));
        (form.groups, form.length_bits) = (1, 32);
        let error = form.decode(&[0xff; 4], u64::from(u32::MAX), &limits).unwrap_err().to_string();
        assert!(error.contains("more than the limit"), "{error}");
    }
}
