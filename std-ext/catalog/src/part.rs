//! The rows of a catalogue in memory: places of messages and objects, and a code for each value of a key.

use tgm_core::Message;
use tgm_core::cbor::Value;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;

use super::cbor::encoded;
use super::dictionary::{ABSENT, Dictionary};
use super::told::{Told, Untold};
use tgm_std::hash::{self, digest};
use tgm_std::metadata::query::expr::{VERSION_KEY, annotation_path};
use tgm_std::metadata::query::structure::Structure;
use tgm_std::metadata::query::version;
use tgm_std::{DecodeOptions, MessageLayout, Result};

/// The key of the bytes that an object has in the file: its payload, with its masks.
const STORED: &str = "stored";

/// A key of a catalogue.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) path: String,
    /// The path under which a message has the key as an annotation.
    annotation: String,
    structure: Option<Structure>,
    /// Whether it is [`STORED`].
    is_stored: bool,
    /// Whether a message is asked for an annotation alone.
    is_of_message: bool,
}

impl Key {
    pub(super) fn new(path: &str) -> Self {
        let first = path.split('.').next().unwrap_or("");
        Self {
            path: path.to_string(),
            annotation: annotation_path(path),
            structure: Structure::of_key(path),
            is_stored: path == STORED,
            is_of_message: matches!(first, "extra" | "_extra_"),
        }
    }
}

/// The values of one key.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyPart {
    pub(super) dictionary: Dictionary,
    /// For each message, the value that a message is asked for.
    pub(super) of_messages: Vec<u32>,
    /// For each object, the value that an object is asked for.
    pub(super) of_objects: Vec<u32>,
}

/// Rows for neighbouring messages.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The byte where the message before ends, and where the last message ends.
    pub(super) start: u64,
    pub(super) end: u64,
    /// For each message: bytes between the end of the message before and this one, bytes after its last object, and
    /// the number of its objects.
    pub(super) gaps: Vec<u64>,
    pub(super) tails: Vec<u64>,
    pub(super) counts: Vec<u64>,
    /// For each object: bytes between the object before, or the start of the message, and its frame; bytes of the
    /// frame.
    pub(super) leads: Vec<u64>,
    pub(super) lengths: Vec<u64>,
    pub(super) keys: Vec<KeyPart>,
    /// The hash slot of the last object, and the end of its frame in the file.
    pub(super) digest: Option<(u64, u64)>,
    /// The sum of the messages' [`fingerprint`]s. `None` if a part was made without them.
    pub(super) metadata: Option<u64>,
    /// What objects say.
    pub(super) told: std::result::Result<Told, Untold>,
}

/// A digest of all that the rows of a message depend on: its place, its frames, its metadata and its descriptors. Sums of
/// these do not depend on how messages are divided among leaves.
///
/// # Errors
/// The errors of the walk over frames.
pub(super) fn fingerprint(layout: MessageLayout, message: &Message<'_>) -> Result<u64> {
    let mut parts = vec![layout.offset, layout.length];
    for frame in message.frames() {
        let frame = frame?;
        parts.extend([frame.offset(), frame.total_length(), frame.hash_slot()]);
        let body = frame.body();
        let content = match frame.frame_type() {
            FrameType::NTensorFrame => DataObject::parse(frame).ok().and_then(|object| {
                let start = frame.cbor_offset().checked_sub(frame.body_offset().checked_sub(frame.offset())?)?;
                let len = body.len().checked_sub(object.region().len())?;
                body.get(usize::try_from(start).ok()?..)?.get(..len)
            }),
            _ => Some(body),
        };
        // An object that cannot be read has only its place and its length.
        parts.push(digest(content.unwrap_or(&[])));
    }
    let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
    Ok(digest(&bytes))
}

impl Part {
    /// No rows, after byte `start`.
    pub(super) fn new(start: u64, keys: usize) -> Self {
        let keys = vec![KeyPart::default(); keys];
        Self {
            start,
            end: start,
            gaps: Vec::new(),
            tails: Vec::new(),
            counts: Vec::new(),
            leads: Vec::new(),
            lengths: Vec::new(),
            keys,
            digest: None,
            metadata: Some(0),
            told: Ok(Told::default()),
        }
    }

    /// Adds a message.
    ///
    /// # Errors
    /// The errors of its structure and its metadata.
    pub(super) fn add(
        &mut self,
        keys: &[Key],
        layout: MessageLayout,
        bytes: &[u8],
        options: &DecodeOptions,
    ) -> Result<()> {
        let message = Message::parse(bytes)?;
        let metadata = hash::metadata(&message, options)?;
        let print = fingerprint(layout, &message)?;
        self.metadata = self.metadata.map(|sum| sum.wrapping_add(print));
        // Frames follow each other in their message, and messages in their file.
        let (mut at, mut count) = (0_u64, 0_u64);
        let first = self.leads.len();
        for frame in message.frames() {
            let frame = frame?;
            if frame.frame_type() != FrameType::NTensorFrame {
                continue;
            }
            self.leads.push(frame.offset() - at);
            self.lengths.push(frame.total_length());
            at = frame.end_offset();
            count += 1;
            self.digest = Some((frame.hash_slot(), layout.offset + at));
        }
        self.gaps.push(layout.offset - self.end);
        self.counts.push(count);
        self.tails.push(layout.length - at);
        self.end = layout.end();
        if let Ok(told) = &mut self.told
            && !told.add(first, &message, &metadata)?
        {
            self.told = Err(Untold::Unfit);
        }
        self.add_values(keys, &message, &metadata)
    }

    fn add_values(&mut self, keys: &[Key], message: &Message<'_>, metadata: &MessageMetadata<'_>) -> Result<()> {
        let count = metadata.object_count();
        let needs_objects = keys.iter().any(|key| key.structure.is_some() || key.is_stored);
        let annotations: Vec<_> = match count {
            // Looked up where the object lacks a key.
            1 => Vec::new(),
            _ => keys.iter().map(|key| metadata.get(&key.annotation)).collect::<tgm_core::Result<_>>()?,
        };
        let mut first_own: Vec<Option<u32>> = vec![None; keys.len()];
        let mut objects = needs_objects.then(|| message.objects());
        let (mut first_object, mut owns) = (None, Vec::with_capacity(keys.len()));
        for (index, about) in metadata.objects().enumerate() {
            let about = about?;
            let object: Option<DataObject<'_>> = objects.as_mut().and_then(Iterator::next).transpose()?;
            if index == 0 {
                first_object = object;
            }
            owns.clear();
            for keys in keys.chunks(TOGETHER) {
                owns.extend(own_values(&about, keys)?.into_iter().take(keys.len()));
            }
            for (number, ((key, part), own)) in keys.iter().zip(&mut self.keys).zip(owns.iter().copied()).enumerate() {
                let found = match own {
                    None if count == 1 => metadata.get(&key.annotation)?,
                    None => annotations.get(number).copied().flatten(),
                    own => own,
                };
                let code = part.code(key, found, object.as_ref(), count)?;
                part.of_objects.push(code);
                if let (Some(_), Some(first @ None)) = (own, first_own.get_mut(number)) {
                    *first = Some(code);
                }
            }
        }
        for (number, (key, part)) in keys.iter().zip(&mut self.keys).enumerate() {
            let code = match first_own.get(number).copied().flatten() {
                Some(code) if !key.is_of_message => code,
                _ => {
                    let path = if key.is_of_message { &key.path } else { &key.annotation };
                    let found = if key.path == VERSION_KEY { version()? } else { metadata.get(path)? };
                    part.code(key, found, first_object.as_ref(), count)?
                }
            };
            part.of_messages.push(code);
        }
        Ok(())
    }

    /// Adds the rows of a part that follows this one.
    pub(super) fn append(&mut self, other: &Self) -> Result<()> {
        let gap = other.start - self.end;
        match (&mut self.told, &other.told) {
            (Ok(told), Ok(other)) => {
                if !told.append(self.leads.len(), other) {
                    self.told = Err(Untold::Unfit);
                }
            }
            (_, Err(Untold::Old)) | (Ok(_), Err(_)) => self.told.clone_from(&other.told),
            (Err(_), _) => {}
        }
        let gaps = self.gaps.len();
        self.gaps.extend(&other.gaps);
        if let Some(first) = self.gaps.get_mut(gaps) {
            *first += gap;
        }
        self.tails.extend(&other.tails);
        self.counts.extend(&other.counts);
        self.leads.extend(&other.leads);
        self.lengths.extend(&other.lengths);
        self.end = other.end;
        self.digest = other.digest.or(self.digest);
        self.metadata = self.metadata.zip(other.metadata).map(|(one, other)| one.wrapping_add(other));
        for (key, other) in self.keys.iter_mut().zip(&other.keys) {
            let codes =
                other.dictionary.values().map(|value| key.dictionary.code(value)).collect::<Result<Vec<_>>>()?;
            let of =
                |code: &u32| usize::try_from(*code).ok().and_then(|code| codes.get(code)).copied().unwrap_or(ABSENT);
            key.of_messages.extend(other.of_messages.iter().map(of));
            key.of_objects.extend(other.of_objects.iter().map(of));
        }
        Ok(())
    }
}

/// Keys that one walk over the metadata of an object finds.
const TOGETHER: usize = 16;

/// The values that the metadata of an object itself has under the first keys of `keys`.
fn own_values<'a>(object: &ObjectMetadata<'a>, keys: &[Key]) -> Result<[Option<Value<'a>>; TOGETHER]> {
    let path = |index: usize| keys.get(index).map_or("", |key| key.path.as_str());
    let mut found = object.get_many(std::array::from_fn(path))?;
    for (found, key) in found.iter_mut().zip(keys) {
        if key.path == VERSION_KEY {
            *found = version()?;
        }
    }
    Ok(found)
}

impl KeyPart {
    /// The code of what was found, or of what the object says.
    fn code(
        &mut self,
        key: &Key,
        found: Option<Value<'_>>,
        object: Option<&DataObject<'_>>,
        count: usize,
    ) -> Result<u32> {
        if let Some(value) = found {
            return self.dictionary.code(value.as_encoded());
        }
        if let Some(object) = object.filter(|_| key.is_stored) {
            return self.dictionary.code(&encoded(object.region().len() as u64, false));
        }
        let descriptor = object.map(DataObject::descriptor);
        let Some(encoded) = key.structure.and_then(|structure| structure.of_object(descriptor, count)) else {
            return Ok(ABSENT);
        };
        self.dictionary.code(&encoded)
    }
}
