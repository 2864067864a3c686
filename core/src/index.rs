//! Index and hash frames as lazy views (FORMAT §3.6).

use core::iter::FusedIterator;

use crate::cbor::{Array, Cursor, MapReader, Text, Uints, UintsIter, Value, read_text_map};
use crate::error::{ErrorKind, Result};
use crate::frame::Frame;

/// The places of a message's data objects: an offset and a length for each object, in order.
///
/// ```
/// # let bytes: &[u8] = include_bytes!("../samples/backfilled-0.24.0.tgm");
/// let message = tgm_core::Message::parse(bytes)?;
/// if let Some(index) = message.find_index()? {
///     for entry in index.iter() {
///         println!("an object at byte {}, of {} bytes", entry.offset, entry.length);
///     }
/// }
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Index<'a> {
    offsets: Uints<'a>,
    lengths: Uints<'a>,
}

/// One entry of an [`Index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// Bytes from the message's start to the object's frame.
    pub offset: u64,
    /// The frame's `total_length`, padding not included.
    pub length: u64,
}

impl<'a> Index<'a> {
    /// Reads the body of an index frame: O(bytes). The arrays are checked, and stay encoded.
    ///
    /// # Errors
    /// Malformed CBOR; [`ErrorKind::WrongType`] and [`ErrorKind::NonTextKey`] if it is not a map with text keys;
    /// [`ErrorKind::WrongType`] and [`ErrorKind::IntegerRange`] in the arrays; [`ErrorKind::IndexLengths`] if the arrays
    /// differ in length.
    pub fn parse(frame: &Frame<'a>) -> Result<Self> {
        Self::from_body(frame.body(), frame.body_offset())
    }

    /// [`Self::parse`] for a body without its frame. Errors count from `offset` bytes before `body`.
    ///
    /// # Errors
    /// The errors of [`Self::parse`].
    pub fn from_body(body: &'a [u8], offset: u64) -> Result<Self> {
        let mut entries = MapReader::open(Cursor::new(body, offset), 0)?;
        let (mut offsets, mut lengths) = (Uints::EMPTY, Uints::EMPTY);
        while let Some(key) = entries.next_key()? {
            if key == *"offsets" {
                offsets = entries.uints()?;
            } else if key == *"lengths" {
                lengths = entries.uints()?;
            } else {
                entries.skip()?;
            }
        }
        if offsets.len() == lengths.len() {
            Ok(Self { offsets, lengths })
        } else {
            Err(ErrorKind::IndexLengths.at(offset))
        }
    }

    /// The number of listed objects.
    pub const fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether no object is listed.
    pub const fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// Frame offsets from the message's start.
    pub const fn offsets(&self) -> Uints<'a> {
        self.offsets
    }

    /// Frame lengths without padding.
    pub const fn lengths(&self) -> Uints<'a> {
        self.lengths
    }

    /// The entry of object `index`: O(index), because the integers before it are stepped over.
    pub fn get(&self, index: usize) -> Option<IndexEntry> {
        Some(IndexEntry { offset: self.offsets.get(index)?, length: self.lengths.get(index)? })
    }

    /// Whether each offset is greater than the one before it, as in a list of frames in order: O(entries).
    pub fn is_ascending(&self) -> bool {
        self.offsets.is_ascending()
    }

    /// All entries in order.
    pub const fn iter(&self) -> IndexIter<'a> {
        IndexIter { offsets: self.offsets.iter(), lengths: self.lengths.iter() }
    }
}

impl<'a> IntoIterator for Index<'a> {
    type Item = IndexEntry;
    type IntoIter = IndexIter<'a>;

    fn into_iter(self) -> IndexIter<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for &Index<'a> {
    type Item = IndexEntry;
    type IntoIter = IndexIter<'a>;

    fn into_iter(self) -> IndexIter<'a> {
        self.iter()
    }
}

/// The entries of an [`Index`].
#[derive(Clone, Debug)]
pub struct IndexIter<'a> {
    offsets: UintsIter<'a>,
    lengths: UintsIter<'a>,
}

impl Iterator for IndexIter<'_> {
    type Item = IndexEntry;

    fn next(&mut self) -> Option<IndexEntry> {
        Some(IndexEntry { offset: self.offsets.next()?, length: self.lengths.next()? })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.offsets.size_hint()
    }
}

impl ExactSizeIterator for IndexIter<'_> {}
impl FusedIterator for IndexIter<'_> {}

/// The digests of a message's data objects, as a hash frame lists them.
#[derive(Clone, Copy, Debug)]
pub struct HashList<'a> {
    algorithm: Option<Value<'a>>,
    hashes: Option<Array<'a>>,
}

impl<'a> HashList<'a> {
    /// Reads the body of a hash frame: O(bytes).
    ///
    /// # Errors
    /// Malformed CBOR; [`ErrorKind::WrongType`] and [`ErrorKind::NonTextKey`] if it is not a map with text keys;
    /// [`ErrorKind::WrongType`] if `hashes` is not an array, or if `algorithm` or an entry of `hashes` is not text.
    pub fn parse(frame: &Frame<'a>) -> Result<Self> {
        Self::from_body(frame.body(), frame.body_offset())
    }

    /// [`Self::parse`] for a body without its frame. Errors count from `offset` bytes before `body`.
    ///
    /// # Errors
    /// The errors of [`Self::parse`].
    pub fn from_body(body: &'a [u8], offset: u64) -> Result<Self> {
        let map = read_text_map(&mut Cursor::new(body, offset), 0)?;
        let algorithm = map.get("algorithm")?;
        algorithm.map(|name| name.as_text()).transpose()?;
        let hashes = map.get("hashes")?.map(|list| list.as_array()).transpose()?;
        if let Some(list) = hashes {
            list.iter().try_for_each(|hash| hash?.as_text().map(|_| ()))?;
        }
        Ok(Self { algorithm, hashes })
    }

    /// The name of the digests' algorithm, if the frame states it.
    pub fn algorithm(&self) -> Option<Text<'a>> {
        self.algorithm?.as_text().ok()
    }

    /// Whether the digests are XXH3-64, the only algorithm of the format. `None` if the frame does not name an algorithm.
    pub fn is_xxh3(&self) -> Option<bool> {
        Some(self.algorithm?.as_text().is_ok_and(|name| name == *"xxh3"))
    }

    /// The number of listed digests.
    pub fn len(&self) -> usize {
        self.hashes.map_or(0, |list| list.len())
    }

    /// Whether no digest is listed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The digests in order, as text.
    pub fn texts(&self) -> impl Iterator<Item = Result<Text<'a>>> + use<'a> {
        self.hashes.into_iter().flat_map(|list| list.iter()).map(|hash| hash?.as_text())
    }

    /// The digests in order, as numbers. An entry that is not 16 hexadecimal digits is an error.
    pub fn iter(&self) -> impl Iterator<Item = Result<u64>> + use<'a> {
        self.hashes.into_iter().flat_map(|list| list.iter()).map(|hash| digest(&hash?))
    }
}

/// The number that a text of 16 hexadecimal digits stands for.
fn digest(value: &Value<'_>) -> Result<u64> {
    let not_a_digest = |_| value.as_u64().err().unwrap_or(ErrorKind::IntegerRange.at(value.offset()));
    let text = value.as_str()?;
    let digits = if text.len() == 16 && text.bytes().all(|c| c.is_ascii_hexdigit()) { text } else { "" };
    u64::from_str_radix(digits, 16).map_err(not_a_digest)
}
