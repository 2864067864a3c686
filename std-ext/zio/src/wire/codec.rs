//! Packing all parts of a message into one buffer: `{ size data }*` (ZeroMQ RFC 50/MME).

use core::iter::FusedIterator;

use super::error::{ErrorKind, Result};

/// The byte that announces a size of four bytes.
const LONG: u8 = 0xFF;

/// The parts that are packed in `buffer`, borrowed from it. Lazy: each size is checked when the iterator reaches it.
///
/// ```
/// let buffer = [2, b'a', b'b', 0, 0xFF, 0, 0, 0, 1, b'c'];
/// let parts = tgm_zio::parts(&buffer);
/// assert!(parts.map(Result::unwrap).eq([&b"ab"[..], b"", b"c"]));
/// ```
pub const fn parts(buffer: &[u8]) -> PackedParts<'_> {
    PackedParts { rest: buffer, offset: 0, part: 0 }
}

/// The parts of a buffer, in order. It ends after an error. See [`parts`].
#[derive(Clone, Debug)]
pub struct PackedParts<'a> {
    rest: &'a [u8],
    offset: u64,
    part: usize,
}

impl<'a> PackedParts<'a> {
    /// The bytes that were not read yet.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Bytes from the buffer's start to [`Self::rest`].
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    fn take(&mut self) -> Result<&'a [u8]> {
        let (len, body) = match self.rest.split_first() {
            Some((&LONG, behind)) => {
                let (size, body) =
                    behind.split_first_chunk().ok_or(ErrorKind::TruncatedSize.at(self.part, self.offset))?;
                (u32::from_be_bytes(*size) as usize, body)
            }
            Some((&short, body)) => (usize::from(short), body),
            None => return Ok(&[]),
        };
        let (part, rest) = body.split_at_checked(len).ok_or(ErrorKind::TruncatedPart.at(self.part, self.offset))?;
        self.offset = self.offset.saturating_add(self.rest.len().saturating_sub(rest.len()) as u64);
        self.rest = rest;
        self.part = self.part.saturating_add(1);
        Ok(part)
    }
}

impl<'a> Iterator for PackedParts<'a> {
    type Item = Result<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let part = self.take();
        if part.is_err() {
            self.rest = &[];
        }
        Some(part)
    }
}

impl FusedIterator for PackedParts<'_> {}

/// The size field before a part: one byte for sizes up to 254, otherwise five bytes.
///
/// ```
/// use tgm_zio::Size;
///
/// assert_eq!(Size::of(0, 254)?.as_bytes(), [254]);
/// assert_eq!(Size::of(0, 256)?.as_bytes(), [255, 0, 0, 1, 0]);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    bytes: [u8; 5],
    is_long: bool,
}

impl Size {
    /// The size field of a part of `len` bytes. `part` is its index in the message, for the error.
    ///
    /// # Errors
    /// [`ErrorKind::PartTooLarge`] beyond 2³²-1.
    pub fn of(part: usize, len: usize) -> Result<Self> {
        match u8::try_from(len) {
            Ok(short) if short != LONG => Ok(Self { bytes: [short, 0, 0, 0, 0], is_long: false }),
            _ => {
                let long = u32::try_from(len).map_err(|_| ErrorKind::PartTooLarge.at(part, 0))?;
                let [a, b, c, d] = long.to_be_bytes();
                Ok(Self { bytes: [LONG, a, b, c, d], is_long: true })
            }
        }
    }

    /// The bytes of the field.
    pub fn as_bytes(&self) -> &[u8] {
        let [short, ..] = &self.bytes;
        if self.is_long { &self.bytes } else { core::slice::from_ref(short) }
    }
}

/// Bytes of a buffer that holds parts of these lengths.
///
/// # Errors
/// [`ErrorKind::PartTooLarge`].
pub fn encoded_len(lens: impl IntoIterator<Item = usize>) -> Result<u64> {
    let mut total = 0_u64;
    for (part, len) in lens.into_iter().enumerate() {
        let size = Size::of(part, len)?.as_bytes().len() as u64;
        total = total.saturating_add(size).saturating_add(len as u64);
    }
    Ok(total)
}

/// Packs parts into `out`, which must have exactly the length that [`encoded_len`] returns.
///
/// # Errors
/// [`ErrorKind::PartTooLarge`] and [`ErrorKind::OutputLength`]. Then nothing is written.
pub fn encode_into<P: AsRef<[u8]>>(parts: &[P], out: &mut [u8]) -> Result<()> {
    let len = encoded_len(parts.iter().map(|part| part.as_ref().len()))?;
    if len != out.len() as u64 {
        return Err(ErrorKind::OutputLength.at(0, 0));
    }
    let mut rest = out;
    for (index, part) in parts.iter().enumerate() {
        let part = part.as_ref();
        rest = put(rest, Size::of(index, part.len())?.as_bytes())?;
        rest = put(rest, part)?;
    }
    Ok(())
}

fn put<'o>(out: &'o mut [u8], bytes: &[u8]) -> Result<&'o mut [u8]> {
    let (here, rest) = out.split_at_mut_checked(bytes.len()).ok_or(ErrorKind::OutputLength.at(0, 0))?;
    here.iter_mut().zip(bytes).for_each(|(out, byte)| *out = *byte);
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn the_long_form_starts_at_255() {
        for (len, expected) in [(0, &[0][..]), (254, &[254]), (255, &[255, 0, 0, 0, 255]), (65536, &[255, 0, 1, 0, 0])]
        {
            assert_eq!(Size::of(0, len).unwrap().as_bytes(), expected);
        }
    }

    // On other machines no slice is that long.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_part_beyond_32_bits_is_refused_before_anything_is_written() {
        let error = encoded_len([3, u32::MAX as usize + 1]).unwrap_err();
        assert_eq!((error.kind(), error.part()), (ErrorKind::PartTooLarge, 1));
    }

    #[test]
    fn errors_name_part_and_byte_and_end_the_walk() {
        for (buffer, kind) in [
            (&[1, b'a', 0xFF, 0, 0][..], ErrorKind::TruncatedSize),
            (&[1, b'a', 3, 0, 0], ErrorKind::TruncatedPart),
            (&[1, b'a', 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0], ErrorKind::TruncatedPart),
        ] {
            let mut walk = parts(buffer);
            assert_eq!(walk.next(), Some(Ok(&b"a"[..])));
            assert_eq!(walk.next(), Some(Err(kind.at(1, 2))));
            assert_eq!(walk.next(), None);
        }
    }

    #[test]
    fn packing_needs_exactly_the_room_it_says() {
        let parts_in = [&b"ab"[..], b"", &[7; 300]];
        let len = encoded_len(parts_in.map(<[u8]>::len)).unwrap();
        assert_eq!(len, 3 + 1 + 305);
        let mut out = vec![0; 309];
        encode_into(&parts_in, &mut out).unwrap();
        assert_eq!(parts(&out).collect::<Result<Vec<_>>>().unwrap(), parts_in);
        assert_eq!(encode_into(&parts_in, &mut out[1..]).unwrap_err().kind(), ErrorKind::OutputLength);
    }
}
