//! Bodies and tails of frames: which bytes are passed on as they come, and which are kept.
//!
//! The header of a metadata, index or hash frame says how long its CBOR is. A data object is harder: a flag in its header
//! says whether the descriptor comes first, but where a descriptor begins that comes last is only said in the tail.
//!
//! ```text
//! descriptor first:  descriptor │ payload │ masks │ tail     keep bytes until they are a whole item; pass the rest on
//! descriptor last:   payload │ masks │ descriptor │ tail     pass bytes on, but keep the last N before the tail;
//!                                                            the tail then says which of those are the descriptor
//! ```
//!
//! CBOR that comes in one piece with the tail is not kept. It is read where it lies in the input.

use zerocopy::FromBytes;

use super::event::{FrameBegin, Part};
use super::frame_state::{Form, Stage};
use super::machine::Machine;
use super::step::{Progress, Span, Step, copy, split_front};
use crate::descriptor::Descriptor;
use crate::error::{ErrorKind, Result};
use crate::frame::{check_cbor_offset, check_end};
use crate::wire::{
    DATA_OBJECT_FOOTER_SIZE, FRAME_COMMON_FOOTER_SIZE, FRAME_HEADER_SIZE, FrameHeader, FrameTail, ObjectTail,
};

/// Bytes of a piece in which a descriptor is searched for, unless the memory is larger.
///
/// Without a limit a frame of a few bytes could make the decoder read a whole large piece, again and again.
const LOOK_AHEAD: usize = 4096;

impl Machine {
    /// Takes one step inside a frame.
    pub(super) fn body<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        match self.frame.stage {
            Stage::Start => self.start_body(memory, input),
            Stage::Gather => self.gather(memory, input),
            Stage::Descriptor => self.descriptor_first(memory, input),
            Stage::Kept(at) => Ok(self.tell_kept(at)),
            Stage::Pass => self.pass(input),
            Stage::Region => self.region(memory, input),
            Stage::Tail => self.tail(input),
            Stage::KeptDescriptor(at) => {
                Ok(self.enter(Stage::End, Step::Descriptor(Span::Memory(at..self.frame.held))))
            }
            Stage::End => {
                let end = self.frame.end();
                self.enter_gap();
                Ok(Progress::Tell(Step::FrameEnd(end)))
            }
        }
    }

    /// Tells `step`, and goes on with `stage`.
    const fn enter<'i>(&mut self, stage: Stage, step: Step<'i>) -> Progress<'i> {
        self.frame.stage = stage;
        Progress::Tell(step)
    }

    /// Decides how the body is read.
    fn start_body<'i>(&mut self, memory: &[u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        match self.frame.form {
            Form::First | Form::LargeFirst => self.frame.stage = Stage::Descriptor,
            Form::Last => self.frame.stage = Stage::Region,
            Form::Cbor | Form::LargeCbor => {
                let left = self.frame.left;
                if let Some(body) = self.take_with_tail(input, FRAME_COMMON_FOOTER_SIZE)? {
                    return Ok(self.enter(Stage::End, Step::Cbor(Span::Input(body))));
                }
                // Not decided yet: the next piece may have all of it, and then nothing is copied.
                if left > 0 && input.is_empty() {
                    return Ok(Progress::Hungry);
                }
                if left > memory.len() as u64 {
                    self.frame.form = Form::LargeCbor;
                    return Ok(self.enter(Stage::Pass, Step::TooLarge(self.frame.too_large(Some(left), None))));
                }
                self.frame.stage = Stage::Gather;
            }
        }
        Ok(Progress::Moved)
    }

    /// Takes the rest of the body and the tail, if the input has both.
    fn take_with_tail<'i>(&mut self, input: &mut &'i [u8], tail_size: usize) -> Result<Option<&'i [u8]>> {
        let wanted = self.frame.left.saturating_add(tail_size as u64);
        if (input.len() as u64) < wanted {
            return Ok(None);
        }
        let mut both = self.take(input, wanted)?;
        let body = split_front(&mut both, self.frame.left);
        self.running.update(body);
        self.frame.left = 0;
        self.small.push(both);
        self.check_tail()?;
        Ok(Some(body))
    }

    /// Takes up to `limit` bytes of the body.
    fn take_body<'i>(&mut self, input: &mut &'i [u8], limit: u64) -> Result<&'i [u8]> {
        if input.is_empty() {
            return Ok(&[]);
        }
        let bytes = self.take(input, limit.min(self.frame.left))?;
        self.running.update(bytes);
        self.frame.left = self.frame.left.saturating_sub(bytes.len() as u64);
        Ok(bytes)
    }

    /// Takes bytes of the body into the memory until it holds `len`.
    fn keep(&mut self, memory: &mut [u8], input: &mut &[u8], len: usize) -> Result<()> {
        let bytes = self.take_body(input, len.saturating_sub(self.frame.held) as u64)?;
        let kept = copy(bytes, memory.get_mut(self.frame.held..).unwrap_or_default());
        self.frame.held = self.frame.held.saturating_add(kept);
        Ok(())
    }

    /// Keeps the rest of the body, which fits the memory.
    fn gather<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        // No more than the body is taken, which was found to fit.
        self.keep(memory, input, memory.len())?;
        if self.frame.left > 0 {
            return Ok(Progress::Hungry);
        }
        self.frame.stage = Stage::Tail;
        Ok(Progress::Moved)
    }

    /// Passes the body on.
    fn pass<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.frame.left == 0 {
            self.frame.stage = Stage::Tail;
            return Ok(Progress::Moved);
        }
        let (part, limit) = self.frame.part_at(self.frame.done());
        self.pass_part(input, part, limit)
    }

    /// Passes on up to `limit` bytes that belong to `part`.
    fn pass_part<'i>(&mut self, input: &mut &'i [u8], part: Part, limit: u64) -> Result<Progress<'i>> {
        let body_offset = self.frame.done();
        let bytes = self.take_body(input, limit)?;
        if bytes.is_empty() {
            return Ok(Progress::Hungry);
        }
        Ok(Progress::Tell(Step::Chunk { bytes: Span::Input(bytes), part, body_offset }))
    }

    /// Passes the region on, and keeps the bytes that may be the descriptor.
    fn region<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.frame.held == 0 {
            // If the input already has the tail, it says where the region ends. A damaged tail is reported later, when it
            // is taken: this look only decides where chunks end.
            let region_left = self.peek_cbor_start(input).and_then(|start| start.checked_sub(self.frame.done()));
            if region_left == Some(0) {
                let Some(bytes) = self.take_with_tail(input, DATA_OBJECT_FOOTER_SIZE)? else {
                    return Ok(Progress::Hungry);
                };
                return Ok(self.enter(Stage::End, Step::Descriptor(Span::Input(bytes))));
            }
            if let Some(region_left) = region_left {
                return self.pass_part(input, Part::Region, region_left);
            }
        }
        match self.frame.left.checked_sub(memory.len() as u64) {
            None | Some(0) => self.gather(memory, input),
            Some(passing) => self.pass_part(input, Part::Region, passing),
        }
    }

    /// Where the descriptor begins, if the input has the tail and the tail gives a possible place.
    fn peek_cbor_start(&self, input: &[u8]) -> Option<u64> {
        let tail = input.get(usize::try_from(self.frame.left).ok()?..)?;
        let (tail, _) = ObjectTail::ref_from_prefix(tail).ok()?;
        let length = self.frame.begin.total_length;
        check_cbor_offset(tail, length).ok()?.checked_sub(FRAME_HEADER_SIZE as u64)
    }

    /// Reads a descriptor that comes first: from the input if it is there in one piece, otherwise from the memory.
    fn descriptor_first<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.frame.held == 0 {
            if input.is_empty() && self.frame.left > 0 {
                return Ok(Progress::Hungry);
            }
            let limit = LOOK_AHEAD.max(memory.len()) as u64;
            let ahead = split_front(&mut &**input, self.frame.left.min(limit));
            if self.try_descriptor(ahead, ahead.len() as u64 == self.frame.left)? {
                let bytes = self.take_body(input, self.frame.cbor_len)?;
                return Ok(self.enter(Stage::Pass, Step::Descriptor(Span::Input(bytes))));
            }
        }
        if self.frame.held == memory.len() {
            // The region begins after a descriptor whose end is not known. So its bytes are given as bytes of the body.
            self.frame.form = Form::LargeFirst;
            return Ok(self.enter(Stage::Kept(0), Step::TooLarge(self.frame.too_large(None, None))));
        }
        let wanted = self.frame.next_try.min(memory.len());
        self.keep(memory, input, wanted)?;
        let is_all = self.frame.left == 0;
        if self.frame.held < wanted && !is_all {
            return Ok(Progress::Hungry);
        }
        if self.try_descriptor(memory.get(..self.frame.held).unwrap_or_default(), is_all)? {
            let len = usize::try_from(self.frame.cbor_len).unwrap_or(usize::MAX);
            return Ok(self.enter(Stage::Kept(len), Step::Descriptor(Span::Memory(0..len))));
        }
        // Twice as many each time: all tries together read no more than twice what the last one reads.
        self.frame.next_try = self.frame.next_try.saturating_mul(2);
        Ok(Progress::Moved)
    }

    /// Whether `bytes`, the first bytes of the body, hold a whole descriptor. If so, notes its length and the payload's.
    ///
    /// With `is_all` these are all bytes of the body, so a descriptor that is not whole is an error.
    ///
    /// # Errors
    /// The errors of [`crate::object::DataObject::parse`].
    fn try_descriptor(&mut self, bytes: &[u8], is_all: bool) -> Result<bool> {
        let descriptor = match Descriptor::parse(bytes, self.frame.body_offset()) {
            Ok(descriptor) => descriptor,
            Err(error) if error.kind() == ErrorKind::Truncated && !is_all => return Ok(false),
            Err(error) => return Err(error),
        };
        self.frame.cbor_len = descriptor.as_encoded().len() as u64;
        let region_len = self.frame.body_len.saturating_sub(self.frame.cbor_len);
        self.frame.payload_len = descriptor.masks().payload_len(region_len)?;
        Ok(true)
    }

    /// Reports the bytes that were kept after a descriptor, or instead of one.
    fn tell_kept<'i>(&mut self, at: usize) -> Progress<'i> {
        let kept = self.frame.held.saturating_sub(at);
        if kept == 0 {
            self.frame.stage = Stage::Pass;
            return Progress::Moved;
        }
        let body_offset = self.frame.done().saturating_sub(kept as u64);
        let (part, limit) = self.frame.part_at(body_offset);
        let end = at.saturating_add(kept.min(usize::try_from(limit).unwrap_or(usize::MAX)));
        self.enter(Stage::Kept(end), Step::Chunk { bytes: Span::Memory(at..end), part, body_offset })
    }

    /// Reads the tail.
    fn tail<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if !self.fill_small(input, self.frame.begin.frame_type.tail_size())? {
            return Ok(Progress::Hungry);
        }
        self.check_tail()?;
        self.frame.stage = Stage::End;
        match self.frame.form {
            Form::Cbor => Ok(Progress::Tell(Step::Cbor(Span::Memory(0..self.frame.held)))),
            Form::Last => Ok(self.divide_kept()),
            Form::LargeCbor | Form::First | Form::LargeFirst => Ok(Progress::Moved),
        }
    }

    /// Reports the bytes that were kept before the tail: the end of the region, and the descriptor.
    fn divide_kept<'i>(&mut self) -> Progress<'i> {
        let body_offset = self.frame.body_len.saturating_sub(self.frame.held as u64);
        let cbor_start = self.frame.cbor_start;
        // A descriptor longer than the memory: its first bytes were passed on as bytes of the region.
        let Some(region_len) = cbor_start.checked_sub(body_offset) else {
            let length = self.frame.body_len.saturating_sub(cbor_start);
            return Progress::Tell(Step::TooLarge(self.frame.too_large(Some(length), Some(cbor_start))));
        };
        let region_len = usize::try_from(region_len).unwrap_or(usize::MAX);
        self.frame.stage = Stage::KeptDescriptor(region_len);
        if region_len == 0 {
            return Progress::Moved;
        }
        Progress::Tell(Step::Chunk { bytes: Span::Memory(0..region_len), part: Part::Region, body_offset })
    }

    /// Checks the tail, and the digest in it. The small bytes are the tail.
    fn check_tail(&mut self) -> Result<()> {
        let FrameBegin { frame_type, offset, total_length, .. } = self.frame.begin;
        let small = self.small.as_slice();
        let too_small = ErrorKind::FrameTooSmall.at_index(FrameHeader::TOTAL_LENGTH_OFFSET).shift(offset);
        let (_, tail) = FrameTail::ref_from_suffix(small).map_err(|_| too_small)?;
        check_end(&tail.end, total_length).map_err(|error| error.shift(offset))?;
        #[cfg(feature = "hash")]
        {
            self.frame.verdict = self.running.verdict(tail.hash.get());
        }
        if frame_type.is_data_object() {
            let (_, tail) = ObjectTail::ref_from_suffix(small).map_err(|_| too_small)?;
            let cbor_offset = check_cbor_offset(tail, total_length).map_err(|error| error.shift(offset))?;
            let cbor_start = cbor_offset.saturating_sub(FRAME_HEADER_SIZE as u64);
            // A descriptor that comes first was read at the start of the body, where all writers put it. Only now does the
            // tail say whether it begins there.
            if self.frame.form != Form::Last && cbor_start != 0 {
                let tail_start = total_length.saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64);
                return Err(ErrorKind::CborOffset.at(offset.saturating_add(tail_start)));
            }
            self.frame.cbor_start = cbor_start;
        }
        Ok(())
    }
}
