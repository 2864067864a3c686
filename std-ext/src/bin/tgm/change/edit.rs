//! Messages taken apart to be put together otherwise: what the commands share that write messages.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::Message;
use tgm_core::hash::HashPresence;
use tgm_core::wire::FrameType;
use tgm_std::encode::{TakenObject, reframe};
use tgm_std::{AggregateHashPolicy, EncodeOptions, GlobalMetadata, RESERVED_KEY, Result, decode_descriptors};

use crate::read::digests::Digests;
use crate::read::input::Entry;

/// What a message consists of.
pub(crate) struct Parts<'f> {
    /// The metadata, preceders merged, without what only the library writes; `base` has an entry for every object.
    pub(crate) metadata: GlobalMetadata,
    /// The objects, byte for byte.
    pub(crate) objects: Vec<TakenObject<'f>>,
    /// Digests as the message has them.
    pub(crate) options: EncodeOptions,
}

impl<'f> Parts<'f> {
    /// Takes a message apart, and checks all digests: what is damaged must not get a new one that says otherwise, unless the
    /// user wants it.
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

    /// What stands in the objects' descriptors beside their fields.
    pub(crate) fn params(&self) -> Vec<BTreeMap<String, Value>> {
        self.objects.iter().map(|object| object.descriptor().params.clone()).collect()
    }

    /// Puts the parts together as a message.
    pub(crate) fn into_message(self) -> Result<Vec<u8>> {
        reframe(&self.metadata, self.objects, &self.options)
    }
}

/// Metadata without what only the library writes.
pub(crate) fn without_reserved(mut metadata: GlobalMetadata) -> GlobalMetadata {
    metadata.reserved.clear();
    for entry in &mut metadata.base {
        entry.remove(RESERVED_KEY);
    }
    metadata
}

/// Where the message has lists of its objects' digests, in terms of a buffered message: one that was streamed can have
/// it in its footer only.
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
