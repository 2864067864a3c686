//! Metadata of any shape.

use std::collections::BTreeSet;

use ciborium::Value;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::case::Entries;
use crate::plain::show;

/// A map with text keys, like base entries, `_extra_` and preceders.
pub fn entries() -> impl Strategy<Value = Entries> {
    let key = prop_oneof![
        3 => "[a-z]{1,4}",
        1 => select(vec!["mars", "version", "name", "tensor", "base", "é", ""]).prop_map(str::to_owned),
        1 => "\\PC{0,30}",
    ];
    prop_oneof![1 => Just(Entries::new()), 2 => btree_map(key, values(), 0..5)]
}

/// Parameters that no stage reads.
///
/// Without tags and integers that need more than 64 bits: the reference writes them into descriptors and cannot read
/// them again.
pub fn unknown_params() -> impl Strategy<Value = Entries> {
    btree_map("[a-z]{1,3}_x", values().prop_map(readable), 0..4)
}

fn readable(value: Value) -> Value {
    match value {
        Value::Tag(_, inner) => readable(*inner),
        Value::Integer(n) if i128::from(n) < i64::MIN.into() => Value::from(i64::MIN),
        Value::Array(items) => Value::Array(items.into_iter().map(readable).collect()),
        Value::Map(pairs) => map(pairs.into_iter().map(|(key, value)| (readable(key), readable(value))).collect()),
        other => other,
    }
}

fn values() -> impl Strategy<Value = Value> {
    leaves().prop_recursive(5, 40, 6, |inner| {
        let pairs = vec((leaves(), inner.clone()), 0..4);
        let texts = vec(("[a-zA-Z]{0,5}".prop_map(Value::Text), inner.clone()), 0..4);
        prop_oneof![
            3 => texts.prop_map(map),
            1 => pairs.prop_map(map),
            3 => vec(inner.clone(), 0..6).prop_map(Value::Array),
            1 => (any::<u64>(), inner).prop_map(|(tag, inner)| Value::Tag(tag, Box::new(inner))),
        ]
    })
}

/// A map that the reference's validation takes for canonical: no repeated key, and no big integer as key.
fn map(pairs: Vec<(Value, Value)>) -> Value {
    let mut keys = BTreeSet::new();
    let fits = |key: &Value| !matches!(key, Value::Tag(..));
    Value::Map(pairs.into_iter().filter(|(key, _)| fits(key) && keys.insert(show(key))).collect())
}

fn leaves() -> impl Strategy<Value = Value> {
    let edges =
        vec![0_i128, 23, 24, 255, 256, 65_535, 65_536, (1 << 32) - 1, 1 << 32, i64::MAX.into(), u64::MAX.into()];
    prop_oneof![
        2 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => (select(edges), any::<bool>()).prop_map(|(n, flip)| integer(if flip { -1 - n } else { n })),
        2 => "\\PC{0,12}".prop_map(Value::Text),
        2 => any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
        1 => any::<u32>().prop_map(|bits| Value::Float(f64::from(f32::from_bits(bits)))),
        1 => any::<u16>().prop_map(|bits| Value::Float(half::f16::from_bits(bits).to_f64())),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Null),
        1 => vec(any::<u8>(), 0..30).prop_map(Value::Bytes),
        // Big integers, some of which would fit 64 bits.
        1 => (2_u64..4, vec(any::<u8>(), 0..20)).prop_map(|(tag, bytes)| big_integer(tag, bytes)),
    ]
}

/// A big integer. Two kinds are replaced by similar ones, because the reference does not read what it wrote: those that
/// it cannot read at all ([`crate::known::UNREADABLE_BIGNUM`]), and those with leading zeros, which it drops.
fn big_integer(tag: u64, mut bytes: Vec<u8>) -> Value {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.drain(..zeros);
    if tag == 3 && bytes.len() == 16 {
        bytes[0] &= 0x7f;
        bytes[0] |= 1;
    }
    Value::Tag(tag, Box::new(Value::Bytes(bytes)))
}

fn integer(n: i128) -> Value {
    Value::Integer(n.try_into().expect("between -2^64 and 2^64 - 1"))
}
