//! The parts of a large message that somebody wants, read where they lie.
//!
//! The message's memory is there as a whole, but what nobody wants is neither read nor touched, and takes no more than
//! addresses. So the functions that read messages in memory read these too, and find the same: frames are walked from header
//! to header here as there. Where a message is not what a walk expects, all of it is read, so that what is wrong
//! with it is found by those who say so.

use std::fs::File;
use std::io;
use std::ops::Range;

use tgm_core::cbor::Cursor;
use tgm_core::descriptor::{Compression, Filter};
use tgm_core::frame::{Walk, check_header, find_landmark};
use tgm_core::message::check_preamble;
use tgm_core::stored::window_of;
use tgm_core::wire::{
    DATA_OBJECT_FOOTER_SIZE, FRAME_ALIGNMENT, FRAME_HEADER_SIZE, FRAME_MAGIC, FrameFlags, FrameHeader, FrameType,
    ObjectTail, POSTAMBLE_SIZE, PREAMBLE_SIZE, Preamble,
};
use zerocopy::FromBytes as _;

use super::positioned::read_at;
use crate::decode::object_of_frame;

/// Bytes up to which a message is read at once: to look for its parts takes about as long.
pub(super) const AT_ONCE: u64 = 256 << 10;
/// Bytes that a read takes at least.
const GLANCE: usize = 4 << 10;
/// Bytes that a read takes at most beyond those that are wanted.
const WINDOW: usize = 128 << 10;

/// What of a message is wanted, beside what says what is in it: preamble and postamble, the headers and tails of all frames,
/// and all frames that are no objects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted<'a> {
    /// Nothing behind the first metadata frame.
    FirstMetadata,
    /// What each object is.
    Descriptors,
    /// All of an object.
    Object(usize),
    /// What each object is, and all of one.
    DescriptorsAndObject(usize),
    /// Of an object the values of ranges, each a first element and a count.
    Ranges(usize, &'a [(u64, u64)]),
}

/// Reads what is `wanted` of the message that begins at `offset` of `file` into `bytes`, which are as many as the message
/// has, and zeros.
///
/// # Errors
/// Those of the file; [`io::ErrorKind::UnexpectedEof`] if it is shorter.
pub(super) fn read(file: &File, offset: u64, bytes: &mut [u8], wanted: Wanted<'_>) -> io::Result<()> {
    let mut parts = Parts { file, offset, bytes, have: 0..0 };
    if parts.walk(wanted)?.is_none() {
        let all = 0..parts.bytes.len();
        parts.have = 0..0;
        parts.need(all)?;
    }
    Ok(())
}

struct Parts<'a> {
    file: &'a File,
    /// Where the message begins in the file.
    offset: u64,
    bytes: &'a mut [u8],
    /// What was read last, as far as it hangs together. The next read from there is as long, up to a limit.
    have: Range<usize>,
}

impl Parts<'_> {
    /// Reads all that is wanted; `None` if the message is not what was expected.
    fn walk(&mut self, wanted: Wanted<'_>) -> io::Result<Option<()>> {
        let end = self.bytes.len().saturating_sub(POSTAMBLE_SIZE);
        self.need(end..self.bytes.len())?;
        self.need(0..PREAMBLE_SIZE)?;
        let Ok((preamble, _)) = Preamble::ref_from_prefix(self.bytes) else { return Ok(None) };
        let Ok(length) = check_preamble(preamble, self.bytes.len() as u64) else { return Ok(None) };
        if length.is_some_and(|length| length != self.bytes.len() as u64) {
            return Ok(None);
        }
        let mut walk = Walk::new(PREAMBLE_SIZE as u64, end as u64);
        let mut objects = 0_usize;
        loop {
            let Some((frame_type, frame)) = self.next_frame(&mut walk)? else {
                // Behind the last frame, or lost.
                return Ok((walk.room() == 0).then_some(()));
            };
            if frame_type == FrameType::NTensorFrame {
                let index = objects;
                objects = objects.saturating_add(1);
                let object = match wanted {
                    Wanted::Object(wanted) | Wanted::DescriptorsAndObject(wanted) if wanted == index => {
                        self.need(frame).map(Some)
                    }
                    Wanted::Ranges(wanted, ranges) if wanted == index => self.ranges(&frame, ranges),
                    Wanted::Descriptors | Wanted::DescriptorsAndObject(_) => self.descriptor(&frame),
                    _ => self.need(frame.end.saturating_sub(DATA_OBJECT_FOOTER_SIZE)..frame.end).map(Some),
                };
                if object?.is_none() {
                    return Ok(None);
                }
            } else {
                self.need(frame)?;
                let is_metadata = matches!(frame_type, FrameType::HeaderMetadata | FrameType::FooterMetadata);
                if is_metadata && matches!(wanted, Wanted::FirstMetadata) {
                    return Ok(Some(()));
                }
            }
        }
    }

    /// The type and place of the next frame, whose header is read; the walk then stands behind it and its padding. `None`
    /// if there is none, or something else.
    fn next_frame(&mut self, walk: &mut Walk) -> io::Result<Option<(FrameType, Range<usize>)>> {
        let Ok(start) = usize::try_from(walk.position()) else { return Ok(None) };
        // A postamble is looked for where a frame begins, if the message does not say where it ends.
        self.need(start..start.saturating_add(FRAME_HEADER_SIZE + POSTAMBLE_SIZE))?;
        let Some(Ok((header, _))) = self.bytes.get(start..).map(FrameHeader::ref_from_prefix) else { return Ok(None) };
        let Ok((frame_type, length)) = check_header(header, walk.room()) else { return Ok(None) };
        if walk.enter(frame_type, length).is_err() {
            return Ok(None);
        }
        let Ok(end) = usize::try_from(walk.position()) else { return Ok(None) };
        self.padding(walk, end)?;
        Ok(Some((frame_type, start..end)))
    }

    /// Steps over what stands between a frame that ends at `end` and the next one, or the end of frames. Where neither is
    /// near the walk stays, and will find no frame.
    fn padding(&mut self, walk: &mut Walk, end: usize) -> io::Result<()> {
        let near = FRAME_ALIGNMENT + FRAME_MAGIC.len();
        self.need(end..end.saturating_add(near))?;
        let room = usize::try_from(walk.room()).unwrap_or(usize::MAX);
        let gap = self.bytes.get(end..).and_then(|rest| rest.get(..near.min(room))).unwrap_or_default();
        match find_landmark(gap, false) {
            Some((gap, _)) => walk.skip(gap as u64),
            None if room <= near => walk.skip(room as u64),
            None => {}
        }
        Ok(())
    }

    /// Reads what an object is; `None` if that is nowhere.
    fn descriptor(&mut self, frame: &Range<usize>) -> io::Result<Option<()>> {
        let tail = frame.end.saturating_sub(DATA_OBJECT_FOOTER_SIZE);
        self.need(tail..frame.end)?;
        let Some(start) = self.descriptor_start(frame).filter(|start| (frame.start..=tail).contains(start)) else {
            return Ok(None);
        };
        let mut len = if self.is_descriptor_last(frame) { tail.saturating_sub(start) } else { GLANCE };
        loop {
            let end = start.saturating_add(len).min(tail);
            self.need(start..end)?;
            let mut cbor = Cursor::new(self.bytes.get(start..end).unwrap_or_default(), 0);
            // A descriptor in front ends where its CBOR does, which is seen when all of it is there.
            if end == tail || cbor.skip().is_ok() {
                return Ok(Some(()));
            }
            len = len.saturating_mul(4);
        }
    }

    fn descriptor_start(&self, frame: &Range<usize>) -> Option<usize> {
        let (_, tail) = ObjectTail::ref_from_suffix(self.bytes.get(frame.clone())?).ok()?;
        frame.start.checked_add(usize::try_from(tail.cbor_offset.get()).ok()?)
    }

    fn is_descriptor_last(&self, frame: &Range<usize>) -> bool {
        let header = self.bytes.get(frame.clone()).map(FrameHeader::ref_from_prefix);
        matches!(header, Some(Ok((header, _))) if header.flags().has(FrameFlags::CBOR_AFTER_PAYLOAD))
    }

    /// Reads what holds the values of `ranges`, and all masks; all of the frame if that cannot be told, or is all.
    fn ranges(&mut self, frame: &Range<usize>, ranges: &[(u64, u64)]) -> io::Result<Option<()>> {
        if self.descriptor(frame)?.is_none() {
            return Ok(None);
        }
        let Some(parts) = self.parts_of(frame, ranges) else { return self.need(frame.clone()).map(Some) };
        for part in parts {
            self.need(part)?;
        }
        Ok(Some(()))
    }

    /// Where values of `ranges` and the masks lie, in order, if only they are looked at.
    fn parts_of(&self, frame: &Range<usize>, ranges: &[(u64, u64)]) -> Option<Vec<Range<usize>>> {
        let object = object_of_frame(self.bytes.get(frame.clone())?).ok()?;
        let descriptor = object.descriptor();
        let is_stored = (descriptor.compression().known(), descriptor.filter().known())
            == (Some(Compression::None), Some(Filter::None));
        if !is_stored {
            return None;
        }
        let region = frame.start.checked_add(usize::try_from(object.region_offset()).ok()?)?;
        let place = |range: Range<u64>| {
            let at = |offset| region.checked_add(usize::try_from(offset).ok()?);
            Some(at(range.start)?..at(range.end)?)
        };
        let part =
            |&(start, count): &(u64, u64)| place(window_of(descriptor, &(start..start.checked_add(count)?)).ok()?);
        let mut parts = ranges.iter().map(part).collect::<Option<Vec<_>>>()?;
        parts.sort_unstable_by_key(|part| part.start);
        parts.push(place(object.payload().len() as u64..object.region().len() as u64)?);
        Some(parts)
    }

    /// Reads `wanted`, as far as the message has it, and some more behind it.
    fn need(&mut self, wanted: Range<usize>) -> io::Result<()> {
        let len = self.bytes.len();
        let (start, end) = (wanted.start.min(len), wanted.end.min(len));
        if start >= self.have.start && end <= self.have.end {
            return Ok(());
        }
        let goes_on = (self.have.start..=self.have.end.saturating_add(GLANCE)).contains(&start);
        let (from, least) = if goes_on {
            (self.have.end, self.have.len().clamp(GLANCE, WINDOW))
        } else {
            self.have.start = start;
            (start, GLANCE)
        };
        let to = from.saturating_add(least).min(len).max(end);
        let out = self.bytes.get_mut(from..to).unwrap_or_default();
        let wanted = out.len();
        let read = read_at(self.file, self.offset.saturating_add(from as u64), out)?;
        if read < wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.have.end = to;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
