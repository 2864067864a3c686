//! Metadata: of messages, of objects, and single values of CBOR.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Result, Unstructured};
use tgm_std::GlobalMetadata;
use tgm_std::deps::ciborium::Value;

use crate::Any;

/// Keys as they are in use, with some that are long, empty or not ASCII.
const KEYS: [&str; 12] = [
    "mars",
    "param",
    "step",
    "levelist",
    "name",
    "k",
    "",
    "units",
    "é",
    "a.b",
    "a key of more than twenty-three bytes",
    "_extra_",
];

/// Metadata that can be encoded: annotations of the message, and entries for no objects. [`Object`](crate::Object) has those.
impl<'a> Arbitrary<'a> for Any<GlobalMetadata> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(GlobalMetadata { extra: entry(u)?, ..GlobalMetadata::default() }))
    }
}

/// Up to three entries.
pub(super) fn entry(u: &mut Unstructured<'_>) -> Result<BTreeMap<String, Value>> {
    (0..u.int_in_range(0..=3_u8)?).map(|_| Ok((key(u)?, value(3, u)?))).collect()
}

fn key(u: &mut Unstructured<'_>) -> Result<String> {
    Ok((*u.choose(&KEYS)?).to_string())
}

/// A value that nests at most `depth` others, and that is equal to itself: it has no NaN, and maps are in canonical order.
pub(super) fn value(depth: u8, u: &mut Unstructured<'_>) -> Result<Value> {
    let kinds = if depth > 0 { 8 } else { 6 };
    Ok(match u.int_in_range(0..=kinds)? {
        0 => Value::from(u.arbitrary::<u8>()?),
        1 => Value::from(u.arbitrary::<i64>()?),
        2 => Value::from(*u.choose(&[0.0, -0.0, 0.5, 1e300, f64::INFINITY, f64::MIN_POSITIVE])?),
        3 => Value::from(key(u)?),
        4 => Value::from(u.arbitrary::<bool>()?),
        5 => Value::Null,
        6 => Value::Bytes(u.arbitrary::<[u8; 3]>()?.to_vec()),
        7 => Value::Array((0..u.int_in_range(0..=3_u8)?).map(|_| value(depth - 1, u)).collect::<Result<_>>()?),
        _ => {
            let mut pairs = (0..u.int_in_range(0..=3_u8)?)
                .map(|_| Ok((key(u)?, value(depth - 1, u)?)))
                .collect::<Result<Vec<_>>>()?;
            pairs.sort_by(|(a, _), (b, _)| (a.len(), a).cmp(&(b.len(), b)));
            pairs.dedup_by(|(a, _), (b, _)| a == b);
            Value::Map(pairs.into_iter().map(|(key, value)| (key.into(), value)).collect())
        }
    })
}
