//! Section 4: how the values are stored.
//!
//! | octets | simple packing |
//! |---|---|
//! | 4 | flags in the high half; unused bits at the end of the data in the low half |
//! | 5 to 6 | binary scale factor E |
//! | 7 to 10 | reference value R, IBM |
//! | 11 | bits of each value |
//! | 12 on | values |
//!
//! The decimal scale factor D is in octets 27 to 28 of section 1.

use super::super::error::{GribError, GribErrorKind};
use super::super::packings::{Curved, Scale, SecondOrder, Spectral, ibm};
use super::super::representation::{Representation, ieee, packing_of};
use super::super::sections::Section;
use super::grid::{rows, triangle};
use super::sections::HEAD_LEN;

/// The same for IEEE numbers: octet 12 has their precision.
const IEEE_HEAD_LEN: usize = 12;

/// Flags of section 4.
const SPECTRAL: u8 = 8;
const COMPLEX: u8 = 4;
const MORE: u8 = 1;
/// The flags of IEEE numbers, as ecCodes writes them: more flags, and integers before.
const IEEE: u8 = 3;

/// Octets of section 4 in front of the data.
///
/// # Errors
/// [`GribErrorKind::ShortSection`].
pub(in super::super) fn head_len(section: Section<'_>) -> Result<usize, GribError> {
    section.u8(HEAD_LEN)?;
    let len = match section.u8(4)? >> 4 {
        IEEE => IEEE_HEAD_LEN,
        flags if flags & SPECTRAL != 0 => Spectral::head_len(flags & COMPLEX != 0),
        flags if flags & COMPLEX != 0 => SecondOrder::head_len(section)?,
        _ => HEAD_LEN,
    };
    // A shorter section has no packing that is known.
    Ok(len.min(section.as_bytes().len()))
}

/// Reads section 4 of a message with these sections 1 and 2. What is not supported is [`Representation::Unread`].
///
/// # Errors
/// [`GribErrorKind::ShortSection`], and errors of numbers that contradict each other.
pub(in super::super) fn parse(
    identification: Section<'_>,
    grid: Option<Section<'_>>,
    section: Section<'_>,
) -> Result<Representation, GribError> {
    match parse_known(identification, grid, section) {
        Err(error) if error.kind().is_unread() => Ok(Representation::Unread(error.kind())),
        found => found,
    }
}

fn parse_known(
    identification: Section<'_>,
    grid: Option<Section<'_>>,
    section: Section<'_>,
) -> Result<Representation, GribError> {
    let (flags, at) = (section.u8(4)? >> 4, section.offset());
    if flags == IEEE {
        return ieee(section.u8(IEEE_HEAD_LEN)?, at);
    }
    let (reference, bits) = (ibm(section.u32(7)?), section.u8(HEAD_LEN)?);
    let (binary, decimal) = (section.i16(5)?, identification.i16(27)?);
    if flags & SPECTRAL != 0 {
        let truncation = grid.map_or(Ok(None), triangle)?.ok_or(GribErrorKind::Truncation.at(at))?;
        let scale = Scale::new(reference, (binary, decimal), bits, at)?;
        let spectral = Spectral::first_edition(section, scale, truncation, flags & COMPLEX != 0)?;
        return Ok(Representation::Curved(Curved::Spectral(spectral)));
    }
    if flags & COMPLEX != 0 {
        let packing = packing_of((reference, binary, decimal, bits), false, at)?;
        let order = SecondOrder::first_edition(section)?;
        return Representation::second_order(packing, order, || grid.map_or(Ok(None), rows), at);
    }
    if flags & MORE != 0 {
        return Err(GribErrorKind::Packing("a matrix at each point").at(at));
    }
    packing_of((reference, binary, decimal, bits), bits == 0, at).map(Representation::simple)
}
