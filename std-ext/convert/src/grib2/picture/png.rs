//! PNG: greyscale of 1 to 16 bits, or the octets of an integer as the colours of a pixel.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, Limits, Transformations};
use tgm_std::internal::reserve;
use tgm_std::{DecodeLimits, Result};

use super::super::codes::Reader;
use super::super::complex::reserve_numbers;
use super::super::error::GribErrorKind;
use super::{check_pixels, damaged};

/// Memory that the library may take for each value, and beside.
const VALUE_LEN: u64 = 8;
const SPARE: usize = 1 << 20;

/// The integers of a picture. Its size is checked before memory is reserved for it.
///
/// # Errors
/// The errors of [`super::integers`].
pub(super) fn integers(picture: &[u8], count: u64, limits: &DecodeLimits, at: usize) -> Result<Vec<i64>> {
    let wrong = |error| damaged("PNG", error);
    // Rows, of which there may be one.
    let bytes = limits.check_bytes(picture.len() as u64, count.saturating_mul(VALUE_LEN))?.saturating_add(SPARE);
    let mut decoder = Decoder::new_with_limits(Cursor::new(picture), Limits { bytes });
    decoder.set_transformations(Transformations::IDENTITY);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info().map_err(wrong)?;
    let info = reader.info();
    check_pixels(info.width, info.height, count, at)?;
    let bits = match (info.color_type, info.bit_depth) {
        (ColorType::Grayscale, depth) => depth as u32,
        (ColorType::Rgb, BitDepth::Eight) => 24,
        (ColorType::Rgba, BitDepth::Eight) => 32,
        _ => return Err(GribErrorKind::Picture("has colours of another form than GRIB data").at(at).into()),
    };
    let (columns, row_len) = (info.width, info.raw_row_length().saturating_sub(1));
    let mut integers = reserve_numbers(picture.len(), count, limits)?;
    let len = limits.check_bytes(picture.len() as u64, (row_len as u64).saturating_mul(info.height.into()))?;
    let mut pixels = reserve(len)?;
    reader.next_frame(&mut pixels).map_err(wrong)?;
    for row in pixels.chunks_exact(row_len.max(1)) {
        let mut row = Reader::new(row);
        integers.extend((0..columns).map(|_| i64::try_from(row.take(bits)).unwrap_or(0)));
    }
    Ok(integers)
}
