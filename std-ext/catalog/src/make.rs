//! Catalogues out of data: built, extended, updated in a file, and with their leaves joined.

use std::path::Path;

use tgm_std::file::{AppendOptions, Data, TensogramFile, TornTail};
use tgm_std::{DecodeOptions, MessageLayout, Result};

use crate::cbor::encoded;
use crate::dictionary::ABSENT;
use crate::gather::{VaryingKeys, leaves, parts, threads};
use crate::leaf::{Leaf, Storage};
use crate::part::{Key, KeyPart, Part};
use crate::proof::{Freshness, Proof};
use crate::told::Told;
use crate::{Catalog, CatalogLimits, bad, write};

impl Catalog {
    /// Catalogues all messages of the data, with a column for each key. A key is a dotted path as queries have it, so
    /// `dtype` and the other structural keys are possible too, and so is `stored`, the bytes that an object has in the file. Reads the metadata of all messages, and no payload.
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

    /// Adds leaves for messages that follow those that are covered.
    fn add(&mut self, data: &Data<'_>, layouts: &[MessageLayout]) -> Result<()> {
        let keys: Vec<_> = self.keys.iter().map(|key| Key::new(key)).collect();
        let place = (self.covered(), self.message_count());
        let parts = parts(data, layouts, place, &keys, (threads(&self.options, layouts)?, &self.options))?;
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
    /// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) if the catalogue is stale; the errors of [`Self::build`].
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
        for part in leaves(parts)? {
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
}
