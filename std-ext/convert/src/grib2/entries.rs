//! Entries of maps of metadata.

use ciborium::Value;

/// Entries of a map of metadata.
pub(super) type Entries = Vec<(Value, Value)>;

/// Adds an entry, if there is a value.
pub(super) fn add<T: Into<Value>>(entries: &mut Entries, key: &str, value: Option<T>) {
    entries.extend(value.map(|value| (key.into(), value.into())));
}
