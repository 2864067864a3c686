//! Dotted paths: whose metadata a path addresses, and setting the value that it leads to.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::metadata::{EXTRA_KEY, keys_of_path, split_path};

use crate::base::error::Result;
use crate::model::params::metadata;

/// The short form of the key `_extra_` in paths.
const EXTRA: &str = "extra";
/// The name of the list of objects in paths with the number of an object.
const BASE: &str = "base";

/// Whose metadata a dotted path addresses, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathOwner<'p> {
    /// The message: `extra.KEY` or `_extra_.KEY`. Readers look up the key, which is the rest of the path, in the
    /// message's annotations. `None` for a path without a key.
    Message(Option<&'p str>),
    /// One object: `base.NUMBER.KEY` or `base[NUMBER].KEY`, as tools print all metadata of a message. Readers do not
    /// look up such a path: the number says which object's metadata is meant, and the key is a path in it.
    Numbered {
        /// The number as it stands in the path.
        number: &'p str,
        /// The rest of the path, which may be empty.
        key: &'p str,
    },
    /// Any object: all other paths. Readers look up the whole path in the entries of each object.
    Object,
}

/// Says whose metadata the dotted `path` addresses.
///
/// ```
/// use tgm_std::metadata::{PathOwner, path_owner};
///
/// assert_eq!(path_owner("extra.run.id"), PathOwner::Message(Some("run.id")));
/// assert_eq!(path_owner("base[2].mars.param"), PathOwner::Numbered { number: "2", key: "mars.param" });
/// assert_eq!(path_owner("mars.param"), PathOwner::Object);
/// ```
///
/// Format: FORMAT §7.4.
pub fn path_owner(path: &str) -> PathOwner<'_> {
    if path.starts_with('"') {
        return PathOwner::Object;
    }
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    if let EXTRA | EXTRA_KEY = first {
        return PathOwner::Message(rest);
    }
    if let Some(number) = first.strip_prefix(BASE).and_then(|index| index.strip_prefix('[')?.strip_suffix(']')) {
        return PathOwner::Numbered { number, key: rest.unwrap_or("") };
    }
    let (number, key) = rest.map_or(("", ""), |rest| rest.split_once('.').unwrap_or((rest, "")));
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if first == BASE && is_number { PathOwner::Numbered { number, key } } else { PathOwner::Object }
}

/// Sets the value that the dotted `path` leads to in `entries`. Maps on the way are made if they are missing.
///
/// `mars.param` is the key `param` of the map `mars`, and [`GlobalMetadata::get`](crate::GlobalMetadata::get) finds it
/// under the same path. The value replaces the one that is there, but only a map can replace a map. If a map has a key
/// more than once, the last one is set and the others are removed. A key with dots that is there is set where the path
/// finds it; in double quotes it is made: `attributes."mars.param"`.
///
/// The cost is one walk over the keys of each map on the way.
///
/// # Errors
/// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for a path with an empty segment, for a path through a
/// value that is not a map, and for a value that would replace a map. `entries` are unchanged then.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use tgm_std::{GlobalMetadata, metadata::set_path};
///
/// let mut entry = BTreeMap::new();
/// set_path(&mut entry, "mars.param", "2t")?;
/// set_path(&mut entry, "mars.step", 6)?;
/// assert!(set_path(&mut entry, "mars", 5).is_err() && set_path(&mut entry, "mars.step.unit", "h").is_err());
/// let metadata = GlobalMetadata { base: vec![entry], ..GlobalMetadata::default() };
/// assert_eq!(metadata.get("mars.param").and_then(|value| value.as_str()), Some("2t"));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// Format: FORMAT §7.4.
pub fn set_path(entries: &mut BTreeMap<String, Value>, path: &str, value: impl Into<Value>) -> Result<()> {
    let value = value.into();
    if segments(path).any(str::is_empty) {
        return Err(metadata(format!("{path:?} is not a key: a segment is empty")));
    }
    let keys = keys_to(entries, path).unwrap_or_else(|| segments(path).collect());
    if let Some(reason) = obstacle(entries, &keys, &value) {
        return Err(metadata(format!("cannot set {path}: {reason}")));
    }
    let Some((first, rest)) = keys.split_first() else { return Ok(()) };
    let mut place = entries.entry(first.to_string()).or_insert_with(empty_map);
    for segment in rest {
        let Value::Map(pairs) = place else { return Ok(()) };
        let Some(next) = slot(pairs, segment) else { return Ok(()) };
        place = next;
    }
    *place = value;
    Ok(())
}

/// The keys that a path leads over to a value: its segments, or where they lead nowhere, keys with dots. `None` if it leads
/// to no value.
pub(in crate::model) fn keys_to<'p>(entries: &BTreeMap<String, Value>, path: &'p str) -> Option<Vec<&'p str>> {
    let plain: Vec<_> = segments(path).collect();
    let (first, rest) = plain.split_first()?;
    let found = entries.get(*first).and_then(|first| rest.iter().try_fold(first, |found, key| get_text(found, key)));
    if found.is_some() {
        return Some(plain);
    }
    let (mut from, mut keys, mut path) = (None, Vec::new(), path);
    loop {
        let (key, value, rest) = keys_of_path(path).find_map(|(key, rest)| {
            let value = from.map_or_else(|| entries.get(key), |map| get_text(map, key))?;
            (rest.is_none() || value.is_map()).then_some((key, value, rest))
        })?;
        keys.push(key);
        match rest {
            None => return Some(keys),
            Some(rest) => (from, path) = (Some(value), rest),
        }
    }
}

/// The segments of a dotted path, without quotes.
pub fn segments(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(path);
    std::iter::from_fn(move || {
        let (segment, behind) = split_path(rest?);
        rest = behind;
        Some(segment)
    })
}

/// A key as a segment of a dotted path: in quotes if it has a dot or begins with a quote.
///
/// ```
/// use tgm_std::metadata::segment;
///
/// assert_eq!((&*segment("param"), &*segment("mars.param")), ("param", "\"mars.param\""));
/// ```
pub fn segment(key: &str) -> Cow<'_, str> {
    if key.contains('.') || key.starts_with('"') { format!("\"{key}\"").into() } else { key.into() }
}

/// The value of a text key in a map. The last of repeated keys counts.
pub(in crate::model) fn get_text<'a>(map: &'a Value, key: &str) -> Option<&'a Value> {
    map.as_map()?.iter().rev().find(|(other, _)| other.as_text() == Some(key)).map(|(_, value)| value)
}

/// The reason why a path cannot be set, if there is one. The caller asks before it changes anything.
fn obstacle(entries: &BTreeMap<String, Value>, keys: &[&str], value: &Value) -> Option<String> {
    let (first, rest) = keys.split_first()?;
    let (mut found, mut path) = (entries.get(*first)?, segment(first).into_owned());
    for key in rest {
        let Value::Map(pairs) = found else {
            return Some(format!("{path} is not a map"));
        };
        found = &pairs.iter().rfind(|pair| is_named(pair, key))?.1;
        path = format!("{path}.{}", segment(key));
    }
    (found.is_map() && !value.is_map())
        .then(|| format!("it is a map; write {path}.KEY to set one of its keys, or give a map to replace all of it"))
}

/// The value of a key, which is an empty map if the key is new. Only the last of repeated keys stays.
fn slot<'v>(pairs: &'v mut Vec<(Value, Value)>, name: &str) -> Option<&'v mut Value> {
    let mut left = pairs.iter().filter(|pair| is_named(pair, name)).count();
    if left == 0 {
        pairs.push((name.into(), empty_map()));
        return pairs.last_mut().map(|(_, value)| value);
    }
    pairs.retain(|pair| {
        left -= usize::from(is_named(pair, name));
        !is_named(pair, name) || left == 0
    });
    pairs.iter_mut().find(|pair| is_named(pair, name)).map(|(_, value)| value)
}

/// Removes the value that the dotted `path` leads to from `entries`, if there is one. The maps above it stay.
pub fn remove_path(entries: &mut BTreeMap<String, Value>, path: &str) {
    let Some(keys) = keys_to(entries, path) else { return };
    let Some((last, above)) = keys.split_last() else { return };
    let Some((first, above)) = above.split_first() else {
        entries.remove(*last);
        return;
    };
    let map = above.iter().try_fold(entries.get_mut(*first), |value, key| {
        let pairs = value?.as_map_mut()?;
        Some(pairs.iter_mut().rfind(|pair| is_named(pair, key)).map(|(_, value)| value))
    });
    if let Some(pairs) = map.flatten().and_then(Value::as_map_mut) {
        pairs.retain(|pair| !is_named(pair, last));
    }
}

fn is_named((key, _): &(Value, Value), name: &str) -> bool {
    key.as_text() == Some(name)
}

const fn empty_map() -> Value {
    Value::Map(Vec::new())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;
    use crate::GlobalMetadata;

    fn set(paths: &[(&str, Value)]) -> Result<BTreeMap<String, Value>> {
        let mut entries = BTreeMap::new();
        paths.iter().try_for_each(|(path, value)| set_path(&mut entries, path, value.clone()))?;
        Ok(entries)
    }

    #[test]
    fn the_beginning_of_a_path_says_whose_it_is() {
        let numbered = |number, key| PathOwner::Numbered { number, key };
        for (path, owner) in [
            ("a.b", PathOwner::Object),
            ("extra", PathOwner::Message(None)),
            ("_extra_", PathOwner::Message(None)),
            ("extra.", PathOwner::Message(Some(""))),
            ("_extra_.extra.a", PathOwner::Message(Some("extra.a"))),
            ("extras.a", PathOwner::Object),
            ("base", PathOwner::Object),
            ("base.", PathOwner::Object),
            ("base.time", PathOwner::Object),
            ("base.1x.a", PathOwner::Object),
            ("base.12", numbered("12", "")),
            ("base.0.a.b", numbered("0", "a.b")),
            ("base[3]", numbered("3", "")),
            ("base[3].a.b", numbered("3", "a.b")),
            ("basement[3].a", PathOwner::Object),
        ] {
            assert_eq!(path_owner(path), owner, "{path}");
        }
    }

    #[test]
    fn what_is_set_is_found_under_the_same_path() {
        let paths = [("a", 1.into()), ("b.c", 2.into()), ("b.d.e", 3.into()), ("b.d.f", 4.into()), ("b.d.f", 5.into())];
        let base = vec![set(&paths).unwrap()];
        let metadata = GlobalMetadata { base, ..GlobalMetadata::default() };
        for (path, value) in [("a", 1), ("b.c", 2), ("b.d.e", 3), ("b.d.f", 5)] {
            assert_eq!(metadata.get(path).unwrap().as_i64(), Some(value), "{path}");
            assert_eq!(metadata.get_at(0, path).unwrap().as_i64(), Some(value), "{path}");
        }
    }

    #[test]
    fn values_stand_neither_above_nor_below_each_other() {
        let error = |paths: &[(&str, Value)]| set(paths).unwrap_err().to_string();
        for text in ["", ".", ".a", "a.", "a..b"] {
            let expected = format!("metadata error: {text:?} is not a key: a segment is empty");
            assert_eq!(error(&[(text, 1.into())]), expected);
        }
        let one = [("a.b", Value::from(1)), ("a.b.c.d", Value::from(2))];
        assert_eq!(error(&one), "metadata error: cannot set a.b.c.d: a.b is not a map");
        let replaced =
            "cannot set a.b: it is a map; write a.b.KEY to set one of its keys, or give a map to replace all of it";
        for value in [Value::from(1), Value::Null, Value::Array(Vec::new())] {
            assert_eq!(error(&[("a.b.c", 1.into()), ("a.b", value)]), format!("metadata error: {replaced}"));
        }
        let map = Value::Map(vec![("x".into(), 1.into())]);
        assert_eq!(set(&[("a.b", 1.into()), ("a", map.clone())]).unwrap(), BTreeMap::from([("a".into(), map.clone())]));
        // A map that was given is entered like one that was made.
        let both = Value::Map(vec![("x".into(), 1.into()), ("y".into(), 2.into())]);
        assert_eq!(set(&[("a", map), ("a.y", 2.into())]).unwrap(), BTreeMap::from([("a".into(), both)]));
    }

    #[test]
    fn nothing_changes_where_something_is_in_the_way() {
        let mut entries = set(&[("a.b", 1.into())]).unwrap();
        let before = entries.clone();
        for path in ["a", "a.b.c", "a.", "x..y"] {
            assert!(set_path(&mut entries, path, 2).is_err(), "{path}");
            assert_eq!(entries, before, "{path}");
        }
    }

    #[test]
    fn keys_with_dots_are_made_in_quotes_and_set_where_they_are() {
        let mut entries = BTreeMap::from([
            ("m.a".to_string(), Value::from(1)),
            (
                "at".into(),
                Value::Map(vec![("p.q".into(), 2.into()), ("x.y".into(), Value::Map(vec![("z".into(), 3.into())]))]),
            ),
        ]);
        let get = |entries: &BTreeMap<String, Value>, path: &str| {
            let metadata = GlobalMetadata { base: vec![entries.clone()], ..GlobalMetadata::default() };
            metadata.get(path).and_then(|value| value.as_i64())
        };
        let paths = ["m.a", "\"m.a\"", "at.p.q", "at.\"p.q\"", "at.x.y.z", "at.\"x.y\".z"];
        assert_eq!(paths.map(|path| get(&entries, path)), [1, 1, 2, 2, 3, 3].map(Some));
        for path in paths {
            set_path(&mut entries, path, 9).unwrap();
            assert_eq!(get(&entries, path), Some(9), "{path}");
        }
        assert_eq!(entries.len(), 2);
        set_path(&mut entries, "n.a", 4).unwrap();
        set_path(&mut entries, "\"n.a\"", 5).unwrap();
        assert_eq!(["n.a", "\"n.a\""].map(|path| get(&entries, path)), [4, 5].map(Some));
        for path in ["\"n.a\"", "at.p.q", "m.a", "at.\"x.y\".z"] {
            remove_path(&mut entries, path);
            assert_eq!(get(&entries, path), None, "{path}");
        }
        assert_eq!(get(&entries, "n.a"), Some(4));
    }

    #[test]
    fn of_equal_keys_the_last_counts_and_stays() {
        let repeated = Value::Map(vec![("x".into(), Value::Map(vec![])), (1.into(), 2.into()), ("x".into(), 3.into())]);
        let mut entries = BTreeMap::from([("a".to_string(), repeated)]);
        assert!(set_path(&mut entries, "a.x.y", 4).is_err());
        set_path(&mut entries, "a.x", 4).unwrap();
        let left = Value::Map(vec![(1.into(), 2.into()), ("x".into(), 4.into())]);
        assert_eq!(entries, BTreeMap::from([("a".to_string(), left)]));
    }
}
