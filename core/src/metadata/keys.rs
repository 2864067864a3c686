//! Keys of a map: comparing them, and looking up many of them in linear time.

use crate::cbor::{Map, MapIter, Value};
use crate::error::{ErrorKind, Result};

/// How many times the bytes of its maps a check of keys may read.
///
/// Looking up each key of one map in another costs (number of keys) × (bytes of the other). This limit keeps the cost
/// linear in the frame. Up to 64 keys always pass.
pub(super) const LOOKUP_BUDGET: u64 = 64;

/// The keys of a map, for many lookups in a row.
///
/// ```text
/// plainly:  each lookup walks over all keys
/// trick:    if the map's keys are sorted, and a lookup asks for a key after the one of the lookup before,
///           walk on from there: all such lookups together are one walk, as in merging two sorted lists
/// ```
///
/// A lookup that does not fit the trick walks over all keys, and takes the map's bytes from the budget.
pub(super) struct Keys<'a> {
    map: Map<'a>,
    /// The entries after `next`.
    ahead: MapIter<'a>,
    /// The first key that is not before the one of the last lookup. `None` after the last key.
    next: Option<&'a str>,
    is_ordered: bool,
    /// The key of the last lookup that was in order.
    last: Option<&'a str>,
    /// Bytes that walks over all keys may still read.
    pub(super) budget: u64,
}

impl<'a> Keys<'a> {
    /// The keys of `map`. The keys to look up come from a map of `others` bytes.
    pub(super) fn new(map: Map<'a>, others: u64) -> Self {
        let budget = LOOKUP_BUDGET.saturating_mul(map.byte_len().saturating_add(others));
        let mut keys = Self { map, ahead: map.iter(), next: None, is_ordered: true, last: None, budget };
        let mut before = None;
        for entry in map {
            let name = entry.ok().and_then(|(key, _)| plain_text(&key));
            keys.is_ordered &= name.is_some() && is_before(before, name);
            before = name;
        }
        keys.advance();
        keys
    }

    fn advance(&mut self) {
        self.next = self.ahead.next().and_then(|entry| plain_text(&entry.ok()?.0));
    }

    /// Whether the map has `key`.
    pub(super) fn has(&mut self, key: &Value<'a>) -> Result<bool> {
        let name = plain_text(key);
        if self.is_ordered && name.is_some() && is_before(self.last, name) {
            self.last = name;
            while self.next.is_some() && is_before(self.next, name) {
                self.advance();
            }
            return Ok(self.next == name);
        }
        self.budget = self.budget.checked_sub(self.map.byte_len()).ok_or(ErrorKind::TooManyKeys.at(key.offset()))?;
        Ok(matches!(find_text(&self.map, key), Ok(Some(_))))
    }
}

/// The text of a key, if it is text in one piece.
pub(super) fn plain_text<'a>(key: &Value<'a>) -> Option<&'a str> {
    key.as_text().ok()?.as_str()
}

/// Whether `a` comes before `b` in the order of canonical CBOR: shorter keys first. `None` comes before every key.
fn is_before(a: Option<&str>, b: Option<&str>) -> bool {
    let rank = |key: &str| key.len();
    (a.map(rank), a) < (b.map(rank), b)
}

/// Whether `key` is the text `name`.
pub(super) fn is_text(key: &Value<'_>, name: &str) -> bool {
    key.as_text().is_ok_and(|text| text == *name)
}

/// The value that `map` has for the same text as `key`.
pub(super) fn find_text<'a>(map: &Map<'a>, key: &Value<'_>) -> Result<Option<Value<'a>>> {
    let text = key.as_text()?;
    if let Some(name) = text.as_str() {
        return map.get(name);
    }
    for entry in map {
        let (other, value) = entry?;
        if other.as_text().is_ok_and(|other| other.chunks().flat_map(str::bytes).eq(text.chunks().flat_map(str::bytes)))
        {
            return Ok(Some(value));
        }
    }
    Ok(None)
}
