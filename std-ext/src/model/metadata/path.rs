//! Values set where a dotted path leads: readers follow the same path to them.

use std::collections::BTreeMap;

use ciborium::Value;

use crate::base::error::Result;
use crate::model::params::metadata;

/// Sets the value that the dotted `path` leads to in `entries`, and makes the maps on the way.
///
/// `mars.param` is the key `param` of the map `mars`: [`GlobalMetadata::get`](crate::GlobalMetadata::get) finds it under the
/// same path. A value takes the place of the one that is there, but nothing takes the place of a map except a map. Where a
/// map has the key more than once, the last one counts: it is set, and the others go. A key that has a dot in it cannot be
/// set here; `BTreeMap::insert` writes one, and no path leads to it.
///
/// The cost is one look at the keys of each map on the way.
///
/// # Errors
/// [`TensogramError::Metadata`](crate::TensogramError::Metadata) for a path with an empty segment, for one that leads through
/// a value that is no map, and for a map that something else would replace. `entries` stay as they were.
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
        return Err(metadata(format!("{path:?} is no key: a segment is empty")));
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

/// What keeps a path from being set, in words. Looked for before anything is changed.
fn obstacle(entries: &BTreeMap<String, Value>, path: &str, value: &Value) -> Option<String> {
    let mut segments = path.split('.');
    let first = segments.next()?;
    let (mut found, mut end) = (entries.get(first)?, first.len());
    for segment in segments {
        let Value::Map(pairs) = found else {
            return Some(format!("{} is no map", path.get(..end).unwrap_or(path)));
        };
        found = &pairs.iter().rfind(|pair| is_named(pair, segment))?.1;
        end += 1 + segment.len();
    }
    (found.is_map() && !value.is_map())
        .then(|| format!("it is a map; write {path}.KEY to set one of its keys, or give a map to replace all of it"))
}

/// The value under a key, made an empty map if there is none. Of equal keys the last counts, and stays.
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
            assert_eq!(error(&[(text, 1.into())]), format!("metadata error: {text:?} is no key: a segment is empty"));
        }
        let one = [("a.b", Value::from(1)), ("a.b.c.d", Value::from(2))];
        assert_eq!(error(&one), "metadata error: cannot set a.b.c.d: a.b is no map");
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
