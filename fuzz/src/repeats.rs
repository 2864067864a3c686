//! Keys that stand in one map twice: CBOR that is read, and written as it was, but is canonical in no order.

use ciborium::Value;

/// Whether some map in `value` has a key twice.
pub(crate) fn has_repeats(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_repeats),
        Value::Tag(_, inner) => has_repeats(inner),
        Value::Map(pairs) => {
            // As text, in which NaN is equal to itself.
            let mut keys: Vec<_> = pairs.iter().map(|(key, _)| format!("{key:?}")).collect();
            keys.sort_unstable();
            let is_repeated = keys.windows(2).any(|pair| pair[0] == pair[1]);
            is_repeated || pairs.iter().any(|(key, value)| has_repeats(key) || has_repeats(value))
        }
        _ => false,
    }
}
