//! What tells cubes of one name apart: their types of level, their classes, streams, types, experiments and domains.

use std::collections::{HashMap, HashSet};

use crate::assemble::candidate::Candidate;
use crate::columns::SPLITS;
use crate::label::Label;

/// What a cube has for a key that tells cubes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value<'c> {
    Level(&'c str),
    /// A key with its label, if all objects have one, and the same.
    Key(&'static str, Option<&'c Label>),
}

impl Value<'_> {
    /// The name of the key.
    pub(super) const fn key(&self) -> &'static str {
        match self {
            Self::Level(_) => "type of level",
            Self::Key(key, _) => key,
        }
    }
}

/// For each cube its values of those keys by which cubes of one name and one grid differ. That name need not be its own: where `t` is on
/// model levels and on pressure levels, all cubes on either have their type of level here. A cube on the ground does not.
pub(super) fn values_apart(all: &[Candidate]) -> Vec<Vec<Value<'_>>> {
    let mut first: HashMap<(usize, &str, &str), Value<'_>> = HashMap::new();
    let mut differing: HashSet<(usize, Value<'_>)> = HashSet::new();
    for it in all {
        for value in values(it) {
            let known = *first.entry((it.grid, value.key(), it.cube.kind.name.as_str())).or_insert(value);
            if known != value {
                differing.extend([(it.grid, known), (it.grid, value)]);
            }
        }
    }
    all.iter().map(|it| values(it).filter(|value| differing.contains(&(it.grid, *value))).collect()).collect()
}

fn values(it: &Candidate) -> impl Iterator<Item = Value<'_>> {
    let of = |key: &'static str| {
        let found = it.cube.constants.iter().find(|(name, _)| name == key);
        Value::Key(key, found.map(|(_, label)| label))
    };
    std::iter::once(Value::Level(&it.cube.kind.level)).chain(SPLITS.into_iter().map(of))
}
