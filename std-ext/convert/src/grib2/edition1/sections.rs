//! The lengths of a message and of its sections.
//!
//! # Long messages
//! Three octets hold lengths below 16 MiB. ECMWF writes longer ones in units of 120 octets: the first bit of the message's length is
//! set, and the length of section 4 is what the product has too many, less than 120. Section 4 then ends in front of "7777". Some
//! encoders do so from 8 MiB on, and some never, so that both signs are needed.

use super::super::bitmap::Bitmap;
use super::super::error::{GribError, GribErrorKind};
use super::super::fields::Field;
use super::super::sections::{END, Section, Stated};

/// Bytes of section 0.
pub(in super::super) const INDICATOR_LEN: usize = 8;
/// Bytes of section 3 in front of its bits.
pub(super) const BITMAP_HEAD_LEN: usize = 6;
/// Octets of section 4 in front of simple packing's values.
pub(super) const HEAD_LEN: usize = 11;
/// Bytes of a section's length.
const LENGTH_LEN: usize = 3;
/// The octets of section 0 and of section 1 that have the length and the flags.
const LENGTH: usize = 5;
pub(in super::super) const FLAGS: usize = 8;
/// Flags of section 1.
const HAS_GRID: u8 = 128;
const HAS_BITMAP: u8 = 64;
/// The sign of a length in units, and the units.
const IN_UNITS: u32 = 0x80_0000;
const UNIT: u32 = 120;

/// The section that follows section `before` of a message with these flags.
pub(in super::super) const fn next_number(before: u8, flags: u8) -> u8 {
    match before {
        0 => 1,
        1 if flags & HAS_GRID != 0 => 2,
        1 | 2 if flags & HAS_BITMAP != 0 => 3,
        _ => 4,
    }
}

/// The section of this number at the start of `bytes`, which lie `offset` bytes into the message. Section 4 has all bytes in front of
/// "7777", if it states no more.
pub(in super::super) fn first<'a>(
    number: u8,
    bytes: &'a [u8],
    offset: usize,
    message: &[u8],
) -> Result<Section<'a>, GribError> {
    let length = Section::new(number, offset, bytes).u24(1)?;
    let in_units = number == 4 && is_in_units(Section::new(0, 0, message).u24(LENGTH)?, length);
    let found =
        usize::try_from(length).ok().filter(|length| *length > LENGTH_LEN).and_then(|length| bytes.get(..length));
    let found = if number == 4 && (in_units || found.is_some()) { Some(bytes) } else { found };
    let found = found.ok_or(GribErrorKind::SectionLength { section: number, length }.at(offset))?;
    Ok(Section::new(number, offset, found))
}

const fn is_in_units(message: u32, data: u32) -> bool {
    message & IN_UNITS != 0 && data < UNIT
}

/// Bytes of a message whose length field has the value `message`, and that of section 4 the value `data`.
fn length_of(message: u32, data: u32) -> u64 {
    if !is_in_units(message, data) {
        return message.into();
    }
    let units = u64::from(message & !IN_UNITS) * u64::from(UNIT);
    let length = (units + END.len() as u64).checked_sub(data.into());
    // No units at all give less than nothing, which is as wrong as no length.
    length.unwrap_or_default()
}

/// The length of the message at the start of `bytes`, or how many bytes tell it.
///
/// # Errors
/// [`GribErrorKind::SectionLength`], [`GribErrorKind::ShortSection`].
pub(in super::super) fn stated(bytes: &[u8]) -> Result<Stated, GribError> {
    let message = Section::new(0, 0, bytes).u24(LENGTH)?;
    if message & IN_UNITS == 0 {
        return Ok(Stated::Length(message.into()));
    }
    let (mut at, mut number, mut flags) = (INDICATOR_LEN, 1, 0);
    loop {
        let wanted = at.saturating_add(FLAGS);
        let Some(head) = bytes.get(at..wanted) else {
            return Ok(Stated::Wanted { bytes: wanted, length: message.into() });
        };
        let section = Section::new(number, at, head);
        let length = section.u24(1)?;
        match number {
            4 => return Ok(Stated::Length(length_of(message, length))),
            1 => flags = section.u8(FLAGS)?,
            _ => {}
        }
        let step = usize::try_from(length).ok().filter(|step| *step > LENGTH_LEN);
        at = at.saturating_add(step.ok_or(GribErrorKind::SectionLength { section: number, length }.at(at))?);
        number = next_number(number, flags);
    }
}

/// How many sections from 1 to 4 a message has, by its flags alone.
pub(in super::super) fn count_sections(message: &[u8]) -> u64 {
    let flags = message.get(INDICATOR_LEN + FLAGS - 1).copied().unwrap_or(0);
    2 + u64::from(flags & HAS_GRID != 0) + u64::from(flags & HAS_BITMAP != 0)
}

/// Bytes of the message that begins with this section 0 and has this section 4.
pub(super) fn message_len(indicator: &[u8], data: &[u8]) -> Result<u64, GribError> {
    let (indicator, data) = (Section::new(0, 0, indicator), Section::new(4, 0, data));
    Ok(length_of(indicator.u24(LENGTH)?, data.u24(1)?))
}

/// Bytes of section 4 that belong to its data by the length that it states.
pub(super) fn stated_data_len(field: &Field<'_>) -> Result<usize, GribError> {
    let (message, length) = (field.indicator.u24(LENGTH)?, field.data.u24(1)?);
    let all = field.data.as_bytes().len();
    let stated = usize::try_from(length).ok().filter(|_| !is_in_units(message, length));
    Ok(stated.unwrap_or(all).min(all))
}

/// Which points have a value, by section 3, and the number of a bitmap that the message does not hold.
pub(in super::super) fn bitmap(section: Section<'_>) -> Result<(Bitmap<'_>, Option<u16>), GribError> {
    let table = section.u16(5)?;
    let bits = if table == 0 { Bitmap::Bits(section.from_octet(BITMAP_HEAD_LEN + 1)) } else { Bitmap::None };
    Ok((bits, Some(table).filter(|table| *table != 0)))
}

/// The sections of a field that its object keeps. `has_bits` says that the mask has the bits of the bitmap.
pub(in super::super) fn kept<'a>(field: &Field<'a>, points: u64, has_bits: bool) -> Vec<&'a [u8]> {
    let mut sections = vec![field.indicator.as_bytes(), field.identification.as_bytes()];
    sections.extend(field.grid.map(|section| section.as_bytes()));
    sections.extend(
        field.bitmap_section.map(|section| if has_bits { without_bits(section, points) } else { section.as_bytes() }),
    );
    let data = field.data.as_bytes();
    sections.push(data.get(..field.data_octet.saturating_sub(1)).unwrap_or(data));
    sections
}

/// Section 3 without its bits, if the mask gives them back: only zeros follow them.
fn without_bits(section: Section<'_>, points: u64) -> &[u8] {
    let all = section.as_bytes();
    let Some((head, bits)) = all.split_at_checked(BITMAP_HEAD_LEN) else { return all };
    let is_given = matches!(bitmap(section), Ok((Bitmap::Bits(_), _)));
    let used = usize::try_from(points.div_ceil(8)).ok().and_then(|len| bits.split_at_checked(len));
    let spare = u32::try_from(points.wrapping_neg() % 8).unwrap_or(0);
    let is_zero = used.is_some_and(|(used, rest)| {
        rest.iter().all(|byte| *byte == 0) && used.last().is_none_or(|last| last & !(u8::MAX << spare) == 0)
    });
    if is_given && is_zero { head } else { all }
}
