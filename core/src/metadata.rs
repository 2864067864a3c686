//! Metadata as borrowed views: of one frame, of one object, of a whole message (FORMAT §3.3, §5.4, §7.4).
//!
//! No map is built. A lookup walks the CBOR, steps over what it does not need, and returns a [`Value`]. There are three
//! different answers: an absent key is `Ok(None)`, a value of another type is [`ErrorKind::WrongType`], and malformed CBOR
//! is an error when the view is made.
//!
//! The metadata of an object comes from two frames at most. One is the last metadata frame of the message, which may be in
//! its header or in its footer: its `base` has an entry for the object. The other is the object's preceder: its top-level
//! keys replace those of the `base` entry.

use core::iter::FusedIterator;

use crate::cbor::{Array, ArrayIter, Bytes, Cursor, Map, MapIter, MapReader, Name, TextMaps, Value};
use crate::error::{ErrorKind, Result};
use crate::frame::{Frame, Frames};
use crate::names::{FrameType, WireName};

/// The key of what the library itself writes, at message level and in every `base` entry.
pub const RESERVED_KEY: &str = "_reserved_";
/// The key of the writer's annotations of the message.
pub const EXTRA_KEY: &str = "_extra_";
/// The key of the objects' metadata.
pub const BASE_KEY: &str = "base";
/// A top-level key that 0.17 wrote beside the sections. If `_extra_` has this key too, that one counts.
const LEGACY_KEY: &str = "version";

/// How many times the bytes of a frame a check of keys may read.
///
/// Looking up each unknown top-level key in `_extra_` costs (number of keys) × (bytes of `_extra_`). This limit keeps the
/// cost linear in the frame. Up to 64 unknown keys always pass.
const AMBIGUITY_BUDGET: u64 = 64;

/// The keys that the format defines at top level.
#[derive(Clone, Copy)]
enum Section {
    Base,
    Extra,
    Reserved,
}

impl WireName for Section {
    fn all() -> &'static [Self] {
        &[Self::Base, Self::Extra, Self::Reserved]
    }

    fn wire_name(self) -> &'static str {
        match self {
            Self::Base => BASE_KEY,
            Self::Extra => EXTRA_KEY,
            Self::Reserved => RESERVED_KEY,
        }
    }

    #[inline]
    fn from_bytes(name: &[u8]) -> Option<Self> {
        if name == BASE_KEY.as_bytes() {
            Some(Self::Base)
        } else if name == EXTRA_KEY.as_bytes() {
            Some(Self::Extra)
        } else {
            (name == RESERVED_KEY.as_bytes()).then_some(Self::Reserved)
        }
    }
}

/// Defines the typed getters of a view whose `get` finds a [`Value`] by its dotted path.
macro_rules! typed_getters {
    ($($name:ident -> $type:ty = $cast:ident, $what:literal;)+) => {
        $(
            #[doc = concat!("The ", $what, " at a dotted path.")]
            ///
            /// # Errors
            /// [`ErrorKind::WrongType`] or [`ErrorKind::IntegerRange`] if the value is another one.
            pub fn $name(&self, path: &str) -> Result<Option<$type>> {
                self.get(path)?.map(|value| value.$cast()).transpose()
            }
        )+
    };
    () => {
        typed_getters! {
            get_str -> &'a str = as_str, "text";
            get_bool -> bool = as_bool, "truth value";
            get_i64 -> i64 = as_i64, "signed integer";
            get_u64 -> u64 = as_u64, "unsigned integer";
            get_f64 -> f64 = as_f64, "number, integers included,";
            get_bytes -> Bytes<'a> = as_bytes, "byte string";
            get_array -> Array<'a> = as_array, "array";
            get_map -> Map<'a> = as_map, "map";
        }
    };
}

/// The content of one metadata frame (types 1, 7 and 8).
///
/// ```
/// use tgm_core::metadata::Metadata;
///
/// // {"base": [{"name": "t"}], "_extra_": {"run": 6}}
/// let bytes = b"\xa2\x64base\x81\xa1\x64name\x61t\x67_extra_\xa1\x63run\x06";
/// let metadata = Metadata::parse(bytes, 0)?;
/// let first = metadata.base_entry(0)?.and_then(|entry| entry.get("name").transpose());
/// assert_eq!(first.map(|name| name?.as_str()), Some(Ok("t")));
/// assert_eq!(metadata.extra("run")?.map(|run| run.as_u64()), Some(Ok(6)));
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'a> {
    top: Map<'a>,
    base: Option<TextMaps<'a>>,
    extra: Map<'a>,
    reserved: Map<'a>,
    offset: u64,
    encoded: &'a [u8],
}

impl<'a> Metadata<'a> {
    /// Reads the content of a metadata frame. Errors count from `offset` bytes before `bytes`. O(bytes).
    ///
    /// # Errors
    /// Malformed CBOR; [`ErrorKind::WrongType`] for a section of another type; [`ErrorKind::NonTextKey`] at top level, in a
    /// section or in a `base` entry; [`ErrorKind::AmbiguousKey`] for a key both at top level and in `_extra_`;
    /// [`ErrorKind::TooManyKeys`] if there are too many keys to look for such a one in linear time.
    ///
    /// Format: FORMAT §3.3, §2 rows 2 and 3.
    pub fn parse(bytes: &'a [u8], offset: u64) -> Result<Self> {
        let start = Cursor::new(bytes, offset);
        let mut entries = MapReader::open(start, 0)?;
        let (mut base, mut extra, mut reserved) = (None, Map::EMPTY, Map::EMPTY);
        let mut has_unknown = false;
        while let Some(name) = entries.next_name()? {
            match name {
                Name::Known(Section::Base) => base = Some(entries.text_maps()?),
                Name::Known(Section::Extra) => extra = entries.text_map()?,
                Name::Known(Section::Reserved) => reserved = entries.text_map()?,
                Name::Other => {
                    has_unknown = true;
                    entries.skip()?;
                }
            }
        }
        let encoded = start.until(entries.position());
        let metadata = Self { top: Map::walked(encoded), base, extra, reserved, offset, encoded: encoded.rest() };
        if has_unknown {
            metadata.check_ambiguity()?;
        }
        Ok(metadata)
    }

    /// Reads the body of a metadata frame.
    ///
    /// # Errors
    /// Those of [`Self::parse`]; for a preceder also [`ErrorKind::PrecederBase`].
    pub fn of_frame(frame: &Frame<'a>) -> Result<Self> {
        Self::of_body(frame.frame_type(), frame.body(), frame.body_offset())
    }

    /// [`Self::of_frame`] for a body without its frame.
    pub(crate) fn of_body(frame_type: FrameType, body: &'a [u8], offset: u64) -> Result<Self> {
        let metadata = Self::parse(body, offset)?;
        let entries = metadata.base_len();
        if frame_type == FrameType::PrecederMetadata && entries != 1 {
            let entries = u32::try_from(entries).unwrap_or(u32::MAX);
            return Err(ErrorKind::PrecederBase(entries).at(offset));
        }
        Ok(metadata)
    }

    /// Checks that no unknown top-level key is also a key of `_extra_`.
    fn check_ambiguity(&self) -> Result<()> {
        if self.extra.is_empty() {
            return Ok(());
        }
        let cost = self.extra.byte_len();
        let mut budget = AMBIGUITY_BUDGET.saturating_mul(self.encoded.len() as u64);
        for entry in self.unknown_entries() {
            let (key, value) = entry?;
            budget = budget.checked_sub(cost).ok_or(ErrorKind::TooManyKeys.at(key.offset()))?;
            if find_text(&self.extra, &key)?.is_some() && !is_legacy(&key, &value) {
                return Err(ErrorKind::AmbiguousKey.at(key.offset()));
            }
        }
        Ok(())
    }

    /// The top-level entries that are not sections.
    fn unknown_entries(&self) -> impl Iterator<Item = Result<(Value<'a>, Value<'a>)>> + use<'a> {
        self.top.iter().filter(|entry| !matches!(entry, Ok((key, _)) if is_section(key)))
    }

    /// The CBOR item, byte for byte.
    pub const fn as_encoded(&self) -> &'a [u8] {
        self.encoded
    }

    /// Where the CBOR item starts, in bytes from the start of the caller's slice.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of entries of `base`.
    pub fn base_len(&self) -> usize {
        self.base.map_or(0, |base| base.len())
    }

    /// The entries of `base` in order. Entry *i* is the metadata of object *i*.
    pub fn base_entries(&self) -> impl Iterator<Item = Result<Map<'a>>> + use<'a> {
        self.base.into_iter().flat_map(|base| base.iter()).map(|entry| entry?.as_map())
    }

    /// The `base` entry of object `index`. O(1) if all entries have the same length, otherwise a walk over those before it.
    ///
    /// # Errors
    /// Only errors that [`Self::parse`] has ruled out.
    pub fn base_entry(&self, index: usize) -> Result<Option<Map<'a>>> {
        self.base.map_or(Ok(None), |base| base.get(index))
    }

    /// The section `_reserved_`: what the library wrote about the message, such as encoder, time and uuid.
    pub const fn reserved(&self) -> Map<'a> {
        self.reserved
    }

    /// The writer's annotations: the entries of `_extra_`, then the unknown top-level entries.
    pub fn extra_entries(&self) -> impl Iterator<Item = Result<(Value<'a>, Value<'a>)>> + use<'a> {
        let extra = self.extra;
        let unknown = self.unknown_entries().filter(move |entry| match entry {
            Ok((key, _)) => !matches!(find_text(&extra, key), Ok(Some(_))),
            Err(_) => true,
        });
        self.extra.iter().chain(unknown)
    }

    /// The writer's annotation under `key`: from `_extra_`, otherwise from the unknown top-level entries.
    ///
    /// # Errors
    /// Only errors that [`Self::parse`] has ruled out.
    pub fn extra(&self, key: &str) -> Result<Option<Value<'a>>> {
        match self.extra.get(key)? {
            Some(value) => Ok(Some(value)),
            None if matches!(key, BASE_KEY | EXTRA_KEY | RESERVED_KEY) => Ok(None),
            None => self.top.get(key),
        }
    }

    /// The value at a dotted path in this frame, by the rules of [`MessageMetadata::get`]. Preceders are frames of their own;
    /// this view does not see them.
    ///
    /// # Errors
    /// Only errors that [`Self::parse`] has ruled out.
    ///
    /// ```
    /// # let bytes: &[u8] = include_bytes!("../samples/some-objects.tgm");
    /// let first = tgm_core::Message::parse(bytes)?.first_metadata()?;
    /// assert_eq!(first.get_u64("extra.run")?, first.extra("run")?.map(|run| run.as_u64()).transpose()?);
    /// # Ok::<(), tgm_core::Error>(())
    /// ```
    pub fn get(&self, path: &str) -> Result<Option<Value<'a>>> {
        self.look_up(self.base_entries().map(|entry| Ok(ObjectMetadata { base: Some(entry?), preceder: None })), path)
    }

    typed_getters!();

    /// The value at a dotted path in the `base` entry of object `index`.
    ///
    /// # Errors
    /// Only errors that [`Self::parse`] has ruled out.
    pub fn get_at(&self, index: usize, path: &str) -> Result<Option<Value<'a>>> {
        ObjectMetadata { base: self.base_entry(index)?, preceder: None }.get(path)
    }

    /// The value at a dotted path: in the first of `objects` that has it, and then in the annotations.
    fn look_up(
        &self,
        objects: impl Iterator<Item = Result<ObjectMetadata<'a>>>,
        path: &str,
    ) -> Result<Option<Value<'a>>> {
        let (first, rest) = split_path(path);
        match first {
            "" | RESERVED_KEY => return Ok(None),
            EXTRA_KEY | "extra" => return rest.map_or(Ok(None), |rest| self.extra_at(rest)),
            _ => {}
        }
        for object in objects {
            if let Some(value) = object?.get(path)? {
                return Ok(Some(value));
            }
        }
        self.extra_at(path)
    }

    /// The annotation at a dotted path that begins inside `_extra_`.
    fn extra_at(&self, path: &str) -> Result<Option<Value<'a>>> {
        let (first, rest) = split_path(path);
        descend(self.extra(first)?, rest)
    }
}

/// The metadata of one object: its `base` entry, in which the preceder's top-level keys replace others.
#[derive(Clone, Copy, Debug)]
pub struct ObjectMetadata<'a> {
    base: Option<Map<'a>>,
    preceder: Option<Map<'a>>,
}

impl<'a> ObjectMetadata<'a> {
    /// The value at a dotted path, such as `mars.param`: a walk over maps with text keys.
    ///
    /// `None` if the path leads through a value that is not a map, if the path is empty, or if its first segment is
    /// `_reserved_`.
    ///
    /// # Errors
    /// Only errors of malformed CBOR, which were ruled out when the view was made.
    pub fn get(&self, path: &str) -> Result<Option<Value<'a>>> {
        let (first, rest) = split_path(path);
        if matches!(first, "" | RESERVED_KEY) {
            return Ok(None);
        }
        let Some(rest) = rest else { return self.top(first) };
        let (second, rest) = split_path(rest);
        descend(self.second(first, second)?, rest)
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

    /// The value of `key` in the map under the top-level key `top`.
    fn second(&self, top: &str, key: &str) -> Result<Option<Value<'a>>> {
        if let Some(map) = self.preceder
            && let (true, value) = map.get_in(top, key)?
        {
            return Ok(value);
        }
        self.base.map_or(Ok(None), |map| map.get_in(top, key).map(|(_, value)| value))
    }

    /// The top-level entries: those of the preceder, then those of `base` that it does not replace. `_reserved_` comes only
    /// from `base`.
    ///
    /// Linear if both maps have their keys in canonical order, as encoders write them. A key of `base` that is out of order
    /// is looked up in the whole preceder. All such lookups together may read 64 times the bytes of both maps. Beyond that
    /// the iterator yields [`ErrorKind::TooManyKeys`] and ends. [`Self::base`] and [`Self::preceder`] have no such limit.
    pub fn entries(&self) -> impl Iterator<Item = Result<(Value<'a>, Value<'a>)>> + use<'a> {
        let (base, preceder) = (self.base.unwrap_or(Map::EMPTY), self.preceder.unwrap_or(Map::EMPTY));
        let over = preceder.iter().filter(|entry| !matches!(entry, Ok((key, _)) if is_text(key, RESERVED_KEY)));
        over.chain(Unreplaced { entries: base.iter(), replaced: Keys::new(preceder, base.byte_len()), done: false })
    }

    /// The object's entry of `base`, unchanged.
    pub const fn base(&self) -> Option<Map<'a>> {
        self.base
    }

    /// The entry of the object's preceder, unchanged. Its top-level keys except `_reserved_` replace those of
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

/// The keys of a map, for many lookups in a row.
///
/// ```text
/// plainly:  each lookup walks over all keys
/// trick:    if the map's keys are sorted, and a lookup asks for a key after the one of the lookup before,
///           walk on from there: all such lookups together are one walk, as in merging two sorted lists
/// ```
///
/// A lookup that does not fit the trick walks over all keys, and takes the map's bytes from the budget.
struct Keys<'a> {
    map: Map<'a>,
    /// The entries after `next`.
    ahead: MapIter<'a>,
    /// The first key that is not before the one of the last lookup. `None` after the last key.
    next: Option<&'a str>,
    is_ordered: bool,
    /// The key of the last lookup that was in order.
    last: Option<&'a str>,
    /// Bytes that walks over all keys may still read.
    budget: u64,
}

impl<'a> Keys<'a> {
    /// The keys of `map`. The keys to look up come from a map of `others` bytes.
    fn new(map: Map<'a>, others: u64) -> Self {
        let budget = AMBIGUITY_BUDGET.saturating_mul(map.byte_len().saturating_add(others));
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
    fn has(&mut self, key: &Value<'a>) -> Result<bool> {
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
fn plain_text<'a>(key: &Value<'a>) -> Option<&'a str> {
    key.as_text().ok()?.as_str()
}

/// Whether `a` comes before `b` in the order of canonical CBOR: shorter keys first. `None` comes before every key.
fn is_before(a: Option<&str>, b: Option<&str>) -> bool {
    let rank = |key: &str| key.len();
    (a.map(rank), a) < (b.map(rank), b)
}

/// The metadata of a whole message: a view that joins its frames when it is asked.
///
/// ```
/// # let bytes: &[u8] = include_bytes!("../samples/some-objects.tgm");
/// let message = tgm_core::Message::parse(bytes)?;
/// let metadata = message.metadata()?;
/// for object in metadata.objects() {
///     println!("parameter {:?}", object?.get_str("mars.param")?);
/// }
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct MessageMetadata<'a> {
    metadata: Metadata<'a>,
    frames: Frames<'a>,
    object_count: usize,
    has_preceders: bool,
}

impl<'a> MessageMetadata<'a> {
    /// Joins the last metadata frame with the walk that finds the preceders. Checks every preceder.
    pub(crate) fn new(
        metadata: Metadata<'a>,
        frames: Frames<'a>,
        object_count: usize,
        has_preceders: bool,
    ) -> Result<Self> {
        if metadata.base_len() > object_count {
            return Err(ErrorKind::BaseTooLong.at(metadata.offset()));
        }
        if has_preceders {
            preceder_frames(&frames).try_for_each(|frame| Metadata::of_frame(&frame?).map(|_| ()))?;
        }
        Ok(Self { metadata, frames, object_count, has_preceders })
    }

    /// The content of the message's last metadata frame.
    pub const fn frame(&self) -> &Metadata<'a> {
        &self.metadata
    }

    /// The number of objects in the message.
    pub const fn object_count(&self) -> usize {
        self.object_count
    }

    /// The metadata of every object in order, including objects that `base` has no entry for.
    pub fn objects(&self) -> ObjectMetadataIter<'a> {
        ObjectMetadataIter {
            base: self.metadata.base.map(|base| base.iter()),
            frames: self.has_preceders.then(|| self.frames.clone()),
            left: self.object_count,
        }
    }

    /// The metadata of object `index`; `None` if the message has no such object.
    ///
    /// # Errors
    /// Only errors that were ruled out when this view was made.
    pub fn object(&self, index: usize) -> Result<Option<ObjectMetadata<'a>>> {
        if !self.has_preceders && index < self.object_count {
            return Ok(Some(ObjectMetadata { base: self.metadata.base_entry(index)?, preceder: None }));
        }
        self.objects().nth(index).transpose()
    }

    /// The value at a dotted path at message level.
    ///
    /// A path that begins with `_extra_.` or `extra.` is looked up in the writer's annotations. Any other path is looked up
    /// in the objects, of which the first that has it counts, and then in the annotations.
    ///
    /// # Errors
    /// Only errors that were ruled out when this view was made.
    pub fn get(&self, path: &str) -> Result<Option<Value<'a>>> {
        self.metadata.look_up(self.objects(), path)
    }

    typed_getters!();

    /// The value at a dotted path in the metadata of object `index`.
    ///
    /// # Errors
    /// Only errors that were ruled out when this view was made.
    pub fn get_at(&self, index: usize, path: &str) -> Result<Option<Value<'a>>> {
        self.object(index)?.map_or(Ok(None), |object| object.get(path))
    }
}

/// The metadata of each object of a message. It ends after an error.
#[derive(Clone, Debug)]
pub struct ObjectMetadataIter<'a> {
    base: Option<ArrayIter<'a>>,
    /// The walk that finds preceders. `None` if the message has none.
    frames: Option<Frames<'a>>,
    left: usize,
}

impl<'a> ObjectMetadataIter<'a> {
    fn step(&mut self) -> Result<ObjectMetadata<'a>> {
        let base = match self.base.as_mut().and_then(Iterator::next) {
            Some(entry) => Some(entry?.as_map()?),
            None => None,
        };
        let preceder = self.frames.as_mut().map_or(Ok(None), next_preceder)?;
        Ok(ObjectMetadata { base, preceder })
    }
}

impl<'a> Iterator for ObjectMetadataIter<'a> {
    type Item = Result<ObjectMetadata<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let object = self.step();
        if object.is_err() {
            self.left = 0;
        }
        Some(object)
    }
}

impl FusedIterator for ObjectMetadataIter<'_> {}

/// Walks up to the next data object, and returns the entry of its preceder, if it has one.
fn next_preceder<'a>(frames: &mut Frames<'a>) -> Result<Option<Map<'a>>> {
    let mut preceder = None;
    for frame in frames {
        let frame = frame?;
        match frame.frame_type() {
            FrameType::PrecederMetadata => preceder = Metadata::of_frame(&frame)?.base_entry(0)?,
            FrameType::NTensorFrame => break,
            _ => {}
        }
    }
    Ok(preceder)
}

fn preceder_frames<'a>(frames: &Frames<'a>) -> impl Iterator<Item = Result<Frame<'a>>> + use<'a> {
    frames.clone().filter(|frame| !matches!(frame, Ok(f) if f.frame_type() != FrameType::PrecederMetadata))
}

fn is_text(key: &Value<'_>, name: &str) -> bool {
    key.as_text().is_ok_and(|text| text == *name)
}

fn is_section(key: &Value<'_>) -> bool {
    is_text(key, BASE_KEY) || is_text(key, EXTRA_KEY) || is_text(key, RESERVED_KEY)
}

fn is_legacy(key: &Value<'_>, value: &Value<'_>) -> bool {
    is_text(key, LEGACY_KEY) && value.as_u64().is_ok()
}

/// The value that `map` has for the same text as `key`.
fn find_text<'a>(map: &Map<'a>, key: &Value<'_>) -> Result<Option<Value<'a>>> {
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

/// The first segment of a dotted path, and the rest after its dot.
fn split_path(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

/// Follows the rest of a path from the value of its first segment.
fn descend<'a>(from: Option<Value<'a>>, path: Option<&str>) -> Result<Option<Value<'a>>> {
    let (mut found, mut path) = (from, path);
    while let (Some(value), Some(rest)) = (found, path) {
        let (segment, after) = split_path(rest);
        found = value.as_map().map_or(Ok(None), |map| map.get(segment))?;
        path = after;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    /// A map of these keys, of at most 255 bytes each, to 0.
    fn map(keys: &[String]) -> Vec<u8> {
        let count = u16::try_from(keys.len()).unwrap().to_be_bytes();
        let mut bytes = std::vec![0xb9, count[0], count[1]];
        for key in keys {
            bytes.extend([0x78, u8::try_from(key.len()).unwrap()]);
            bytes.extend(key.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    fn names(prefix: &str, count: usize) -> Vec<String> {
        (0..count).map(|n| format!("{prefix}{n:05}")).collect()
    }

    fn keys_of<'a>(base: &'a [u8], preceder: &'a [u8]) -> Result<Vec<&'a str>> {
        let view = |bytes: &'a [u8]| Value::parse(bytes, 0).and_then(|value| value.as_map()).unwrap();
        let metadata = ObjectMetadata { base: Some(view(base)), preceder: Some(view(preceder)) };
        metadata.entries().map(|entry| Ok(plain_text(&entry?.0).unwrap())).collect()
    }

    #[test]
    fn keys_in_order_are_looked_for_in_one_walk() {
        let (base, preceder) = (map(&names("b", 20_000)), map(&names("a", 20_000)));
        let behind = map(&names("c", 100));
        let view = |bytes| Value::parse(bytes, 0).and_then(|value| value.as_map()).unwrap();
        let mut keys = Keys::new(view(&preceder), 0);
        let budget = keys.budget;
        for entry in view(&base).iter().chain(view(&behind).iter()) {
            assert!(!keys.has(&entry.unwrap().0).unwrap());
        }
        assert_eq!(keys.budget, budget, "no key was looked for in all of the map");
        assert_eq!(keys_of(&base, &preceder).unwrap().len(), 40_000);
        let odd: Vec<String> = names("b", 20_000).into_iter().skip(1).step_by(2).collect();
        assert_eq!(keys_of(&base, &map(&odd)).unwrap().len(), 20_000, "each key once");
    }

    #[test]
    fn keys_in_no_order_are_found_until_that_costs_too_much() {
        let reversed = |prefix, count| map(&names(prefix, count).into_iter().rev().collect::<Vec<_>>());
        for (base, preceder) in [("a", "b"), ("b", "a"), ("a", "a")] {
            let expected = if base == preceder { 60 } else { 120 };
            assert_eq!(keys_of(&reversed(base, 60), &reversed(preceder, 60)).unwrap().len(), expected);
        }
        let error = keys_of(&reversed("b", 5000), &reversed("a", 5000)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooManyKeys);
        // As many as there are bytes for, then one error, then nothing.
        let (base, preceder) = (reversed("b", 5000), reversed("a", 5000));
        let view = |bytes| Value::parse(bytes, 0).and_then(|value| value.as_map()).unwrap();
        let metadata = ObjectMetadata { base: Some(view(&base)), preceder: Some(view(&preceder)) };
        assert!(metadata.entries().count() < 5000 + 200);
    }
}
