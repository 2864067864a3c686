//! Paths of arrays that fit a directory and each other.

use std::collections::BTreeSet;

use super::DESCRIPTION;

/// The paths of a store: each has one array or is a group.
#[derive(Debug, Default)]
pub(super) struct Names {
    arrays: BTreeSet<String>,
    groups: BTreeSet<String>,
}

impl Names {
    /// Takes a path near `wanted` for an array: other characters where a directory cannot have them, and a number at its
    /// end where it is taken.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        let safe: Vec<String> = wanted.split('/').filter(|part| !part.is_empty()).map(safe).collect();
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

    /// All groups but the root.
    pub(super) fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(String::as_str)
    }
}

/// The paths above a path, without the root.
pub(super) fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end))
}

/// A part of a path that is a name of one directory.
fn safe(part: &str) -> String {
    let is_dots = part.chars().all(|char| char == '.');
    let replaced = |char: char| if char.is_control() || matches!(char, '\\' | ':') { '_' } else { char };
    let text: String = part.chars().map(replaced).take(200).collect();
    if is_dots || text.starts_with("__") || text == DESCRIPTION {
        format!("_{}", text.replace('.', "_").trim_start_matches('_'))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within_the_store_and_apart() {
        let mut names = Names::default();
        for (wanted, taken) in [
            ("2t", "2t"),
            ("2t", "2t_1"),
            ("2t/x", "2t_x"),
            ("g/a", "g/a"),
            ("g", "g_1"),
            ("../../etc/passwd", "_/_/etc/passwd"),
            ("/abs//path/", "abs/path"),
            ("", "array"),
            ("__x", "_x"),
            ("zarr.json", "_zarr_json"),
            ("a\\b\n", "a_b_"),
        ] {
            assert_eq!(names.take(wanted), taken, "{wanted:?}");
        }
        assert_eq!(names.groups().collect::<Vec<_>>(), ["_", "_/_", "_/_/etc", "abs", "g"]);
    }
}
