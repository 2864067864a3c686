//! Writes bits, the most significant first.
//!
//! ```text
//! word    the bits that do not fill 64 yet, from the top
//! put     OR the new bits below them; if that makes 64: write the word, and begin the next with the bits left over
//! ```
//!
//! A test for a full word follows each portion of bits, so portions are large: the codes of eight values at once, or
//! the fields of as many values as fit 64 bits.

use crate::codecs::CodecError;
use crate::memory;

/// The length in bytes up to which a stream grows by doubling.
const MOST_DOUBLED: usize = 128 << 10;

/// A stream that grows.
///
/// Callers reserve room with [`Self::reserve`] before they write, so that want of memory is an error.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The length of what is before the stream.
    before: usize,
    /// Bytes that were expected to follow when [`Self::expect`] was last called.
    expected: usize,
    /// The bits that do not fill a word yet, from the top, and zeros below them.
    word: u64,
    /// The number of these bits, less than 64.
    filled: u32,
}

impl BitWriter {
    /// A stream after the bytes of `before`.
    pub(super) fn new(before: Vec<u8>) -> Self {
        Self { before: before.len(), bytes: before, ..Self::default() }
    }

    /// Notes that `done` of `all` bytes of data have been written. When memory runs out, the stream grows to the length
    /// that this leads to expect.
    pub(super) fn expect(&mut self, done: usize, all: usize) {
        let len = (self.bytes.len() - self.before) as u128;
        let left = len * all.saturating_sub(done) as u128 / done.max(1) as u128;
        // A little more, as the rest may compress less well.
        self.expected = usize::try_from(left + (left + len) / 256).unwrap_or(0);
    }

    /// Makes room for `bits` bits more.
    pub(super) fn reserve(&mut self, bits: usize) -> Result<(), CodecError> {
        // Beside the bits, a word that is not written yet, and one that is filled in part.
        let (len, needed) = (self.bytes.len(), bits / 8 + 16);
        if self.bytes.capacity() - len >= needed {
            return Ok(());
        }
        // Doubling could waste the memory of a whole payload for its last bytes, so a long stream grows by what is
        // expected. At the beginning the expectation says little, and doubling costs little.
        let more = if len <= MOST_DOUBLED { len } else { self.expected };
        let reserved = memory::reserve(&mut self.bytes, needed.max(more));
        reserved.map_err(|_| CodecError::new("cannot allocate the compressed stream"))
    }

    /// How many bits were written.
    pub(super) const fn position(&self) -> u64 {
        (self.bytes.len() - self.before) as u64 * 8 + self.filled as u64
    }

    /// Writes the upper `count` bits of `bits`, at most 64. The bits below them are zero.
    #[inline]
    pub(super) fn put_upper(&mut self, bits: u64, count: u32) {
        self.word |= bits >> self.filled;
        let filled = self.filled + count;
        if filled >= 64 {
            self.bytes.extend_from_slice(&self.word.to_be_bytes());
            // Two shifts: with nothing filled the count would be 64, which overflows.
            self.word = bits << 1 << (63 - self.filled);
        }
        self.filled = filled % 64;
    }

    /// Writes `field`, which is of `width` bits, 1 to 64.
    #[inline]
    pub(super) fn put(&mut self, field: u64, width: u32) {
        self.put_upper(field << (64 - width), width);
    }

    /// Writes `zeros` zeros and a one.
    #[inline]
    pub(super) fn put_unary(&mut self, zeros: u64) {
        for _ in 0..zeros / 64 {
            self.put_upper(0, 64);
        }
        let zeros = zeros % 64;
        self.put_upper(1 << 63 >> zeros, zeros as u32 + 1);
    }

    /// Writes ⌊value / 2^k⌋ of each value in unary.
    #[inline]
    pub(super) fn put_quotients(&mut self, values: &[u32], k: u32) {
        let (groups, rest) = values.as_chunks::<8>();
        for group in groups {
            // The ones of all eight codes are set in one word, if they fit: mostly they do, as k is chosen so that
            // quotients are about 1.
            let (mut word, mut zeros) = (0, 0);
            for (ones, value) in group.iter().enumerate() {
                zeros += u64::from(value >> k);
                word |= 1_u64 << (63_u64.wrapping_sub(zeros + ones as u64) % 64);
            }
            if zeros <= 56 {
                self.put_upper(word, (zeros % 64) as u32 + 8);
            } else {
                self.put_long_quotients(group, k);
            }
        }
        self.put_long_quotients(rest, k);
    }

    /// [`Self::put_quotients`], one by one.
    fn put_long_quotients(&mut self, values: &[u32], k: u32) {
        for value in values {
            self.put_unary((value >> k).into());
        }
    }

    /// Writes the lower `width` bits of each value, 0 to 32.
    #[inline]
    pub(super) fn put_fields(&mut self, values: &[u32], width: u32) {
        match width {
            0 => {}
            1..=8 => self.put_groups::<8>(values, width, 8 * width),
            9..=16 => self.put_groups::<4>(values, width, 4 * width),
            _ => self.put_groups::<2>(values, width, 2 * width),
        }
    }

    /// Writes `COUNT` fields at once: `group_width` bits, at most 64.
    #[inline]
    fn put_groups<const COUNT: usize>(&mut self, values: &[u32], width: u32, group_width: u32) {
        let mask = u32::MAX >> (32 - width);
        let (groups, rest) = values.as_chunks::<COUNT>();
        for group in groups {
            let fields = group.iter().fold(0, |fields, &value| fields << width | u64::from(value & mask));
            self.put(fields, group_width);
        }
        for value in rest {
            self.put((value & mask).into(), width);
        }
    }

    /// Fills the last byte with zeros.
    pub(super) fn align(&mut self) {
        self.put_upper(0, self.filled.wrapping_neg() % 8);
    }

    /// Writes all bits of another stream, which has nothing before it.
    pub(super) fn append(&mut self, other: &Self) -> Result<(), CodecError> {
        self.reserve(other.bytes.len() * 8 + 64)?;
        // A stream grows by whole words.
        for word in other.bytes.as_chunks().0 {
            self.put_upper(u64::from_be_bytes(*word), 64);
        }
        self.put_upper(other.word, other.filled);
        Ok(())
    }

    /// All bytes, with those before the stream. The last byte is filled with zeros.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        let rest = self.filled.div_ceil(8) as usize;
        self.bytes.extend(self.word.to_be_bytes().into_iter().take(rest));
        self.bytes
    }
}
