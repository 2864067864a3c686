//! The bit stream: windows of 64 bits, fields of a fixed width, unary codes.
//!
//! # Unary codes
//!
//! A unary code is a run of zeros and a one: 0001 is 3.
//!
//! ```text
//! plainly:  for each code:  code = 0; while the next bit is 0: code += 1
//! ```
//!
//! The trick loads a window of 64 bits and reverses it, so that the stream's next bit is the lowest. A code then ends at
//! the lowest one:
//!
//! ```text
//! for each code:
//!     end   = trailing_zeros(ones)
//!     code  = end - start
//!     start = end + 1
//!     ones &= ones - 1              clears the lowest one
//! ```
//!
//! The next `ones` does not depend on the counting, so a processor works on several codes at once. Eight codes are taken
//! without checking each. If the window holds fewer, the word is 0 when the last code is due, and that is checked once:
//! then a new window is loaded, and if even that is not enough, codes are read one by one.
//!
//! # The end of the stream
//!
//! Bits beyond the end read as zero. [`Bits::check_end`] is called after every block, so a block that used such bits is
//! never accepted.

use crate::error::{ErrorKind, Result};

/// Values that are worked on at a time.
pub(super) const GROUP: usize = 8;

/// The longest unary code that [`Bits::skip_unary`] can step over. It requires a one in each window, so a code begins in
/// one window and ends in the next at the latest.
pub(super) const LONGEST_SKIPPED: u32 = 2 * (u64::BITS - 1);

/// Bytes that hold a group's fields of any width, if eight bytes are loaded for each field.
///
/// The last field starts in byte 28 at most: 7 fields of 32 bits, after 7 bits. Start bytes are masked to five bits, so
/// every load is within 32 + 8 bytes, and the compiler removes its check.
const FIELD_BYTES: usize = 40;

/// A position in a stream of bits. The first bit is the most significant bit of the first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Cannot overflow: it is at most a block beyond the end.
    position: u64,
}

impl<'a> Bits<'a> {
    /// The stream from bit `position` on.
    pub(super) fn new(bytes: &'a [u8], position: u64) -> Result<Self> {
        let bits = Self { bytes, position };
        bits.check_end().map(|()| bits)
    }

    /// The number of bits before the next one.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// The index of the byte with the next bit.
    pub(super) const fn byte(&self) -> u64 {
        self.position / 8
    }

    /// Checks that no bit beyond the end was read.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] at the stream's end.
    #[inline]
    pub(super) fn check_end(&self) -> Result<()> {
        let end = (self.bytes.len() as u64).saturating_mul(8);
        if self.position <= end { Ok(()) } else { Err(ErrorKind::Truncated.at_index(self.bytes.len())) }
    }

    /// The bytes from the one with the next bit on.
    #[inline]
    fn rest(&self) -> &'a [u8] {
        usize::try_from(self.byte()).ok().and_then(|byte| self.bytes.get(byte..)).unwrap_or_default()
    }

    /// How many bits of that byte come before the next bit.
    #[inline]
    const fn phase(&self) -> u32 {
        (self.position % 8) as u32
    }

    /// At least the next 57 bits, from the most significant bit down. The rest of the window is zero.
    #[inline]
    pub(super) fn window(&self) -> u64 {
        let rest = self.rest();
        let bytes = match rest.first_chunk() {
            Some(bytes) => *bytes,
            None => padded(rest),
        };
        u64::from_be_bytes(bytes).wrapping_shl(self.phase())
    }

    /// Moves on by `count` bits.
    #[inline]
    pub(super) fn skip(&mut self, count: u32) {
        self.position = self.position.wrapping_add(count.into());
    }

    /// Moves to bit `position`, but not beyond the end.
    #[inline]
    pub(super) fn jump(&mut self, position: u64) {
        self.position = position.min((self.bytes.len() as u64).saturating_mul(8));
    }

    /// Moves on to the next start of a byte.
    pub(super) fn align(&mut self) {
        self.position = self.position.wrapping_add(7) & !7;
    }

    /// Reads a field of 1 to 32 bits.
    #[inline]
    pub(super) fn take(&mut self, width: u32) -> u32 {
        let field = self.window().wrapping_shr(u64::BITS.wrapping_sub(width));
        self.skip(width);
        low_half(field)
    }

    /// Appends a field of 1 to 32 bits to each value, as its lower bits.
    #[inline]
    pub(super) fn append_fields(&mut self, width: u32, values: &mut [u32]) {
        let (groups, tail) = values.as_chunks_mut();
        for group in groups {
            let rest = self.rest();
            let bits = match rest.first_chunk() {
                Some(bytes) => append_group(bytes, self.phase(), width, group),
                None => append_group(&padded(rest), self.phase(), width, group),
            };
            self.skip(bits);
        }
        for value in tail {
            *value = value.wrapping_shl(width) | self.take(width);
        }
    }

    /// Steps over `count` unary codes by counting ones, because each code has exactly one.
    ///
    /// Returns `false`, and stays where it is, if a window has no one at all: a code may then be very long, or the stream
    /// ends.
    #[inline]
    pub(super) fn skip_unary(&mut self, count: usize) -> bool {
        let (mut bits, mut left) = (*self, count);
        while left > 0 {
            let mut window = bits.window();
            let ones = window.count_ones() as usize;
            match left.checked_sub(ones) {
                _ if ones == 0 => return false,
                Some(more @ 1..) => {
                    left = more;
                    bits.skip(u64::BITS.wrapping_sub(bits.phase()));
                }
                // The last code ends in this window. Its one is found by clearing the other ones, from the nearer side.
                _ => {
                    let behind = ones.wrapping_sub(left);
                    let last = if behind < left {
                        for _ in 0..behind {
                            window &= window.wrapping_sub(1);
                        }
                        u64::BITS.wrapping_sub(window.trailing_zeros())
                    } else {
                        let mut turned = window.reverse_bits();
                        for _ in 1..left {
                            turned &= turned.wrapping_sub(1);
                        }
                        turned.trailing_zeros().wrapping_add(1)
                    };
                    bits.skip(last);
                    left = 0;
                }
            }
        }
        *self = bits;
        true
    }

    /// Reads a unary code for each value. A code above `u32::MAX` becomes `u32::MAX`.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] at the stream's end if a code does not end before it.
    #[inline]
    pub(super) fn take_unary(&mut self, values: &mut [u32]) -> Result<()> {
        let mut ones = Ones::at(*self);
        let (groups, tail) = values.as_chunks_mut::<GROUP>();
        for group in groups {
            ones.take(group)?;
        }
        ones.take(tail)?;
        *self = ones.next_bits();
        Ok(())
    }
}

/// The bytes, and zeros after them.
#[cold]
#[inline(never)]
fn padded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut all = [0; N];
    for (slot, &byte) in all.iter_mut().zip(bytes) {
        *slot = byte;
    }
    all
}

/// Appends a field of `width` bits to each value, and returns the number of bits read. The first field starts `phase` bits
/// into `bytes`.
#[inline]
fn append_group(bytes: &[u8; FIELD_BYTES], phase: u32, width: u32, values: &mut [u32; GROUP]) -> u32 {
    match width {
        ..8 => append_by::<8>(bytes, phase, width, values),
        8..15 => append_by::<4>(bytes, phase, width, values),
        15..29 => append_by::<2>(bytes, phase, width, values),
        _ => append_by::<1>(bytes, phase, width, values),
    }
}

/// [`append_group`] with `FIELDS` fields taken from each window. They must not fill more than 57 bits.
///
/// ```text
/// load a window and shift it left, so that the first field is at the top
/// for each field:  rotate the window left by the width; the field is now at the bottom; mask it
/// ```
#[inline]
fn append_by<const FIELDS: usize>(bytes: &[u8; FIELD_BYTES], phase: u32, width: u32, values: &mut [u32; GROUP]) -> u32 {
    let mask = u32::MAX.wrapping_shr(u32::BITS.wrapping_sub(width));
    let factor = 1_u32.wrapping_shl(width);
    let mut start = phase;
    let (parts, _) = values.as_chunks_mut::<FIELDS>();
    for part in parts {
        let from = (start / 8 % 32) as usize;
        let bytes = bytes.get(from..).and_then(<[u8]>::first_chunk);
        let mut window = bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes)).wrapping_shl(start % 8);
        for value in part {
            window = window.rotate_left(width);
            *value = value.wrapping_mul(factor) | low_half(window) & mask;
            start = start.wrapping_add(width);
        }
    }
    start.wrapping_sub(phase)
}

/// The lower 32 bits.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the purpose")]
const fn low_half(window: u64) -> u32 {
    window as u32
}

/// The ones in a window of the stream: each is the end of a unary code.
#[derive(Clone, Copy, Debug)]
struct Ones<'a> {
    /// The position of the window's first bit.
    base: Bits<'a>,
    /// The window, reversed: bit i is the stream's bit i bits after `base`. Ones that were read are cleared.
    unread: u64,
    /// How many bits of the window were read.
    start: u32,
}

impl<'a> Ones<'a> {
    /// The window at `base`.
    #[inline]
    fn at(base: Bits<'a>) -> Self {
        Self { base, unread: base.window().reverse_bits(), start: 0 }
    }

    /// The position after the codes that were read.
    #[inline]
    fn next_bits(&self) -> Bits<'a> {
        let mut bits = self.base;
        bits.skip(self.start);
        bits
    }

    /// Reads a few codes, from this window or from the next one.
    #[inline]
    fn take(&mut self, codes: &mut [u32]) -> Result<()> {
        if self.take_all(codes) {
            return Ok(());
        }
        *self = Self::at(self.next_bits());
        if !self.take_all(codes) {
            *self = self.take_each(codes)?;
        }
        Ok(())
    }

    /// Reads codes if the window holds all of them, and returns whether it does.
    #[inline]
    fn take_all(&mut self, codes: &mut [u32]) -> bool {
        let (mut ones, mut start) = (self.unread, self.start);
        // The word when the last code is due. It is zero if the window has too few ones. Not zero if there are no codes.
        let mut last = u64::MAX;
        for code in codes {
            let end = ones.trailing_zeros();
            *code = end.wrapping_sub(start);
            start = end.wrapping_add(1);
            last = ones;
            ones &= ones.wrapping_sub(1);
        }
        if last == 0 {
            return false;
        }
        (self.unread, self.start) = (ones, start);
        true
    }

    /// Reads codes of any length.
    fn take_each(mut self, codes: &mut [u32]) -> Result<Self> {
        for code in codes {
            let mut zeros = 0_u32;
            while self.unread == 0 {
                let seen = u64::BITS.wrapping_sub(self.base.phase());
                zeros = zeros.saturating_add(seen.wrapping_sub(self.start));
                let mut base = self.base;
                base.skip(seen);
                base.check_end()?;
                self = Self::at(base);
            }
            let end = self.unread.trailing_zeros();
            *code = zeros.saturating_add(end.wrapping_sub(self.start));
            self.start = end.wrapping_add(1);
            self.unread &= self.unread.wrapping_sub(1);
        }
        Ok(self)
    }
}
