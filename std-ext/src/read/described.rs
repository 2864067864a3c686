//! The descriptor of an object in a message of which parts are known.

use std::ops::Range;

use tgm_core::cbor::Cursor;
use tgm_core::index::IndexEntry;
use tgm_core::wire::{DATA_OBJECT_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE, ObjectTail};
use zerocopy::FromBytes as _;

use super::structure::{Halt, Parts};
use crate::base::span::{span, span_before};

/// A descriptor as CBOR, from its place in the message on. Bytes may follow it.
#[derive(Debug)]
pub(crate) struct DescriptorBytes {
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

/// A descriptor, and how long the payload region is that it describes.
#[derive(Clone, Debug)]
pub(crate) struct DescribedObject {
    /// The descriptor's CBOR. Bytes may follow it.
    pub(crate) cbor: Vec<u8>,
    /// Its place in the message.
    pub(crate) offset: u64,
    /// Where payload and masks begin in the message.
    pub(crate) region_start: u64,
    /// Bytes of the payload and the masks.
    pub(crate) region_len: u64,
}

impl DescribedObject {
    /// The descriptor, and the region of payload and masks.
    pub(crate) fn parts(&self) -> (DescriptorBytes, Range<u64>) {
        let descriptor = DescriptorBytes { offset: self.offset, bytes: self.cbor.clone() };
        (descriptor, span(self.region_start, self.region_len))
    }
}

/// Where the frame of an object lies in the message.
pub(super) const fn range_of(entry: IndexEntry) -> Range<u64> {
    span(entry.offset, entry.length)
}

/// The descriptor of an object, and the region of its payload and masks in the message.
pub(super) fn described(parts: &mut Parts<'_, '_>, entry: IndexEntry) -> Result<(DescriptorBytes, Range<u64>), Halt> {
    let frame = range_of(entry);
    let tail = span_before(frame.end, DATA_OBJECT_FOOTER_SIZE as u64).start;
    // One request brings the footer and, in front of it, mostly all of the descriptor.
    let glance = span_before(frame.end, parts.options.descriptor).start.max(frame.start);
    let bytes = parts.need(&(glance..frame.end))?;
    let (_, footer) = ObjectTail::ref_from_suffix(&bytes).map_err(|_| Halt::Odd)?;
    let offset = frame.start.checked_add(footer.cbor_offset.get()).ok_or(Halt::Odd)?;
    let body = span(frame.start, FRAME_HEADER_SIZE as u64).end;
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
    let end = offset + cursor.offset();
    let region = if end == tail { body..offset } else { end..tail };
    Ok((DescriptorBytes { offset, bytes }, region))
}

/// A descriptor that lies before its payload: its length shows when all of it is read.
fn described_first(parts: &mut Parts<'_, '_>, offset: u64, tail: u64) -> Result<(DescriptorBytes, Range<u64>), Halt> {
    let mut len = parts.options.descriptor;
    loop {
        let end = span(offset, len).end.min(tail);
        let bytes = parts.need(&(offset..end))?.into_owned();
        let mut cursor = Cursor::new(&bytes, 0);
        if cursor.skip().is_ok() {
            let region = offset + cursor.offset()..tail;
            return Ok((DescriptorBytes { offset, bytes }, region));
        }
        if end == tail || len > parts.options.max_structure {
            return Err(Halt::Odd);
        }
        // Longer each time, so that a long descriptor takes few round trips. The payload's end bounds what is read.
        len = len.saturating_mul(4);
    }
}
