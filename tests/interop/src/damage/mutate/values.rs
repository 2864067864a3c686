//! Changes of one value in CBOR: another number, name or type, one more or one less.

use ciborium::Value;

use super::Chance;

/// Keys of descriptors and metadata.
const KEYS: &[&str] = &[
    "base",
    "_reserved_",
    "_extra_",
    "ndim",
    "type",
    "dtype",
    "shape",
    "strides",
    "byte_order",
    "encoding",
    "filter",
    "compression",
    "masks",
    "nan",
    "inf+",
    "inf-",
    "method",
    "offset",
    "length",
    "params",
    "offsets",
    "lengths",
    "hashes",
    "algorithm",
    "sp_bits_per_value",
    "sp_reference_value",
    "sp_binary_scale_factor",
    "sp_decimal_scale_factor",
    "shuffle_element_size",
    "szip_rsi",
    "szip_block_size",
    "szip_flags",
    "szip_block_offsets",
    "zstd_level",
    "mars",
    "tensor",
];

/// Values of some of these keys.
const NAMES: &[&str] = &[
    "none",
    "simple_packing",
    "shuffle",
    "szip",
    "zstd",
    "lz4",
    "rle",
    "roaring",
    "big",
    "little",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bitmask",
    "ntensor",
    "xxh3",
    "",
    "another",
];

const NUMBERS: &[i128] = &[
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    1000,
    1 << 31,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    -1,
    -2,
    -8,
    -(1 << 31),
    -(1 << 63),
    -(1 << 64),
];

const DOUBLES: &[f64] =
    &[0.0, -0.0, 1.0, 1.5, -2.0, 8.0, 1e300, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// Changes one or two values of the item at the start of `cbor`.
pub(super) fn change(cbor: &mut Vec<u8>, chance: &mut Chance) -> Option<()> {
    let mut rest = &cbor[..];
    let mut value: Value = ciborium::from_reader(&mut rest).ok()?;
    let rest = rest.to_vec();
    for _ in 0..1 + chance.below(2) {
        step(&mut value, chance, 12);
    }
    cbor.clear();
    ciborium::into_writer(&value, &mut *cbor).ok()?;
    cbor.extend(rest);
    Some(())
}

/// Descends into `value` at random, and changes the value that it reaches.
fn step(value: &mut Value, chance: &mut Chance, depth: usize) {
    let goes_on = depth > 0 && chance.below(8) > 0;
    match value {
        Value::Map(pairs) if goes_on && !pairs.is_empty() => {
            let index = chance.below(pairs.len());
            if chance.below(16) == 0 {
                step(&mut pairs[index].0, chance, 0);
            } else {
                step(&mut pairs[index].1, chance, depth - 1);
            }
        }
        Value::Array(items) if goes_on && !items.is_empty() => {
            let index = chance.below(items.len());
            step(&mut items[index], chance, depth - 1);
        }
        Value::Tag(_, inner) if goes_on => step(inner, chance, depth - 1),
        Value::Map(pairs) => change_map(pairs, chance),
        Value::Array(items) => change_array(items, chance),
        Value::Integer(number) if chance.below(4) > 0 => {
            let near = i128::from(*number) + chance.choice(&[-8, -1, 1, 8, 0]);
            let number = if chance.below(2) == 0 { near } else { chance.choice(NUMBERS) };
            *value = integer(number);
        }
        Value::Text(_) if chance.below(4) > 0 => *value = Value::Text(chance.choice(NAMES).into()),
        Value::Float(_) if chance.below(4) > 0 => *value = Value::Float(chance.choice(DOUBLES)),
        _ => *value = any(chance),
    }
}

fn change_map(pairs: &mut Vec<(Value, Value)>, chance: &mut Chance) {
    let index = chance.below(pairs.len());
    match chance.below(5) {
        0 if !pairs.is_empty() => {
            pairs.remove(index);
        }
        1 if !pairs.is_empty() => pairs.push(pairs[index].clone()),
        2 if !pairs.is_empty() => pairs.swap(0, index),
        3 => pairs.push((any(chance), any(chance))),
        _ => pairs.push((Value::Text(chance.choice(KEYS).into()), any(chance))),
    }
}

fn change_array(items: &mut Vec<Value>, chance: &mut Chance) {
    let index = chance.below(items.len());
    match chance.below(4) {
        0 if !items.is_empty() => {
            items.remove(index);
        }
        1 if !items.is_empty() => items.push(items[index].clone()),
        2 if !items.is_empty() => items.swap(0, index),
        _ => items.push(any(chance)),
    }
}

fn any(chance: &mut Chance) -> Value {
    match chance.below(12) {
        0..3 => integer(chance.choice(NUMBERS)),
        3..5 => Value::Text(chance.choice(NAMES).into()),
        5 => Value::Text(chance.choice(KEYS).into()),
        6 => Value::Float(chance.choice(DOUBLES)),
        7 => Value::Bool(chance.below(2) == 0),
        8 => Value::Bytes(vec![1; chance.below(20)]),
        9 => Value::Array((0..chance.below(3)).map(|_| integer(chance.choice(NUMBERS))).collect()),
        10 => Value::Map(vec![(Value::Text(chance.choice(KEYS).into()), integer(chance.choice(NUMBERS)))]),
        _ => {
            let tag = chance.choice(&[0, 1, 2, 3, 37, 258, 55_799]);
            let inner = if chance.below(2) == 0 { Value::Null } else { Value::Bytes(vec![0x80; chance.below(18)]) };
            Value::Tag(tag, Box::new(inner))
        }
    }
}

/// An integer, clamped to the numbers that are not tagged bytes.
fn integer(number: i128) -> Value {
    number.clamp(-(1 << 64), (1 << 64) - 1).try_into().map_or(Value::Null, Value::Integer)
}
