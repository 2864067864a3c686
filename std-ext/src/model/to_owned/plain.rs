//! Owned values of items as writers of the format leave them: definite lengths, and no tags.
//!
//! The items were walked before, so each byte is read once here, and no view is made of any item. At the first item that
//! is not expected the answer is `None`. The general way then reads the same bytes again, and it decides what is an error.

use ciborium::Value;
use ciborium::value::Integer;
use half::f16;
use tgm_core::cbor::head::{info, major, simple, split_first_byte};

use super::{Entries, FEW};

/// The entries of a map of `count` entries that begin with the first byte. The last entry with a key
/// stays.
pub(super) fn entries(mut bytes: &[u8], count: usize) -> Option<Entries> {
    // Inserted one by one, because most maps fit into one node of the tree.
    let mut map = Entries::new();
    for _ in 0..count {
        let key = text(&mut bytes)?;
        map.insert(key, value(&mut bytes)?);
    }
    Some(map)
}

/// The value of the next item. Recursion is bounded, because `tgm_core` limits the nesting of what it walks.
pub(super) fn value(rest: &mut &[u8]) -> Option<Value> {
    let (major, info, argument) = head(rest)?;
    Some(match major {
        major::UNSIGNED => Value::Integer(argument.into()),
        major::NEGATIVE => Value::Integer(Integer::try_from(-1 - i128::from(argument)).ok()?),
        major::BYTES => Value::Bytes(take(rest, argument)?.to_vec()),
        major::TEXT => Value::Text(utf8(take(rest, argument)?)?),
        major::ARRAY => {
            let (count, mut items) = room(argument)?;
            for _ in 0..count {
                items.push(value(rest)?);
            }
            Value::Array(items)
        }
        major::MAP => {
            let (count, mut items) = room(argument)?;
            for _ in 0..count {
                let key = value(rest)?;
                items.push((key, value(rest)?));
            }
            Value::Map(items)
        }
        major::SIMPLE => of_simple(info, argument)?,
        _ => return None,
    })
}

/// The number of items of a container, and a list with room for them, if they are few.
fn room<T>(count: u64) -> Option<(usize, Vec<T>)> {
    Some((usize::try_from(count).ok()?, Vec::with_capacity(usize::try_from(count.min(FEW)).ok()?)))
}

/// A float, a truth value or null.
fn of_simple(info: u8, argument: u64) -> Option<Value> {
    Some(match info {
        simple::FALSE => Value::Bool(false),
        simple::TRUE => Value::Bool(true),
        simple::NULL | simple::UNDEFINED => Value::Null,
        info::TWO_BYTES => Value::Float(f16::from_bits(u16::try_from(argument).ok()?).to_f64()),
        info::FOUR_BYTES => Value::Float(f32::from_bits(u32::try_from(argument).ok()?).into()),
        info::EIGHT_BYTES => Value::Float(f64::from_bits(argument)),
        _ => return None,
    })
}

/// The next item, if it is text.
fn text(rest: &mut &[u8]) -> Option<String> {
    let (major, _, len) = head(rest)?;
    if major == major::TEXT { utf8(take(rest, len)?) } else { None }
}

fn utf8(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(ToString::to_string)
}

/// The head of the next item: its major type, its additional information and its argument.
#[inline]
fn head(rest: &mut &[u8]) -> Option<(u8, u8, u64)> {
    let (&first, after) = rest.split_first()?;
    let (major, info) = split_first_byte(first);
    let argument;
    (argument, *rest) = match info {
        ..info::SHORT_END => (info.into(), after),
        info::ONE_BYTE => after.split_first().map(|(byte, after)| (u64::from(*byte), after))?,
        info::TWO_BYTES => {
            after.split_first_chunk().map(|(bytes, after)| (u16::from_be_bytes(*bytes).into(), after))?
        }
        info::FOUR_BYTES => {
            after.split_first_chunk().map(|(bytes, after)| (u32::from_be_bytes(*bytes).into(), after))?
        }
        info::EIGHT_BYTES => after.split_first_chunk().map(|(bytes, after)| (u64::from_be_bytes(*bytes), after))?,
        _ => return None,
    };
    Some((major, info, argument))
}

/// The next `len` bytes.
#[inline]
fn take<'a>(rest: &mut &'a [u8], len: u64) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    *rest = after;
    Some(taken)
}
