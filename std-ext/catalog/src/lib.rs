//! A catalogue of a file of many messages: where each message and object is, and the values of chosen keys.
//!
//! A catalogue is a file of its own, by convention `DATA.tgm.catalog`, where [`Beside`] finds it. It is written only where a program asks for it,
//! and no function needs one: without a catalogue, the answers are the same and take longer.
//!
//! # The file
//! A catalogue is a file of ordinary messages, so that any reader of Tensogram opens it. Each message, a **leaf**, has
//! the rows of a run of at most 65,536 messages of the data; appending to the data appends a leaf
//! ([`Catalog::extend`]), and [`Catalog::compact`] joins small leaves. Objects of a leaf are columns. The metadata of
//! each object has its name under `name`:
//!
//! | column | for each | number |
//! |---|---|---|
//! | `message.gap` | message | bytes between the end of the message before and this one, mostly 0 |
//! | `object.count` | message | objects |
//! | `object.lead` | object | bytes between the end of the object before, or the start of the message, and the frame |
//! | `object.length` | object | bytes of the frame |
//! | `message.tail` | message | bytes from the end of the last object to the end of the message |
//! | `key.PATH` | object | the value that an object has under the key |
//! | `message_key.PATH` | message | the value that a message has under the key |
//! | `fact.PATH` | object | what the object says, see [`facts`] |
//!
//! A key has one of the two columns if the values of messages follow from the values of objects, or the other way
//! round.
//!
//! Offsets are running sums. Columns are of the narrowest unsigned type. A column with one element stands for as many
//! equal numbers as there are rows. Values of a key are codes: positions in the list of its distinct values; the
//! greatest number of the type stands for a missing value. A key with very many numbers has these themselves, `int64`
//! (its lowest number is the missing value) or `float64`.
//!
//! The annotation `catalog` of a leaf:
//!
//! ```text
//! { format: 1,
//!   covers: { first: number of the first message, messages, objects, start, end: bytes of the data },
//!   data: { head_length, head: XXH3-64 of the first head_length bytes of the data,
//!           tail: the 24 bytes before `end`,
//!           digest: hash slot of the last covered object, digest_end: where its frame ends,
//!           metadata: sum of a digest of each message's frames, metadata and descriptors,
//!           identity: device, inode, time of change and size of the file of the data; of a file on a server the text
//!                     `server `, its size, a blank, and its ETag, or else `Last-Modified: ` and that,
//!           settled: true if a change after the catalogue was made shows in a time of change in whole seconds },
//!   keys: [ { path, kind: "codes"|"integers"|"floats", message, object: numbers of the objects that hold the columns,
//!             values: [ … ], absent: the code of a missing value }, … ],
//!   facts: [ { path, object: number of the object that holds the column, values: [ byte strings ], absent }, … ] }
//! ```
//!
//! Facts are there if each leaf has them. Older releases wrote none. `facts` is null where messages say something of
//! themselves, as in files that were made from NetCDF. Facts with equal columns share one.
//!
//! A value that is neither a number, a text nor a truth value stands in `values` as encoded CBOR (tag 24).
//!
//! # Trust
//! A catalogue can be old, of other data, damaged or hostile. [`Catalog::check`] says whether it fits the data.
//! Digests of columns are checked when they are read, numbers are checked against the covered bytes, and
//! [`CatalogLimits`] bound the memory. An entry is trusted no more than an index frame: [`object_of_frame`] proves the
//! frame that a place leads to.
//!
//! # Without a file system
//! [`Catalog::from_bytes`] takes the bytes of a catalogue, [`Catalog::object_range`] says which bytes of the data hold
//! an object, and [`object_of_frame`] opens these. So a remote reader makes two requests.
//!
//! ```
//! use tgm_catalog::{Catalog, Freshness, object_of_frame};
//!
//! let data = std::fs::read("../../tests/data/multi/many.tgm")?;
//! let catalog = Catalog::build(&data, &["dtype", "shape"])?;
//! let stored: Vec<u8> = catalog.to_bytes();
//!
//! let catalog = Catalog::from_bytes(&stored)?;
//! assert_eq!(catalog.check(&data)?, Freshness::Fresh);
//! for (message, object) in catalog.select(&"dtype=float32".parse()?)? {
//!     let range = catalog.object_range(message, object)?;
//!     let object = object_of_frame(&data[range.start as usize..range.end as usize])?;
//!     assert_eq!(object.descriptor().dtype().name(), "float32");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beside;
mod bytes;
mod cbor;
mod chosen;
mod column;
mod columns;
mod dictionary;
pub mod facts;
mod fresh;
mod gather;
mod leaf;
mod leaf_facts;
mod make;
mod part;
mod proof;
mod select;
mod served;
mod told;
pub mod tree;
mod values;
mod write;

use std::io::Write;
use std::ops::Range;
use std::path::Path;

pub use self::beside::Beside;
pub use self::gather::VaryingKeys;
use self::leaf::{KeyHead, Leaf};
pub use self::leaf_facts::{FactColumn, FactsOfLeaf};
pub use self::proof::Freshness;
pub use self::values::{Group, KeyColumn, ObjectPlace};
pub use tgm_std::archive::object_of_frame;
use tgm_std::{DecodeOptions, Result, TensogramError, scan};

/// The version of the content of leaves.
const FORMAT: u64 = 1;

/// Names of columns, and words of the metadata.
mod name {
    pub(super) const GAP: &str = "message.gap";
    pub(super) const TAIL: &str = "message.tail";
    pub(super) const COUNT: &str = "object.count";
    pub(super) const LEAD: &str = "object.lead";
    pub(super) const LENGTH: &str = "object.length";
    pub(super) const OF_FACTS: &str = "fact.";
    pub(super) const OF_OBJECTS: &str = "key.";
    pub(super) const OF_MESSAGES: &str = "message_key.";
    pub(super) const MESSAGE: &str = "message";
    pub(super) const OBJECT: &str = "object";
    pub(super) const CODES: &str = "codes";
    pub(super) const INTEGERS: &str = "integers";
    pub(super) const FLOATS: &str = "floats";
}

/// Limits on what a catalogue may claim. Rows can be equal and take no bytes, so a small file can have many. A leaf
/// never has more than 65,536 messages and 2²¹ objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogLimits {
    /// Bytes of the file: 1 GiB.
    pub max_bytes: u64,
    /// Messages of all leaves: 2²⁶.
    pub max_messages: usize,
    /// Objects of all leaves: 2²⁶.
    pub max_objects: usize,
}

impl Default for CatalogLimits {
    fn default() -> Self {
        Self { max_bytes: 1 << 30, max_messages: 1 << 26, max_objects: 1 << 26 }
    }
}

/// A catalogue: where messages and objects are, and the values of its keys. The [module](self) says more.
#[derive(Debug)]
pub struct Catalog {
    leaves: Vec<Leaf>,
    keys: Vec<String>,
    limits: CatalogLimits,
    options: DecodeOptions,
}

/// An error in a catalogue.
#[cold]
fn bad(what: impl AsRef<str>) -> TensogramError {
    TensogramError::Metadata(format!("catalogue: {}", what.as_ref()).into())
}

impl Catalog {
    /// Opens the catalogue in a file, at a path or an address. A torn leaf at its end is left out.
    ///
    /// # Errors
    /// [`TensogramError::Io`]; [`TensogramError::Remote`] for an address; the errors of [`Self::from_bytes`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &CatalogLimits::default(), &DecodeOptions::default())
    }

    /// [`Self::open`] with limits, and with the threads of the options.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(path: impl AsRef<Path>, limits: &CatalogLimits, options: &DecodeOptions) -> Result<Self> {
        let bytes = bytes::read(path.as_ref(), |len| check_bytes(len, limits))?;
        Self::from_bytes_with(&bytes, limits, options)
    }

    /// Opens the catalogue in these bytes. Metadata of leaves is read and checked; columns are read when they are
    /// needed.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for bytes that are not a catalogue, or a damaged one, or one beyond the limits.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_bytes_with(bytes, &CatalogLimits::default(), &DecodeOptions::default())
    }

    /// [`Self::from_bytes`] with limits, and with the threads of the options.
    ///
    /// # Errors
    /// As [`Self::from_bytes`].
    pub fn from_bytes_with(bytes: &[u8], limits: &CatalogLimits, options: &DecodeOptions) -> Result<Self> {
        check_bytes(bytes.len() as u64, limits)?;
        let mut catalog = Self { leaves: Vec::new(), keys: Vec::new(), limits: *limits, options: options.clone() };
        each_leaf(bytes, |leaf| Leaf::open(leaf, limits).and_then(|leaf| catalog.push(leaf)))?;
        if catalog.leaves.is_empty() {
            return Err(bad("there is no leaf"));
        }
        Ok(catalog)
    }

    /// Adds a leaf, which must follow the last one.
    fn push(&mut self, leaf: Leaf) -> Result<()> {
        if leaf.covers.first != self.message_count() || leaf.covers.start != self.covered() {
            return Err(bad("this leaf does not follow the one before"));
        }
        let keys = leaf.keys.iter().map(|key| key.path.as_str());
        if self.leaves.is_empty() && self.keys.is_empty() {
            self.keys = keys.map(str::to_string).collect();
        } else if !keys.eq(self.keys.iter().map(String::as_str)) {
            return Err(bad("this leaf has other keys than the first one"));
        }
        if self.message_count() + leaf.covers.messages > self.limits.max_messages
            || self.object_count() + leaf.covers.objects > self.limits.max_objects
        {
            return Err(bad("the leaves have more messages or objects than the limits allow"));
        }
        self.leaves.push(leaf);
        Ok(())
    }

    /// Writes the catalogue.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn write_to(&self, sink: &mut (impl Write + ?Sized)) -> std::io::Result<()> {
        self.leaves.iter().try_for_each(|leaf| sink.write_all(leaf.bytes()))
    }

    /// The bytes of the catalogue.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.leaves.iter().flat_map(|leaf| leaf.bytes().iter().copied()).collect()
    }

    /// The keys that have a column.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }

    /// The number of leaves.
    pub const fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// The number of messages that are covered.
    pub fn message_count(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.covers.messages).sum()
    }

    /// The number of objects that are covered.
    pub fn object_count(&self) -> usize {
        self.leaves.iter().map(|leaf| leaf.covers.objects).sum()
    }

    /// The byte of the data up to which it is covered.
    pub fn covered(&self) -> u64 {
        self.leaves.last().map_or(0, |last| last.covers.end)
    }

    /// The leaf of a message, and the number of the message in it.
    fn leaf_of(&self, message: usize) -> Result<(&Leaf, usize)> {
        let behind = self.leaves.partition_point(|leaf| leaf.covers.first <= message);
        let leaf = behind.checked_sub(1).and_then(|number| self.leaves.get(number));
        let row = leaf.and_then(|leaf| message.checked_sub(leaf.covers.first));
        leaf.zip(row).filter(|(leaf, row)| *row < leaf.covers.messages).ok_or_else(|| {
            let count = self.message_count();
            TensogramError::Framing(format!("message index {message} out of range (count={count})").into())
        })
    }

    /// Where a message is in the data.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] if the message is not covered; [`TensogramError::Metadata`] if the leaf is damaged.
    pub fn message_range(&self, message: usize) -> Result<Range<u64>> {
        let (leaf, row) = self.leaf_of(message)?;
        range(leaf.places()?.messages.get(row))
    }

    /// The number of objects of a message.
    ///
    /// # Errors
    /// As [`Self::message_range`].
    pub fn objects_of(&self, message: usize) -> Result<usize> {
        let (leaf, row) = self.leaf_of(message)?;
        Ok(leaf.objects_of(row)?.len())
    }

    /// Where the frame of an object is in the data. [`object_of_frame`] opens these bytes.
    ///
    /// # Errors
    /// As [`Self::message_range`]; [`TensogramError::Object`] if the message has no such object.
    pub fn object_range(&self, message: usize, object: usize) -> Result<Range<u64>> {
        let (leaf, row) = self.leaf_of(message)?;
        let objects = leaf.objects_of(row)?;
        let count = objects.len();
        let found = objects.start.checked_add(object).filter(|_| object < count).ok_or_else(|| {
            TensogramError::Object(format!("object index {object} out of range (num_objects={count})").into())
        })?;
        range(leaf.places()?.objects.get(found))
    }

    /// What a leaf says of a key.
    fn key_of<'l>(&self, leaf: &'l Leaf, path: &str) -> Result<&'l KeyHead> {
        leaf.keys.iter().find(|key| key.path == path).ok_or_else(|| self.unknown(path))
    }

    #[cold]
    fn unknown(&self, path: &str) -> TensogramError {
        let keys = if self.keys.is_empty() { "none".to_string() } else { self.keys.join(", ") };
        bad(format!("it has no key {path}; its keys: {keys}"))
    }
}

/// Hands on the leaves, which lie one after the other. Returns where the last one ends.
///
/// # Errors
/// [`TensogramError::Metadata`] for bytes between leaves; the errors of `take`, with the number of the leaf.
fn each_leaf(bytes: &[u8], mut take: impl FnMut(Vec<u8>) -> Result<()>) -> Result<usize> {
    let mut end = 0;
    for (number, (offset, length)) in scan(bytes).into_iter().enumerate() {
        if offset != end {
            return Err(bad(format!("bytes {end} to {offset} belong to no leaf")));
        }
        end = offset + length;
        let leaf = bytes.get(offset..end).ok_or_else(|| bad("a leaf is cut off"))?;
        take(leaf.to_vec()).map_err(|error| error.in_message(number))?;
    }
    Ok(end)
}

fn check_bytes(len: u64, limits: &CatalogLimits) -> Result<()> {
    let max = limits.max_bytes;
    if len > max { Err(bad(format!("{len} bytes, more than the limit of {max}"))) } else { Ok(()) }
}

fn range(place: Option<&(u64, u64)>) -> Result<Range<u64>> {
    let (offset, length) = place.ok_or_else(|| bad("a row is missing"))?;
    let end = offset.checked_add(*length).ok_or_else(|| bad("a row lies outside of the covered bytes"))?;
    Ok(*offset..end)
}
