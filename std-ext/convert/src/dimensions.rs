//! Dimensions: their names, and the groups that have them.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{Names, above, leaf, numbered};

/// The path of what is in a group. That of the root is empty.
pub(super) fn path_in(group: &str, name: &str) -> String {
    if group.is_empty() { name.to_string() } else { format!("{group}/{name}") }
}

/// The group of a path. That of the root is empty.
pub(super) fn group_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(group, _)| group)
}

/// The dimensions that are there, by group and name. The root's path is empty.
#[derive(Debug, Default)]
pub(super) struct Dimensions {
    known: BTreeMap<(String, String), Dimension>,
    /// The names of all of them.
    names: BTreeSet<String>,
    /// The numbers that equal dimensions have after a name, so that many dimensions of one name take no search each.
    numbers: BTreeMap<(String, Dimension), BTreeSet<u64>>,
    /// By group and name, how many numbers are taken there without a gap.
    taken: BTreeMap<(String, String), u64>,
    /// The names of the latest dimensions with labels, by their group and the wanted name.
    latest: BTreeMap<(String, String), String>,
    /// Groups and names that variables have looked up, in a group above. A new dimension there would hide what they found.
    passed: BTreeSet<(String, String)>,
    /// The paths that wait for the coordinates of dimensions.
    reserved: BTreeSet<String>,
    /// Unlimited dimensions of the root that the variables without records have, by the wanted names. The records that follow have
    /// them too.
    ahead: BTreeMap<String, String>,
}

/// A dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dimension {
    pub(super) len: u64,
    pub(super) is_unlimited: bool,
    /// A digest of the labels along it: the values of the variable of its name. `None` if they are not known.
    pub(super) labels: Option<u64>,
}

/// A dimension that a variable asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'w> {
    /// The group of the variable, which sees the dimensions of its own group and of the groups above.
    pub(super) group: &'w str,
    /// The group that has the dimension, where that is known: `group` or one above.
    pub(super) place: Option<&'w str>,
    pub(super) name: &'w str,
    pub(super) dimension: Dimension,
    /// Whether the labels, if there are some, are a variable in its place. Otherwise they lie in a group above.
    pub(super) has_variable: bool,
}

/// The name of a dimension for a variable, and where it has to be made, if it is not there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) name: String,
    /// The path of the new dimension.
    pub(super) make: Option<String>,
    /// What is said of a name that is not the wanted one.
    pub(super) told: Option<String>,
}

impl Dimensions {
    /// Takes a dimension for a variable.
    ///
    /// | the variable sees under the wanted name | it gets |
    /// |---|---|
    /// | this dimension, in its place | that one |
    /// | nothing | a new one in its place, or the root |
    /// | another dimension, in a group above | a new one in its place, or in `group` |
    /// | another dimension, in its place or in `group` itself | one whose name has a number after it, by the same rules |
    ///
    /// Dimensions are the same if their lengths and their labels are. One whose labels are not known is the same as any: of
    /// several, the latest. The variable with the labels has the name of its dimension, and that path is kept for it. It lies in
    /// the place of the dimension, or in the root. A new dimension hides none that other variables use.
    pub(super) fn take(&mut self, wanted: &Wanted<'_>, names: &mut Names) -> Taken {
        let mut wanted = *wanted;
        if wanted.dimension.labels.is_some() {
            wanted.place = Some(wanted.place.unwrap_or_default());
        }
        let (home, name, is_new) = self.search(&wanted, names);
        let Wanted { group, name: asked, dimension, .. } = wanted;
        let told = (name != asked).then(|| {
            let seen = self.seen(group, asked).map(|(_, seen)| seen);
            let why = match seen {
                Some(seen) if (seen.len, seen.is_unlimited) != (dimension.len, dimension.is_unlimited) => {
                    format!("{asked} has another length")
                }
                Some(_) => format!("{asked} has other labels"),
                None => format!("{asked} is taken"),
            };
            format!("dimension {asked}: it becomes {name}, as {why}")
        });
        let path = path_in(&home, &name);
        let known = self.known.get(&(home.clone(), name.clone())).copied();
        if is_new || known.is_some_and(|known| known.labels.is_none() && dimension.labels.is_some()) {
            self.insert(&home, &name, dimension);
            if dimension.labels.is_some() && wanted.has_variable {
                self.reserved.insert(names.take(&path));
            }
        }
        if dimension.labels.is_some() {
            self.latest.insert((home.clone(), asked.to_string()), name.clone());
        }
        for between in above(group).chain((!group.is_empty()).then_some(group)).filter(|it| it.len() > home.len()) {
            self.passed.insert((between.to_string(), name.clone()));
        }
        Taken { name, make: is_new.then_some(path), told }
    }

    /// The group and the name of the dimension that [`Self::take`] takes, and whether it is new.
    fn search(&mut self, wanted: &Wanted<'_>, names: &Names) -> (String, String, bool) {
        let Wanted { group, place, name: asked, dimension, .. } = *wanted;
        if dimension.labels.is_none() {
            for own in seen_from(group) {
                let latest = self.latest.get(&(own.to_string(), asked.to_string()));
                if let Some(name) = latest.filter(|name| self.owner(wanted, name, names) == Some(own)) {
                    return (own.to_string(), name.clone(), false);
                }
            }
        }
        let here = (group.to_string(), asked.to_string());
        let mut number = self.taken.get(&here).copied().unwrap_or_default();
        // Below that number lie only dimensions of the group itself: this one, or others.
        let key = |labels| (asked.to_string(), Dimension { labels, ..dimension });
        let ranges = match dimension.labels {
            None => vec![key(None)..=key(Some(u64::MAX))],
            labels => vec![key(None)..=key(None), key(labels)..=key(labels)],
        };
        for (_, equal) in ranges.into_iter().flat_map(|range| self.numbers.range(range)) {
            for name in equal.range(..number).map(|number| numbered(asked, *number)) {
                if let Some(own) = self.owner(wanted, &name, names) {
                    return (own.to_string(), name, false);
                }
            }
        }
        let mut is_without_gap = true;
        loop {
            let name = numbered(asked, number);
            if let Some(own) = self.owner(wanted, &name, names) {
                return (own.to_string(), name, false);
            }
            let seen = self.seen(group, &name).map(|(own, _)| own);
            let home = match seen {
                None => Some(place.unwrap_or_default()),
                // A dimension further in than its place would hide it.
                Some(own) if own != group && place.is_none_or(|place| place.len() > own.len()) => {
                    Some(place.unwrap_or(group))
                }
                Some(_) => None,
            };
            // Labels need this path, and another variable there would pass for labels.
            let is_open = |home: &&str| {
                let may_be_variable = number == 0 && !(dimension.labels.is_some() && wanted.has_variable);
                let is_named = may_be_variable || names.is_free(&path_in(home, &name));
                is_named && !self.passed.contains(&((*home).to_string(), name.clone()))
            };
            if let Some(home) = home.filter(is_open) {
                return (home.to_string(), name, true);
            }
            is_without_gap &= seen == Some(group);
            number += 1;
            if is_without_gap {
                self.taken.insert(here.clone(), number);
            }
        }
    }

    /// The group of the dimension that a variable sees under this name, if it is the wanted one.
    fn owner<'w>(&self, wanted: &Wanted<'w>, name: &str, names: &Names) -> Option<&'w str> {
        let (own, known) = self.seen(wanted.group, name)?;
        let Dimension { len, is_unlimited, labels } = wanted.dimension;
        let has_labels = match (known.labels, labels) {
            (_, None) => true,
            (None, Some(_)) => !wanted.has_variable || names.is_free(&path_in(own, name)),
            (known, labels) => known == labels,
        };
        let is_same = has_labels && (known.len, known.is_unlimited) == (len, is_unlimited);
        (is_same && wanted.place.is_none_or(|place| place == own)).then_some(own)
    }

    /// Takes a path for a variable that is called `wanted`, whose dimensions have wanted names and the names that they got. The labels of
    /// its only dimension have the name of that.
    pub(super) fn take_path(&mut self, wanted: &str, dimensions: &[(String, String)], names: &mut Names) -> String {
        if let [(asked, taken)] = dimensions
            && leaf(wanted) == asked
        {
            let path = path_in(group_of(&names.path_of(wanted)), taken);
            if self.reserved.remove(&path) {
                return path;
            }
            if asked != taken && names.is_free(&path) {
                return names.take(&path);
            }
        }
        names.take(wanted)
    }

    /// Notes that records may follow along an unlimited dimension of the root.
    pub(super) fn expect_records(&mut self, wanted: &str, taken: &str) {
        self.ahead.insert(wanted.to_string(), taken.to_string());
    }

    /// Notes that records of the messages so far have all come.
    pub(super) fn end_records(&mut self) {
        self.ahead.clear();
    }

    /// Takes the unlimited dimension of the root for records: the one that the variables without records of the same file have, or
    /// one that no other variable has. Its length is that of its records. Also the length so far, if it is there.
    pub(super) fn take_records(&mut self, wanted: &str, names: &Names) -> (String, Option<u64>) {
        let records = Dimension { len: u64::MAX, is_unlimited: true, labels: None };
        // One with labels is of a file before.
        let ahead = self.ahead.remove(wanted);
        let has_labels = |name: &String| self.own("", name).is_some_and(|known| known.labels.is_some());
        if let Some(name) = ahead.filter(|name| !has_labels(name)) {
            // No variable of another file takes it by its length.
            let len = self.known.get(&(String::new(), name.clone())).map(|known| known.len);
            self.insert("", &name, records);
            return (name, len);
        }
        let mut number = 0_u64;
        loop {
            let name = numbered(wanted, number);
            // Its labels are a variable of the same name.
            if !self.names.contains(&name) && names.is_free(&name) {
                self.insert("", &name, records);
                return (name, None);
            }
            number += 1;
        }
    }

    /// The dimension of this name in a group itself.
    pub(super) fn own(&self, group: &str, name: &str) -> Option<Dimension> {
        self.known.get(&(group.to_string(), name.to_string())).copied()
    }

    /// Whether a dimension of this name is there, in any group.
    pub(super) fn is_there(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Notes a dimension of the root that no other object takes by its length.
    pub(super) fn add_own(&mut self, name: &str, len: u64) {
        self.insert("", name, Dimension { len, is_unlimited: false, labels: None });
    }

    /// The dimension of this name that a variable in `group` sees, after the group that has it.
    fn seen<'w>(&self, group: &'w str, name: &str) -> Option<(&'w str, Dimension)> {
        let found = |group: &'w str| Some((group, *self.known.get(&(group.to_string(), name.to_string()))?));
        seen_from(group).find_map(found)
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
}

/// A group and those above it, the root last.
pub(super) fn seen_from(group: &str) -> impl Iterator<Item = &str> {
    let cuts = group.rmatch_indices('/').filter_map(|(end, _)| group.get(..end));
    std::iter::once(group).chain(cuts).chain((!group.is_empty()).then_some(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dimensions, and the names of variables beside them.
    struct Beside(Dimensions, Names);

    impl Beside {
        fn new() -> Self {
            Self(Dimensions::default(), Names::new(str::to_string))
        }

        /// The name of a dimension, and where it is made.
        fn take(
            &mut self,
            (group, place): (&str, Option<&str>),
            name: &str,
            (len, labels): (u64, Option<u64>),
        ) -> (String, String) {
            let dimension = Dimension { len, is_unlimited: false, labels };
            let taken = self.0.take(&Wanted { group, place, name, dimension, has_variable: true }, &mut self.1);
            (taken.name, taken.make.unwrap_or_default())
        }
    }

    fn pair(name: &str, made: &str) -> (String, String) {
        (name.to_string(), made.to_string())
    }

    #[test]
    fn many_lengths_and_labels_of_one_name_are_numbered_and_found_again() {
        for labelled in [false, true] {
            let mut all = Beside::new();
            for round in 0..2 {
                for number in 0..5_000 {
                    let dimension = if labelled { (3, Some(number)) } else { (number, None) };
                    let (name, made) = all.take(("", None), "x", dimension);
                    assert_eq!((name, !made.is_empty()), (numbered("x", number), round == 0));
                }
            }
        }
        let mut all = Beside::new();
        (0..8).for_each(|len| drop(all.take(("", None), "x", (len, None))));
        assert_eq!(all.take(("g", None), "x", (7, None)), pair("x", "g/x"));
        assert_eq!(all.take(("", None), "x_3", (9, None)), pair("x_3_1", "x_3_1"));
        assert_eq!(all.take(("", None), "x_3_1", (9, None)), pair("x_3_1", ""));
    }

    #[test]
    fn dimensions_are_shared_where_their_lengths_are_the_same() {
        let mut all = Beside::new();
        let mut take = |group: &str, name: &str, len| all.take((group, None), name, (len, None));
        assert_eq!(take("", "x", 3), pair("x", "x"));
        assert_eq!(take("g", "x", 3), pair("x", ""));
        assert_eq!(take("h", "x", 4), pair("x", "h/x"));
        assert_eq!(take("h/i", "x", 4), pair("x", ""));
        assert_eq!(take("h/i", "x", 5), pair("x_1", "x_1"));
        assert_eq!(take("h/j", "x", 5), pair("x", "h/j/x"));
        assert_eq!(take("", "x", 4), pair("x_2", "x_2"));
        let mut take = |group: &str, place: &str, len| all.take((group, Some(place)), "y", (len, None));
        assert_eq!(take("g/h", "g", 3), pair("y", "g/y"));
        assert_eq!(take("g", "g", 3), pair("y", ""));
        assert_eq!(take("g/i", "g/i", 3), pair("y", "g/i/y"));
        assert_eq!(take("", "", 3), pair("y", "y"));
        assert_eq!(all.0.take_records("x", &all.1), ("x_3".to_string(), None));
        assert_eq!(crate::names::unnamed(&[2, 3, 2]), ["dim_2", "dim_3", "dim_2_1"]);
    }

    #[test]
    fn a_dimension_hides_none_that_variables_use() {
        let mut all = Beside::new();
        assert_eq!(all.take(("", None), "x", (4, None)), pair("x", "x"));
        assert_eq!(all.take(("g/h", None), "x", (4, None)), pair("x", ""));
        // In `g` it would be what `g/h` sees.
        assert_eq!(all.take(("g", None), "x", (3, None)), pair("x_1", "x_1"));
        assert_eq!(all.take(("g", Some("g")), "x", (3, None)), pair("x_2", "g/x_2"));
        assert_eq!(all.take(("i", None), "x", (3, None)), pair("x", "i/x"));
    }

    #[test]
    fn dimensions_with_other_labels_are_others_and_keep_a_path_for_them() {
        let mut all = Beside::new();
        assert_eq!(all.take(("", None), "x", (3, Some(1))), pair("x", "x"));
        assert_eq!(all.1.take("x_1"), "x_1");
        assert_eq!(all.take(("", None), "x", (3, Some(2))), pair("x_2", "x_2"));
        let mut path = |taken: &str| all.0.take_path("x", &[("x".to_string(), taken.to_string())], &mut all.1);
        assert_eq!([path("x"), path("x_2"), path("x"), path("x_2")], ["x", "x_2", "x_3", "x_4"]);
        // Without labels it is the latest, and what is there gets the labels that come later.
        assert_eq!(all.take(("g", None), "x", (3, None)), pair("x_2", ""));
        assert_eq!(all.take(("", None), "x", (3, Some(1))), pair("x", ""));
        assert_eq!(all.take(("g", None), "x", (3, None)), pair("x", ""));
        assert_eq!(all.take(("", None), "y", (3, None)), pair("y", "y"));
        assert_eq!(all.take(("", None), "y", (3, Some(7))), pair("y", ""));
        assert_eq!(all.0.take_path("y", &[("y".to_string(), "y".to_string())], &mut all.1), "y");
        assert_eq!(all.take(("", None), "y", (3, Some(8))), pair("y_1", "y_1"));
    }
}
