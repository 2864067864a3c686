//! Writing the rows of a catalogue as a leaf: a message whose objects are columns.

use ciborium::Value as Owned;
use tgm_core::cbor::{Kind, Value};

use super::cbor::{ABSENT_INTEGER, ENCODED_CBOR, map};
use super::column::{Width, write};
use super::dictionary::ABSENT;
use super::part::{Key, KeyPart, Part};
use super::proof::Proof;
use super::told::{Untold, reserved_for};
use super::{FORMAT, bad, name};
use tgm_std::internal::to_owned;
use tgm_std::{MessageBuilder, ObjectBuilder, Result};

/// A key with at most this many distinct values is stored as codes, however few rows there are.
const FEW: usize = 256;
/// A key with at least this many rows for each distinct value is stored as codes.
const ROWS_PER_CODE: usize = 4;
/// The leaf of `part`, whose first message is number `first` of the data file.
///
/// # Errors
/// The errors of encoding.
pub(super) fn leaf(part: &Part, keys: &[Key], first: u64, proof: &Proof) -> Result<Vec<u8>> {
    let mut columns = vec![
        write(name::GAP, &part.gaps, Width::Narrowest),
        write(name::TAIL, &part.tails, Width::Narrowest),
        write(name::COUNT, &part.counts, Width::Narrowest),
    ];
    if !part.leads.is_empty() {
        columns.push(write(name::LEAD, &part.leads, Width::Narrowest));
        columns.push(write(name::LENGTH, &part.lengths, Width::Narrowest));
    }
    let mut heads = Vec::new();
    for (key, values) in keys.iter().zip(&part.keys) {
        heads.push(write_key(key, values, part, &mut columns)?);
    }
    let facts = match &part.told {
        Ok(told) => Some(told.write(part.leads.len(), &mut columns)),
        Err(Untold::Unfit) => Some(Owned::Null),
        Err(Untold::Old) => None,
    };
    let uint = |number: u64| Owned::from(number);
    let covers = map([
        ("first", uint(first)),
        ("messages", uint(part.gaps.len() as u64)),
        ("objects", uint(part.leads.len() as u64)),
        ("start", uint(part.start)),
        ("end", uint(part.end)),
    ]);
    let about =
        [("format", uint(FORMAT)), ("covers", covers), ("data", proof.to_value()), ("keys", Owned::Array(heads))];
    let about = about.into_iter().chain(facts.map(|facts| ("facts", facts)));
    let catalog = Owned::Map(about.map(|(key, value)| (key.into(), value)).collect());
    columns.into_iter().fold(MessageBuilder::new().extra("catalog", catalog), MessageBuilder::object).encode()
}

/// Adds the columns of a key, one or two, to `columns`. Returns the key's entry in the leaf's annotation.
fn write_key(key: &Key, values: &KeyPart, part: &Part, columns: &mut Vec<ObjectBuilder<'static>>) -> Result<Owned> {
    let (needs_messages, needs_objects) = levels(values, &part.counts);
    let rows = values.of_messages.len().max(values.of_objects.len());
    let is_absent = values.of_messages.contains(&ABSENT) || values.of_objects.contains(&ABSENT);
    let numbers = numbers(values, rows, is_absent);
    let (kind, width) = match &numbers {
        None => (name::CODES, Width::Narrowest),
        Some((_, Width::Float64)) => (name::FLOATS, Width::Float64),
        Some(_) => (name::INTEGERS, Width::Int64),
    };
    let reserved = reserved_for(values.dictionary.values().len());
    // What a column holds for a code: the code itself, or the number that it stands for.
    let row = |code: &u32| match &numbers {
        None if *code == ABSENT => Ok(reserved),
        None => Ok(u64::from(*code)),
        Some(_) if *code == ABSENT => Ok(ABSENT_INTEGER.cast_unsigned()),
        Some((numbers, _)) => {
            numbers.get(*code as usize).copied().ok_or_else(|| bad(format!("a value of key {} is missing", key.path)))
        }
    };
    let mut entries = vec![("path", Owned::from(key.path.as_str())), ("kind", kind.into())];
    for (is_needed, level, prefix, codes) in [
        (needs_messages, name::MESSAGE, name::OF_MESSAGES, &values.of_messages),
        (needs_objects, name::OBJECT, name::OF_OBJECTS, &values.of_objects),
    ] {
        if is_needed {
            entries.push((level, Owned::from(columns.len() as u64)));
            let rows: Vec<u64> = codes.iter().map(row).collect::<Result<_>>()?;
            columns.push(write(&format!("{prefix}{}", key.path), &rows, width));
        }
    }
    if numbers.is_none() {
        let table = values.dictionary.values().map(table_value).collect::<Result<_>>()?;
        entries.push(("values", Owned::Array(table)));
        entries.push(("absent", reserved.into()));
    }
    Ok(Owned::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect()))
}

/// Whether a key needs a column for messages, and one for objects. It needs only one if the other follows from it:
///
/// ```text
/// objects follow    each object has the value of its message
/// messages follow   each message has the first value that one of its objects has
/// ```
fn levels(values: &KeyPart, counts: &[u64]) -> (bool, bool) {
    let (mut objects_follow, mut messages_follow) = (true, true);
    let mut objects = values.of_objects.iter();
    for (code, count) in values.of_messages.iter().zip(counts) {
        let mut first = ABSENT;
        // No message of a part has more objects than memory.
        for own in objects.by_ref().take(usize::try_from(*count).unwrap_or(usize::MAX)) {
            objects_follow &= own == code;
            if first == ABSENT {
                first = *own;
            }
        }
        messages_follow &= first == *code;
    }
    match (objects_follow, messages_follow) {
        (true, _) => (true, false),
        (false, true) => (false, true),
        (false, false) => (true, true),
    }
}

/// The number that each code stands for, if the key is better stored as numbers than as codes. `None` for codes.
///
/// Numbers are better if there are many distinct values, compared with the number of rows. The values must be all integers or
/// all floats. Among floats no value may be missing, because no float stands for a missing value.
fn numbers(values: &KeyPart, rows: usize, is_absent: bool) -> Option<(Vec<u64>, Width)> {
    let distinct = values.dictionary.values().len();
    if distinct <= FEW || distinct * ROWS_PER_CODE <= rows {
        return None;
    }
    let parse = |encoded| Value::parse(encoded, 0).ok();
    let integer = |value: Value<'_>| Some(value.as_i64().ok()?).filter(|integer| *integer != ABSENT_INTEGER);
    let integers = values.dictionary.values().map(|encoded| {
        let value = parse(encoded).filter(|value| value.kind() == Kind::Integer)?;
        integer(value).map(i64::cast_unsigned)
    });
    if let Some(integers) = integers.collect() {
        return Some((integers, Width::Int64));
    }
    let floats = values.dictionary.values().map(|encoded| {
        let value = parse(encoded).filter(|value| value.kind() == Kind::Float)?;
        Some(value.as_f64().ok()?).filter(|float| float.is_finite()).map(f64::to_bits)
    });
    floats.collect::<Option<_>>().filter(|_| !is_absent).map(|floats| (floats, Width::Float64))
}

/// A value of the table of codes. Texts, truth values and numbers stand there as they are. Any other value stands there as
/// encoded CBOR, so that reading gives the same bytes.
fn table_value(encoded: &[u8]) -> Result<Owned> {
    let value = Value::parse(encoded, 0)?;
    let is_plain_integer = || encoded.first().is_some_and(|first| first >> 5 < 2);
    match value.kind() {
        Kind::Text | Kind::Bool | Kind::Float => to_owned::value(&value),
        Kind::Integer if is_plain_integer() => to_owned::value(&value),
        _ => Ok(Owned::Tag(ENCODED_CBOR, Box::new(Owned::Bytes(encoded.to_vec())))),
    }
}
