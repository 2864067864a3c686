//! Splits objects' metadata into common entries and the rest.

use ciborium::Value;
use tgm_core::metadata::RESERVED_KEY;

use crate::model::to_owned::Entries;

/// Splits the entries of `base` into those that all objects share, and the rest of each object.
///
/// A key is shared if every object has it with an equal value. `_reserved_` is left out of the result. Floats are equal
/// if their bits are equal. Nested maps are equal if their entries are equal and in the same order.
///
/// Format: COMPAT §7.1.
pub fn compute_common(base: &[Entries]) -> (Entries, Vec<Entries>) {
    let Some((first, others)) = base.split_first() else { return Default::default() };
    let is_shared = |(key, value): &(&String, &Value)| {
        *key != RESERVED_KEY && others.iter().all(|entry| entry.get(*key).is_some_and(|other| is_equal(value, other)))
    };
    let common: Entries = first.iter().filter(is_shared).map(owned).collect();
    let is_left = |(key, _): &(&String, &Value)| *key != RESERVED_KEY && !common.contains_key(*key);
    let remaining = base.iter().map(|entry| entry.iter().filter(is_left).map(owned).collect()).collect();
    (common, remaining)
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// Whether values are equal. Floats are compared by their bits: NaN equals the same NaN, and −0 differs from 0.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Tag(a, x), Value::Tag(b, y)) => a == b && is_equal(x, y),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(&a.0, &b.0) && is_equal(&a.1, &b.1))
        }
        _ => a == b,
    }
}
