//! Rows of all messages, read from the data by several threads; and keys that are worth a column.

use std::collections::{BTreeMap, HashMap, HashSet};

use tgm_core::Message;
use tgm_core::cbor::{Kind, Map, Value};
use tgm_core::metadata::RESERVED_KEY;

use super::dictionary::LONGEST_VALUE;
use super::part::{Key, Part, fingerprint};
use tgm_std::codec::threads::Threads;
use tgm_std::file::Data;
use tgm_std::metadata::query::structure::Structure;
use tgm_std::metadata::segment;
use tgm_std::{DecodeOptions, MessageLayout, Result, TensogramError, hash};

/// Messages of a leaf.
pub(super) const LEAF_MESSAGES: usize = 1 << 16;
/// Objects of a leaf, from which on it takes no further messages. Its last message may have as many again.
pub(super) const LEAF_OBJECTS: usize = 1 << 20;
/// Distinct values of a key up to which it is chosen.
const MOST_VALUES: usize = 65_535;
/// Paths that are looked at when keys are chosen.
const MOST_PATHS: usize = 1 << 12;
/// Maps inside of maps that are looked at when keys are chosen.
const DEEPEST: usize = 8;

/// The rows of messages that begin after byte `start`. `first` is the number of the first one, for errors.
///
/// # Errors
/// The errors of reading, and of the first message that has an error.
pub(super) fn parts(
    data: &Data<'_>,
    layouts: &[MessageLayout],
    (start, first): (u64, usize),
    keys: &[Key],
    (threads, options): (Threads, &DecodeOptions),
) -> Result<Vec<Part>> {
    let parts = data.map_runs(layouts, threads, |number, run| {
        let before = number.checked_sub(1).and_then(|before| layouts.get(before));
        let start = before.map_or(start, MessageLayout::end);
        let (mut done, mut part) = (Vec::new(), Part::new(start, keys.len()));
        run.for_each(|index, layout, bytes| {
            let message = first + number + index;
            if part.leads.len() > LEAF_OBJECTS {
                let next = Part::new(part.end, keys.len());
                done.push(std::mem::replace(&mut part, next));
            }
            part.add(keys, layout, bytes, options).map_err(|error| error.in_message(message))
        })?;
        done.push(part);
        Ok(done)
    })?;
    leaves(parts.into_iter().flatten())
}

/// The sum of the fingerprints of messages. `None` if one of them cannot be read.
///
/// # Errors
/// The errors of reading.
pub(super) fn fingerprints(data: &Data<'_>, layouts: &[MessageLayout], threads: Threads) -> Result<Option<u64>> {
    let sums = data.map_runs(layouts, threads, |_, run| {
        let mut sum = Some(0_u64);
        run.for_each(|_, layout, bytes| {
            let found = Message::parse(bytes).ok().and_then(|message| fingerprint(layout, &message).ok());
            sum = sum.zip(found).map(|(sum, found)| sum.wrapping_add(found));
            Ok(())
        })?;
        Ok(sum)
    })?;
    Ok(sums.into_iter().try_fold(0_u64, |all, sum| sum.map(|sum| all.wrapping_add(sum))))
}

/// Parts joined to the size of leaves.
///
/// # Errors
/// The errors of [`Part::append`].
pub(super) fn leaves(parts: impl IntoIterator<Item = Part>) -> Result<Vec<Part>> {
    let mut leaves: Vec<Part> = Vec::new();
    for part in parts {
        match leaves.last_mut() {
            Some(last)
                if last.gaps.len() + part.gaps.len() <= LEAF_MESSAGES
                    && last.leads.len() + part.leads.len() <= LEAF_OBJECTS =>
            {
                last.append(&part)?;
            }
            _ => leaves.push(part),
        }
    }
    Ok(leaves)
}

/// The values of a path.
#[derive(Default)]
struct Values {
    distinct: HashSet<Box<[u8]>>,
    /// The value that was added last, which the next object often has too.
    last: Vec<u8>,
    /// Objects that have the path.
    count: u64,
    /// Whether there are more distinct values than a key may have.
    is_over: bool,
}

impl Values {
    fn add(&mut self, encoded: &[u8]) {
        self.count += 1;
        if self.is_over || (self.count > 1 && self.last == encoded) {
            return;
        }
        self.last.clear();
        self.last.extend_from_slice(encoded);
        if self.distinct.contains(encoded) {
            return;
        }
        self.distinct.insert(encoded.into());
        if self.distinct.len() > MOST_VALUES || encoded.len() > LONGEST_VALUE {
            self.is_over = true;
            self.distinct = HashSet::new();
        }
    }

    fn join(&mut self, other: Self) {
        self.count += other.count;
        self.is_over |= other.is_over;
        if !self.is_over {
            self.distinct.extend(other.distinct);
            self.is_over = self.distinct.len() > MOST_VALUES;
        }
        if self.is_over {
            self.distinct = HashSet::new();
        }
    }
}

/// What is known of the paths of some messages.
#[derive(Default)]
struct Paths {
    paths: Vec<(String, Values)>,
    /// Where each path stands.
    places: HashMap<String, usize>,
    /// Where the path stands that followed the last one before: objects have most paths in the same order.
    next: usize,
    objects: u64,
}

impl Paths {
    fn add(&mut self, path: &str, encoded: &[u8]) {
        let is_next = self.paths.get(self.next).is_some_and(|(next, _)| next == path);
        let place = if is_next { Some(self.next) } else { self.places.get(path).copied() };
        let place = place.unwrap_or(self.paths.len());
        if place == self.paths.len() {
            if place == MOST_PATHS {
                return;
            }
            self.places.insert(path.to_string(), place);
            self.paths.push((path.to_string(), Values::default()));
        }
        if let Some((_, values)) = self.paths.get_mut(place) {
            values.add(encoded);
        }
        self.next = place + 1;
    }

    /// Adds the values of a map. Values of maps inside it get dotted paths. A key with a dot of its own stands in quotes
    /// there. Arrays are left out.
    fn add_map(&mut self, path: &mut String, map: &Map<'_>, depth: usize) -> Result<()> {
        for entry in map {
            let (key, value) = entry?;
            self.add_entry(path, &key, &value, depth)?;
        }
        Ok(())
    }

    fn add_entry(&mut self, path: &mut String, key: &Value<'_>, value: &Value<'_>, depth: usize) -> Result<()> {
        let Ok(key) = key.as_str() else { return Ok(()) };
        if key.is_empty() || (path.is_empty() && matches!(key, RESERVED_KEY | "extra" | "_extra_")) {
            return Ok(());
        }
        let len = path.len();
        if len > 0 {
            path.push('.');
        }
        path.push_str(&segment(key));
        match value.kind() {
            Kind::Map if depth < DEEPEST => self.add_map(path, &value.as_map()?, depth + 1)?,
            Kind::Map | Kind::Array | Kind::Bytes => {}
            _ => self.add(path, value.as_encoded()),
        }
        path.truncate(len);
        Ok(())
    }

    fn add_message(&mut self, bytes: &[u8], options: &DecodeOptions) -> Result<()> {
        let message = Message::parse(bytes)?;
        let metadata = hash::metadata(&message, options)?;
        let count = metadata.object_count();
        let mut path = String::new();
        for (about, object) in metadata.objects().zip(message.objects()) {
            self.objects += 1;
            for entry in about?.entries() {
                let (key, value) = entry?;
                self.add_entry(&mut path, &key, &value, 0)?;
            }
            let descriptor = *object?.descriptor();
            for (name, structure) in Structure::all() {
                if let Some(encoded) = structure.of_object(Some(&descriptor), count) {
                    self.add(name, &encoded);
                }
            }
            // An annotation counts for each object, as an object is asked for it too.
            for entry in metadata.frame().extra_entries() {
                let (key, value) = entry?;
                self.add_entry(&mut path, &key, &value, 0)?;
            }
        }
        Ok(())
    }
}

/// Finds the keys that are worth a column: those that vary among the objects of all data that were added, and have at most
/// 65,535 values. Structural keys are among them.
#[derive(Default)]
pub struct VaryingKeys {
    all: BTreeMap<String, Values>,
    objects: u64,
}

impl VaryingKeys {
    /// Adds data. Reads the metadata of all messages, by the threads of the options.
    ///
    /// # Errors
    /// The errors of reading, and of the first message whose structure or metadata has an error.
    pub fn add<'d>(&mut self, data: impl Into<Data<'d>>, options: &DecodeOptions) -> Result<()> {
        let data = data.into();
        let layouts = data.layouts()?;
        let found = data.map_runs(&layouts, threads(options, &layouts)?, |number, run| {
            let mut paths = Paths::default();
            run.for_each(|index, _, bytes| {
                let added = paths.add_message(bytes, options);
                added.map_err(|error: TensogramError| error.in_message(number + index))
            })?;
            Ok(paths)
        })?;
        for paths in found {
            self.objects += paths.objects;
            for (path, values) in paths.paths {
                if self.all.len() < MOST_PATHS || self.all.contains_key(&path) {
                    self.all.entry(path).or_default().join(values);
                }
            }
        }
        Ok(())
    }

    /// The keys. `with_others` says which keys are taken too if they do not vary.
    pub fn finish(self, with_others: impl Fn(&str) -> bool) -> Vec<String> {
        let varies = |values: &Values| values.distinct.len() > 1 || values.count < self.objects;
        let is_taken = |(path, values): &(String, Values)| !values.is_over && (varies(values) || with_others(path));
        self.all.into_iter().filter(is_taken).map(|(path, _)| path).collect()
    }
}

impl std::fmt::Debug for VaryingKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VaryingKeys").field("paths", &self.all.len()).field("objects", &self.objects).finish()
    }
}

/// The threads that read the metadata of these messages.
pub(crate) fn threads(options: &DecodeOptions, layouts: &[MessageLayout]) -> Result<Threads> {
    let bytes = layouts.iter().map(|layout| layout.length).sum();
    Ok(Threads::resolve(options.threads, bytes, options.parallel_threshold_bytes)?)
}
