//! The bit stream: windows of 64 bits, fields of a fixed width, unary codes.
//!
//! A unary code is a run of zeros and a one. In a window turned round, so that the stream's next bit is the lowest, a code
//! ends at the lowest one:
//!
//! ```text
//! end = trailing_zeros(ones);  code = end - start;  start = end + 1;  ones &= ones - 1      (clears the lowest one)
//! ```
//!
//! Clearing does not wait for the counting, so processors work on several codes at once. Eight codes are taken without a
//! look at any; whether the window held them all is seen from the last one.
//!
//! Bits beyond the end read as zero. [`Bits::check_end`] after every block takes care that they are never believed.

use crate::error::{ErrorKind, Result};

/// Values that are worked on at a time.
pub(super) const GROUP: usize = 8;

/// No unary code that [`Bits::skip_unary`] passes over is greater: there is a one in each window.
pub(super) const LONGEST_SKIPPED: u32 = 2 * (u64::BITS - 1);

/// Bytes in which the fields of a group lie whatever their width, with eight bytes loaded for each: the last one starts in
/// byte 28 at most. Positions are masked to five bits, so that no check is left.
const FIELD_BYTES: usize = 40;

/// A position in a stream of bits, the first of which is the most significant bit of the first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Never more than a block beyond the end, so it fits.
    position: u64,
}

impl<'a> Bits<'a> {
    /// The stream from bit `position` on.
    pub(super) fn new(bytes: &'a [u8], position: u64) -> Result<Self> {
        let bits = Self { bytes, position };
        bits.check_end().map(|()| bits)
    }

    /// Bits before the next one.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// The number of the byte with the next bit.
    pub(super) const fn byte(&self) -> u64 {
        self.position / 8
    }

    /// Whether all bits that were read were there.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] at the stream's end if not.
    #[inline]
    pub(super) fn check_end(&self) -> Result<()> {
        let end = (self.bytes.len() as u64).saturating_mul(8);
        if self.position <= end { Ok(()) } else { Err(ErrorKind::Truncated.at_index(self.bytes.len())) }
    }

    /// The bytes from that of the next bit on.
    #[inline]
    fn rest(&self) -> &'a [u8] {
        usize::try_from(self.byte()).ok().and_then(|byte| self.bytes.get(byte..)).unwrap_or_default()
    }

    /// How many bits of the next one's byte come before it.
    #[inline]
    const fn phase(&self) -> u32 {
        (self.position % 8) as u32
    }

    /// The next 57 bits or more, from the most significant bit down; zeros follow.
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

    /// Goes on from bit `position`, or from the end if that comes first.
    #[inline]
    pub(super) fn jump(&mut self, position: u64) {
        self.position = position.min((self.bytes.len() as u64).saturating_mul(8));
    }

    /// Moves on to the start of a byte.
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

    /// Appends to each value a field of 1 to 32 bits, as its lower bits.
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

    /// Passes over `count` unary codes by counting ones. `false`, and nothing has happened, if a window has none, as all do
    /// beyond the end: one of the codes may be a long one then.
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
                // The last code ends in this window: the end is found by clearing ones from the nearer side.
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

    /// Reads as many unary codes as there are values; a code above `u32::MAX` becomes that.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] at the stream's end if a code has no end.
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

/// Appends to each value a field of `width` bits, the first of which starts `phase` bits into `bytes`; returns the number of
/// bits read.
#[inline]
fn append_group(bytes: &[u8; FIELD_BYTES], phase: u32, width: u32, values: &mut [u32; GROUP]) -> u32 {
    match width {
        ..8 => append_by::<8>(bytes, phase, width, values),
        8..15 => append_by::<4>(bytes, phase, width, values),
        15..29 => append_by::<2>(bytes, phase, width, values),
        _ => append_by::<1>(bytes, phase, width, values),
    }
}

/// [`append_group`] with so many fields in a window: those that fill no more than 57 bits.
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

/// The ones in a window of the stream, as the ends of unary codes.
#[derive(Clone, Copy, Debug)]
struct Ones<'a> {
    /// The window's first bit.
    base: Bits<'a>,
    /// Bit i is that of the stream i bits after `base`; ones that were read are cleared.
    unread: u64,
    /// Bits of the window that were read.
    start: u32,
}

impl<'a> Ones<'a> {
    /// The window at `base`.
    #[inline]
    fn at(base: Bits<'a>) -> Self {
        Self { base, unread: base.window().reverse_bits(), start: 0 }
    }

    /// The position behind the codes that were read.
    #[inline]
    fn next_bits(&self) -> Bits<'a> {
        let mut bits = self.base;
        bits.skip(self.start);
        bits
    }

    /// Reads codes, of which there are few.
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

    /// Reads codes if the window holds them all.
    #[inline]
    fn take_all(&mut self, codes: &mut [u32]) -> bool {
        let (mut ones, mut start) = (self.unread, self.start);
        // What is left when the last code is due; anything but zero if there is no code.
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
