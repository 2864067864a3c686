//! The bit stream: words of 64 bits, little-endian on every machine, each filled from its least significant bit on.

/// Reads bits. Past the end it reads zeros: callers check [`BitReader::is_past_end`] afterwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitReader<'a> {
    words: &'a [[u8; 8]],
    position: u64,
}

impl<'a> BitReader<'a> {
    pub(super) const fn new(words: &'a [[u8; 8]]) -> Self {
        Self { words, position: 0 }
    }

    /// How many bits were consumed.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// Goes to `position`, where the next bit is read.
    pub(super) const fn seek(&mut self, position: u64) {
        self.position = position;
    }

    /// The next 64 bits, the first one least significant; none is consumed.
    #[inline]
    pub(super) fn peek(&self) -> u64 {
        let shift = self.position % 64;
        let low = self.word(self.position / 64) >> shift;
        // Two shifts: with no bits consumed of a word the count would be 64, which overflows.
        let high = self.word(self.position / 64 + 1) << 1 << (63 - shift);
        low | high
    }

    /// Consumes `count` bits.
    #[inline]
    pub(super) const fn skip(&mut self, count: u32) {
        self.position += count as u64;
    }

    /// Bytes of the stream.
    pub(super) const fn len(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    /// Whether more bits were consumed than there are.
    pub(super) const fn is_past_end(&self) -> bool {
        self.position > self.len() * 8
    }

    #[inline]
    fn word(&self, index: u64) -> u64 {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        self.words.get(index).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

/// Writes bits.
#[derive(Debug)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    word: u64,
    /// Bits of `word` that are written, less than 64.
    filled: u32,
}

impl BitWriter {
    /// A stream in `bytes`, which are empty but may have capacity.
    pub(super) const fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, word: 0, filled: 0 }
    }

    /// Writes the low `count` bits, the least significant one first. The bits above them are zero.
    #[inline]
    pub(super) fn put(&mut self, bits: u64, count: u32) {
        self.word |= bits << self.filled;
        let filled = self.filled + count;
        if filled >= 64 {
            self.bytes.extend_from_slice(&self.word.to_le_bytes());
            self.word = bits >> 1 >> (63 - self.filled);
        }
        self.filled = filled % 64;
    }

    /// Writes `count` zeros.
    pub(super) fn pad(&mut self, count: u32) {
        for _ in 0..count / 64 {
            self.put(0, 64);
        }
        self.put(0, count % 64);
    }

    /// Writes all bits of another stream.
    pub(super) fn append(&mut self, stream: &Self) {
        if self.filled == 0 {
            self.bytes.extend_from_slice(&stream.bytes);
        } else {
            for word in stream.bytes.as_chunks().0 {
                self.put(u64::from_le_bytes(*word), 64);
            }
        }
        self.put(stream.word, stream.filled);
    }

    /// Bytes of the words that all bits take, the word that is filled in part included.
    pub(super) const fn len(&self) -> u64 {
        self.bytes.len() as u64 + 8
    }

    /// All words, the last one filled up with zeros.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.pad(self.filled.wrapping_neg() % 64);
        self.bytes
    }
}
