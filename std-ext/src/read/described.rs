//! The descriptor of an object in a message of which parts are known.

use std::ops::Range;

use tgm_core::cbor::Cursor;
use tgm_core::index::IndexEntry;
use tgm_core::wire::{DATA_OBJECT_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE, ObjectTail};
use zerocopy::FromBytes as _;

use super::structure::{Halt, Parts};

/// A descriptor as CBOR, from its place in the message on. Bytes may follow it.
#[derive(Debug)]
pub(crate) struct DescriptorBytes {
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Where the frame of an object lies in the message.
pub(super) const fn range_of(entry: IndexEntry) -> Range<u64> {
    entry.offset..entry.offset.saturating_add(entry.length)
}

/// The descriptor of an object, and the region of its payload and masks in the message.
pub(super) fn described(parts: &mut Parts<'_, '_>, entry: IndexEntry) -> Result<(DescriptorBytes, Range<u64>), Halt> {
    let frame = range_of(entry);
    let tail = frame.end.saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64);
    // One request brings the footer and, in front of it, mostly all of the descriptor.
    let glance = frame.end.saturating_sub(parts.options.descriptor).max(frame.start);
    let bytes = parts.need(&(glance..frame.end))?;
    let (_, footer) = ObjectTail::ref_from_suffix(&bytes).map_err(|_| Halt::Odd)?;
    let offset = frame.start.saturating_add(footer.cbor_offset.get());
    let body = frame.start.saturating_add(FRAME_HEADER_SIZE as u64);
    if footer.end != *FRAME_END || !(body..=tail).contains(&offset) {
        return Err(Halt::Odd);
    }
    if offset == body && entry.length > parts.options.descriptor {
        return described_first(parts, offset, tail);
    }
    let bytes = parts.need(&(offset..tail))?.into_owned();
    let mut cursor = Cursor::new(&bytes, 0);
    // A descriptor in front of the payload begins where the body does, so this one comes last.
    cursor.skip().map_err(|_| Halt::Odd)?;
    let end = offset.saturating_add(cursor.offset());
    let region = if end == tail { body..offset } else { end..tail };
    Ok((DescriptorBytes { offset, bytes }, region))
}

/// A descriptor that lies before its payload: its length shows when all of it is read.
fn described_first(parts: &mut Parts<'_, '_>, offset: u64, tail: u64) -> Result<(DescriptorBytes, Range<u64>), Halt> {
    let mut len = parts.options.descriptor;
    loop {
        let end = offset.saturating_add(len).min(tail);
        let bytes = parts.need(&(offset..end))?.into_owned();
        let mut cursor = Cursor::new(&bytes, 0);
        if cursor.skip().is_ok() {
            let region = offset.saturating_add(cursor.offset())..tail;
            return Ok((DescriptorBytes { offset, bytes }, region));
        }
        if end == tail || len > parts.options.max_structure {
            return Err(Halt::Odd);
        }
        // Longer each time, so that a long descriptor takes few round trips.
        len = len.saturating_mul(4);
    }
}
