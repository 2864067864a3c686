//! Is this CBOR in the form that the format's writers give it? (FORMAT §3.1, §3.7)

use core::cmp::Ordering;

use half::f16;

use super::Kind;
use super::cursor::{Cursor, Head};
use super::{Bytes, Map, Value};
use crate::error::{ErrorKind, NonCanonical, Result};

/// How much of the canonical form is demanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Canonical {
    /// What the reference's check notices: in every map each key sorts after the one before it. Heads, floats,
    /// indefinite lengths and trailing bytes are not looked at.
    #[default]
    KeyOrder,
    /// All of RFC 8949 §4.2.1: key order, shortest heads, shortest floats, definite lengths, and nothing after the item.
    Strict,
}

/// Checks that `bytes` hold one item in canonical form: O(bytes × nesting).
///
/// # Errors
/// Those of [`Cursor::skip`], and [`ErrorKind::NonCanonical`] at the head or key concerned.
///
/// ```
/// use tgm_core::cbor::{Canonical, verify_canonical};
///
/// let long_head = [0xa1, 0x78, 1, b'k', 0x01];
/// assert!(verify_canonical(&long_head, Canonical::KeyOrder).is_ok());
/// assert!(verify_canonical(&long_head, Canonical::Strict).is_err());
/// ```
pub fn verify_canonical(bytes: &[u8], demanded: Canonical) -> Result<()> {
    let mut cursor = Cursor::new(bytes, 0);
    Value::read(&mut cursor)?;
    // Heads follow each other in the bytes whatever their nesting, which was checked just now.
    let mut heads = Heads { cursor: Cursor::new(bytes, 0).until(&cursor) };
    while let Some(value) = heads.next()? {
        if demanded == Canonical::Strict {
            verify_shortest(&value)?;
        }
        if let Ok(map) = value.as_map() {
            verify_order(&map)?;
        }
    }
    if demanded == Canonical::Strict && !cursor.is_empty() {
        return Err(ErrorKind::NonCanonical(NonCanonical::TrailingBytes).at(cursor.offset()));
    }
    Ok(())
}

/// The items of well-formed CBOR in the order of their heads: containers and tags, then what they hold. Strings and
/// integers are one item each, however they are encoded.
struct Heads<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Heads<'a> {
    fn next(&mut self) -> Result<Option<Value<'a>>> {
        loop {
            if self.cursor.is_empty() {
                return Ok(None);
            }
            if !self.cursor.take_break()? {
                break;
            }
        }
        let mut behind = self.cursor;
        let value = Value::read(&mut behind)?;
        let is_whole = matches!(value.kind(), Kind::Bytes | Kind::Text) || value.as_integer().is_ok();
        if is_whole {
            self.cursor = behind;
        } else {
            self.cursor.head()?;
        }
        Ok(Some(value))
    }
}

/// Checks that the keys of one map sort strictly.
fn verify_order(map: &Map<'_>) -> Result<()> {
    let mut previous: Option<Value<'_>> = None;
    for entry in map.iter() {
        let (key, _) = entry?;
        if let Some(before) = previous
            && compare(&before, &key)? != Ordering::Less
        {
            return Err(ErrorKind::NonCanonical(NonCanonical::KeyOrder).at(key.offset()));
        }
        previous = Some(key);
    }
    Ok(())
}

/// Checks that an item's head is as short as its argument allows and announces a length.
fn verify_shortest(value: &Value<'_>) -> Result<()> {
    let head = value.head();
    let is_small_bignum = head.major == 6 && value.as_integer().is_ok();
    let why = if head.is_indefinite() {
        NonCanonical::IndefiniteLength
    } else if head.major == 7 {
        if shortest_float(head).0 == head.info {
            return Ok(());
        }
        if head.info == 24 { NonCanonical::LongHead } else { NonCanonical::WideFloat }
    } else if shortest_info(head.argument) == head.info && !is_small_bignum {
        return Ok(());
    } else {
        NonCanonical::LongHead
    };
    Err(head.error(ErrorKind::NonCanonical(why)))
}

/// The additional information of the shortest head with that argument.
fn shortest_info(argument: u64) -> u8 {
    match argument {
        0..=23 => u8::try_from(argument).unwrap_or(23),
        24..=0xff => 24,
        0x100..=0xffff => 25,
        0x1_0000..=0xffff_ffff => 26,
        _ => 27,
    }
}

/// Additional information and bits of the narrowest float that gives back the same 64 bits; of another simple value,
/// itself (`undefined` as null, which it is read as).
fn shortest_float(head: &Head) -> (u8, u64) {
    let wide = match head.info {
        #[expect(clippy::cast_possible_truncation, reason = "the head holds as many bits as its width says")]
        25 => f16::from_bits(head.argument as u16).to_f64(),
        #[expect(clippy::cast_possible_truncation, reason = "the head holds as many bits as its width says")]
        26 => f64::from(f32::from_bits(head.argument as u32)),
        27 => f64::from_bits(head.argument),
        _ => return (shortest_info(head.argument.min(NULL)), 0),
    };
    let half = f16::from_f64(wide);
    #[expect(clippy::cast_possible_truncation, reason = "compared with the wide value at once")]
    let single = wide as f32;
    if half.to_f64().to_bits() == wide.to_bits() {
        (25, u64::from(half.to_bits()))
    } else if f64::from(single).to_bits() == wide.to_bits() {
        (26, u64::from(single.to_bits()))
    } else {
        (27, wide.to_bits())
    }
}

/// The simple value of null. That of undefined is one more.
const NULL: u64 = 22;

/// Compares two items by the bytes of their canonical encodings, without writing either down.
///
/// Shortest heads of one major type sort by their argument, so that comparing major types, arguments and string contents
/// head by head is comparing bytes.
fn compare(a: &Value<'_>, b: &Value<'_>) -> Result<Ordering> {
    let mut a = Heads { cursor: a.encoded() };
    let mut b = Heads { cursor: b.encoded() };
    loop {
        let order = match (a.next()?, b.next()?) {
            (Some(a), Some(b)) => compare_heads(&a, &b),
            (None, None) => return Ok(Ordering::Equal),
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
        };
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
}

fn compare_heads(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| match a.kind() {
        Kind::Bytes | Kind::Text => bytes(&a.string()).cmp(bytes(&b.string())),
        _ => Ordering::Equal,
    })
}

/// What the first bytes of an item's canonical encoding sort by.
fn rank(value: &Value<'_>) -> (u8, u8, u64) {
    let head = value.head();
    if let (6, Ok(integer)) = (head.major, value.as_integer()) {
        let magnitude = if integer < 0 { !integer } else { integer };
        return (u8::from(integer < 0), 0, u64::try_from(magnitude).unwrap_or(u64::MAX));
    }
    match head.major {
        7 => {
            let (info, bits) = shortest_float(head);
            (7, info, bits)
        }
        2 | 3 => (head.major, 0, value.string().len() as u64),
        4 => (4, 0, value.as_array().map_or(0, |a| a.len() as u64)),
        5 => (5, 0, value.as_map().map_or(0, |m| m.len() as u64)),
        major => (major, 0, head.argument),
    }
}

fn bytes<'a>(string: &Bytes<'a>) -> impl Iterator<Item = u8> + use<'a> {
    string.chunks().flat_map(|chunk| chunk.iter().copied())
}
