//! Embedded coding: the bits of four negabinary integers, plane by plane from the most significant one on.
//!
//! ```text
//! n = 0                                       coefficients that have had a 1 so far: the first n
//! for each plane:
//!     the bits of the first n coefficients
//!     while n < 4:
//!         1 if any coefficient from n on has a 1 here, else 0 and the plane ends
//!         the bits of coefficients n, n+1, ... up to the first 1; one at coefficient 3 goes without saying
//!         n = that coefficient + 1
//! ```
//!
//! The trick: most planes make no coefficient significant. Between two planes that do lies a run of planes of `n` bits
//! and a 0; after the last of them lie planes of four bits. Runs are found, and moved, a word at a time (`run`). The
//! planes between them take at most seven bits, so a table by `n` and by the next bits tells all about them (`step`).
//!
//! A limit on a block's bits cuts the code anywhere. A decoder that is cut off while it looks for the first 1 takes the
//! coefficient that it has come to.

mod run;
mod step;
mod transpose;

use self::run::{RUNS, low_bits};
use self::step::{LONGEST, READ, WRITE};
use self::transpose::{from_integers, to_integers};
use super::bits::{BitReader, BitWriter};

/// The bit planes of a block in the order of the stream, 16 in a word: the most significant plane is the lowest nibble
/// of word 0, coefficient 0 the lowest bit of a nibble. The last word stays zero, so that there is a word after the
/// fourth.
type Planes = [u64; 5];

/// The most planes taken as one run: at any width they leave [`LONGEST`] bits of a word.
const LONGEST_RUN: u32 = 14;

/// The most bits that `count` planes take: four each, and one more for each of three coefficients to become
/// significant.
pub(super) const fn longest(count: u32) -> u32 {
    4 * count + 3
}

/// Reads the upper `count` planes of four integers, or as many as `limit` bits hold. The planes below are zero.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "few bits, which fit")]
pub(super) fn read(stream: &mut BitReader<'_>, count: u32, limit: u32) -> [u64; 4] {
    let mut planes = [0; 5];
    let (mut plane, mut n, mut left) = (0, 0, limit);
    while n < 4 && plane < count && left > 0 {
        let window = stream.peek();
        let run = &RUNS[n % 4];
        // Ones after the limit end the run there.
        let beyond = u64::MAX.checked_shl(left).unwrap_or(0);
        let run_planes = run.digits_in(window | beyond).min(LONGEST_RUN).min(count - plane);
        let run_bits = run_planes * run.width;
        put(&mut planes, plane, run.widen(window & low_bits(run_bits)));
        plane += run_planes;
        left -= run_bits;
        stream.skip(run_bits);
        if plane < count {
            let known = left.min(LONGEST);
            let code = window >> run_bits & low_bits(known) | 1 << known;
            let step = READ[n % 4][code as usize % (2 << LONGEST)];
            let (word, shift) = place(plane);
            planes[word] |= u64::from(step.bits) << shift;
            plane += 1;
            left -= u32::from(step.len);
            stream.skip(u32::from(step.len));
            n = usize::from(step.significant);
        }
    }
    // All coefficients are significant: planes of four bits, 16 in a word.
    let mut left = left.min((count - plane) * 4);
    while left > 0 {
        let taken = left.min(64);
        put(&mut planes, plane, stream.peek() << (64 - taken) >> (64 - taken));
        stream.skip(taken);
        left -= taken;
        plane += taken.div_ceil(4);
    }
    to_integers(&planes, plane.div_ceil(16))
}

/// Writes the upper `count` planes of four integers, or as much as `limit` bits hold; returns how many bits that
/// took.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "few bits, which fit")]
pub(super) fn write(stream: &mut BitWriter, integers: &[u64; 4], count: u32, limit: u32) -> u32 {
    let planes = from_integers(integers);
    // `rest[n]` has the bits of coefficient n and of all after it.
    let mut rest = *integers;
    for n in (0..3).rev() {
        rest[n] |= rest[n + 1];
    }
    let (mut plane, mut n, mut left) = (0, 0, limit);
    while n < 4 && plane < count && left > 0 {
        let window = get(&planes, plane);
        let run = &RUNS[n % 4];
        // Up to the plane that makes another coefficient significant.
        let run_planes = (rest[n % 4].leading_zeros().min(count) - plane).min(LONGEST_RUN);
        let run_bits = run_planes * run.width;
        let mut bits = run.narrow(window & low_bits(run_planes * 4));
        let mut len = run_bits;
        plane += run_planes;
        if plane < count {
            let step = WRITE[n % 4][(window >> (run_planes * 4)) as usize % 16];
            bits |= u64::from(step.bits) << run_bits;
            len += u32::from(step.len);
            plane += 1;
            n = usize::from(step.significant);
        }
        let taken = left.min(len);
        stream.put(bits & low_bits(taken), taken);
        left -= taken;
    }
    let mut raw = left.min((count - plane) * 4);
    left -= raw;
    while raw > 0 {
        let taken = raw.min(64);
        stream.put(get(&planes, plane) << (64 - taken) >> (64 - taken), taken);
        raw -= taken;
        plane += taken / 4;
    }
    limit - left
}

/// The word that has a plane, and its place there.
#[inline]
const fn place(plane: u32) -> (usize, u32) {
    ((plane / 16 % 4) as usize, plane % 16 * 4)
}

/// Puts 16 planes at `plane` and below. They were zero.
#[inline]
fn put(planes: &mut Planes, plane: u32, nibbles: u64) {
    let (word, shift) = place(plane);
    planes[word] |= nibbles << shift;
    planes[word + 1] |= nibbles >> 1 >> (63 - shift);
}

/// 16 planes from `plane` on.
#[inline]
fn get(planes: &Planes, plane: u32) -> u64 {
    let (word, shift) = place(plane);
    planes[word] >> shift | planes[word + 1] << 1 << (63 - shift)
}
