//! Is this CBOR in the form that the format's writers give it? (FORMAT §3.1, §3.7)

use core::cmp::Ordering;

use half::f16;

use super::container::Map;
use super::cursor::Cursor;
use super::head::{Head, info, major, shortest_info, simple};
use super::string::Bytes;
use super::value::{Value, float_of};
use crate::error::{ErrorKind, NonCanonical, Result};
use crate::names::Kind;

/// How much of the canonical form is required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Canonical {
    /// The reference's check: in every map each key sorts after the one before it. Heads, floats, indefinite lengths and
    /// trailing bytes are not checked.
    #[default]
    KeyOrder,
    /// All of RFC 8949 §4.2.1: key order, shortest heads, shortest floats, definite lengths, and nothing after the item.
    Strict,
}

/// Checks that `bytes` hold one item in canonical form: O(bytes × nesting).
///
/// # Errors
/// The errors of [`Cursor::skip`], and [`ErrorKind::NonCanonical`] at the head or key concerned.
///
/// ```
/// use tgm_core::cbor::{Canonical, verify_canonical};
///
/// let long_head = [0xa1, 0x78, 1, b'k', 0x01];
/// assert!(verify_canonical(&long_head, Canonical::KeyOrder).is_ok());
/// assert!(verify_canonical(&long_head, Canonical::Strict).is_err());
/// ```
pub fn verify_canonical(bytes: &[u8], required: Canonical) -> Result<()> {
    let mut cursor = Cursor::new(bytes, 0);
    Value::read(&mut cursor)?;
    // The walk over heads need not follow the nesting: it was checked just now, and heads are in the order of the bytes.
    let mut heads = Heads { cursor: Cursor::new(bytes, 0).until(&cursor) };
    while let Some(value) = heads.next()? {
        if required == Canonical::Strict {
            verify_shortest(&value)?;
        }
        if let Ok(map) = value.as_map() {
            verify_order(&map)?;
        }
    }
    if required == Canonical::Strict && !cursor.is_empty() {
        return Err(ErrorKind::NonCanonical(NonCanonical::TrailingBytes).at(cursor.offset()));
    }
    Ok(())
}

/// The items of well-formed CBOR in the order of their heads: a container or tag first, then its contents.
///
/// A string of several pieces is one item. So is a bignum, whose head is a tag.
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
        let mut after = self.cursor;
        let value = Value::read(&mut after)?;
        let is_one_item = matches!(value.kind(), Kind::Bytes | Kind::Text) || value.as_integer().is_ok();
        if is_one_item {
            self.cursor = after;
        } else {
            self.cursor.head()?;
        }
        Ok(Some(value))
    }
}

/// Checks that each key of one map sorts after the key before it.
fn verify_order(map: &Map<'_>) -> Result<()> {
    let mut previous: Option<Value<'_>> = None;
    for entry in map {
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

/// Checks that an item's head is as short as its argument allows, and that its length is definite.
fn verify_shortest(value: &Value<'_>) -> Result<()> {
    let head = value.head();
    // An integer that fits a head must not be a bignum.
    let is_small_bignum = head.major == major::TAG && value.as_integer().is_ok();
    let why = if head.is_indefinite() {
        NonCanonical::IndefiniteLength
    } else if head.major == major::SIMPLE {
        if shortest_float(head).0 == head.info {
            return Ok(());
        }
        if head.info == info::ONE_BYTE { NonCanonical::LongHead } else { NonCanonical::WideFloat }
    } else if shortest_info(head.argument) == head.info && !is_small_bignum {
        return Ok(());
    } else {
        NonCanonical::LongHead
    };
    Err(head.error(ErrorKind::NonCanonical(why)))
}

/// The additional information and the bits of the narrowest float that has the same 64-bit value.
///
/// For another simple value: its own additional information and 0. `undefined` counts as null, because it is read as null.
fn shortest_float(head: &Head) -> (u8, u64) {
    let wide = match head.info {
        info::TWO_BYTES..=info::EIGHT_BYTES => float_of(head),
        _ => return (shortest_info(head.argument.min(simple::NULL.into())), 0),
    };
    let half = f16::from_f64(wide);
    #[expect(clippy::cast_possible_truncation, reason = "compared with the wide value at once")]
    let single = wide as f32;
    if half.to_f64().to_bits() == wide.to_bits() {
        (info::TWO_BYTES, u64::from(half.to_bits()))
    } else if f64::from(single).to_bits() == wide.to_bits() {
        (info::FOUR_BYTES, u64::from(single.to_bits()))
    } else {
        (info::EIGHT_BYTES, wide.to_bits())
    }
}

/// Compares two items as the bytes of their canonical encodings, without encoding them.
///
/// ```text
/// plainly:   encode both items canonically; compare the bytes
/// trick:     for each pair of heads, in order:  compare major type, then argument, then the bytes of strings
/// ```
///
/// The results are equal, because the shortest heads of one major type sort by their arguments.
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

/// A key that sorts like the first bytes of the item's canonical encoding: major type, width of a float, argument.
fn rank(value: &Value<'_>) -> (u8, u8, u64) {
    let head = value.head();
    if let (major::TAG, Ok(integer)) = (head.major, value.as_integer()) {
        let (major, magnitude) = if integer < 0 { (major::NEGATIVE, !integer) } else { (major::UNSIGNED, integer) };
        return (major, 0, u64::try_from(magnitude).unwrap_or(u64::MAX));
    }
    match head.major {
        major @ major::SIMPLE => {
            let (info, bits) = shortest_float(head);
            (major, info, bits)
        }
        major @ (major::BYTES | major::TEXT) => (major, 0, value.string().len() as u64),
        major @ major::ARRAY => (major, 0, value.as_array().map_or(0, |a| a.len() as u64)),
        major @ major::MAP => (major, 0, value.as_map().map_or(0, |m| m.len() as u64)),
        major => (major, 0, head.argument),
    }
}

fn bytes<'a>(string: &Bytes<'a>) -> impl Iterator<Item = u8> + use<'a> {
    string.chunks().flat_map(|chunk| chunk.iter().copied())
}
