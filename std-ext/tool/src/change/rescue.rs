//! Search for whole data objects in damaged messages.
//!
//! The search tries every byte as the start of a frame. A frame counts if its digest is right, which rules out chance.
//! Metadata, index and preceders that are found in this way assign metadata to objects.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::frame::Frame;
use tgm_core::object::DataObject;
use tgm_core::scan::find;
use tgm_core::wire::{FRAME_ALIGNMENT, FRAME_MAGIC, FrameType, MAGIC, PREAMBLE_SIZE};
use tgm_std::encode::{TakenObject, reframe};
use tgm_std::metadata::{cbor_to_global_metadata, cbor_to_index};
use tgm_std::{EncodeOptions, GlobalMetadata, Result, TensogramError};

use crate::change::edit::without_reserved;

/// Limit on bytes hashed for false frames, as a multiple of the bytes searched.
const BUDGET_PER_BYTE: u64 = 4;

/// The result of a search.
pub(crate) struct Rescue<'f> {
    /// The messages in which objects were found.
    pub(crate) wrecks: Vec<Wreck<'f>>,
    /// Whether all bytes were searched.
    pub(crate) is_complete: bool,
}

/// The remains of one message.
#[derive(Default)]
pub(crate) struct Wreck<'f> {
    /// Its objects.
    pub(crate) objects: Vec<FoundObject<'f>>,
    /// The position of its preamble, or of the place where it should be.
    start: Option<usize>,
    metadata: Option<GlobalMetadata>,
    /// Object numbers by offset, from the index.
    index: BTreeMap<u64, usize>,
    preceder: Option<BTreeMap<String, Value>>,
    /// The position of the next frame. `None` after a loss.
    next: Option<usize>,
}

/// An object that was found.
pub(crate) struct FoundObject<'f> {
    /// The position of its frame.
    pub(crate) offset: usize,
    /// Bytes of the frame.
    pub(crate) length: u64,
    /// The object.
    pub(crate) object: TakenObject<'f>,
    /// Its metadata, if the search could assign any.
    pub(crate) metadata: Option<BTreeMap<String, Value>>,
    preceder: Option<BTreeMap<String, Value>>,
    /// The object's number in the message. `None` if something before it was lost.
    ordinal: Option<usize>,
}

/// Searches `bytes` for frames whose digest is right.
pub(crate) fn rescue(bytes: &[u8]) -> Rescue<'_> {
    let mut wrecks = vec![Wreck::default()];
    // A budget beyond all numbers is one without an end.
    let mut budget = (bytes.len() as u64).saturating_mul(BUDGET_PER_BYTE);
    let (mut at, mut behind, mut is_complete) = (0, 0, true);
    while let Some(gap) = bytes.get(at..).and_then(|rest| rest.windows(2).position(|pair| pair == FRAME_MAGIC)) {
        at += gap;
        let Ok((frame, rest)) = Frame::parse(bytes.get(at..).unwrap_or_default()) else {
            at += FRAME_MAGIC.len();
            continue;
        };
        if frame.verify_slot().is_err() {
            let Some(left) = budget.checked_sub(frame.total_length()) else {
                is_complete = false;
                break;
            };
            budget = left;
            at += FRAME_MAGIC.len();
            continue;
        }
        let preamble = last_magic(bytes.get(behind..at).unwrap_or_default()).map(|magic| behind + magic);
        if preamble.is_some() || frame.frame_type() == FrameType::HeaderMetadata {
            wrecks.push(Wreck::starting(preamble.or_else(|| at.checked_sub(PREAMBLE_SIZE))));
        }
        let end = bytes.len() - rest.len();
        if let Some(wreck) = wrecks.last_mut() {
            wreck.add(at, end, frame);
        }
        (at, behind) = (end, end);
    }
    for wreck in &mut wrecks {
        wreck.assign_metadata();
    }
    wrecks.retain(|wreck| !wreck.objects.is_empty());
    Rescue { wrecks, is_complete }
}

/// The position of the last start magic.
fn last_magic(bytes: &[u8]) -> Option<usize> {
    let (mut last, mut from) = (None, 0);
    while let Some(at) = bytes.get(from..).and_then(|rest| find(rest, MAGIC)) {
        last = Some(from + at);
        from += at + 1;
    }
    last
}

impl<'f> Wreck<'f> {
    fn starting(start: Option<usize>) -> Self {
        Self { start, next: start.map(|start| start + PREAMBLE_SIZE), ..Self::default() }
    }

    /// Adds the frame that lies from `at` to `end`.
    fn add(&mut self, at: usize, end: usize, frame: Frame<'f>) {
        if self.next != Some(at) {
            self.next = None;
        }
        let preceder = self.preceder.take();
        match frame.frame_type() {
            FrameType::HeaderMetadata | FrameType::FooterMetadata => {
                self.metadata = cbor_to_global_metadata(frame.body()).ok().or(self.metadata.take());
            }
            FrameType::HeaderIndex | FrameType::FooterIndex => {
                if let Ok(index) = cbor_to_index(frame.body()) {
                    self.index = index.offsets.into_iter().zip(0..).collect();
                }
            }
            FrameType::PrecederMetadata => {
                let metadata = cbor_to_global_metadata(frame.body()).ok().map(without_reserved);
                self.preceder = metadata.and_then(|metadata| metadata.base.into_iter().next());
            }
            FrameType::NTensorFrame => {
                // A digest says what was written. An object whose descriptor contradicts its payload is lost all the same.
                let object = DataObject::parse(frame).and_then(|object| object.verify_contents().map(|()| object));
                let object = object.map_err(TensogramError::from);
                if let Ok(object) = object.and_then(|object| TakenObject::new(&object)) {
                    let ordinal = self.next.map(|_| self.objects.len());
                    let length = frame.total_length();
                    self.objects.push(FoundObject { offset: at, length, object, metadata: None, preceder, ordinal });
                } else {
                    self.next = None;
                    return;
                }
            }
            _ => {}
        }
        let start = self.start.unwrap_or_default();
        self.next = self.next.map(|_| start + (end - start).next_multiple_of(FRAME_ALIGNMENT));
    }

    /// Finds each object's entry in the message's metadata.
    fn assign_metadata(&mut self) {
        let Some(metadata) = self.metadata.take() else {
            for found in &mut self.objects {
                found.metadata = found.preceder.take();
            }
            return;
        };
        let metadata = without_reserved(metadata);
        for found in &mut self.objects {
            let listed = self.start.and_then(|start| self.index.get(&((found.offset - start) as u64)).copied());
            // Metadata may have fewer entries than there are objects.
            let entry = listed.or(found.ordinal).map(|index| metadata.base.get(index).cloned().unwrap_or_default());
            let preceder = found.preceder.take();
            found.metadata = match (entry, preceder) {
                (Some(mut entry), preceder) => {
                    entry.extend(preceder.unwrap_or_default());
                    Some(entry)
                }
                (None, preceder) => preceder,
            };
        }
        self.metadata = Some(metadata);
    }

    /// The objects as a new message.
    pub(crate) fn into_message(self) -> Result<Vec<u8>> {
        let (base, objects) =
            self.objects.into_iter().map(|found| (found.metadata.unwrap_or_default(), found.object)).unzip();
        let extra = self.metadata.unwrap_or_default().extra;
        let metadata = GlobalMetadata { base, extra, ..GlobalMetadata::default() };
        reframe(&metadata, objects, &EncodeOptions::default())
    }
}
