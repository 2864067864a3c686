//! Messages taken apart to be put together otherwise: what the commands share that write messages.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use ciborium::Value;
use tgm_core::Message;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::wire::FrameType;
use tgm_std::encode::{TakenObject, reframe};
use tgm_std::{
    AggregateHashPolicy, EncodeOptions, GlobalMetadata, RESERVED_KEY, Result, TensogramError, decode_descriptors,
};

use crate::input::Entry;
use crate::output::Out;
use crate::replace::write_whole;

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
    /// Takes a message apart, and reads every byte of it: what is damaged must not get a new digest that says
    /// otherwise.
    pub(crate) fn of(entry: &Entry<'f>) -> Result<Self> {
        let (metadata, _) = decode_descriptors(entry.bytes)?;
        let message = Message::parse(entry.bytes)?;
        let presence = message.hash_presence()?;
        check_digests(&message, presence)?;
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

/// Checks the digests that a message has; frames without one pass.
pub(crate) fn check_digests(message: &Message<'_>, presence: HashPresence) -> Result<()> {
    for verified in message.verify(presence) {
        let verified = verified?;
        if let Verdict::Mismatch(mismatch) = verified.verdict {
            return Err(TensogramError::HashMismatch {
                object_index: verified.object_index,
                expected: format!("{:016x}", mismatch.expected),
                actual: format!("{:016x}", mismatch.computed),
            });
        }
    }
    check_lists(message, presence)?;
    Ok(())
}

/// Checks that indexes and hash lists agree with the objects: a message whose objects were swapped would be made anew as if
/// they had always stood there.
pub(crate) fn check_lists(message: &Message<'_>, presence: HashPresence) -> tgm_core::Result<()> {
    message.verify_index()?;
    message.verify_hash_lists(presence)
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

/// Writes the file at `path` as [`write_whole`] does, and reports what fails.
pub(crate) fn write_or_report(
    path: &Path,
    out: &mut Out,
    write: impl FnOnce(&mut Out, &mut dyn Write) -> io::Result<()>,
) {
    if let Err(error) = write_whole(path, |file| write(out, file)) {
        out.problem(&format!("cannot write {}\n{error}", path.display()));
    }
}

/// Whether both paths lead to one file that is there.
pub(crate) fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
