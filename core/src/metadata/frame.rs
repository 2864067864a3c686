//! The content of one metadata frame.

use super::keys::{LOOKUP_BUDGET, find_text, is_text};
use super::object::ObjectMetadata;
use super::path::{follow, split_path, typed_getters};
use super::{BASE_KEY, EXTRA_KEY, RESERVED_KEY};
use crate::cbor::{Array, Bytes, Cursor, Map, MapReader, Name, TextMaps, Value};
use crate::error::{ErrorKind, Result};
use crate::frame::Frame;
use crate::names::{FrameType, WireName};

/// A top-level key that 0.17 wrote beside the sections. If `_extra_` has this key too, that one counts.
const LEGACY_KEY: &str = "version";

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
    /// All entries, if some of them are not sections. Otherwise empty, so that no lookup walks over the sections.
    top: Map<'a>,
    pub(super) base: Option<TextMaps<'a>>,
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
        let top = if has_unknown { Map::walked(encoded) } else { Map::EMPTY };
        let metadata = Self { top, base, extra, reserved, offset, encoded: encoded.rest() };
        if has_unknown {
            metadata.check_ambiguity()?;
        }
        Ok(metadata)
    }

    /// Reads the body of a metadata frame.
    ///
    /// # Errors
    /// The errors of [`Self::parse`]; for a preceder also [`ErrorKind::PrecederBase`].
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
        let mut budget = LOOKUP_BUDGET.saturating_mul(self.encoded.len() as u64);
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

    /// The value at a dotted path in this frame, by the rules of [`MessageMetadata::get`](super::MessageMetadata::get).
    /// Preceders are frames of their own; this view does not see them.
    ///
    /// # Errors
    /// Only errors that [`Self::parse`] has ruled out.
    ///
    /// ```
    /// # let bytes: &[u8] = include_bytes!("../../samples/some-objects.tgm");
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
    pub(super) fn look_up(
        &self,
        objects: impl Iterator<Item = Result<ObjectMetadata<'a>>>,
        path: &str,
    ) -> Result<Option<Value<'a>>> {
        let (first, rest) = split_path(path);
        match first {
            "" => return Ok(None),
            // In quotes it is a key like others.
            EXTRA_KEY | "extra" if !path.starts_with('"') => return rest.map_or(Ok(None), |rest| self.extra_at(rest)),
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
        follow(path, |key| self.extra(key))
    }
}

fn is_section(key: &Value<'_>) -> bool {
    is_text(key, BASE_KEY) || is_text(key, EXTRA_KEY) || is_text(key, RESERVED_KEY)
}

fn is_legacy(key: &Value<'_>, value: &Value<'_>) -> bool {
    is_text(key, LEGACY_KEY) && value.as_u64().is_ok()
}
