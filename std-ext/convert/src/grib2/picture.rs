//! Templates 5.40 and 5.41: integers as the pixels of a picture, by a library for each codec.
//!
//! A picture has one pixel for each value of the field, in the order of the values. Its rows and columns do not matter.
//! The codecs cannot write the same bytes again, so objects keep the picture beside the values, or return in simple
//! packing.

#[cfg(feature = "grib-jpeg2000")]
mod jpeg2000;
#[cfg(feature = "grib-png")]
mod png;

use tgm_std::internal::reserve_more;
use tgm_std::{DecodeLimits, Result, TensogramError};

use super::codes::{packed, placed};
use super::complex::with_bits;
#[cfg(any(feature = "grib-png", feature = "grib-jpeg2000"))]
use super::error::GribError;
use super::error::GribErrorKind;
use super::fields::Field;
use super::note::Note;
use super::representation::{Codec, Representation};
use super::sections::{END, HEAD_LEN, INDICATOR_LEN, Message, Section};
use crate::error::encoding;
#[cfg(any(feature = "grib-png", feature = "grib-jpeg2000"))]
use crate::error::encoding_from;

/// The octets of section 5 for simple packing: its length, and where the template's number begins.
const SIMPLE_LEN: u8 = 21;
const TEMPLATE_AT: usize = 9;
/// Where the bits of a value stand, counted from 0.
const BITS_AT: usize = 19;

/// The integers of a field's picture, which must be `count`.
///
/// # Errors
/// [`TensogramError::Framing`] for a picture of another size; [`TensogramError::Encoding`] if it cannot be decoded, beyond
/// the limits, and if the codec is not compiled in.
#[cfg_attr(not(any(feature = "grib-png", feature = "grib-jpeg2000")), expect(unused_variables, reason = "no codec"))]
pub(super) fn integers(codec: Codec, field: &Field<'_>, count: u64, limits: &DecodeLimits) -> Result<Vec<i64>> {
    let at = field.data.offset();
    match codec {
        // Encoders write no picture of no values.
        _ if count == 0 => Ok(vec![]),
        #[cfg(feature = "grib-png")]
        Codec::Png => png::integers(field.data(), count, limits, at),
        #[cfg(not(feature = "grib-png"))]
        Codec::Png => Err(GribErrorKind::NoCodec(41).at(at).into()),
        #[cfg(feature = "grib-jpeg2000")]
        Codec::Jpeg2000 => jpeg2000::integers(field.data(), count, limits, at),
        #[cfg(not(feature = "grib-jpeg2000"))]
        Codec::Jpeg2000 => Err(GribErrorKind::NoCodec(40).at(at).into()),
    }
}

/// An error of a codec's library.
#[cfg(any(feature = "grib-png", feature = "grib-jpeg2000"))]
fn damaged(codec: &str, error: impl std::error::Error + Send + Sync + 'static) -> TensogramError {
    encoding_from(format_args!("GRIB section 7, {codec} data"), error)
}

/// Checks that a picture has a pixel for each of `count` values.
#[cfg(any(feature = "grib-png", feature = "grib-jpeg2000"))]
fn check_pixels(columns: u32, rows: u32, count: u64, at: usize) -> std::result::Result<(), GribError> {
    let pixels = u64::from(columns) * u64::from(rows);
    if pixels == count { Ok(()) } else { Err(GribErrorKind::Pixels { stated: count, pixels }.at(at)) }
}

/// The message with simple packing instead of pictures, and what was changed. `None` if it has no picture.
///
/// # Errors
/// The errors of sections, and of [`integers`].
pub(super) fn to_simple(message: Message<'_>, limits: &DecodeLimits) -> Result<(Option<Vec<u8>>, Vec<Note>)> {
    let (mut made, mut notes) = (Vec::new(), Vec::new());
    if message.is_first_edition() {
        return Ok((None, notes));
    }
    reserve_more(&mut made, message.as_bytes().len())?;
    made.extend_from_slice(message.as_bytes().get(..INDICATOR_LEN).unwrap_or_default());
    for (index, field) in message.fields().enumerate() {
        let field = field?;
        let simple = match field.stored()? {
            Representation::Picture(packing, codec) => {
                notes.push(Note::Repacked { field: index, template: field.representation.u16(10)? });
                let integers = integers(codec, &field, field.present()?.count, limits)?;
                let bits = with_bits(packing, &integers).bits_per_value;
                let count = integers.len() as u64;
                let data = packed(placed(&integers, None, count), count, bits)?;
                Some((representation(field.representation, count, bits)?, data))
            }
            _ => None,
        };
        let mut at = field.start.max(INDICATOR_LEN);
        while at <= field.data.offset() {
            let section = Section::parse(message.as_bytes().get(at..).unwrap_or_default(), at)?;
            match (section.number(), &simple) {
                (5, Some((representation, _))) => made.extend_from_slice(representation),
                (7, Some((_, data))) => {
                    let length = data.len() + HEAD_LEN;
                    let stated = u32::try_from(length).map_err(|_| too_long("section 7", length as u64))?;
                    reserve_more(&mut made, length)?;
                    made.extend_from_slice(&stated.to_be_bytes());
                    made.push(7);
                    made.extend_from_slice(data);
                }
                _ => made.extend_from_slice(section.as_bytes()),
            }
            at += section.as_bytes().len();
        }
    }
    made.extend_from_slice(END);
    let length = (made.len() as u64).to_be_bytes();
    if let Some(place) = made.get_mut(INDICATOR_LEN - 8..).and_then(|bytes| bytes.first_chunk_mut()) {
        *place = length;
    }
    Ok(((!notes.is_empty()).then_some(made), notes))
}

/// What is too long for the numbers of GRIB, which have 32 bits.
fn too_long(what: &str, len: u64) -> TensogramError {
    encoding(format!("{what} would have a length of {len}, which GRIB cannot state"))
}

/// Section 5 for simple packing of `count` values of `bits` bits, with the other numbers of `section`.
///
/// # Errors
/// More values or bits than the section can state.
fn representation(section: Section<'_>, count: u64, bits: u32) -> Result<Vec<u8>> {
    let mut made: Vec<u8> = section.as_bytes().iter().copied().take(SIMPLE_LEN.into()).collect();
    let length = u32::from(SIMPLE_LEN).to_be_bytes();
    for (at, byte) in length.into_iter().enumerate().chain([(TEMPLATE_AT, 0), (TEMPLATE_AT + 1, 0)]) {
        made.get_mut(at).into_iter().for_each(|place| *place = byte);
    }
    let stated = u32::try_from(count).map_err(|_| too_long("a field", count))?.to_be_bytes();
    let bits = u8::try_from(bits).map_err(|_| too_long("a value", bits.into()))?;
    if let Some(place) = made.get_mut(HEAD_LEN..).and_then(|bytes| bytes.first_chunk_mut()) {
        *place = stated;
    }
    made.get_mut(BITS_AT).into_iter().for_each(|place| *place = bits);
    Ok(made)
}
