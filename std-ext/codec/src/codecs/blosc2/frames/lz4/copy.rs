//! Copies of fixed size, and matches made of them.

#![allow(unsafe_code, reason = "copies between places of which the caller has checked the room")]

/// Bytes that are copied together.
pub(super) const PIECE: usize = 16;

/// For each distance below 8: the factor that repeats a number of that many bytes until it fills 8 bytes, and the largest
/// multiple of the distance in 8.
const PATTERNS: [(u64, usize); 8] = {
    let mut patterns = [(1, 8); 8];
    let mut distance = 1;
    while distance < 8 {
        let (mut product, mut at) = (0, 0);
        while at < 8 {
            product |= 1 << (8 * at);
            at += distance;
        }
        patterns[distance] = (product, 8 - 8 % distance);
        distance += 1;
    }
    patterns
};

/// Copies a piece from one buffer to another.
///
/// # Safety
/// [`PIECE`] bytes can be read at `from` and written at `to`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
pub(super) unsafe fn copy_between(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { to.cast::<[u8; PIECE]>().write_unaligned(from.cast::<[u8; PIECE]>().read_unaligned()) }
}

/// Copies a match: `len` bytes from `distance` bytes before `start` to `start`.
///
/// ```text
/// distance 16 and more   pieces of 16 bytes: none overlaps its source
/// distance 8 to 15       pieces of 8 bytes, likewise
/// distance 1 to 7        the `distance` bytes before `start`, repeated to 8 bytes by one multiplication; each store
///                        advances by a multiple of the distance, so that the pattern is at its beginning again
/// ```
///
/// The first pieces are copied whatever the length, for most matches are short. So a match of up to 18 bytes writes 32
/// bytes at most, and a longer one up to a piece too many.
///
/// # Safety
/// That many bytes after `start` can be written. At least `distance` bytes before `start`, and at least 8, have been
/// written.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the loop around it is what counts")]
pub(super) unsafe fn copy_match(out: *mut u8, start: usize, distance: usize, len: usize) {
    let end = start + len;
    if distance >= PIECE {
        // SAFETY: the caller's promise: each piece is read from at least 16 bytes before where it goes.
        unsafe {
            copy_piece::<PIECE>(out, start - distance, start);
            copy_piece::<PIECE>(out, start - distance + PIECE, start + PIECE);
            let mut at = start + 2 * PIECE;
            while at < end {
                copy_piece::<PIECE>(out, at - distance, at);
                at += PIECE;
            }
        }
        return;
    }
    // SAFETY: the caller's promise. Three pieces of 8 bytes are 24. Stored patterns advance by 5 to 8 bytes, so that
    // three of them reach 18 to 24 bytes. The loops begin pieces of 8 bytes before the end only.
    unsafe {
        if distance >= 8 {
            copy_piece::<8>(out, start - distance, start);
            copy_piece::<8>(out, start - distance + 8, start + 8);
            copy_piece::<8>(out, start - distance + 16, start + 16);
            let mut at = start + 24;
            while at < end {
                copy_piece::<8>(out, at - distance, at);
                at += 8;
            }
            return;
        }
        let before = u64::from_le_bytes(out.add(start - 8).cast::<[u8; 8]>().read_unaligned());
        let (product, step) = PATTERNS[distance & 7];
        let pattern = (before >> (64 - 8 * distance)).wrapping_mul(product).to_le_bytes();
        let write = |at: usize| out.add(at).cast::<[u8; 8]>().write_unaligned(pattern);
        write(start);
        write(start + step);
        write(start + 2 * step);
        let mut at = start + 3 * step;
        while at < end {
            write(at);
            at += step;
        }
    }
}

/// Copies `N` bytes.
///
/// # Safety
/// Both places are within what `out` points to.
#[inline(always)]
#[expect(clippy::inline_always, reason = "two instructions")]
unsafe fn copy_piece<const N: usize>(out: *mut u8, from: usize, to: usize) {
    // SAFETY: the caller's promise.
    unsafe { out.add(to).cast::<[u8; N]>().write_unaligned(out.add(from).cast::<[u8; N]>().read_unaligned()) }
}
