use ciborium::Value;
use proptest::prelude::*;
use tgm_core::cbor::{Canonical, MAX_NESTING, verify_canonical};

use super::{head_len, text_len};
use crate::base::error::Result;
use crate::model::to_owned;

fn try_written(value: &Value) -> Result<Vec<u8>> {
    super::written(|writer| writer.value(value))
}

fn written(value: &Value) -> Vec<u8> {
    try_written(value).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn text_of(value: impl Into<Value>) -> String {
    hex(&written(&value.into()))
}

#[test]
fn floats_are_as_short_as_their_bits_allow() {
    for (bits, bytes) in [
        (0.0_f64.to_bits(), "f90000"),
        ((-0.0_f64).to_bits(), "f98000"),
        (1.0_f64.to_bits(), "f93c00"),
        (230.5_f64.to_bits(), "f95b34"),
        (100_000.0_f64.to_bits(), "fa47c35000"),
        (0.1_f64.to_bits(), "fb3fb999999999999a"),
        (f64::INFINITY.to_bits(), "f97c00"),
        (f64::NEG_INFINITY.to_bits(), "f9fc00"),
        (0x7ff8_0000_0000_0000, "f97e00"),
        (0xfff8_0000_0000_0000, "f9fe00"),
        (0x7ff8_0000_0000_0001, "fb7ff8000000000001"),
    ] {
        assert_eq!(text_of(f64::from_bits(bits)), bytes, "{bits:016x}");
    }
}

#[test]
fn integers_are_as_short_as_their_value_allows() {
    for (n, bytes) in [
        (0, "00"),
        (23, "17"),
        (24, "1818"),
        (255, "18ff"),
        (256, "190100"),
        (65_535, "19ffff"),
        (65_536, "1a00010000"),
        (u64::MAX.into(), "1bffffffffffffffff"),
        (-1, "20"),
        (-24, "37"),
        (-25, "3818"),
        (-(1_i128 << 64), "3bffffffffffffffff"),
        // `Value` turns wider integers into big numbers.
        (1_i128 << 64, "c249010000000000000000"),
        (-(1_i128 << 64) - 1, "c349010000000000000000"),
    ] {
        assert_eq!(text_of(n), bytes, "{n}");
    }
}

#[test]
fn keys_sort_by_length_first_at_every_depth() {
    let map = |keys: &[&str]| Value::Map(keys.iter().map(|&key| (key.into(), Value::Null)).collect());
    assert_eq!(text_of(map(&["b", "aa", "a", ""])), "a460f66161f66162f6626161f6");
    let inside = Value::Tag(5, Box::new(Value::Array(vec![map(&["bb", "a"])])));
    assert_eq!(text_of(Value::Map(vec![(map(&["y", "x"]), inside)])), "a1a26178f66179f6c581a26161f6626262f6");
    let mixed = [Value::Bool(true), "".into(), vec![0_u8; 0].into(), (-1).into(), 300.into(), 24.into()];
    let mixed = Value::Map(mixed.into_iter().map(|key| (key, Value::Null)).collect());
    assert_eq!(text_of(mixed), "a61818f619012cf620f640f660f6f5f6");
}

#[test]
fn repeated_keys_stay_in_their_order() {
    let entries = [("b", 1), ("a", 2), ("b", 0)].map(|(key, n)| (key.into(), n.into()));
    assert_eq!(text_of(Value::Map(entries.to_vec())), "a361610261620161 6200".replace(' ', ""));
}

#[test]
fn nesting_is_written_as_deep_as_it_can_be_read() {
    let nested = |depth| (0..depth).fold(Value::Null, |value, _| Value::Array(vec![value]));
    let deepest = written(&nested(MAX_NESTING));
    assert!(verify_canonical(&deepest, Canonical::Strict).is_ok());
    let error = try_written(&nested(MAX_NESTING + 1)).unwrap_err();
    assert_eq!(error.to_string(), "metadata error: CBOR to be written is nested deeper than 256");
}

/// Any value except big numbers that fit an integer: these are read as integers.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-40_i64..300).prop_map(Value::from),
        any::<u64>().prop_map(|bits| Value::Float(f64::from_bits(bits))),
        any::<u32>().prop_map(|bits| Value::Float(f64::from(f32::from_bits(bits)))),
        (-2000_i16..2000).prop_map(|n| Value::Float(f64::from(n) / 4.0)),
        ".{0,30}".prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..30).prop_map(Value::Bytes),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        let entries = prop::collection::vec((inner.clone(), inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            entries.prop_map(Value::Map),
            (4_u64..1_000_000, inner).prop_map(|(tag, value)| Value::Tag(tag, Box::new(value))),
        ]
    })
}

/// The value with its maps in canonical order, and with floats as their bits, so that NaN equals itself.
fn normal(value: &Value) -> Value {
    match value {
        Value::Float(x) => Value::Tag(1 << 40, Box::new(x.to_bits().into())),
        Value::Array(items) => Value::Array(items.iter().map(normal).collect()),
        Value::Tag(tag, tagged) => Value::Tag(*tag, Box::new(normal(tagged))),
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().map(|(k, v)| (written(k), normal(k), normal(v))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Map(entries.into_iter().map(|(_, k, v)| (k, v)).collect())
        }
        other => other.clone(),
    }
}

fn has_repeated_keys(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_repeated_keys),
        Value::Tag(_, tagged) => has_repeated_keys(tagged),
        Value::Map(entries) => {
            let mut keys: Vec<_> = entries.iter().map(|(key, _)| written(key)).collect();
            keys.sort();
            keys.windows(2).any(|pair| pair[0] == pair[1])
                || entries.iter().any(|(k, v)| has_repeated_keys(k) || has_repeated_keys(v))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn what_is_written_is_canonical_and_reads_back(value in any_value()) {
        let bytes = written(&value);
        prop_assert_eq!(verify_canonical(&bytes, Canonical::Strict).is_err(), has_repeated_keys(&value));
        let read = to_owned::value(&tgm_core::cbor::Value::parse(&bytes, 0).unwrap()).unwrap();
        prop_assert_eq!(normal(&read), normal(&value));
        prop_assert_eq!(written(&read), bytes);
    }
}

#[test]
fn heads_and_texts_have_the_stated_length() {
    for argument in [0, 23, 24, 255, 256, 65_535, 65_536, 0xffff_ffff, 0x1_0000_0000, u64::MAX] {
        assert_eq!(head_len(argument), written(&Value::from(argument)).len() as u64, "{argument}");
    }
    for len in [0, 23, 24, 255, 256] {
        assert_eq!(text_len(len), written(&Value::from("x".repeat(len))).len() as u64, "{len}");
    }
}
