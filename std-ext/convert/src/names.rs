//! Names of arrays in formats that have a tree of them, and paths that fit each other.

use std::collections::BTreeSet;

use tgm_std::GlobalMetadata;

/// Keys of an object that name its array, the first that it has.
const NAMES: [&str; 6] = ["name", "mars.param", "mars.shortName", "shortName", "param", "variable"];

/// What the metadata of an object calls it: the text at `key`, or the first name that it has.
pub(super) fn of_object(global: &GlobalMetadata, index: usize, key: Option<&str>) -> Option<String> {
    let named = |key: &str| global.get_at(index, key).and_then(|value| value.as_str().map(str::to_string));
    match key {
        Some(key) => named(key),
        None => NAMES.into_iter().find_map(named),
    }
}

/// The paths of a tree: each has one array or is a group.
#[derive(Debug)]
pub(super) struct Names {
    /// Makes a part of a path a name that the format has.
    safe: fn(&str) -> String,
    arrays: BTreeSet<String>,
    groups: BTreeSet<String>,
}

impl Names {
    /// A tree without arrays. `safe` makes a part of a path a name that the format has.
    pub(super) const fn new(safe: fn(&str) -> String) -> Self {
        Self { safe, arrays: BTreeSet::new(), groups: BTreeSet::new() }
    }

    /// Takes a path near `wanted` for an array: other characters where the format cannot have them, and a number at its
    /// end where it is taken.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let safe: Vec<String> = wanted.split('/').filter(|part| !part.is_empty()).map(self.safe).collect();
        let mut path = if safe.is_empty() { "array".to_string() } else { safe.join("/") };
        if above(&path).any(|group| self.arrays.contains(group)) {
            path = path.replace('/', "_");
        }
        let mut free = path.clone();
        let mut number = 0_u64;
        while self.arrays.contains(&free) || self.groups.contains(&free) {
            number += 1;
            free = format!("{path}_{number}");
        }
        self.arrays.insert(free.clone());
        self.groups.extend(above(&free).map(str::to_string));
        free
    }

    /// Whether an array has this path.
    #[cfg(feature = "netcdf")]
    pub(super) fn is_taken(&self, path: &str) -> bool {
        self.arrays.contains(path)
    }

    /// All groups but the root.
    #[cfg(feature = "zarr")]
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(String::as_str)
    }
}

/// The paths above a path, without the root.
pub(super) fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end))
}
