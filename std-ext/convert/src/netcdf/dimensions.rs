//! Dimensions: their names, and the groups that have them.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{above, numbered};

/// The path of what is in a group. That of the root is empty.
pub(super) fn path_in(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_string() } else { format!("{group}/{name}") }
}

/// The dimensions that are there, by group and name. The root's path is empty.
#[derive(Debug, Default)]
pub(super) struct Dimensions {
    known: BTreeMap<(String, String), Dimension>,
    /// The names of all of them.
    names: BTreeSet<String>,
    /// The numbers that equal dimensions have behind a name, so that many dimensions of one name take no search each.
    numbers: BTreeMap<(String, Dimension), BTreeSet<u64>>,
    /// By group and name, how many numbers are taken there without a gap.
    taken: BTreeMap<(String, String), u64>,
}

/// A dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
        let is_same = |found: &Option<(String, Dimension)>| {
            found.as_ref().is_some_and(|(own, known)| *known == dimension && place.is_none_or(|place| place == own))
        };
        let here = (group.to_string(), wanted.to_string());
        let mut number = self.taken.get(&here).copied().unwrap_or_default();
        // Below that number lie only dimensions of the group itself: this one, or others.
        let equal = self.numbers.get(&(wanted.to_string(), dimension)).into_iter().flatten();
        for number in equal.take_while(|equal| **equal < number) {
            let name = numbered(wanted, *number);
            if is_same(&self.seen(group, &name)) {
                return Taken { name, make: None };
            }
        }
        let mut is_without_gap = true;
        loop {
            let name = numbered(wanted, number);
            let found = self.seen(group, &name);
            if is_same(&found) {
                return Taken { name, make: None };
            }
            match found {
                None => return self.make(place.unwrap_or_default(), name, dimension),
                // A dimension further in than its place would hide it.
                Some((own, _)) if own != group && place.is_none_or(|place| place.len() > own.len()) => {
                    return self.make(place.unwrap_or(group), name, dimension);
                }
                Some((own, _)) => is_without_gap &= own == group,
            }
            number += 1;
            if is_without_gap {
                self.taken.insert(here.clone(), number);
            }
        }
    }

    /// Takes an unlimited dimension of the root that no other variable has. Its length is that of its records.
    pub(super) fn take_records(&mut self, wanted: &str) -> Taken {
        let mut number = 0_u64;
        loop {
            let name = numbered(wanted, number);
            if !self.names.contains(&name) {
                return self.make("", name, Dimension { len: u64::MAX, is_unlimited: true });
            }
            number += 1;
        }
    }

    /// Whether a dimension of this name is there, in any group.
    pub(super) fn is_there(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Notes a dimension of the root that no other object takes by its length.
    pub(super) fn add_own(&mut self, name: &str, len: u64) {
        self.insert("", name, Dimension { len, is_unlimited: false });
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

    fn insert(&mut self, group: &str, name: &str, dimension: Dimension) {
        self.known.insert((group.to_string(), name.to_string()), dimension);
        self.names.insert(name.to_string());
        let mut note = |name: &str, number| {
            self.numbers.entry((name.to_string(), dimension)).or_default().insert(number);
        };
        note(name, 0);
        let number = name.rsplit_once('_').and_then(|(wanted, number)| Some((wanted, number.parse().ok()?)));
        if let Some((wanted, number)) = number {
            note(wanted, number);
        }
    }

    fn make(&mut self, group: &str, name: String, dimension: Dimension) -> Taken {
        self.insert(group, &name, dimension);
        let path = path_in(group, &name);
        Taken { name, make: Some(path) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lengths_of_one_name_are_numbered_and_found_again() {
        let mut dimensions = Dimensions::default();
        let of = |len| Dimension { len, is_unlimited: false };
        for round in 0..2 {
            for len in 0..5_000 {
                let taken = dimensions.take(("", None), "x", of(len));
                assert_eq!((taken.name, taken.make.is_some()), (numbered("x", len), round == 0));
            }
        }
        assert_eq!(dimensions.take(("g", None), "x", of(7)).make.as_deref(), Some("g/x"));
        assert_eq!(dimensions.take(("", None), "x_3", of(9)).name, "x_3_1");
        assert_eq!(dimensions.take(("", None), "x_3_1", of(9)).make, None);
    }

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
        assert_eq!(crate::names::unnamed(&[2, 3, 2]), ["dim_2", "dim_3", "dim_2_1"]);
    }
}
