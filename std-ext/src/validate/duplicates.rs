//! Finds repeated keys in CBOR maps. They are worth a report because readers disagree: this crate takes the last one,
//! others take the first, or refuse the map.
//!
//! ```text
//! plainly:  for each map: sort its keys; equal neighbours are repetitions
//! trick:    one walk over the whole item keeps the key positions of all open maps on one stack
//!           a map whose keys ascend has no repetitions, so it is not sorted
//! ```

use std::borrow::Cow;

use tgm_core::cbor::{Cursor, Kind, Step, Value};

/// A repeated key.
pub(super) struct Duplicate {
    /// The position of the repetition, in bytes from the start of the CBOR.
    pub(super) offset: u64,
    /// The key as text.
    pub(super) name: String,
}

/// Calls `found` for each repeated key in any map of the item at the start of `cbor`. Maps inside map keys are not
/// searched. Malformed CBOR is not searched either; it is reported elsewhere.
///
/// A map whose keys ascend takes linear time. A map of n other keys is sorted, with O(n log n) comparisons that each
/// parse two keys. Memory is four bytes for each key of the open maps. Items of 4 GiB or more are skipped, because
/// positions have 32 bits.
pub(super) fn find(cbor: &[u8], found: &mut dyn FnMut(Duplicate)) {
    if let Ok(item) = Value::parse(cbor, 0)
        && u32::try_from(item.as_encoded().len()).is_ok()
    {
        let mut search = Search { encoded: item.as_encoded(), open: Vec::new(), keys: Vec::new(), found };
        // `Value::parse` walked the whole item, so steps through it cannot fail.
        let _ = search.run();
    }
}

/// A walk through an item.
struct Search<'a, 'f> {
    encoded: &'a [u8],
    /// The arrays and maps that the walk is inside of, the innermost last.
    open: Vec<Open>,
    /// A stack: the positions of the keys of all open maps, the innermost map's last.
    keys: Vec<u32>,
    found: &'f mut dyn FnMut(Duplicate),
}

/// An array or map that the walk is inside of.
struct Open {
    /// Items or entries left. `None` if a break ends the container.
    left: Option<u64>,
    is_map: bool,
    /// The length of [`Search::keys`] when the container was entered. Its own keys start there.
    outer_keys: usize,
    /// Whether each key so far is greater than the one before it. Then no key is repeated.
    ascends: bool,
}

impl<'a> Search<'a, '_> {
    fn run(&mut self) -> tgm_core::Result<()> {
        let mut cursor = Cursor::new(self.encoded, 0);
        // In a map, keys and values take turns.
        let mut wants_key = false;
        while !cursor.is_empty() {
            let is_break = cursor.rest().first() == Some(&0xff);
            if wants_key && !is_break {
                self.key(&mut cursor)?;
                wants_key = false;
                continue;
            }
            match cursor.step()? {
                // The tagged item comes next, in the tag's place.
                Step::Tag(_) => continue,
                Step::Item(_) => self.count(),
                Step::Array(left) => self.enter(left, false),
                Step::Map(left) => self.enter(left, true),
                Step::Break => {
                    self.leave();
                    self.count();
                }
            }
            wants_key = self.open.last().is_some_and(|open| open.is_map);
        }
        Ok(())
    }

    /// Reads a key of the innermost map.
    fn key(&mut self, cursor: &mut Cursor<'a>) -> tgm_core::Result<()> {
        // Longer items are not searched.
        let position = u32::try_from(cursor.offset()).unwrap_or(u32::MAX);
        Value::read(cursor)?;
        if let Some(open) = self.open.last_mut() {
            let before = self.keys.get(open.outer_keys..).and_then(<[u32]>::last);
            open.ascends &= before.is_none_or(|&before| key_at(self.encoded, before) < key_at(self.encoded, position));
        }
        self.keys.push(position);
        Ok(())
    }

    /// Opens a container. An empty one ends at once.
    fn enter(&mut self, left: Option<u64>, is_map: bool) {
        self.open.push(Open { left, is_map, outer_keys: self.keys.len(), ascends: true });
        if left == Some(0) {
            self.leave();
            self.count();
        }
    }

    /// Counts an item or entry that has ended. If its container is complete, that ends too, and counts as an item of
    /// the next outer one.
    fn count(&mut self) {
        while let Some(Open { left: Some(left), .. }) = self.open.last_mut() {
            // It is above 0: an empty container ends where it begins.
            *left = left.saturating_sub(1);
            if *left > 0 {
                return;
            }
            self.leave();
        }
    }

    /// Ends the innermost container, and reports the repeated keys if it is a map.
    fn leave(&mut self) {
        let Some(open) = self.open.pop() else { return };
        // Keys are cut off only here, at the end of their own map.
        let Some(keys) = self.keys.get_mut(open.outer_keys..) else { return };
        if open.is_map && !open.ascends {
            // The sort is stable, so of equal keys the first in the file comes first, and the others are reported.
            keys.sort_by(|&a, &b| key_at(self.encoded, a).cmp(&key_at(self.encoded, b)));
            for &[before, again] in keys.array_windows() {
                if key_at(self.encoded, before) == key_at(self.encoded, again) {
                    (self.found)(Duplicate { offset: u64::from(again), name: name_at(self.encoded, again) });
                }
            }
        }
        self.keys.truncate(open.outer_keys);
    }
}

/// What a map key is sorted by: its type, its number or length, its bytes. Any order works that tells different keys
/// apart. This one is close to the order in which writers put keys, so that most maps are not sorted.
type Key<'a> = (u8, i128, Cow<'a, [u8]>);

/// The map key at `position`. Numbers, texts and byte strings are compared by value, whatever their encoding.
/// Containers and tagged items are compared by their encoding.
fn key_at(encoded: &[u8], position: u32) -> Key<'_> {
    // Never returned: there is a well-formed key at each position that the walk recorded.
    let nothing = (u8::MAX, 0, Cow::Borrowed(&[][..]));
    let rest = usize::try_from(position).ok().and_then(|position| encoded.get(position..));
    let Some(value) = rest.and_then(|rest| Value::parse(rest, 0).ok()) else { return nothing };
    if let Ok(integer) = value.as_integer() {
        return (0, integer, Cow::Borrowed(&[]));
    }
    // A value is read below as what it is, and none of these reads fails.
    match value.kind() {
        Kind::Text => {
            let text =
                value.as_str().map(Cow::Borrowed).or_else(|_| value.as_text().map(|text| text.to_string().into()));
            by_length(
                2,
                text.map_or(Cow::Borrowed(&[][..]), |text| match text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                }),
            )
        }
        Kind::Bytes => {
            let bytes = value.as_bytes();
            by_length(3, Cow::Owned(bytes.map(|bytes| bytes.chunks().collect::<Vec<_>>().concat()).unwrap_or_default()))
        }
        Kind::Float => (4, i128::from(value.as_f64().unwrap_or_default().to_bits()), Cow::Borrowed(&[])),
        Kind::Bool => (5, i128::from(value.as_bool().unwrap_or_default()), Cow::Borrowed(&[])),
        Kind::Null => (6, 0, Cow::Borrowed(&[])),
        _ => (7, 0, Cow::Borrowed(value.as_encoded())),
    }
}

/// The sort key of a string. Shorter strings come first, as writers sort them.
fn by_length(kind: u8, bytes: Cow<'_, [u8]>) -> Key<'_> {
    (kind, i128::from(bytes.len() as u64), bytes)
}

/// The map key at `position`, as the error text after the word "key" names it.
fn name_at(encoded: &[u8], position: u32) -> String {
    match key_at(encoded, position) {
        (0, integer, _) => integer.to_string(),
        (2, _, text) => format!("'{}'", shorten(&String::from_utf8_lossy(&text))),
        _ => "that is not text".to_owned(),
    }
}

/// The first characters of a name from a message, which may have any length.
pub(super) fn shorten(name: &str) -> String {
    const KEPT: usize = 64;
    let kept = name.char_indices().nth(KEPT).and_then(|(end, _)| name.get(..end));
    kept.map_or_else(|| name.to_owned(), |kept| format!("{kept}…"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    fn duplicates(cbor: &[u8]) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        find(cbor, &mut |duplicate| all.push((duplicate.offset, duplicate.name)));
        all
    }

    #[test]
    fn keys_are_compared_by_value_and_only_within_one_map() {
        // {"a": 1, "a": 2}
        assert_eq!(duplicates(&[0xa2, 0x61, b'a', 1, 0x61, b'a', 2]), [(4, "'a'".to_owned())]);
        // The same text with a longer head, and the same text in chunks.
        assert_eq!(duplicates(&[0xa2, 0x61, b'a', 1, 0x78, 1, b'a', 2]).len(), 1);
        assert_eq!(duplicates(&[0xa2, 0x61, b'a', 1, 0x7f, 0x60, 0x61, b'a', 0xff, 2]).len(), 1);
        // {"b": 0, "a": {"a": 1}, "c": [{"a": 2}, {"a": 3}]}
        let apart = [0xa3, 0x61, b'b', 0, 0x61, b'a', 0xa1, 0x61, b'a', 1, 0x61, b'c', 0x82];
        assert_eq!(duplicates(&[&apart[..], &[0xa1, 0x61, b'a', 2, 0xa1, 0x61, b'a', 3]].concat()), []);
        // [{"b": {"x": 1, "a": 2}, "b": []}], both maps of indefinite length.
        let inner = [0x81, 0xbf, 0x61, b'b', 0xbf, 0x61, b'x', 1, 0x61, b'a', 2, 0xff, 0x61, b'b', 0x80, 0xff];
        assert_eq!(duplicates(&inner), [(12, "'b'".to_owned())]);
        // A tagged map with three equal keys has two repetitions. The second key has a longer head.
        assert_eq!(duplicates(&[0xc1, 0xa3, 1, 0, 0x18, 1, 0, 1, 0]).len(), 2);
        // The text "a" and the byte string "a" differ.
        assert_eq!(duplicates(&[0xa2, 0x61, b'a', 1, 0x41, b'a', 2]), []);
        // {[]: 1(1), []: 2}
        assert_eq!(duplicates(&[0xa2, 0x80, 0xc1, 1, 0x80, 2]), [(4, "that is not text".to_owned())]);
        assert_eq!(duplicates(&[0xa1, 0x61]), [], "CBOR that ends too early");
    }

    #[test]
    fn one_repetition_is_found_among_a_hundred_thousand_descending_keys() {
        let mut cbor = vec![0xbf];
        for n in (0..100_000_u32).rev() {
            cbor.push(0x1a);
            cbor.extend(n.to_be_bytes());
            cbor.push(0);
        }
        cbor.extend([0x1a, 0, 0, 0, 7, 0, 0xff]);
        assert_eq!(duplicates(&cbor), [(600_001, "7".to_owned())]);
    }
}
