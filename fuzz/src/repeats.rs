//! Repeated keys in a map: such CBOR is read and is written unchanged, but it is not canonical in any order.

use ciborium::Value;

/// Whether some map in `value` has a key twice.
pub(crate) fn has_repeats(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_repeats),
        Value::Tag(_, inner) => has_repeats(inner),
        Value::Map(pairs) => {
            // Compared as text, where NaN is equal to itself.
            let mut keys: Vec<_> = pairs.iter().map(|(key, _)| format!("{key:?}")).collect();
            keys.sort_unstable();
            let is_repeated = keys.windows(2).any(|pair| pair[0] == pair[1]);
            is_repeated || pairs.iter().any(|(key, value)| has_repeats(key) || has_repeats(value))
        }
        _ => false,
    }
}
