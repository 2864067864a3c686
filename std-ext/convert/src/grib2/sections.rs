//! One GRIB message and its sections: bounds-checked views that borrow the bytes.
//!
//! Edition 2 has these sections. [`super::edition1`] has the layout of edition 1.
//!
//! ```text
//! section 0   "GRIB", 2 reserved octets, discipline, edition, length of the message in 8 octets
//! section n   length in 4 octets, number n, content               1, then 2 to 7 once or several times
//! section 8   "7777"
//! ```
//!
//! Manual: FM 92 GRIB edition 2, regulations 92.1 and 92.2.

use std::fmt;

use tgm_grid::Octets;

use super::edition1;
use super::error::{GribError, GribErrorKind};

/// The first bytes of a message.
pub(super) const MAGIC: &[u8; 4] = b"GRIB";
/// Section 8.
pub(super) const END: &[u8; 4] = b"7777";
/// Bytes of section 0.
pub(super) const INDICATOR_LEN: usize = 16;
/// Bytes of a section's length and number.
pub(super) const HEAD_LEN: usize = 5;
/// The octets of a section, counted from 1, that hold the edition and the length in section 0.
const EDITION: usize = 8;
const LENGTH: usize = 9;

/// An edition of GRIB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edition {
    First,
    Second,
}

/// A GRIB message of edition 1 or 2.
///
/// Holding one means: it has the length that it states, and begins and ends as it must. Sections are checked as they
/// are read.
#[derive(Clone, Copy)]
pub struct Message<'a> {
    bytes: &'a [u8],
    edition: Edition,
}

/// A section, without regard to its content.
#[derive(Clone, Copy)]
pub struct Section<'a> {
    number: u8,
    offset: usize,
    bytes: &'a [u8],
}

/// What the first bytes of a message say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indicator {
    pub(super) edition: Edition,
    pub(super) length: Stated,
}

/// The length of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stated {
    Length(u64),
    /// It takes this many bytes to tell. `length` is the number that section 0 has.
    Wanted {
        bytes: usize,
        length: u64,
    },
}

impl Indicator {
    /// Reads section 0, and as many lengths of sections as tell the length of the message.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, GribError> {
        if !bytes.starts_with(MAGIC) {
            return Err(GribErrorKind::NoMagic.at(0));
        }
        let section = Section { number: 0, offset: 0, bytes };
        let (edition, length, least) = match section.u8(EDITION)? {
            1 => (Edition::First, edition1::stated(bytes)?, edition1::INDICATOR_LEN),
            2 => {
                let length = Stated::Length(u64::from_be_bytes(section.array(LENGTH)?));
                (Edition::Second, length, INDICATOR_LEN)
            }
            edition => return Err(GribErrorKind::Edition(edition).at(EDITION - 1)),
        };
        if let Stated::Length(length) = length
            && length < (least + END.len()) as u64
        {
            let at = if edition == Edition::First { MAGIC.len() } else { LENGTH - 1 };
            return Err(GribErrorKind::MessageLength(length).at(at));
        }
        Ok(Self { edition, length })
    }
}

impl<'a> Message<'a> {
    /// The message at the start of `bytes`, and the bytes after it. Only section 0, lengths and the last bytes are looked at.
    ///
    /// # Errors
    /// [`GribErrorKind::NoMagic`], [`GribErrorKind::Edition`], [`GribErrorKind::MessageLength`],
    /// [`GribErrorKind::Truncated`], [`GribErrorKind::NoEnd`].
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), GribError> {
        let Indicator { edition, length } = Indicator::parse(bytes)?;
        let length = match length {
            Stated::Length(length) => length,
            Stated::Wanted { length, .. } => return Err(GribErrorKind::Truncated(length).at(bytes.len())),
        };
        let split = usize::try_from(length).ok().and_then(|length| bytes.split_at_checked(length));
        let (message, rest) = split.ok_or(GribErrorKind::Truncated(length).at(bytes.len()))?;
        if !message.ends_with(END) {
            return Err(GribErrorKind::NoEnd.at(message.len().saturating_sub(END.len())));
        }
        Ok((Self { bytes: message, edition }, rest))
    }

    /// All bytes of the message.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its edition: 1 or 2.
    pub const fn edition(&self) -> u8 {
        match self.edition {
            Edition::First => 1,
            Edition::Second => 2,
        }
    }

    pub(super) const fn is_first_edition(&self) -> bool {
        matches!(self.edition, Edition::First)
    }

    /// Bytes of section 0.
    pub(super) const fn indicator_len(&self) -> usize {
        if self.is_first_edition() { edition1::INDICATOR_LEN } else { INDICATOR_LEN }
    }

    /// The sections from 1 on, in order. The last one, which is the end of the message, is not among them.
    pub const fn sections(&self) -> Sections<'a> {
        Sections { message: *self, offset: self.indicator_len(), last: 0, flags: 0, is_done: false }
    }

    /// How many sections the lengths lead to, up to the end or to the first length that is none. It looks at nothing but
    /// lengths, so that it counts what a reader of sections may have missed.
    pub(super) fn count_sections(&self) -> u64 {
        if self.is_first_edition() {
            return edition1::count_sections(self.bytes);
        }
        let end = self.bytes.len().saturating_sub(END.len());
        let mut left = self.bytes.get(INDICATOR_LEN..end).unwrap_or_default();
        let mut count = 0;
        while let Some(length) = left.first_chunk().map(|length| u32::from_be_bytes(*length)) {
            let rest = usize::try_from(length).ok().filter(|length| *length > 0).and_then(|length| left.get(length..));
            let Some(rest) = rest else { break };
            count += 1;
            left = rest;
        }
        count
    }
}

impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("len", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Section<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, offset, bytes } = self;
        f.debug_struct("Section").field("number", number).field("offset", offset).field("len", &bytes.len()).finish()
    }
}

/// The sections of a message. Ends after the first error.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    message: Message<'a>,
    offset: usize,
    /// The number of the section before `offset`.
    last: u8,
    /// In edition 1, which sections there are.
    flags: u8,
    is_done: bool,
}

impl<'a> Sections<'a> {
    /// The next section, or `None` in front of section 8.
    fn read(&mut self) -> Result<Option<Section<'a>>, GribError> {
        let (at, before) = (self.offset, self.last);
        let end = self.message.bytes.len().saturating_sub(END.len());
        let body = self.message.bytes.get(at..end).unwrap_or_default();
        if self.message.is_first_edition() {
            return self.read_first(body);
        }
        if at == end {
            return if before == 7 { Ok(None) } else { Err(GribErrorKind::SectionOrder { before, section: 8 }.at(at)) };
        }
        let section = Section::parse(body, at)?;
        let number = section.number;
        let may_follow = match before {
            0 => number == 1,
            // Section 2 may be left out, and fields of one grid or one product repeat only what differs.
            1 => matches!(number, 2 | 3),
            7 => matches!(number, 2..=4),
            _ => number == before + 1,
        };
        if !may_follow {
            return Err(GribErrorKind::SectionOrder { before, section: number }.at(at));
        }
        self.offset = at + section.bytes.len();
        self.last = number;
        Ok(Some(section))
    }

    /// The next section of edition 1, at the start of `body`.
    fn read_first(&mut self, body: &'a [u8]) -> Result<Option<Section<'a>>, GribError> {
        let number = edition1::next_number(self.last, self.flags);
        if self.last == number {
            return Ok(None);
        }
        let section = edition1::first(number, body, self.offset, self.message.bytes)?;
        if number == 1 {
            self.flags = section.u8(edition1::FLAGS)?;
        }
        self.offset += section.bytes.len();
        self.last = number;
        Ok(Some(section))
    }
}

impl<'a> Iterator for Sections<'a> {
    type Item = Result<Section<'a>, GribError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = if self.is_done { Ok(None) } else { self.read() };
        self.is_done = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

impl std::iter::FusedIterator for Sections<'_> {}

impl<'a> Section<'a> {
    /// The section of these bytes.
    pub(super) const fn new(number: u8, offset: usize, bytes: &'a [u8]) -> Self {
        Self { number, offset, bytes }
    }

    /// The section of edition 2 at the start of `bytes`, which lie `offset` bytes into the message.
    pub(super) fn parse(bytes: &'a [u8], offset: usize) -> Result<Self, GribError> {
        // A section that is too short for its number is refused on the next line.
        let whole = Self { number: bytes.get(4).copied().unwrap_or(0), offset, bytes };
        let (length, number) = (whole.u32(1)?, whole.u8(HEAD_LEN)?);
        let fits = usize::try_from(length).ok().filter(|length| *length >= HEAD_LEN);
        let bytes = fits.and_then(|length| bytes.get(..length));
        let bytes = bytes.ok_or(GribErrorKind::SectionLength { section: number, length }.at(offset))?;
        Ok(Self { number, offset, bytes })
    }

    /// Section 0 of a message.
    pub(super) fn indicator(message: Message<'a>) -> Self {
        Self { number: 0, offset: 0, bytes: message.bytes.get(..message.indicator_len()).unwrap_or_default() }
    }

    /// Its number, from 1 to 7, or to 4 in edition 1.
    pub const fn number(&self) -> u8 {
        self.number
    }

    /// Where it begins, in bytes from the start of the message.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// All of its bytes, with its length and its number.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its bytes from an octet on, counted from 1 as in the manual. Empty if it ends before.
    pub fn from_octet(&self, octet: usize) -> &'a [u8] {
        self.octets().from(octet)
    }

    const fn octets(&self) -> Octets<'a> {
        Octets::new(self.bytes)
    }

    /// A number that begins at an octet, which is the error if it is not there.
    fn present<T>(&self, octet: usize, found: Option<T>) -> Result<T, GribError> {
        found.ok_or(GribErrorKind::ShortSection { section: self.number, octet }.at(self.offset))
    }

    /// `N` octets from an octet on, counted from 1.
    ///
    /// # Errors
    /// [`GribErrorKind::ShortSection`], also for the numbers below.
    pub(super) fn array<const N: usize>(&self, octet: usize) -> Result<[u8; N], GribError> {
        self.present(octet, self.octets().array(octet))
    }

    pub(super) fn u8(&self, octet: usize) -> Result<u8, GribError> {
        self.present(octet, self.octets().u8(octet))
    }

    pub(super) fn u16(&self, octet: usize) -> Result<u16, GribError> {
        self.present(octet, self.octets().u16(octet))
    }

    pub(super) fn u24(&self, octet: usize) -> Result<u32, GribError> {
        self.array(octet).map(|[high, middle, low]| u32::from_be_bytes([0, high, middle, low]))
    }

    pub(super) fn u32(&self, octet: usize) -> Result<u32, GribError> {
        self.present(octet, self.octets().u32(octet))
    }

    /// A signed number. The first bit is the sign, and the others are the amount (regulation 92.1.5).
    pub(super) fn i8(&self, octet: usize) -> Result<i64, GribError> {
        self.present(octet, self.octets().i8(octet))
    }

    pub(super) fn i16(&self, octet: usize) -> Result<i32, GribError> {
        self.present(octet, self.octets().i16(octet).and_then(|number| i32::try_from(number).ok()))
    }

    pub(super) fn i32(&self, octet: usize) -> Result<i64, GribError> {
        self.present(octet, self.octets().i32(octet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of these sections, each with as much content as the second number says.
    fn message(sections: &[(u8, usize)]) -> Vec<u8> {
        let mut bytes = b"GRIB\0\0\x0a\x02\0\0\0\0\0\0\0\0".to_vec();
        for (number, content) in sections {
            bytes.extend_from_slice(&u32::try_from(5 + content).unwrap_or(0).to_be_bytes());
            bytes.push(*number);
            bytes.resize(bytes.len() + content, 0);
        }
        bytes.extend_from_slice(END);
        let length = (bytes.len() as u64).to_be_bytes();
        bytes[8..16].copy_from_slice(&length);
        bytes
    }

    fn numbers(bytes: &[u8]) -> Result<Vec<u8>, GribError> {
        Message::parse(bytes)?.0.sections().map(|section| Ok(section?.number())).collect()
    }

    const ONE: [(u8, usize); 6] = [(1, 16), (3, 9), (4, 4), (5, 6), (6, 1), (7, 3)];

    #[test]
    fn sections_come_in_their_order_and_may_repeat_from_2_3_or_4() {
        let rest = |from: u8| ONE.into_iter().filter(move |(number, _)| *number >= from);
        for repeated in [vec![], rest(3).collect(), rest(4).collect(), [(2, 0)].into_iter().chain(rest(3)).collect()] {
            let all: Vec<_> = ONE.into_iter().chain(repeated).collect();
            let expected: Vec<_> = all.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers(&message(&all)), Ok(expected));
        }
        for (number, before) in [(5, 7), (6, 7), (7, 7), (1, 7), (8, 7), (0, 7)] {
            let all: Vec<_> = ONE.into_iter().chain([(number, 0)]).collect();
            let offset = message(&ONE).len() - 4;
            let expected = GribErrorKind::SectionOrder { before, section: number }.at(offset);
            assert_eq!(numbers(&message(&all)), Err(expected));
        }
    }

    #[test]
    fn a_message_that_ends_before_its_data_is_an_error() {
        for count in 0..ONE.len() {
            let bytes = message(&ONE[..count]);
            let before = count.checked_sub(1).map_or(0, |last| ONE[last].0);
            let expected = GribErrorKind::SectionOrder { before, section: 8 }.at(bytes.len() - 4);
            assert_eq!(numbers(&bytes), Err(expected));
        }
    }

    #[test]
    fn lengths_that_lie_are_errors_where_they_stand() {
        let good = message(&ONE);
        let with = |at: usize, number: u32| {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
            numbers(&bytes).unwrap_err()
        };
        let third = INDICATOR_LEN + 21;
        for length in [0, 4, u32::MAX, u32::try_from(good.len()).unwrap()] {
            assert_eq!(with(third, length), GribErrorKind::SectionLength { section: 3, length }.at(third));
        }
        assert_eq!(with(8, 1), GribErrorKind::Truncated(1 << 32 | good.len() as u64).at(good.len()));
        assert_eq!(with(12, 19), GribErrorKind::MessageLength(19).at(8));
        assert_eq!(with(12, 40), GribErrorKind::NoEnd.at(36));
        assert_eq!(with(4, 3), GribErrorKind::Edition(3).at(7));
        assert_eq!(with(0, 1), GribErrorKind::NoMagic.at(0));
    }

    #[test]
    fn every_beginning_of_a_message_is_an_error() {
        let good = message(&ONE);
        for len in 0..good.len() {
            let error = Message::parse(&good[..len]).unwrap_err();
            assert!(error.offset() <= len as u64, "{error}");
        }
    }
}
