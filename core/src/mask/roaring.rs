//! Roaring's portable format: a set of positions of 32 bits.
//!
//! A container holds the positions that have the same upper 16 bits, which are its key. It stores the lower 16 bits. Its
//! cardinality is the number of its positions. Every integer is little-endian; `u16` and `u32` say how many bits it has.
//!
//! ```text
//! u32 12346, u32 number of containers; or
//! u16 12347, u16 number of containers - 1, one bit for each container: set if it holds runs
//! for each container:  u16 key, u16 cardinality - 1         keys ascend
//! for each container:  u32 offset                           absent with 12347 and fewer than 4 containers
//! each container, as one of these:
//!     array    u16 for each position, ascending             cardinality up to 4096
//!     bitmap   65536 bits, least significant bit first      cardinality above 4096
//!     runs     u16 number of runs; for each run:  u16 start, u16 length - 1
//! ```
//!
//! Containers follow each other without gaps, so this reader does not need the offsets, and skips them.

use super::piece::{Piece, Word};
use crate::error::{Error, ErrorKind, Result};

/// The cookie of bitmaps without containers of runs.
const COOKIE_NO_RUNS: u32 = 12346;
/// The lower half of the cookie of bitmaps that may have containers of runs.
const COOKIE_RUNS: u32 = 12347;
/// With cookie 12347, a bitmap of at least this many containers has offsets.
const OFFSETS_FROM: usize = 4;
/// The largest number of containers: one for each key.
const MAX_CONTAINERS: u32 = 1 << 16;
/// The number of positions that a container covers.
const CONTAINER_SPAN: u32 = 1 << 16;
/// The largest number of positions in an array.
const MAX_ARRAY: u32 = 4096;
/// Bytes of a bitmap container.
const BITMAP_SIZE: usize = 8192;

/// A reader of the set elements, container by container.
#[derive(Clone, Debug)]
pub(super) struct Roaring<'a> {
    /// The keys and cardinalities of containers that were not opened yet.
    descriptors: Bytes<'a>,
    /// Bit i is set if container i holds runs.
    run_flags: &'a [u8],
    /// The number of opened containers.
    opened: usize,
    /// The smallest key that the next container may have.
    next_key: u32,
    /// The containers that were not opened yet.
    containers: Bytes<'a>,
    /// The container being read.
    container: Container<'a>,
    /// The first position that the container covers.
    base: u64,
    /// The number of elements that the mask covers. No set element may lie beyond it.
    count: u64,
}

impl<'a> Roaring<'a> {
    /// Reads the header up to the first container.
    pub(super) fn new(blob: &'a [u8], count: u64) -> Result<Self> {
        let mut bytes = Bytes { rest: blob, offset: 0 };
        let cookie = u32::from_le_bytes(bytes.take_array()?);
        let (containers, run_flags, has_offsets) = if cookie == COOKIE_NO_RUNS {
            let containers = u32::from_le_bytes(bytes.take_array()?);
            if containers > MAX_CONTAINERS {
                return Err(ErrorKind::RoaringContainer.at(4));
            }
            (containers as usize, [].as_slice(), true)
        } else if cookie & 0xffff == COOKIE_RUNS {
            let containers = ((cookie >> 16) as usize).saturating_add(1);
            (containers, bytes.take(containers.div_ceil(8))?.rest, containers >= OFFSETS_FROM)
        } else {
            return Err(ErrorKind::RoaringCookie(cookie).at(0));
        };
        // Cannot overflow: at most 65536 containers, with four bytes each.
        let descriptors = bytes.take(containers.wrapping_mul(4))?;
        if has_offsets {
            bytes.take(containers.wrapping_mul(4))?;
        }
        let container = Container::EMPTY;
        Ok(Self { descriptors, run_flags, opened: 0, next_key: 0, containers: bytes, container, base: 0, count })
    }

    /// The next piece, which ends with its container at the latest. `None` after the last one.
    #[inline]
    pub(super) fn step(&mut self) -> Result<Option<Piece>> {
        loop {
            if let Some(piece) = self.container.step()? {
                let piece = piece.moved(self.base);
                let wrong = ErrorKind::RoaringContainer.at(self.container.last_offset());
                return if piece.end() <= self.count { Ok(Some(piece)) } else { Err(wrong) };
            }
            if self.descriptors.rest.is_empty() {
                return Ok(None);
            }
            self.open()?;
        }
    }

    /// Opens the next container.
    fn open(&mut self) -> Result<()> {
        let at = self.descriptors.offset;
        let [key_low, key_high, cardinality_low, cardinality_high] = self.descriptors.take_array()?;
        let key = u32::from(u16::from_le_bytes([key_low, key_high]));
        if key < self.next_key {
            return Err(ErrorKind::RoaringContainer.at(at));
        }
        let cardinality = u32::from(u16::from_le_bytes([cardinality_low, cardinality_high])).wrapping_add(1);
        let flags = self.run_flags.get(self.opened / 8).copied().unwrap_or_default();
        let is_runs = flags >> (self.opened % 8) & 1 == 1;

        self.container = if is_runs {
            Container::runs(&mut self.containers)?
        } else if cardinality <= MAX_ARRAY {
            Container::array(&mut self.containers, cardinality)?
        } else {
            Container::bitmap(&mut self.containers, cardinality)?
        };
        self.base = u64::from(key) << 16;
        self.next_key = key.wrapping_add(1);
        self.opened = self.opened.wrapping_add(1);
        Ok(())
    }
}

/// The part of a container that was not read yet. Positions count from the first one that the container covers.
#[derive(Clone, Debug)]
enum Container<'a> {
    /// An array, whose entries are positions, or runs, whose entries are a start and a length. No entry may begin before
    /// `next`.
    List { entries: Bytes<'a>, has_lengths: bool, next: u32 },
    /// A bitmap: the words that were not read yet, and the position of the first one of these.
    Bitmap { words: Bytes<'a>, next: u64 },
}

impl<'a> Container<'a> {
    const EMPTY: Self = Self::List { entries: Bytes { rest: &[], offset: 0 }, has_lengths: false, next: 0 };

    fn array(bytes: &mut Bytes<'a>, cardinality: u32) -> Result<Self> {
        let entries = bytes.take((cardinality as usize).saturating_mul(2))?;
        Ok(Self::List { entries, has_lengths: false, next: 0 })
    }

    /// A container of runs. Like roaring's own readers, this does not compare the runs with the cardinality in the header.
    fn runs(bytes: &mut Bytes<'a>) -> Result<Self> {
        let at = bytes.offset;
        let count = usize::from(u16::from_le_bytes(bytes.take_array()?));
        if count == 0 {
            return Err(ErrorKind::RoaringContainer.at(at));
        }
        Ok(Self::List { entries: bytes.take(count.saturating_mul(4))?, has_lengths: true, next: 0 })
    }

    fn bitmap(bytes: &mut Bytes<'a>, cardinality: u32) -> Result<Self> {
        let words = bytes.take(BITMAP_SIZE)?;
        let (eights, _) = words.rest.as_chunks();
        // Cannot overflow: at most 65536.
        let set = eights.iter().fold(0_u32, |sum, eight| sum.wrapping_add(u64::from_le_bytes(*eight).count_ones()));
        if set != cardinality {
            return Err(ErrorKind::RoaringContainer.at(words.offset));
        }
        Ok(Self::Bitmap { words, next: 0 })
    }

    /// The place in the blob of the entry or word that was read last.
    #[inline]
    const fn last_offset(&self) -> u64 {
        match self {
            Self::List { entries, has_lengths: false, .. } => entries.offset.wrapping_sub(2),
            Self::List { entries, .. } => entries.offset.wrapping_sub(4),
            Self::Bitmap { words, .. } => words.offset.wrapping_sub(8),
        }
    }

    /// The next entry or word with set elements. `None` after the last one.
    #[inline]
    fn step(&mut self) -> Result<Option<Piece>> {
        match self {
            Self::List { entries, .. } if entries.rest.is_empty() => Ok(None),
            Self::List { entries, has_lengths, next } => {
                let at = entries.offset;
                let start = u32::from(u16::from_le_bytes(entries.take_array()?));
                let more = if *has_lengths { u16::from_le_bytes(entries.take_array()?) } else { 0 };
                // Cannot overflow: both are below 65536.
                let end = start.wrapping_add(more.into()).wrapping_add(1);
                if start < *next || end > CONTAINER_SPAN {
                    return Err(ErrorKind::RoaringContainer.at(at));
                }
                *next = end;
                Ok(Some(Piece::Run(start.into()..end.into())))
            }
            Self::Bitmap { words, next } => {
                while !words.rest.is_empty() {
                    // The first element is roaring's least significant bit, and the most significant bit of a `Word`.
                    let bits = u64::from_le_bytes(words.take_array()?).reverse_bits();
                    let position = *next;
                    *next = next.wrapping_add(64);
                    if bits != 0 {
                        return Ok(Some(Piece::Word(Word { bits, position })));
                    }
                }
                Ok(None)
            }
        }
    }
}

/// The bytes of the blob that were not read yet.
#[derive(Clone, Debug)]
struct Bytes<'a> {
    rest: &'a [u8],
    /// The number of bytes before `rest`.
    offset: u64,
}

impl Bytes<'_> {
    /// Takes `len` bytes off the front.
    fn take(&mut self, len: usize) -> Result<Self> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.truncated())?;
        let taken = Self { rest: taken, offset: self.offset };
        self.rest = rest;
        self.offset = self.offset.wrapping_add(len as u64);
        Ok(taken)
    }

    /// Takes `N` bytes off the front.
    #[inline]
    fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(|| self.truncated())?;
        self.rest = rest;
        self.offset = self.offset.wrapping_add(N as u64);
        Ok(*taken)
    }

    /// The error at the first missing byte.
    #[cold]
    fn truncated(&self) -> Error {
        ErrorKind::Truncated.at(self.offset.wrapping_add(self.rest.len() as u64))
    }
}
