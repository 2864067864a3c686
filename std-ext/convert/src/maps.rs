//! Maps of metadata.

use ciborium::Value;

/// The entries of a map.
pub(crate) type Entries = Vec<(Value, Value)>;

/// The value of a key.
pub(crate) fn get<'m>(map: &'m [(Value, Value)], key: &str) -> Option<&'m Value> {
    map.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value)
}

/// The map of a key. It is empty if there is none.
pub(crate) fn map<'m>(entries: &'m [(Value, Value)], key: &str) -> &'m [(Value, Value)] {
    get(entries, key).and_then(Value::as_map).map_or(&[], Vec::as_slice)
}

/// Takes a key out of a map.
pub(crate) fn take(map: &mut Entries, key: &str) -> Option<Value> {
    let place = map.iter().position(|(name, _)| name.as_text() == Some(key))?;
    Some(map.remove(place).1)
}

/// Adds a map, if it has entries.
pub(crate) fn push_map(map: &mut Entries, key: &str, entries: Entries) {
    if !entries.is_empty() {
        map.push((key.into(), Value::Map(entries)));
    }
}
