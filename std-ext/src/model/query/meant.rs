//! Keys of a query that metadata do not have, and the keys that may be meant.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::metadata::RESERVED_KEY;

use super::Query;
use super::alias::{names, spellings};
use super::expr::{Condition, VERSION_KEY};
use super::structure::Structure;
use crate::model::metadata::{segment, segments};
use crate::model::types::GlobalMetadata;

/// Keys that are proposed at most.
const PROPOSED: usize = 3;
/// How deep maps are searched for keys, and how many keys are looked at.
const DEEPEST: usize = 8;
const MOST: usize = 10_000;
/// Longer names are compared for equality only: the distance of two names costs the product of their lengths.
const LONGEST: usize = 64;

impl Query {
    /// Says why the query selects nothing, if its keys or its values look like slips: a sentence for the keys that `metadata` lack, with
    /// the keys that may be meant, or for a value that no metadata of the form that is there can have. `None` if neither is so.
    ///
    /// The metadata are of a message that was asked, such as the first one.
    ///
    /// ```
    /// use tgm_std::metadata::Query;
    ///
    /// let bytes = std::fs::read("../tests/data/realistic/surface-181x360.tgm")?;
    /// let metadata = tgm_std::decode_metadata(&bytes)?;
    /// let query: Query = "mars.parm=2t".parse()?;
    /// let hint = "no object matches the query: the metadata have no key mars.parm; did you mean mars.param?";
    /// assert_eq!(query.hint(&metadata).as_deref(), Some(hint));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hint(&self, metadata: &GlobalMetadata) -> Option<String> {
        let mut asked: Vec<&str> = Vec::new();
        for key in self.keys() {
            let is_structural = key == VERSION_KEY || Structure::of_key(key).is_some();
            if !is_structural && !asked.contains(&key) && !names(key).any(|name| metadata.contains(name)) {
                asked.push(key);
            }
        }
        let hints = asked.into_iter().filter_map(|key| {
            let meant = similar_keys(metadata, key);
            (!meant.is_empty()).then(|| format!("no key {key}; did you mean {}?", meant.join(" or ")))
        });
        let hints: Vec<_> = hints.collect();
        if hints.is_empty() {
            let mut conditions = self.root().asked().into_iter();
            let misfit = conditions.find_map(|it| {
                let keys = spellings(&it.key).unwrap_or_default();
                let value = metadata.get_value(&it.key).or_else(|| keys.iter().find_map(|key| metadata.get_value(key)));
                it.why_misfit_owned(value?)
            });
            return misfit.map(|misfit| format!("no object matches the query: {misfit}"));
        }
        let hints = hints.join(" They have ");
        Some(format!("no object matches the query: the metadata have {hints}"))
    }
}

impl Condition {
    /// Why the condition cannot hold for any value of the form that this one has: `date is 20260115, and January is not of this form`.
    /// `None` if the form is not the reason.
    pub fn why_misfit(&self, value: &tgm_core::cbor::Value<'_>) -> Option<String> {
        let asked = self.misfit(value)?;
        let shown = super::text::json(value).ok()?;
        Some(format!("{} is {shown}, and {asked} is not of this form", self.key))
    }

    /// [`Self::why_misfit`] of owned metadata.
    fn why_misfit_owned(&self, value: &Value) -> Option<String> {
        let mut bytes = Vec::new();
        ciborium::into_writer(value, &mut bytes).ok()?;
        self.why_misfit(&tgm_core::cbor::Value::parse(&bytes, 0).ok()?)
    }
}

/// Keys in `metadata` that may be meant by `key`, which is missing there: three at most.
///
/// These have the same last name in small or capital letters. If there are none, they have a similar one.
///
/// Cost: a walk over all keys, and the distance of the names.
pub fn similar_keys(metadata: &GlobalMetadata, key: &str) -> Vec<String> {
    let Some(asked) = segments(key).last().map(str::to_lowercase) else { return Vec::new() };
    let mut known = BTreeMap::new();
    for entries in metadata.base.iter().chain([&metadata.extra]) {
        for (key, value) in entries {
            collect("", key, value, DEEPEST, &mut known);
        }
    }
    let nearest = known.values().filter_map(|name| distance(name, &asked)).min();
    let is_nearest = |(path, name): (String, String)| (distance(&name, &asked)? == nearest?).then_some(path);
    known.into_iter().filter_map(is_nearest).take(PROPOSED).collect()
}

/// Adds the paths at and below `key`, each with its last name in small letters.
fn collect(place: &str, key: &str, value: &Value, depth: usize, known: &mut BTreeMap<String, String>) {
    if known.len() >= MOST || key == RESERVED_KEY {
        return;
    }
    let path = format!("{place}{}", segment(key));
    if let (Value::Map(entries), Some(depth)) = (value, depth.checked_sub(1)) {
        let place = format!("{path}.");
        let entries = entries.iter().filter_map(|(key, value)| Some((key.as_text()?, value)));
        entries.for_each(|(key, value)| collect(&place, key, value, depth, known));
    }
    known.insert(path, key.to_lowercase());
}

/// How many letters differ between two names, if they are similar: one begins with the other, or a third of the letters
/// differ at most.
fn distance(name: &str, asked: &str) -> Option<usize> {
    if name == asked {
        return Some(0);
    }
    if name.len().max(asked.len()) > LONGEST {
        return None;
    }
    let (name, asked): (Vec<char>, Vec<char>) = (name.chars().collect(), asked.chars().collect());
    let (shorter, longer) = if name.len() < asked.len() { (&name, &asked) } else { (&asked, &name) };
    // The row of Levenshtein's table for the letters of `shorter` so far.
    let mut row: Vec<usize> = (0..=longer.len()).collect();
    for (index, letter) in shorter.iter().enumerate() {
        let mut before = index;
        let mut left = index + 1;
        let mut next = vec![left];
        for (other, above) in longer.iter().zip(row.iter().skip(1)) {
            left = (left + 1).min(above + 1).min(before + usize::from(letter != other));
            before = *above;
            next.push(left);
        }
        row = next;
    }
    let differing = row.last().copied()?;
    let is_beginning = shorter.len() >= 3 && longer.starts_with(shorter);
    (is_beginning || differing * 3 <= longer.len()).then_some(differing)
}
