//! Dotted paths: whose metadata a path addresses, and setting the value that it leads to.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::metadata::EXTRA_KEY;

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
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    if let EXTRA | EXTRA_KEY = first {
        return PathOwner::Message(rest);
    }
    if let Some(number) = first.strip_prefix(BASE).and_then(|index| index.strip_prefix('[')?.strip_suffix(']')) {
        return PathOwner::Numbered { number, key: rest.unwrap_or_default() };
    }
    let (number, key) = rest.map(|rest| rest.split_once('.').unwrap_or((rest, ""))).unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if first == BASE && is_number { PathOwner::Numbered { number, key } } else { PathOwner::Object }
}

/// Sets the value that the dotted `path` leads to in `entries`. Maps on the way are made if they are missing.
///
/// `mars.param` is the key `param` of the map `mars`, and [`GlobalMetadata::get`](crate::GlobalMetadata::get) finds it
/// under the same path. The value replaces the one that is there, but only a map can replace a map. If a map has a key
/// more than once, the last one is set and the others are removed. This function cannot set a key that contains a dot.
/// `BTreeMap::insert` can, but no path leads to such a key.
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
    if path.split('.').any(str::is_empty) {
        return Err(metadata(format!("{path:?} is not a key: a segment is empty")));
    }
    if let Some(reason) = obstacle(entries, path, &value) {
        return Err(metadata(format!("cannot set {path}: {reason}")));
    }
    let mut segments = path.split('.');
    let first = segments.next().unwrap_or_default();
    let mut place = entries.entry(first.to_string()).or_insert_with(empty_map);
    for segment in segments {
        let Value::Map(pairs) = place else { return Ok(()) };
        let Some(next) = slot(pairs, segment) else { return Ok(()) };
        place = next;
    }
    *place = value;
    Ok(())
}

/// The reason why a path cannot be set, if there is one. The caller asks before it changes anything.
fn obstacle(entries: &BTreeMap<String, Value>, path: &str, value: &Value) -> Option<String> {
    let mut segments = path.split('.');
    let first = segments.next()?;
    let (mut found, mut end) = (entries.get(first)?, first.len());
    for segment in segments {
        let Value::Map(pairs) = found else {
            return Some(format!("{} is not a map", path.get(..end).unwrap_or(path)));
        };
        found = &pairs.iter().rfind(|pair| is_named(pair, segment))?.1;
        end += 1 + segment.len();
    }
    (found.is_map() && !value.is_map())
        .then(|| format!("it is a map; write {path}.KEY to set one of its keys, or give a map to replace all of it"))
}

/// The value of a key, which is an empty map if the key is new. Of repeated keys only the last one stays.
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
    fn of_equal_keys_the_last_counts_and_stays() {
        let repeated = Value::Map(vec![("x".into(), Value::Map(vec![])), (1.into(), 2.into()), ("x".into(), 3.into())]);
        let mut entries = BTreeMap::from([("a".to_string(), repeated)]);
        assert!(set_path(&mut entries, "a.x.y", 4).is_err());
        set_path(&mut entries, "a.x", 4).unwrap();
        let left = Value::Map(vec![(1.into(), 2.into()), ("x".into(), 4.into())]);
        assert_eq!(entries, BTreeMap::from([("a".to_string(), left)]));
    }
}
