//! Writing the heads of CBOR items, and the items that need little more: texts and numbers.
//!
//! ```text
//! first byte: major type (3 bits), info (5 bits)
//! info 0 … 23               the argument itself
//! info 24, 25, 26, 27       the argument follows, big-endian, in 1, 2, 4, 8 bytes
//! ```
//!
//! The argument of an integer is its value, and the argument of a text is its length in bytes.

use half::f16;

use crate::base::error::{Result, TensogramError};

/// The major types of CBOR whose heads are written by [`write_head`]. Type 7 has constants below: floats, truth values, null.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Major {
    Unsigned = 0,
    Negative = 1,
    Bytes = 2,
    Text = 3,
    Array = 4,
    Map = 5,
    Tag = 6,
}

/// The number of bits below the major type in a first byte.
const INFO_BITS: u32 = 5;
/// The first argument that does not fit the first byte of a head.
const FIRST_LONG: u64 = 24;
/// The info of a first byte whose argument follows in 1, 2, 4 or 8 bytes.
const ONE_BYTE: u8 = 24;
const TWO_BYTES: u8 = 25;
const FOUR_BYTES: u8 = 26;
const EIGHT_BYTES: u8 = 27;

/// Items of one byte.
pub(super) const FALSE: u8 = 0xf4;
pub(super) const TRUE: u8 = 0xf5;
pub(super) const NULL: u8 = 0xf6;

/// The first bytes of floats. The float follows in 2, 4 or 8 bytes.
const HALF: u8 = 0xf9;
const SINGLE: u8 = 0xfa;
const DOUBLE: u8 = 0xfb;

/// Appends the shortest head of this type and argument.
#[inline]
pub(super) fn write_head(major: Major, argument: u64, out: &mut Vec<u8>) {
    let major = (major as u8) << INFO_BITS;
    match u8::try_from(argument) {
        Ok(short) if argument < FIRST_LONG => out.push(major | short),
        _ => write_long_head(major, argument, out),
    }
}

/// Appends a head whose argument follows the first byte. `major` has the type in its upper three bits.
fn write_long_head(major: u8, argument: u64, out: &mut Vec<u8>) {
    if let Ok(short) = u8::try_from(argument) {
        out.extend_from_slice(&[major | ONE_BYTE, short]);
    } else if let Ok(short) = u16::try_from(argument) {
        out.push(major | TWO_BYTES);
        out.extend_from_slice(&short.to_be_bytes());
    } else if let Ok(short) = u32::try_from(argument) {
        out.push(major | FOUR_BYTES);
        out.extend_from_slice(&short.to_be_bytes());
    } else {
        out.push(major | EIGHT_BYTES);
        out.extend_from_slice(&argument.to_be_bytes());
    }
}

/// Bytes of the shortest head with this argument.
pub(crate) const fn head_len(argument: u64) -> u64 {
    match argument {
        0..FIRST_LONG => 1,
        FIRST_LONG..0x100 => 2,
        0x100..0x1_0000 => 3,
        0x1_0000..0x1_0000_0000 => 5,
        _ => 9,
    }
}

/// Bytes of a text item whose text has `len` bytes: head and text.
pub(crate) const fn text_len(len: usize) -> u64 {
    head_len(len as u64) + len as u64
}

/// Appends a text.
#[inline]
pub(super) fn write_text(text: &str, out: &mut Vec<u8>) {
    write_head(Major::Text, text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// Appends an integer. A negative integer n has a major type of its own, with the argument −1 − n.
///
/// # Errors
/// [`TensogramError::Metadata`] for integers below −2^64 or above 2^64 − 1.
pub(super) fn write_integer(n: i128, out: &mut Vec<u8>) -> Result<()> {
    // −1 − n is the same as all bits of n inverted.
    let (major, argument) = if n < 0 { (Major::Negative, !n) } else { (Major::Unsigned, n) };
    let argument = u64::try_from(argument)
        .map_err(|_| TensogramError::Metadata(format!("integer {n} is out of CBOR's range of ±2^64").into()))?;
    write_head(major, argument, out);
    Ok(())
}

/// Appends the narrowest float that gives back the same 64 bits, the payload of a NaN included.
pub(super) fn write_float(wide: f64, out: &mut Vec<u8>) {
    let half = f16::from_f64(wide);
    #[expect(clippy::cast_possible_truncation, reason = "the result is compared with the wide value below")]
    let single = wide as f32;
    if half.to_f64().to_bits() == wide.to_bits() {
        out.push(HALF);
        out.extend_from_slice(&half.to_be_bytes());
    } else if f64::from(single).to_bits() == wide.to_bits() {
        out.push(SINGLE);
        out.extend_from_slice(&single.to_be_bytes());
    } else {
        out.push(DOUBLE);
        out.extend_from_slice(&wide.to_be_bytes());
    }
}
