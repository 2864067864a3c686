//! Messages as metadata and objects, for commands that put them together in another way.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::Message;
use tgm_core::hash::HashPresence;
use tgm_core::wire::FrameType;
use tgm_std::encode::{TakenObject, reframe};
use tgm_std::{AggregateHashPolicy, EncodeOptions, GlobalMetadata, RESERVED_KEY, Result, decode_descriptors};

use crate::args::object_numbers::ObjectNumbers;
use crate::read::digests::Digests;
use crate::read::entry::Entry;

/// Metadata, objects and options of one message.
pub(crate) struct MessageParts<'f> {
    /// The metadata with preceders merged and without `_reserved_`. `base` has an entry for every object.
    pub(crate) metadata: GlobalMetadata,
    /// The objects, byte for byte.
    pub(crate) objects: Vec<TakenObject<'f>>,
    /// Encoding options with the digests that the message has.
    pub(crate) options: EncodeOptions,
}

impl<'f> MessageParts<'f> {
    /// Takes a message apart and checks all digests. A new digest over damaged bytes would hide the damage, so an error
    /// comes unless the user turned the check off.
    pub(crate) fn of(entry: &Entry<'f>, digests: Digests) -> Result<Self> {
        let (metadata, _) = decode_descriptors(entry.bytes)?;
        let message = Message::parse(entry.bytes)?;
        let presence = message.hash_presence()?;
        digests.check_all(&message)?;
        let objects = message.objects().map(|object| TakenObject::new(&object?));
        Ok(Self {
            metadata: without_reserved(metadata),
            objects: objects.collect::<Result<_>>()?,
            options: EncodeOptions {
                hashing: presence != HashPresence::Absent,
                aggregate_hash: hash_lists(&message)?,
                ..EncodeOptions::default()
            },
        })
    }

    /// The parts without the objects that the user does not want.
    ///
    /// # Errors
    /// The errors of [`ObjectNumbers::check`].
    pub(crate) fn only(mut self, numbers: &ObjectNumbers) -> Result<Self> {
        numbers.check(self.objects.len())?;
        let (mut of_entry, mut of_object) = (0.., 0..);
        self.metadata.base.retain(|_| of_entry.next().is_some_and(|index| numbers.has(index)));
        self.objects.retain(|_| of_object.next().is_some_and(|index| numbers.has(index)));
        Ok(self)
    }

    /// The parameters of each object's descriptor.
    pub(crate) fn params(&self) -> Vec<BTreeMap<String, Value>> {
        self.objects.iter().map(|object| object.descriptor().params.clone()).collect()
    }

    /// Puts the parts together as a message.
    pub(crate) fn into_message(self) -> Result<Vec<u8>> {
        reframe(&self.metadata, self.objects, &self.options)
    }
}

/// Metadata without `_reserved_`, which only the library writes.
pub(crate) fn without_reserved(mut metadata: GlobalMetadata) -> GlobalMetadata {
    metadata.reserved.clear();
    for entry in &mut metadata.base {
        entry.remove(RESERVED_KEY);
    }
    metadata
}

/// Where the message has hash lists, as a policy for a buffered message. A streamed message can have them in its footer
/// only, so its policy is `Auto`.
fn hash_lists(message: &Message<'_>) -> Result<AggregateHashPolicy> {
    let (mut header, mut footer, mut objects) = (false, false, 0_u64);
    for frame in message.frames() {
        match frame?.frame_type() {
            FrameType::HeaderHash => header = true,
            FrameType::FooterHash => footer = true,
            FrameType::NTensorFrame => objects += 1,
            _ => {}
        }
    }
    let is_streamed = message.total_length().is_none();
    Ok(match (header, footer) {
        (true, true) => AggregateHashPolicy::Both,
        (false, true) if !is_streamed => AggregateHashPolicy::Footer,
        (false, false) if objects > 0 => AggregateHashPolicy::None,
        _ => AggregateHashPolicy::Auto,
    })
}
