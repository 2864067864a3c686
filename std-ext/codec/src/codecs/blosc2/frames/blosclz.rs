//! blosclz, a relative of `FastLZ`: literal bytes and matches with what has been decoded.
//!
//! Each instruction begins with a byte. The three highest bits of the stream's first byte are ignored:
//!
//! ```text
//! 000nnnnn                                      n + 1 literal bytes, which follow
//! lllddddd [length …] dddddddd [far, far]       a match of l + 2 bytes, from d + 1 bytes before; d has 13 bits
//! 111ddddd                                      … of more: length bytes are added, up to the first that is not 255
//! lll11111 [length …] 11111111 far far          … from farther before: 16 bits, big-endian, + 8192
//! ```

use super::bytes::repeat;
use super::{CodecError, Result};

/// The distance that far matches begin with: the largest number of 13 bits, and 1, as no distance is 0.
const FAR: usize = 8191 + 1;

/// Decompresses into all of `out`. O(`stream.len()` + `out.len()`).
pub(super) fn decompress(stream: &[u8], out: &mut [u8]) -> Result<()> {
    let mut input = Input(stream);
    let mut at = 0;
    let mut instruction = input.byte().map(|byte| byte & 0x1f);
    while let Some(byte) = instruction {
        let len = if byte < 32 { literals(byte, &mut input, out, at) } else { copy(byte, &mut input, out, at) };
        at += len.ok_or_else(|| CodecError::new(format!("a stream of blosclz is damaged after {at} bytes")))?;
        instruction = input.byte();
    }
    if at != out.len() {
        return Err(CodecError::new(format!("a stream of blosclz has {at} bytes, expected {}", out.len())));
    }
    Ok(())
}

/// Bytes that a short copy moves, whatever its length, if there is room for them. A copy of fixed size takes no branch,
/// and the next instruction overwrites the surplus.
const SHORT: usize = 32;

/// Copies literal bytes to `at`; returns their number.
fn literals(instruction: u8, input: &mut Input<'_>, out: &mut [u8], at: usize) -> Option<usize> {
    let len = usize::from(instruction) + 1;
    let (bytes, rest) = input.0.split_at_checked(len)?;
    let to = out.get_mut(at..)?;
    match (input.0.first_chunk::<SHORT>(), to.first_chunk_mut()) {
        (Some(bytes), Some(to)) => *to = *bytes,
        _ => to.get_mut(..len)?.copy_from_slice(bytes),
    }
    input.0 = rest;
    Some(len)
}

/// Copies bytes that were decoded before to `at`; returns their number.
fn copy(instruction: u8, input: &mut Input<'_>, out: &mut [u8], at: usize) -> Option<usize> {
    let mut len = usize::from(instruction >> 5) + 2;
    if instruction >> 5 == 7 {
        while input.extend(&mut len)? == 255 {}
    }
    let distance = match (instruction & 0x1f, input.byte()?) {
        (0x1f, 0xff) => usize::from(u16::from_be_bytes([input.byte()?, input.byte()?])) + FAR,
        (high, low) => usize::from(u16::from_be_bytes([high, low])) + 1,
    };
    let from = at.checked_sub(distance)?;
    let (bytes, to) = out.get_mut(from..)?.split_at_mut_checked(distance)?;
    match (bytes.first_chunk::<SHORT>(), to.first_chunk_mut()) {
        (Some(bytes), Some(to)) if len <= SHORT => *to = *bytes,
        _ => repeat(out, at, distance, len)?,
    }
    Some(len)
}

/// The bytes of a stream that are still to be read.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    /// Adds the next byte to `len` and returns it.
    fn extend(&mut self, len: &mut usize) -> Option<u8> {
        let byte = self.byte()?;
        *len = len.checked_add(byte.into())?;
        Some(byte)
    }
}
