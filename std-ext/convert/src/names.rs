//! Names of arrays in formats that have a tree of them, and paths that fit each other.

use std::collections::{BTreeMap, BTreeSet};

use tgm_core::metadata::NAME_KEYS;
use tgm_std::GlobalMetadata;

/// What the metadata of an object calls it: the text at `key`, or the first name that it has.
pub(super) fn of_object(global: &GlobalMetadata, index: usize, key: Option<&str>) -> Option<String> {
    let named = |key: &str| global.get_at(index, key).and_then(|value| value.as_str().map(str::to_string));
    match key {
        Some(key) => named(key),
        None => NAME_KEYS.into_iter().find_map(named),
    }
}

/// How deep an array lies at most. Deeper paths have the rest of their names in one.
const MAX_DEPTH: usize = 32;

/// The paths of a tree: each has one array or is a group.
#[derive(Debug)]
pub(super) struct Names {
    /// Makes a part of a path a name that the format has.
    safe: fn(&str) -> String,
    arrays: BTreeSet<String>,
    groups: BTreeSet<String>,
    /// The last number after each path, so that many arrays of one name take no search each.
    numbers: BTreeMap<String, u64>,
}

impl Names {
    /// A tree without arrays. `safe` makes a part of a path a name that the format has.
    pub(super) const fn new(safe: fn(&str) -> String) -> Self {
        Self { safe, arrays: BTreeSet::new(), groups: BTreeSet::new(), numbers: BTreeMap::new() }
    }

    /// The path for an array that is called `wanted`: other characters where the format cannot have them.
    pub(super) fn path_of(&self, wanted: &str) -> String {
        let parts = wanted.splitn(MAX_DEPTH, '/').filter(|part| !part.is_empty());
        let safe: Vec<String> = parts.map(|part| (self.safe)(&part.replace('/', "_"))).collect();
        let path = if safe.is_empty() { "array".to_string() } else { safe.join("/") };
        if above(&path).any(|group| self.arrays.contains(group)) { path.replace('/', "_") } else { path }
    }

    /// Whether no array and no group has this path, and no array lies above it.
    pub(super) fn is_free(&self, path: &str) -> bool {
        !self.arrays.contains(path)
            && !self.groups.contains(path)
            && !above(path).any(|group| self.arrays.contains(group))
    }

    /// Takes a path near `wanted` for an array, with a number at its end where it is taken.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let path = self.path_of(wanted);
        let mut free = path.clone();
        while self.arrays.contains(&free) || self.groups.contains(&free) {
            let number = self.numbers.entry(path.clone()).or_default();
            *number += 1;
            free = format!("{path}_{number}");
        }
        self.arrays.insert(free.clone());
        self.groups.extend(above(&free).map(str::to_string));
        free
    }

    /// All groups but the root.
    #[cfg(feature = "zarr")]
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(String::as_str)
    }

    /// Whether a group of this path fits beside the arrays: its names are names of the format.
    #[cfg(feature = "zarr")]
    pub(super) fn may_be_group(&self, path: &str) -> bool {
        let is_safe = |part: &str| !part.is_empty() && (self.safe)(part) == part;
        let is_array = |path: &str| self.arrays.contains(path);
        path.split('/').count() <= MAX_DEPTH
            && path.split('/').all(is_safe)
            && !is_array(path)
            && !above(path).any(is_array)
    }
}

/// The name at the end of a path.
pub(super) fn leaf(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The paths above a path, without the root.
pub(super) fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end))
}

/// Names for dimensions that have none: by their lengths, and all of a variable apart.
pub(super) fn unnamed(shape: &[u64]) -> Vec<String> {
    // Names of different lengths differ.
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let name = |len: &u64| {
        let count = counts.entry(*len).or_default();
        let name = numbered(&format!("dim_{len}"), *count);
        *count += 1;
        name
    };
    shape.iter().map(name).collect()
}

/// A name, with a number after it that is not 0.
pub(super) fn numbered(name: &str, number: u64) -> String {
    if number == 0 { name.to_string() } else { format!("{name}_{number}") }
}
