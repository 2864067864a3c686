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
//! Between two planes that make a coefficient significant lie runs of planes of `n` bits and a 0, and after the last of
//! them planes of 4 bits. Runs are found, and moved, a word at a time; the planes between them are looked up: at most 7
//! bits, so that a table of `n` and the bits to come tells all. A limit on a block's bits cuts the code anywhere; a
//! decoder that is cut off while it looks for the first 1 takes the coefficient that it has come to.

use super::bits::{BitReader, BitWriter};

/// The bit planes of a block in the order of the stream, 16 in a word: the most significant plane is the lowest nibble
/// of word 0, coefficient 0 the lowest bit of a nibble. The last word stays zero: it is there to be behind the fourth.
type Planes = [u64; 5];

/// The longest code of a plane.
const LONGEST: u32 = 7;
/// The most planes taken as one run: of any width they leave [`LONGEST`] bits of a word.
const LONGEST_RUN: u32 = 14;

/// One plane as the tables have it.
#[derive(Clone, Copy)]
struct Step {
    /// The plane, or its code: whichever was looked for.
    bits: u8,
    /// The code's length in bits.
    len: u8,
    /// Coefficients that are significant afterwards.
    significant: u8,
}

const NO_STEP: Step = Step { bits: 0, len: 0, significant: 0 };

/// Reads one plane of a block with `n` significant coefficients from the low bits of `code`, at most `limit` of them.
const fn read_step(mut n: u8, code: u8, limit: u8) -> Step {
    let mut len = if n < limit { n } else { limit };
    let mut bits = code & ((1 << len) - 1);
    while n < 4 && len < limit {
        len += 1;
        if code >> (len - 1) & 1 == 0 {
            break;
        }
        while n < 3 && len < limit {
            len += 1;
            if code >> (len - 1) & 1 == 1 {
                break;
            }
            n += 1;
        }
        bits |= 1 << n;
        n += 1;
    }
    Step { bits, len, significant: n }
}

/// The code of a plane of a block with `n` significant coefficients.
const fn write_step(mut n: u8, plane: u8) -> Step {
    let mut code = plane & ((1 << n) - 1);
    let mut len = n;
    while n < 4 {
        let any = plane >> n != 0;
        code |= (any as u8) << len;
        len += 1;
        if !any {
            break;
        }
        while n < 3 {
            let bit = plane >> n & 1;
            code |= bit << len;
            len += 1;
            if bit == 1 {
                break;
            }
            n += 1;
        }
        n += 1;
    }
    Step { bits: code, len, significant: n }
}

/// [`read_step`] by significant coefficients (0 to 3), and the bits that may be read with a 1 on top of them.
static READ: [[Step; 2 << LONGEST]; 4] = {
    let mut table = [[NO_STEP; 2 << LONGEST]; 4];
    let mut n = 0;
    while n < 4 {
        let mut limit = 0;
        while limit as u32 <= LONGEST {
            let mut code = 0;
            while code < 1 << limit {
                table[n as usize][1 << limit | code as usize] = read_step(n, code, limit);
                code += 1;
            }
            limit += 1;
        }
        n += 1;
    }
    table
};

/// [`write_step`] by significant coefficients (0 to 3) and plane.
static WRITE: [[Step; 16]; 4] = {
    let mut table = [[NO_STEP; 16]; 4];
    let mut n = 0;
    while n < 4 {
        let mut plane = 0;
        while plane < 16 {
            table[n as usize][plane as usize] = write_step(n, plane);
            plane += 1;
        }
        n += 1;
    }
    table
};

/// Runs of planes in which no coefficient becomes significant: digits of `width` bits, the last of which is 0.
#[derive(Clone, Copy)]
struct Run {
    width: u32,
    /// 512 / `width`, rounded up.
    per_512: u32,
    /// The last bit of each digit.
    ends: u64,
    /// The upper half of the digits in each 64, 32, 16 and 8 bits, and how far it moves when digits become nibbles.
    halves: [(u64, u32); 4],
}

impl Run {
    const fn new(width: u32) -> Self {
        let mut ends = 0;
        let mut end = width - 1;
        while end < 64 {
            ends |= 1 << end;
            end += width;
        }
        // Lanes of 64, 32, 16 and 8 bits have 16, 8, 4 and 2 digits.
        let halves = [half(64, 8 * width), half(32, 4 * width), half(16, 2 * width), half(8, width)];
        Self { width, per_512: 512_u32.div_ceil(width), ends, halves }
    }

    /// How many digits there are before the first that does not end with 0.
    #[inline]
    const fn digits_in(&self, bits: u64) -> u32 {
        // Exact for 64 bits and widths up to 4.
        (bits & self.ends).trailing_zeros() * self.per_512 / 512
    }

    /// Digits as nibbles.
    #[inline]
    fn widen(&self, digits: u64) -> u64 {
        self.halves.iter().fold(digits, |bits, (upper, shift)| {
            let moved = bits & upper;
            bits ^ moved | moved << shift
        })
    }

    /// Nibbles as digits.
    #[inline]
    fn narrow(&self, nibbles: u64) -> u64 {
        self.halves.iter().rev().fold(nibbles, |bits, (upper, shift)| {
            let moved = bits & upper << shift;
            bits ^ moved | moved >> shift
        })
    }
}

/// The second `half` bits of every lane, and how far they are from the lane's middle.
const fn half(lane: u32, half: u32) -> (u64, u32) {
    let mut mask = 0;
    let mut at = half;
    while at < 64 {
        mask |= low_bits(half) << at;
        at += lane;
    }
    (mask, lane / 2 - half)
}

/// [`Run`] by significant coefficients.
static RUNS: [Run; 4] = [Run::new(1), Run::new(2), Run::new(3), Run::new(4)];

/// The low `count` bits set, for `count` below 64.
const fn low_bits(count: u32) -> u64 {
    (1 << count) - 1
}

/// The most bits that `count` planes take: one more than 4 for all coefficients but one to become significant.
pub(super) const fn longest(count: u32) -> u32 {
    4 * count + 3
}

/// Reads the upper `count` planes of four integers, or as many as `limit` bits hold; those below are zero.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the lowest bits are meant")]
pub(super) fn read(stream: &mut BitReader<'_>, count: u32, limit: u32) -> [u64; 4] {
    let mut planes = [0; 5];
    let (mut plane, mut n, mut left) = (0, 0, limit);
    while n < 4 && plane < count && left > 0 {
        let window = stream.peek();
        let run = &RUNS[n % 4];
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
#[allow(clippy::cast_possible_truncation, reason = "the lowest bits are meant")]
pub(super) fn write(stream: &mut BitWriter, integers: &[u64; 4], count: u32, limit: u32) -> u32 {
    let planes = from_integers(integers);
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

/// Puts 16 planes at `plane` and below, which were zero.
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

/// Exchanges the bits of `MASK` with those `SHIFT` higher.
const fn exchange<const SHIFT: u32, const MASK: u64>(word: u64) -> u64 {
    let differ = (word >> SHIFT ^ word) & MASK;
    word ^ differ ^ differ << SHIFT
}

/// The four integers that planes belong to, of which the first words are used.
///
/// A word of planes has bit c of nibble p where its integers want bit 15 - p of lane c. In binary, p3 p2 p1 p0 c1 c0
/// becomes c1 c0 and the complements of p3 to p0: two exchanges swap digits, two swap and complement them.
#[inline]
fn to_integers(planes: &Planes, words: u32) -> [u64; 4] {
    let mut integers = [0; 4];
    for (word, shift) in planes.iter().zip([48, 32, 16, 0]).take(words as usize) {
        let word = exchange::<30, 0x0000_0000_cccc_cccc>(*word);
        let word = exchange::<15, 0x0000_aaaa_0000_aaaa>(word);
        let word = exchange::<10, 0x0033_0033_0033_0033>(word);
        let word = exchange::<5, 0x0505_0505_0505_0505>(word);
        for (integer, lane) in integers.iter_mut().zip([0, 16, 32, 48]) {
            *integer |= (word >> lane & 0xffff) << shift;
        }
    }
    integers
}

/// The planes of four integers.
#[inline]
fn from_integers(integers: &[u64; 4]) -> Planes {
    let mut planes = [0; 5];
    for (word, shift) in planes.iter_mut().zip([48, 32, 16, 0]) {
        for (integer, lane) in integers.iter().zip([0, 16, 32, 48]) {
            *word |= (integer >> shift & 0xffff) << lane;
        }
        *word = exchange::<5, 0x0505_0505_0505_0505>(*word);
        *word = exchange::<10, 0x0033_0033_0033_0033>(*word);
        *word = exchange::<15, 0x0000_aaaa_0000_aaaa>(*word);
        *word = exchange::<30, 0x0000_0000_cccc_cccc>(*word);
    }
    planes
}
