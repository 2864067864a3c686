//! JPEG 2000: one component without a sign, by the library `OpenJPEG`.

use jpeg2k::Image;
use tgm_std::{DecodeLimits, Result};

use super::super::complex::reserve_numbers;
use super::super::error::{GribError, GribErrorKind};
use super::{check_pixels, damaged};

/// Start of a code stream, and the marker of its sizes.
const START: [u8; 4] = [0xff, 0x4f, 0xff, 0x51];
/// Bytes of memory for each pixel while a picture is decoded: the component and its wavelets.
const PIXEL_LEN: u64 = 16;

/// The integers of a picture. Its size is checked before the library sees it.
///
/// # Errors
/// The errors of [`super::integers`].
pub(super) fn integers(picture: &[u8], count: u64, limits: &DecodeLimits, at: usize) -> Result<Vec<i64>> {
    check_size(picture, count, at)?;
    limits.check_bytes(picture.len() as u64, count.saturating_mul(PIXEL_LEN))?;
    let image = Image::from_bytes(picture).map_err(|error| damaged("JPEG 2000", error))?;
    let [component] = image.components() else { return Err(form(at).into()) };
    check_pixels(component.width(), component.height(), count, at)?;
    let mut integers = reserve_numbers(picture.len(), count, limits)?;
    // The library's numbers have 32 bits and a sign, also where the picture has none.
    integers.extend(component.data().iter().map(|number| i64::from(number.cast_unsigned())));
    check_pixels(u32::try_from(integers.len()).unwrap_or(u32::MAX), 1, count, at)?;
    Ok(integers)
}

fn form(at: usize) -> GribError {
    GribErrorKind::Picture("has another form than one component without a sign").at(at)
}

/// Checks what the code stream states: its size, and one component of whole resolution.
fn check_size(picture: &[u8], count: u64, at: usize) -> std::result::Result<(), GribError> {
    let number =
        |from: usize| picture.get(from..).and_then(|bytes| bytes.first_chunk().copied()).map(u32::from_be_bytes);
    let byte = |from: usize| picture.get(from).copied();
    // Marker, length of the segment, capabilities; then sizes and offsets of the image and of its tiles.
    let sizes = number(8).zip(number(12)).zip(number(16).zip(number(20)));
    let Some(((right, bottom), (left, top))) = sizes.filter(|_| picture.starts_with(&START)) else {
        return Err(form(at));
    };
    check_pixels(right.saturating_sub(left), bottom.saturating_sub(top), count, at)?;
    // The number of components, and of the first: its bits without a sign, and its steps.
    let is_single = picture.get(40..42) == Some(&[0, 1]) && byte(42).is_some_and(|bits| bits < 32);
    if is_single && picture.get(43..45) == Some(&[1, 1]) { Ok(()) } else { Err(form(at)) }
}
