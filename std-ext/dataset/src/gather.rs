//! What the metadata of all objects say: read by several threads, or taken from a catalogue.
//!
//! Keys and values become numbers. A value is what CBOR has for it, so that equal values have equal numbers.

use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

use tgm_catalog::FactsOfLeaf;
pub(crate) use tgm_catalog::facts::{DTYPE, EXTRA, GRID, SHAPE};
use tgm_catalog::facts::{FITS_FLOAT32, FactSink, Facts};
use tgm_core::Message;
use tgm_core::cbor::Value;
use tgm_core::descriptor::Descriptor;
use tgm_core::metadata::MessageMetadata;
use tgm_std::codec::threads::Threads;
use tgm_std::file::Data;
use tgm_std::hash;
use tgm_std::{Archive, MessageLayout, Result, interrupt};

use crate::archive::{Entry, bad};
pub(crate) use crate::cells::Cells;
use crate::cells::{Block, List};
use crate::intern::Interner;
use crate::options::OpenOptions;

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) cells: Cells,
}

/// A message that says something of itself.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) source: u32,
    pub(crate) message: u32,
    pub(crate) cells: Cells,
}

/// All objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) keys: Interner,
    pub(crate) values: Interner,
    pub(crate) rows: Vec<Row>,
    pub(crate) abouts: Vec<About>,
    /// Keys that are not read, if options ask for them.
    pub(crate) unread: BTreeSet<String>,
    /// Bytes of sources that belong to no message, in words.
    pub(crate) lost: Vec<String>,
}

impl Gathered {
    /// Reads the metadata of the messages of a source that begin at byte `start`. The first of them is number `first`.
    ///
    /// # Errors
    /// The errors of reading, and of the first message whose structure or metadata has an error.
    pub(crate) fn add(
        &mut self,
        archive: &Archive<'_>,
        source: u32,
        (start, first): (u64, usize),
        options: &OpenOptions,
    ) -> Result<()> {
        let decode = &options.decode;
        let data = Data::from(archive);
        let layouts = if start == 0 { data.layouts()? } else { data.layouts_from(start)?.into() };
        self.add_lost(archive, start, &layouts, data.length()?);
        let bytes = layouts.iter().map(|layout| layout.length).sum();
        let threads = Threads::resolve(decode.threads, bytes, decode.parallel_threshold_bytes)?;
        let runs = data.map_runs(&layouts, threads, |number, run| {
            let mut found = Found { list_unread: options.list_unused, ..Found::default() };
            run.for_each(|index, layout, bytes| {
                interrupt::check()?;
                let message = first + number + index;
                found.add(source, message, (layout, bytes), options).map_err(|error| error.in_message(message))
            })?;
            Ok(found.gathered)
        });
        for run in runs.map_err(|error| error.within(archive.name()))? {
            self.join(run);
        }
        Ok(())
    }

    /// Notes what lies before, between and after the messages of a source.
    fn add_lost(&mut self, archive: &Archive<'_>, start: u64, layouts: &[MessageLayout], end: u64) {
        let begins = layouts.iter().map(|layout| layout.offset).chain([end]);
        let ends = [start].into_iter().chain(layouts.iter().map(MessageLayout::end));
        ends.zip(begins).for_each(|(from, to)| self.lose(archive, from..to));
    }

    /// Notes bytes that belong to no message, if there are any.
    pub(crate) fn lose(&mut self, archive: &Archive<'_>, bytes: Range<u64>) {
        if !bytes.is_empty() {
            let (start, count) = (bytes.start, bytes.end - bytes.start);
            self.lost.push(format!("{}: {count} bytes at offset {start} belong to no message", archive.name()));
        }
    }

    /// Takes what a catalogue knows of the messages of a source, which is not read: of the objects `wanted`, in order, or of all.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for numbers that are too great. Then nothing more is added.
    pub(crate) fn add_cataloged(
        &mut self,
        facts: Vec<FactsOfLeaf>,
        wanted: Option<&[(usize, usize)]>,
        archive: &Archive<'_>,
        source: u32,
    ) -> Result<()> {
        let mut wanted = wanted.map(|wanted| wanted.iter().peekable());
        for leaf in facts {
            leaf.lost.into_iter().for_each(|bytes| self.lose(archive, bytes));
            let (fits, columns): (Vec<_>, Vec<_>) =
                leaf.columns.into_iter().partition(|column| column.path == FITS_FLOAT32);
            let numbered = columns.into_iter().map(|column| {
                let values = column.values.iter().map(|value| self.values.code(value)).collect();
                (self.keys.code(column.path.as_bytes()), values, column)
            });
            let block = Arc::new(Block::new(numbered.collect()));
            if wanted.is_none() {
                self.rows.reserve(leaf.objects.len());
            }
            for (at, (message, object, place)) in leaf.objects.into_iter().enumerate() {
                if wanted.as_mut().is_some_and(|wanted| wanted.next_if_eq(&&(message, object)).is_none()) {
                    continue;
                }
                let entry = Entry {
                    source,
                    message: u32::try_from(message).map_err(|_| bad(TOO_MANY_MESSAGES))?,
                    object: u32::try_from(object).map_err(|_| bad(TOO_MANY_OBJECTS))?,
                    offset: place.start,
                    length: place.end.saturating_sub(place.start),
                    digest: None,
                    fits_float32: fits.iter().any(|column| column.code(at).is_some()),
                };
                let row = u32::try_from(at).map_err(|_| bad(TOO_MANY_OBJECTS))?;
                let cells = Cells::Row(Arc::clone(&block), row);
                self.rows.push(Row { entry, cells });
            }
        }
        Ok(())
    }

    /// One object of a message, by the metadata alone: it has no place in a source.
    ///
    /// # Errors
    /// The errors of reading metadata.
    pub(crate) fn of_object(metadata: &MessageMetadata<'_>, index: usize, descriptor: &Descriptor<'_>) -> Result<Self> {
        let (mut found, mut facts) = (Found::default(), Facts::default());
        let of_all = found.of_message(&mut facts, metadata, (0, 0))?;
        // Facts of one object can hold on for the next.
        for about in metadata.objects().take(index.saturating_add(1)) {
            found.cells.clone_from(&of_all);
            found.fits_float32 = false;
            facts.of_object(&about?, descriptor, &mut found)?;
        }
        let entry = Entry { fits_float32: found.fits_float32, ..Entry::default() };
        let cells = sorted(std::mem::take(&mut found.cells));
        found.gathered.rows.push(Row { entry, cells });
        Ok(found.gathered)
    }

    fn join(&mut self, other: Self) {
        let keys: Vec<u32> = other.keys.iter().map(|key| self.keys.code(key)).collect();
        let values: Vec<u32> = other.values.iter().map(|value| self.values.code(value)).collect();
        self.unread.extend(other.unread);
        let at = |codes: &[u32], code: u32| usize::try_from(code).ok().and_then(|code| codes.get(code)).copied();
        let renew = |cells: Cells| {
            // What threads have found is listed.
            let Cells::Listed(cells) = cells else { return cells };
            let cells = cells.into_iter().filter_map(|(key, value)| Some((at(&keys, key)?, at(&values, value)?)));
            let mut cells: List = cells.collect();
            cells.sort_unstable();
            Cells::Listed(cells)
        };
        self.rows.extend(other.rows.into_iter().map(|row| Row { cells: renew(row.cells), ..row }));
        self.abouts.extend(other.abouts.into_iter().map(|about| About { cells: renew(about.cells), ..about }));
    }

    /// The bytes of a key's value.
    pub(crate) fn bytes(&self, cells: &Cells, key: &str) -> Option<&[u8]> {
        Some(self.values.get(cells.get(self.keys.find(key.as_bytes())?)?))
    }

    /// The value of a key.
    pub(crate) fn value(&self, cells: &Cells, key: &str) -> Option<Value<'_>> {
        Value::parse(self.bytes(cells, key)?, 0).ok()
    }

    /// The keys by which the metadata of two objects differ, in order.
    pub(crate) fn differing(&self, one: u32, other: u32) -> Vec<&str> {
        let cells = |row: u32| usize::try_from(row).ok().and_then(|row| self.rows.get(row)).map(|row| &row.cells);
        let Some((one, other)) = cells(one).zip(cells(other)) else { return Vec::new() };
        let differing = one.differing(other, self.keys.iter().len());
        let mut keys: Vec<&str> =
            differing.into_iter().filter_map(|key| std::str::from_utf8(self.keys.get(key)).ok()).collect();
        keys.sort_unstable();
        keys
    }

    /// What a message says of itself.
    pub(crate) fn about(&self, entry: &Entry) -> Option<&Cells> {
        let place = (entry.source, entry.message);
        let found = self.abouts.binary_search_by_key(&place, |about| (about.source, about.message)).ok()?;
        self.abouts.get(found).map(|about| &about.cells)
    }
}

/// Why a source cannot be numbered.
const TOO_MANY_MESSAGES: &str = "it has more than 2^32 messages";
const TOO_MANY_OBJECTS: &str = "it has more than 2^32 objects";

/// What one thread has found.
#[derive(Default)]
struct Found {
    gathered: Gathered,
    /// Facts that were given last.
    cells: List,
    fits_float32: bool,
    /// The last value of each key: neighbours are often equal.
    last: Vec<u32>,
    list_unread: bool,
}

impl FactSink for Found {
    fn fact(&mut self, path: &str, value: &[u8]) {
        if path == FITS_FLOAT32 {
            self.fits_float32 = true;
            return;
        }
        let cell = self.cell(path, value);
        self.cells.push(cell);
    }

    fn wants_unread(&self) -> bool {
        self.list_unread
    }

    fn unread(&mut self, path: &str) {
        if !self.gathered.unread.contains(path) {
            self.gathered.unread.insert(path.to_string());
        }
    }
}

impl Found {
    fn add(
        &mut self,
        source: u32,
        number: usize,
        (layout, bytes): (MessageLayout, &[u8]),
        options: &OpenOptions,
    ) -> Result<()> {
        let message = Message::parse(bytes)?;
        let metadata = hash::metadata(&message, &options.decode)?;
        let number = u32::try_from(number).map_err(|_| bad(TOO_MANY_MESSAGES))?;
        let mut facts = Facts::default();
        let of_all = self.of_message(&mut facts, &metadata, (source, number))?;
        let wanted = wanted(&metadata, options)?;
        for (index, (about, object)) in metadata.objects().zip(message.objects()).enumerate() {
            let (about, object) = (about?, object?);
            // Facts of one object can hold on for the next.
            let is_wanted = wanted.as_ref().is_none_or(|wanted| wanted.contains(&index));
            let frame = object.frame();
            self.cells.clone_from(&of_all);
            self.fits_float32 = false;
            facts.of_object(&about, object.descriptor(), self)?;
            let entry = Entry {
                source,
                message: number,
                object: u32::try_from(index).map_err(|_| bad(TOO_MANY_OBJECTS))?,
                offset: layout.offset + frame.offset(),
                length: frame.total_length(),
                digest: NonZeroU64::new(frame.hash_slot()),
                fits_float32: self.fits_float32,
            };
            let cells = sorted(std::mem::take(&mut self.cells));
            if is_wanted {
                self.gathered.rows.push(Row { entry, cells });
            }
        }
        Ok(())
    }

    /// Takes what a message says of itself. Returns what it says of all its objects.
    fn of_message<'a>(
        &mut self,
        facts: &mut Facts<'a>,
        metadata: &MessageMetadata<'a>,
        (source, message): (u32, u32),
    ) -> Result<List> {
        self.cells.clear();
        facts.of_message(metadata, self)?;
        let told = std::mem::take(&mut self.cells);
        let keys = &self.gathered.keys;
        let is_about = |(key, _): &(u32, u32)| keys.get(*key).starts_with(EXTRA.as_bytes());
        let (about, of_all): (List, List) = told.into_iter().partition(is_about);
        if !about.is_empty() {
            self.gathered.abouts.push(About { source, message, cells: sorted(about) });
        }
        Ok(of_all)
    }

    /// The numbers of a key, and of its value.
    fn cell(&mut self, path: &str, value: &[u8]) -> (u32, u32) {
        let key = self.gathered.keys.code(path.as_bytes());
        let at = key as usize;
        if let Some(last) = self.last.get(at)
            && self.gathered.values.get(*last) == value
        {
            return (key, *last);
        }
        let code = self.gathered.values.code(value);
        if self.last.len() <= at {
            self.last.resize(at + 1, code);
        }
        if let Some(last) = self.last.get_mut(at) {
            *last = code;
        }
        (key, code)
    }
}

/// The numbers of the objects for which all queries hold. `None` without queries.
fn wanted(metadata: &MessageMetadata<'_>, options: &OpenOptions) -> Result<Option<BTreeSet<usize>>> {
    let mut wanted: Option<BTreeSet<usize>> = None;
    for query in &options.only {
        let mut found = BTreeSet::new();
        query.objects_of(metadata, |object| _ = found.insert(object))?;
        wanted = Some(match wanted {
            None => found,
            Some(before) => before.intersection(&found).copied().collect(),
        });
    }
    Ok(wanted)
}

/// Cells in the order of their keys. The last value of a key counts: values of an object come after values of its message.
fn sorted(mut cells: List) -> Cells {
    cells.reverse();
    cells.sort_by_key(|(key, _)| *key);
    cells.dedup_by_key(|(key, _)| *key);
    Cells::Listed(cells)
}
