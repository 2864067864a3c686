//! A catalogue of a file of many messages: where each message and object is, and the values of chosen keys.
//!
//! A catalogue is a file of its own, by convention `DATA.tgm.catalog`. It is written only where a program asks for it,
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
//!                     `server `, its size, a blank, and its ETag, or else `Last-Modified: ` and that },
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
//! A catalogue can be old, of other data, damaged or hostile. [`Catalog::check`] tells whether it fits the data.
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

mod cbor;
mod column;
mod columns;
mod dictionary;
pub mod facts;
mod gather;
mod leaf;
mod leaf_facts;
mod part;
mod proof;
mod select;
mod told;
pub mod tree;
mod values;
mod write;

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use tgm_core::frame::Frame;
use tgm_core::object::DataObject;

use self::dictionary::ABSENT;
pub use self::gather::VaryingKeys;
use self::leaf::{KeyHead, Leaf, Storage};
pub use self::leaf_facts::{FactColumn, FactsOfLeaf};
use self::part::{Key, KeyPart, Part};
pub use self::proof::Freshness;
use self::proof::Proof;
use self::select::{Level, encoded, for_each_row, mask};
use self::told::Told;
pub use self::values::{Group, KeyColumn, ObjectPlace};
use tgm_std::file::{AppendOptions, Data, TensogramFile, TornTail};
use tgm_std::internal::{Threads, read_file};
use tgm_std::metadata::query::Query;
use tgm_std::{DecodeOptions, MessageLayout, Result, TensogramError, scan};

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
    /// Catalogues all messages of the data, with a column for each key. A key is a dotted path as queries have it, so
    /// `dtype` and the other structural keys are possible too. Reads the metadata of all messages, and no payload.
    ///
    /// # Errors
    /// The errors of reading, and of the first message whose structure or metadata has an error.
    pub fn build<'d>(data: impl Into<Data<'d>>, keys: &[impl AsRef<str>]) -> Result<Self> {
        Self::build_with(data, keys, &DecodeOptions::default())
    }

    /// [`Self::build`] with the threads of the options. The digests of metadata frames are checked, unless the options turn
    /// that off (`verify_metadata`). The catalogue keeps the options.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn build_with<'d>(
        data: impl Into<Data<'d>>,
        keys: &[impl AsRef<str>],
        options: &DecodeOptions,
    ) -> Result<Self> {
        let mut paths: Vec<String> = Vec::new();
        for key in keys {
            if !paths.iter().any(|path| path == key.as_ref()) {
                paths.push(key.as_ref().to_string());
            }
        }
        if paths.iter().any(String::is_empty) {
            return Err(bad("a key is empty"));
        }
        let mut catalog =
            Self { leaves: Vec::new(), keys: paths, limits: CatalogLimits::default(), options: options.clone() };
        let data = data.into();
        catalog.add(&data, &data.layouts()?)?;
        Ok(catalog)
    }

    /// The keys that are worth a column: those that vary among the objects and have at most 65,535 values. Structural
    /// keys are among them. Reads the metadata of all messages.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn varying_keys<'d>(data: impl Into<Data<'d>>, options: &DecodeOptions) -> Result<Vec<String>> {
        let mut keys = VaryingKeys::default();
        keys.add(data, options)?;
        Ok(keys.finish(|_| false))
    }

    /// Opens the catalogue in a file. A torn leaf at its end is left out.
    ///
    /// # Errors
    /// [`TensogramError::Io`]; the errors of [`Self::from_bytes`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &CatalogLimits::default(), &DecodeOptions::default())
    }

    /// [`Self::open`] with limits, and with the threads of the options.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(path: impl AsRef<Path>, limits: &CatalogLimits, options: &DecodeOptions) -> Result<Self> {
        let bytes = read_file(path.as_ref(), |len| check_bytes(len, limits).map(drop))?;
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

    /// Adds leaves for messages that follow those that are covered.
    fn add(&mut self, data: &Data<'_>, layouts: &[MessageLayout]) -> Result<()> {
        let keys: Vec<_> = self.keys.iter().map(|key| Key::new(key)).collect();
        let place = (self.covered(), self.message_count());
        let parts = gather::parts(data, layouts, place, &keys, (threads(&self.options, layouts)?, &self.options))?;
        for part in &parts {
            let proof = Proof::of(data, part.end, part.digest, part.metadata)?;
            self.add_part(part, &keys, &proof)?;
        }
        Ok(())
    }

    fn add_part(&mut self, part: &Part, keys: &[Key], proof: &Proof) -> Result<()> {
        let leaf = write::leaf(part, keys, self.message_count() as u64, proof)?;
        self.push(Leaf::open(leaf, &self.limits)?)
    }

    /// Adds leaves for the messages that were appended to the data: O(new messages). Returns how many messages they
    /// are.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] if the catalogue is stale; the errors of [`Self::build`].
    pub fn extend<'d>(&mut self, data: impl Into<Data<'d>>) -> Result<usize> {
        let (data, before) = (data.into(), self.message_count());
        match self.check(data)? {
            Freshness::Fresh => return Ok(0),
            Freshness::Stale(why) => return Err(bad(format!("it is stale, build it anew: {why}"))),
            Freshness::NotChecked => match self.check_all(data)? {
                Freshness::Fresh => return Ok(0),
                Freshness::Grown { covered, .. } => self.add(&data, &data.layouts_from(covered)?)?,
                other => return Err(bad(format!("build it anew: it is {other}"))),
            },
            Freshness::Grown { covered, .. } => self.add(&data, &data.layouts_from(covered)?)?,
        }
        Ok(self.message_count() - before)
    }

    /// [`Self::extend`] for a catalogue in a file: opens it, and appends the new leaves. Readers of the file see each
    /// of them in one step. A torn leaf at the end is removed. Returns the catalogue, and how many messages are new in
    /// the file by this call.
    ///
    /// Several programs may update a catalogue at once. A leaf is appended only to the leaves that it follows: where another
    /// program was faster, the catalogue is opened again.
    ///
    /// # Errors
    /// The errors of [`Self::open_with`], [`Self::extend`] and [`TensogramFile::append_message`].
    pub fn update<'d>(
        path: impl AsRef<Path>,
        data: impl Into<Data<'d>>,
        options: &DecodeOptions,
    ) -> Result<(Self, usize)> {
        let (path, data) = (path.as_ref(), data.into());
        let mut new = 0;
        for _ in 0..1000 {
            let mut catalog = Self::open_with(path, &CatalogLimits::default(), options)?;
            let before = catalog.leaves.len();
            catalog.extend(data)?;
            let appended = catalog.append_leaves(path, before)?;
            new += appended.iter().map(|leaf| leaf.covers.messages).sum::<usize>();
            if before + appended.len() == catalog.leaves.len() {
                return Ok((catalog, new));
            }
        }
        Err(bad("other programs change the file without end"))
    }

    /// Appends leaf `first` and those after it to a file that has the leaves before. Returns those that were appended: not
    /// all, if another program changes the file.
    fn append_leaves(&self, path: &Path, first: usize) -> Result<&[Leaf]> {
        let (old, new) = self.leaves.split_at(first.min(self.leaves.len()));
        let how = AppendOptions { torn_tail: TornTail::Remove, ..AppendOptions::default() };
        let mut file = TensogramFile::open(path)?;
        let mut end = old.iter().map(|leaf| leaf.bytes().len() as u64).sum();
        for (count, leaf) in new.iter().enumerate() {
            if file.append_at(Some(end), leaf.bytes(), &how)?.is_none() {
                return new.get(..count).ok_or_else(|| bad("a leaf is missing"));
            }
            end += leaf.bytes().len() as u64;
        }
        Ok(new)
    }

    /// The same rows in as few leaves as possible.
    ///
    /// # Errors
    /// The errors of reading the columns.
    pub fn compact(&self) -> Result<Self> {
        let parts = self.leaves.iter().map(Self::part_of).collect::<Result<Vec<_>>>()?;
        let keys: Vec<_> = self.keys.iter().map(|key| Key::new(key)).collect();
        let (keys_of, limits) = (self.keys.clone(), self.limits);
        let mut catalog = Self { leaves: Vec::new(), keys: keys_of, limits, options: self.options.clone() };
        for part in gather::leaves(parts)? {
            let last = self.leaves.iter().find(|leaf| leaf.covers.end == part.end);
            let proof = last.map(|leaf| &leaf.proof).ok_or_else(|| bad("a leaf is missing"))?;
            catalog.add_part(&part, &keys, &Proof { metadata: part.metadata, ..proof.clone() })?;
        }
        Ok(catalog)
    }

    /// The rows of a leaf.
    fn part_of(leaf: &Leaf) -> Result<Part> {
        let places = leaf.places()?;
        let mut part = Part::new(leaf.covers.start, 0);
        part.digest = leaf.proof.digest;
        part.metadata = leaf.proof.metadata;
        part.told = match &leaf.facts {
            Ok(heads) => Ok(Told::read(heads, leaf.covers.objects, |head| leaf.fact_column(head))?),
            Err(why) => Err(*why),
        };
        for (message, &(offset, length)) in places.messages.iter().enumerate() {
            let objects = leaf.objects_of(message)?;
            // `places` has proven that all of them follow each other.
            part.gaps.push(offset - part.end);
            part.counts.push(objects.len() as u64);
            let mut at = offset;
            for &(frame, length) in places.objects.get(objects).ok_or_else(|| bad("an object is missing"))? {
                part.leads.push(frame - at);
                part.lengths.push(length);
                at = frame + length;
            }
            part.end = offset + length;
            part.tails.push(part.end - at);
        }
        for key in &leaf.keys {
            let mut values = KeyPart::default();
            let mut codes = Vec::new();
            if let Storage::Codes(table) = &key.kind {
                codes = table.iter().map(|value| values.dictionary.code(value)).collect::<Result<_>>()?;
            }
            let (messages, objects) = (leaf.message_column(key)?, leaf.object_column(key)?);
            for (column, rows, is_of_messages) in
                [(messages, leaf.covers.messages, true), (objects, leaf.covers.objects, false)]
            {
                for row in 0..rows {
                    let bits = column.at(row)?;
                    let code = match &key.kind {
                        Storage::Codes(_) => {
                            usize::try_from(bits).ok().and_then(|code| codes.get(code)).copied().unwrap_or(ABSENT)
                        }
                        _ if Some(bits) == key.absent() => ABSENT,
                        kind => values.dictionary.code(&encoded(bits, matches!(kind, Storage::Floats)))?,
                    };
                    if is_of_messages { &mut values.of_messages } else { &mut values.of_objects }.push(code);
                }
            }
            part.keys.push(values);
        }
        Ok(part)
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

    /// Whether the catalogue fits the data: reads the first bytes of the data, the last covered ones, and its length. That is
    /// enough for the file that was catalogued, if its size, its time of change and its inode are as they were. Otherwise all
    /// metadata are read and compared by a digest, as [`Self::check_all`] does.
    ///
    /// A file on a server that was catalogued there is fresh by its `ETag` (or else `Last-Modified`) and its size, without
    /// another request than for these; with another `ETag`, all metadata are read and compared. Where the server does not tell,
    /// or the file was catalogued elsewhere, the answer is [`Freshness::NotChecked`].
    ///
    /// # Errors
    /// The errors of reading.
    pub fn check<'d>(&self, data: impl Into<Data<'d>>) -> Result<Freshness> {
        let data = data.into();
        let is_same = self.is_of_same_file(data);
        if is_same == Some(true) && data.is_remote() {
            let (covered, size) = (self.covered(), data.length()?);
            return Ok(if size == covered { Freshness::Fresh } else { Freshness::Grown { covered, size } });
        }
        match self.check_ends(&data)? {
            found if is_same == Some(true) => Ok(found),
            Freshness::Fresh | Freshness::Grown { .. } if is_same.is_none() && data.is_remote() => {
                Ok(Freshness::NotChecked)
            }
            found => self.check_middle(&data, found),
        }
    }

    /// Whether the data are the file that was catalogued, unchanged since: what [`Self::check`] asks first. A file on a server
    /// is told by its `ETag`, or else by its time of change, and by its size. `None` if it does not show. Reads nothing but,
    /// from a server of which nothing was read, the first bytes.
    pub fn is_of_same_file<'d>(&self, data: impl Into<Data<'d>>) -> Option<bool> {
        self.leaves.last()?.proof.is_of_same_file(&data.into())
    }

    /// Whether the catalogue fits the data, by a digest over the metadata, descriptors and places of all covered messages. Reads
    /// these.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn check_all<'d>(&self, data: impl Into<Data<'d>>) -> Result<Freshness> {
        let data = data.into();
        let found = self.check_ends(&data)?;
        self.check_middle(&data, found)
    }

    /// What the first and the last covered bytes tell.
    fn check_ends(&self, data: &Data<'_>) -> Result<Freshness> {
        if let Some(last) = self.leaves.last() {
            return last.proof.check(data, last.covers.end);
        }
        let size = data.length()?;
        Ok(if size == 0 { Freshness::Fresh } else { Freshness::Grown { covered: 0, size } })
    }

    /// What the metadata tell, if the ends tell `found`.
    fn check_middle(&self, data: &Data<'_>, found: Freshness) -> Result<Freshness> {
        if matches!(found, Freshness::Stale(_)) || self.leaves.is_empty() {
            return Ok(found);
        }
        let add = |sum: u64, leaf: &Leaf| leaf.proof.metadata.map(|metadata| sum.wrapping_add(metadata));
        let Some(expected) = self.leaves.iter().try_fold(0, add) else { return Ok(Freshness::NotChecked) };
        let mut layouts = data.layouts()?;
        // Another program may have appended to the file and to the catalogue since the file was opened.
        if layouts.last().is_none_or(|last| last.end() < self.covered()) {
            layouts = data.layouts_from(0)?.into();
        }
        let covered = layouts.partition_point(|layout| layout.offset < self.covered());
        let layouts = layouts.get(..covered).unwrap_or(&layouts);
        let is_same = gather::fingerprints(data, layouts, threads(&self.options, layouts)?)? == Some(expected);
        let stale =
            || Freshness::Stale("the metadata or the places of messages differ from what the catalogue has".into());
        Ok(if is_same { found } else { stale() })
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

    /// The objects for which a query holds, each as the numbers of its message and of the object in it, in order. The
    /// same as [`file::query`](tgm_std::file::query) finds in the covered messages.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] if the catalogue lacks a key of the query, or is damaged.
    pub fn select(&self, query: &Query) -> Result<Vec<(usize, usize)>> {
        let found = self.map_leaves(query, |leaf| {
            let mask = mask(leaf, query, Level::Objects)?;
            let first = leaf.covers.first;
            let mut found = Vec::new();
            match leaf.first_objects()? {
                None => for_each_row(&mask, |row| found.push((first + row, 0))),
                Some(firsts) => {
                    let mut message = 0_usize;
                    let at = |message: usize| firsts.get(message).map_or(usize::MAX, |first| *first as usize);
                    for_each_row(&mask, |row| {
                        while at(message + 1) <= row {
                            message += 1;
                        }
                        // It is the last message that begins at or before the row.
                        found.push((first + message, row - at(message)));
                    });
                }
            }
            Ok(found)
        })?;
        Ok(found.concat())
    }

    /// The messages for which a query holds, as [`Query::matches`] says it of their metadata.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn select_messages(&self, query: &Query) -> Result<Vec<usize>> {
        let found = self.map_leaves(query, |leaf| {
            let first = leaf.covers.first;
            let mut found = Vec::new();
            for_each_row(&mask(leaf, query, Level::Messages)?, |row| found.push(first + row));
            Ok(found)
        })?;
        Ok(found.concat())
    }

    fn map_leaves<R: Send>(&self, query: &Query, f: impl Fn(&Leaf) -> Result<R> + Sync) -> Result<Vec<R>> {
        let is_known = |key: &&str| self.keys.iter().any(|known| known == key) || *key == "version";
        if let Some(key) = query.keys().find(|key| !is_known(key)) {
            return Err(self.unknown(key));
        }
        let bytes = self.object_count() as u64;
        let threads = Threads::resolve(self.options.threads, bytes, self.options.parallel_threshold_bytes)?;
        threads.map(&self.leaves, f)
    }
}

fn threads(options: &DecodeOptions, layouts: &[MessageLayout]) -> Result<Threads> {
    let bytes = layouts.iter().map(|layout| layout.length).sum();
    Ok(Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes)?)
}

/// Hands on the leaves, which lie one behind the other. Returns where the last one ends.
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

/// The object whose frame these bytes are, from [`Catalog::object_range`]. Proves the header, the length and the tail
/// of the frame, and reads the descriptor. The digest is not checked: [`read`](tgm_std::read()) does that with
/// `verify_hash`.
///
/// # Errors
/// The errors of the frame and of the object; [`TensogramError::Framing`] for bytes behind the frame, which show that an
/// entry is wrong.
pub fn object_of_frame(frame: &[u8]) -> Result<DataObject<'_>> {
    let (parsed, rest) = Frame::parse(frame)?;
    if !rest.is_empty() {
        return Err(TensogramError::Framing(format!("{} bytes behind the frame of the object", rest.len()).into()));
    }
    Ok(DataObject::parse(parsed)?)
}
