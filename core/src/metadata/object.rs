//! The metadata of one object, from its `base` entry and its preceder.

use super::RESERVED_KEY;
use super::keys::{Keys, is_text};
use super::path::{Path, find_many, follow, follow_joined, split_path, typed_getters};
use crate::cbor::{Array, Bytes, Map, MapIter, Value};
use crate::error::Result;

/// The metadata of one object: its `base` entry, in which the preceder's top-level keys replace others.
#[derive(Clone, Copy, Debug)]
pub struct ObjectMetadata<'a> {
    pub(super) base: Option<Map<'a>>,
    pub(super) preceder: Option<Map<'a>>,
}

impl<'a> ObjectMetadata<'a> {
    /// The value at a dotted path, such as `mars.param`: a walk over maps with text keys. A key with dots can stand in
    /// double quotes: `attributes."mars.param"`. Without quotes it is found where plain segments lead nowhere.
    ///
    /// `None` if the path leads through a value that is not a map, if the path is empty, or if its first segment is
    /// `_reserved_`.
    ///
    /// # Errors
    /// Only errors of malformed CBOR, which were ruled out when the view was made.
    pub fn get(&self, path: &str) -> Result<Option<Value<'a>>> {
        if is_hidden(path) {
            return Ok(None);
        }
        follow(path, |key| self.top(key))
    }

    /// The values at several dotted paths, each as [`Self::get`] has it. One walk finds all of them, so this takes less
    /// time than a call for each path.
    ///
    /// # Errors
    /// The errors of [`Self::get`].
    ///
    /// ```
    /// # let bytes: &[u8] = include_bytes!("../../samples/some-objects.tgm");
    /// let metadata = tgm_core::Message::parse(bytes)?.metadata()?;
    /// for object in metadata.objects() {
    ///     let [param, level] = object?.get_many(["mars.param", "mars.levelist"])?;
    ///     println!("{:?} at {:?}", param.map(|value| value.as_str()), level.map(|value| value.as_u64()));
    /// }
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    pub fn get_many<const N: usize>(&self, paths: [&str; N]) -> Result<[Option<Value<'a>>; N]> {
        let (mut found, texts, paths) = ([None; N], paths, paths.map(Path::new));
        // A key of the preceder replaces the same key of `base`, and so does what the paths lead to from there.
        for map in [self.base, self.preceder].into_iter().flatten() {
            find_many(map, &paths, &mut found)?;
        }
        for (path, found) in texts.iter().zip(&mut found) {
            if found.is_none() && split_path(path).1.is_some() && !is_hidden(path) {
                *found = follow_joined(path, |key| self.top(key))?;
            }
        }
        Ok(found)
    }

    typed_getters!();

    /// The value of a top-level key.
    fn top(&self, key: &str) -> Result<Option<Value<'a>>> {
        if let Some(map) = self.preceder
            && let Some(value) = map.get(key)?
        {
            return Ok(Some(value));
        }
        self.base.map_or(Ok(None), |map| map.get(key))
    }

    /// The top-level entries: the preceder has the first ones; entries of `base` that it does not replace follow. `_reserved_` comes only
    /// from `base`.
    ///
    /// Linear if both maps have their keys in canonical order, as encoders write them. A key of `base` that is out of
    /// order is looked up in the whole preceder. All such lookups together may read 64 times the bytes of both maps.
    /// Beyond that the iterator yields [`ErrorKind::TooManyKeys`](crate::ErrorKind::TooManyKeys) and ends.
    /// [`Self::base`] and [`Self::preceder`] have no such limit.
    pub fn entries(&self) -> impl Iterator<Item = Result<(Value<'a>, Value<'a>)>> + use<'a> {
        let (base, preceder) = (self.base.unwrap_or(Map::EMPTY), self.preceder.unwrap_or(Map::EMPTY));
        let over = preceder.iter().filter(|entry| !matches!(entry, Ok((key, _)) if is_text(key, RESERVED_KEY)));
        over.chain(Unreplaced { entries: base.iter(), replaced: Keys::new(preceder, base.byte_len()), done: false })
    }

    /// The object's entry of `base`, unchanged.
    pub const fn base(&self) -> Option<Map<'a>> {
        self.base
    }

    /// The entry of the object's preceder, unchanged. Its top-level keys except `_reserved_` replace the keys of
    /// [`Self::base`].
    pub const fn preceder(&self) -> Option<Map<'a>> {
        self.preceder
    }

    /// The key `_reserved_` of the `base` entry: what the library wrote about the object.
    ///
    /// # Errors
    /// Only errors of malformed CBOR, which were ruled out when the view was made.
    pub fn reserved(&self) -> Result<Option<Value<'a>>> {
        self.base.map_or(Ok(None), |map| map.get(RESERVED_KEY))
    }
}

/// Whether a path begins where nothing is looked up.
fn is_hidden(path: &str) -> bool {
    matches!(split_path(path).0, "" | RESERVED_KEY)
}

/// The entries of `base` that the preceder does not replace. It ends after an error.
struct Unreplaced<'a> {
    entries: MapIter<'a>,
    replaced: Keys<'a>,
    done: bool,
}

impl<'a> Iterator for Unreplaced<'a> {
    type Item = Result<(Value<'a>, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let (key, value) = match self.entries.next()? {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error)),
            };
            let is_replaced = if is_text(&key, RESERVED_KEY) { Ok(false) } else { self.replaced.has(&key) };
            match is_replaced {
                Ok(true) => {}
                Ok(false) => return Some(Ok((key, value))),
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
