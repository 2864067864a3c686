//! Dimensions: their names, and the groups that have them.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::above;

/// The path of what is in a group. That of the root is empty.
pub(super) fn path_in(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_string() } else { format!("{group}/{name}") }
}

/// The dimensions that are there, by group and name. The root's path is empty.
#[derive(Debug, Default)]
pub(super) struct Dimensions {
    known: BTreeMap<(String, String), Dimension>,
}

/// A dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    pub(super) len: u64,
    pub(super) is_unlimited: bool,
}

/// The name of a dimension for a variable, and where it has to be made, if it is not there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) name: String,
    /// The path of the new dimension.
    pub(super) make: Option<String>,
}

impl Dimensions {
    /// Takes a dimension for a variable in `group`. A variable sees the dimensions of its own group and of the groups above.
    /// `place` is the group that has the dimension, where that is known: `group` or one above.
    ///
    /// | the variable sees under the wanted name | it gets |
    /// |---|---|
    /// | this dimension, in its place | that one |
    /// | nothing | a new one in its place, or the root |
    /// | another dimension, in a group above | a new one in its place, or in `group` |
    /// | another dimension, in its place or in `group` itself | one whose name has a number behind it, by the same rules |
    pub(super) fn take(&mut self, (group, place): (&str, Option<&str>), wanted: &str, dimension: Dimension) -> Taken {
        let mut number = 0_u64;
        loop {
            let name = if number == 0 { wanted.to_string() } else { format!("{wanted}_{number}") };
            match self.seen(group, &name) {
                Some((own, known)) if known == dimension && place.is_none_or(|place| place == own) => {
                    return Taken { name, make: None };
                }
                None => return self.make(place.unwrap_or_default(), name, dimension),
                // A dimension further in than its place would hide it.
                Some((own, _)) if own != group && place.is_none_or(|place| place.len() > own.len()) => {
                    return self.make(place.unwrap_or(group), name, dimension);
                }
                Some(_) => number += 1,
            }
        }
    }

    /// Takes an unlimited dimension of the root that no other variable has. Its length is that of its records.
    pub(super) fn take_records(&mut self, wanted: &str) -> Taken {
        let mut number = 0_u64;
        loop {
            let name = if number == 0 { wanted.to_string() } else { format!("{wanted}_{number}") };
            if !self.known.keys().any(|(_, known)| *known == name) {
                return self.make("", name, Dimension { len: u64::MAX, is_unlimited: true });
            }
            number += 1;
        }
    }

    /// Whether a dimension of this name is there, in any group.
    #[cfg(feature = "grib")]
    pub(super) fn is_there(&self, name: &str) -> bool {
        self.known.keys().any(|(_, known)| known == name)
    }

    /// Notes a dimension of the root that no other object takes by its length.
    #[cfg(feature = "grib")]
    pub(super) fn add_own(&mut self, name: &str, len: u64) {
        self.known.insert((String::new(), name.to_string()), Dimension { len, is_unlimited: false });
    }

    /// The dimension of this name that a variable in `group` sees, and the group that has it.
    fn seen(&self, group: &str, name: &str) -> Option<(String, Dimension)> {
        let mut groups: Vec<&str> = std::iter::once("").chain(above(group)).collect();
        if !group.is_empty() {
            groups.push(group);
        }
        groups.into_iter().rev().find_map(|group| {
            let known = self.known.get(&(group.to_string(), name.to_string()))?;
            Some((group.to_string(), *known))
        })
    }

    fn make(&mut self, group: &str, name: String, dimension: Dimension) -> Taken {
        self.known.insert((group.to_string(), name.clone()), dimension);
        let path = path_in(group, &name);
        Taken { name, make: Some(path) }
    }
}

/// Names for dimensions that have none: by their lengths, and all of a variable apart.
pub(super) fn unnamed(shape: &[u64]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let name = |len: &u64| {
        let names =
            (0_u64..).map(|number| if number == 0 { format!("dim_{len}") } else { format!("dim_{len}_{number}") });
        let name = names.into_iter().find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(name.clone());
        name
    };
    shape.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_shared_where_their_lengths_are_the_same() {
        let mut dimensions = Dimensions::default();
        let mut take = |group: &str, name: &str, len| {
            let taken = dimensions.take((group, None), name, Dimension { len, is_unlimited: false });
            (taken.name, taken.make.unwrap_or_default())
        };
        let pair = |name: &str, made: &str| (name.to_string(), made.to_string());
        assert_eq!(take("", "x", 3), pair("x", "x"));
        assert_eq!(take("g", "x", 3), pair("x", ""));
        assert_eq!(take("g", "x", 4), pair("x", "g/x"));
        assert_eq!(take("g/h", "x", 4), pair("x", ""));
        assert_eq!(take("g/h", "x", 5), pair("x", "g/h/x"));
        assert_eq!(take("", "x", 4), pair("x_1", "x_1"));
        assert_eq!(take("g", "x", 5), pair("x_1", "g/x_1"));
        let mut take = |group: &str, place: &str, len| {
            let taken = dimensions.take((group, Some(place)), "y", Dimension { len, is_unlimited: false });
            (taken.name, taken.make.unwrap_or_default())
        };
        assert_eq!(take("g/h", "g", 3), pair("y", "g/y"));
        assert_eq!(take("g", "g", 3), pair("y", ""));
        assert_eq!(take("g/h", "g/h", 3), pair("y", "g/h/y"));
        assert_eq!(take("", "", 3), pair("y", "y"));
        assert_eq!(dimensions.take_records("x").name, "x_2");
        assert_eq!(unnamed(&[2, 3, 2]), ["dim_2", "dim_3", "dim_2_1"]);
    }
}
