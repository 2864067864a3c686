//! What metadata calls an object.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::metadata::NAME_KEYS;

/// The first name that the metadata of an object has. It may be an empty text.
pub(super) fn in_metadata(metadata: &BTreeMap<String, Value>) -> Option<&str> {
    NAME_KEYS.iter().find_map(|key| {
        let mut parts = key.split('.');
        let first = metadata.get(parts.next()?)?;
        let found = parts.try_fold(first, |value, part| {
            let entry = value.as_map()?.iter().find(|(key, _)| key.as_text() == Some(part));
            entry.map(|(_, value)| value)
        });
        found?.as_text()
    })
}
