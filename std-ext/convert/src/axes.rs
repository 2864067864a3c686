//! The labels along the dimensions of a message: variables of one dimension that have its name.
//!
//! Two files may have a dimension of one name and length whose labels differ, such as the days of January and of March. A
//! writer of both tells them apart by digests of the labels. A message that was merged has the objects of several files: what
//! lies before the second object of a name belongs to the first file.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher as _};

use ciborium::Value;
use tgm_core::object::DataObject;
use tgm_std::{DecodeOptions, read};

use crate::arrays::TIME;
use crate::dimensions::{group_of, path_in};
use crate::given::Given;
use crate::names::leaf;
use crate::texts::Texts;
use tgm_dataset::reading::{OFFSET, SCALE};

/// What says the meaning of labels that are numbers.
const MEANING: [&str; 4] = ["units", "calendar", SCALE, OFFSET];

/// The labels of a message.
#[derive(Debug, Default)]
pub(super) struct Axes {
    files: Vec<File>,
    /// Which of them an object belongs to.
    of_objects: Vec<usize>,
    /// Objects of which it is not known, where that counts, and what is to be said of them.
    pub(super) doubts: Vec<(usize, String)>,
}

/// The objects that came from one file.
#[derive(Debug, Default)]
struct File {
    names: BTreeSet<String>,
    /// The length and the digest of the labels, by the path of their dimension.
    labels: BTreeMap<String, (u64, u64)>,
}

impl Axes {
    /// The labels of a message. Labels that cannot be read are none: that is reported when their variable is written.
    pub(super) fn of(all: &Given<'_>) -> Self {
        let mut found = Self { files: vec![File::default()], ..Self::default() };
        for (name, texts) in Texts::of_message(all.global) {
            let Some((name, texts)) = name.zip(texts) else { continue };
            if texts.dimensions == [Some(name)]
                && let Some(file) = found.files.last_mut()
            {
                file.labels.insert(name.to_string(), (texts.values.len() as u64, digest(&texts.values)));
            }
        }
        for (index, object) in all.objects.iter().enumerate() {
            found.add(all, (index, object));
        }
        found.doubts = found.doubts_of(all);
        found
    }

    /// The digest of the labels along a dimension of this path and length, as an object sees them. `None` stands for what
    /// belongs to the message as a whole.
    pub(super) fn labels(&self, object: Option<usize>, path: &str, len: u64) -> Option<u64> {
        let file = object.map_or(Some(0), |object| self.of_objects.get(object).copied());
        let (own, digest) = self.files.get(file?)?.labels.get(path)?;
        (*own == len).then_some(*digest)
    }

    /// The same for each dimension of texts.
    pub(super) fn of_texts(&self, object: Option<usize>, texts: &Texts<'_>) -> Vec<Option<u64>> {
        let labels = |(path, len): (Option<&str>, &u64)| self.labels(object, path?, *len);
        texts.dimensions.iter().copied().zip(&texts.shape).map(labels).collect()
    }

    fn add(&mut self, all: &Given<'_>, (index, object): (usize, &DataObject<'_>)) {
        let first = all.first(index);
        let name = all.called(first).unwrap_or_default();
        let name = name.trim_matches('/');
        let is_again = first == index && self.files.last().is_some_and(|file| file.names.contains(name));
        if is_again && !name.is_empty() {
            self.files.push(File::default());
        }
        let number = self.of_objects.get(first).copied().unwrap_or(self.files.len() - 1);
        self.of_objects.push(number);
        let Some(file) = self.files.get_mut(number) else { return };
        file.names.insert(name.to_string());
        let Some(entry) = all.entry(first) else { return };
        let is_axis = dimensions(entry).eq([Some(leaf(name))]);
        if !is_axis {
            return;
        }
        let shape = all.shape(index);
        if let Some(texts) = Texts::of_object(entry, &shape) {
            file.labels.insert(name.to_string(), (texts.values.len() as u64, digest(&texts.values)));
            return;
        }
        let piece = all.piece(index);
        let whole = piece.map_or(&shape, |piece| &piece.whole);
        let ([len], 1) = (whole.as_slice(), shape.len()) else { return };
        let options = DecodeOptions { native_byte_order: true, ..all.decode.clone() };
        let Ok(values) = read(object).options(&options).bytes() else {
            file.labels.remove(name);
            return;
        };
        let of_pieces = file.labels.get(name).filter(|_| first != index).map(|(_, digest)| *digest);
        if first == index || of_pieces.is_some() {
            let attributes = entry.get("attributes").and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
            let meaning = attributes.iter().filter(|(key, _)| key.as_text().is_some_and(|key| MEANING.contains(&key)));
            let meaning: Vec<String> = meaning.map(|entry| format!("{entry:?}")).collect();
            let time = entry.get(TIME).map(|time| format!("{time:?}"));
            let origin = piece.map(|piece| &piece.origin);
            let own = (object.descriptor().dtype().name(), values, meaning, time, origin);
            file.labels.insert(name.to_string(), (*len, digest(&(of_pieces, own))));
        }
    }

    /// Objects that lie between two files, where dimensions of theirs have other labels in each.
    fn doubts_of(&self, all: &Given<'_>) -> Vec<(usize, String)> {
        let (mut known, mut several) = (BTreeMap::new(), BTreeSet::new());
        for (path, labels) in self.files.iter().flat_map(|file| &file.labels) {
            if *known.entry(path).or_insert(labels) != labels {
                several.insert(path);
            }
        }
        let mut doubts = Vec::new();
        if several.is_empty() {
            return doubts;
        }
        for index in 0..all.objects.len() {
            let (Some(name), Some(entry)) = (all.called(index), all.entry(index)) else { continue };
            if self.files.iter().all(|file| file.names.contains(name.trim_matches('/'))) {
                continue;
            }
            let group = group_of(name.trim_matches('/'));
            let is_several =
                |name: &&str| [(*name).to_string(), path_in(group, name)].iter().any(|it| several.contains(it));
            let told = |name| format!("which labels {name} has: the message has labels of several files");
            doubts.extend(dimensions(entry).flatten().filter(is_several).map(|name| (index, told(name))));
        }
        doubts
    }
}

/// The names of the dimensions of an object.
fn dimensions(entry: &BTreeMap<String, Value>) -> impl Iterator<Item = Option<&str>> {
    entry.get("dimensions").and_then(Value::as_array).into_iter().flatten().map(Value::as_text)
}

fn digest(labels: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    labels.hash(&mut hasher);
    hasher.finish()
}
