//! Inside a frame: what of its body passes by, and what is kept.
//!
//! Where CBOR ends is known from the header alone for metadata, index and hash frames. A data object says where its descriptor
//! begins in its tail, that is at last, and whether the descriptor comes first by a flag:
//!
//! ```text
//! descriptor first:  descriptor │ payload │ masks │ tail     gathered until it is a whole item; from there on chunks
//! descriptor last:   payload │ masks │ descriptor │ tail     chunks but for the last N bytes, which are gathered:
//!                                                            the tail says which of them are the descriptor
//! ```
//!
//! Whatever lies in one piece with the tail is not gathered but taken from the input.

use zerocopy::FromBytes;

use super::event::{Cbor, Chunk};
use super::event::{Event, FrameBegin, FrameEnd, ObjectDescriptor, Part, TooLarge};
use super::machine::Machine;
use super::step::{Progress, Span, Step, copy, split_front};
use crate::descriptor::Descriptor;
use crate::error::{ErrorKind, Result};
use crate::frame::{check_cbor_offset, check_end};
#[cfg(feature = "hash")]
use crate::hash::Verdict;
use crate::wire::{
    DATA_OBJECT_FOOTER_SIZE, FRAME_COMMON_FOOTER_SIZE, FRAME_HEADER_SIZE, FrameFlags, FrameHeader, FrameTail,
    FrameType, ObjectTail,
};

/// Bytes of a descriptor that are gathered before it is tried for the first time; then twice as many, and so on.
const FIRST_TRY: usize = 64;

/// Bytes of a piece in which a descriptor is looked for, if the memory is not larger: whatever a frame claims, what is
/// spent on it stays in proportion to the bytes of its header.
const LOOK_AHEAD: usize = 4096;

/// A frame that has begun. Positions count from the body's first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameState {
    pub(super) begin: FrameBegin,
    stage: Stage,
    form: Form,
    body_len: u64,
    /// Bytes of the body still to come.
    left: u64,
    /// Bytes of the body in the memory.
    held: usize,
    /// Bytes in the memory with which the descriptor is tried again.
    next_try: usize,
    /// Where the descriptor begins; known when it or the tail has come.
    cbor_start: u64,
    /// Bytes of a descriptor that comes first.
    cbor_len: u64,
    /// Bytes of the payload, known with a descriptor that comes first.
    payload_len: u64,
    #[cfg(feature = "hash")]
    verdict: Verdict,
}

/// What is done with the next byte.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Nothing has come.
    Start,
    /// All of the body is kept.
    Gather,
    /// A descriptor is kept until it is whole.
    Descriptor,
    /// What was kept of the region, from this position in the memory on, is told.
    Kept(usize),
    /// The body passes.
    Pass,
    /// The region passes, until what may be the descriptor is kept.
    Region,
    /// The tail comes.
    Tail,
    /// The descriptor, from this position in the memory on, is told.
    KeptDescriptor(usize),
    /// The end is told.
    End,
}

/// How the body divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// All of it is CBOR.
    Cbor,
    /// The same, but not kept.
    LargeCbor,
    /// Descriptor, region.
    First,
    /// The same, but the border is not known.
    LargeFirst,
    /// Region, descriptor.
    Last,
}

impl FrameState {
    /// No frame.
    pub(super) const NONE: Self = Self::new(
        FrameBegin {
            frame_type: FrameType::HeaderMetadata,
            flags: FrameFlags::new(0),
            offset: 0,
            total_length: 0,
            object_index: None,
        },
        Form::Cbor,
    );

    pub(super) const fn begin(begin: FrameBegin) -> Self {
        let form = match (begin.frame_type.is_data_object(), begin.flags.has(FrameFlags::CBOR_AFTER_PAYLOAD)) {
            (false, _) => Form::Cbor,
            (true, true) => Form::Last,
            (true, false) => Form::First,
        };
        Self::new(begin, form)
    }

    const fn new(begin: FrameBegin, form: Form) -> Self {
        // The header's check has seen that the frame is not smaller than that.
        let body_len = begin.total_length.saturating_sub(begin.frame_type.min_size() as u64);
        Self {
            begin,
            stage: Stage::Start,
            form,
            body_len,
            left: body_len,
            held: 0,
            next_try: FIRST_TRY,
            cbor_start: 0,
            cbor_len: 0,
            payload_len: 0,
            #[cfg(feature = "hash")]
            verdict: Verdict::Missing,
        }
    }

    /// Where the body starts in the message.
    const fn body_offset(&self) -> u64 {
        self.begin.offset.saturating_add(FRAME_HEADER_SIZE as u64)
    }

    /// Bytes of the body that have come.
    const fn done(&self) -> u64 {
        self.body_len.saturating_sub(self.left)
    }

    /// What the byte at a position is a part of, and how many bytes from it on are.
    const fn part_at(&self, position: u64) -> (Part, u64) {
        match self.form {
            Form::Cbor | Form::LargeCbor => (Part::Cbor, u64::MAX),
            Form::LargeFirst => (Part::Body, u64::MAX),
            Form::Last => (Part::Region, u64::MAX),
            Form::First => match self.payload_len.saturating_sub(position.saturating_sub(self.cbor_len)) {
                0 => (Part::Masks, u64::MAX),
                payload_left => (Part::Payload, payload_left),
            },
        }
    }

    const fn too_large(&self, length: Option<u64>, region_len: Option<u64>) -> TooLarge {
        let FrameBegin { frame_type, object_index, .. } = self.begin;
        TooLarge { frame_type, object_index, length, region_len }
    }

    fn end(&self) -> FrameEnd {
        FrameEnd {
            frame_type: self.begin.frame_type,
            object_index: self.begin.object_index,
            end_offset: self.begin.offset.saturating_add(self.begin.total_length),
            #[cfg(feature = "hash")]
            verdict: self.verdict,
        }
    }

    /// The event of the frame's CBOR.
    pub(super) const fn cbor<'a>(&self, bytes: &'a [u8]) -> Event<'a> {
        Event::Cbor(Cbor {
            frame_type: self.begin.frame_type,
            bytes,
            offset: self.body_offset(),
            #[cfg(feature = "hash")]
            verdict: self.verdict,
        })
    }

    /// The event of a part of the body.
    pub(super) const fn chunk<'a>(&self, bytes: &'a [u8], part: Part, body_offset: u64) -> Event<'a> {
        Event::Chunk(Chunk {
            object_index: self.begin.object_index,
            part,
            offset: self.body_offset().saturating_add(body_offset),
            region_offset: body_offset.saturating_sub(self.cbor_len),
            bytes,
        })
    }

    /// The event of the descriptor that `bytes` begin with.
    ///
    /// # Errors
    /// Those of [`crate::object::DataObject::parse`].
    pub(super) fn descriptor<'a>(&self, bytes: &'a [u8]) -> Result<Event<'a>> {
        let descriptor = Descriptor::parse(bytes, self.body_offset().saturating_add(self.cbor_start))?;
        let region_len =
            if self.form == Form::Last { self.cbor_start } else { self.body_len.saturating_sub(self.cbor_len) };
        let payload_len = descriptor.masks().payload_len(region_len)?;
        let object_index = self.begin.object_index.unwrap_or(0);
        Ok(Event::Descriptor(ObjectDescriptor { object_index, descriptor, region_len, payload_len }))
    }
}

impl Machine {
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

    const fn enter<'i>(&mut self, stage: Stage, step: Step<'i>) -> Progress<'i> {
        self.frame.stage = stage;
        Progress::Tell(step)
    }

    fn start_body<'i>(&mut self, memory: &[u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        match self.frame.form {
            Form::First | Form::LargeFirst => self.frame.stage = Stage::Descriptor,
            Form::Last => self.frame.stage = Stage::Region,
            Form::Cbor | Form::LargeCbor => {
                let left = self.frame.left;
                if let Some(body) = self.take_with_tail(input, FRAME_COMMON_FOOTER_SIZE)? {
                    return Ok(self.enter(Stage::End, Step::Cbor(Span::Input(body))));
                }
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

    /// Takes the rest of the body and the tail, if they are there together.
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

    /// Keeps the rest of the body, which fits.
    fn gather<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        self.keep(memory, input, memory.len())?;
        if self.frame.left > 0 {
            return Ok(Progress::Hungry);
        }
        self.frame.stage = Stage::Tail;
        Ok(Progress::Moved)
    }

    fn pass<'i>(&mut self, input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.frame.left == 0 {
            self.frame.stage = Stage::Tail;
            return Ok(Progress::Moved);
        }
        let (part, limit) = self.frame.part_at(self.frame.done());
        self.pass_part(input, part, limit)
    }

    fn pass_part<'i>(&mut self, input: &mut &'i [u8], part: Part, limit: u64) -> Result<Progress<'i>> {
        let body_offset = self.frame.done();
        let bytes = self.take_body(input, limit)?;
        if bytes.is_empty() {
            return Ok(Progress::Hungry);
        }
        Ok(Progress::Tell(Step::Chunk { bytes: Span::Input(bytes), part, body_offset }))
    }

    fn region<'i>(&mut self, memory: &mut [u8], input: &mut &'i [u8]) -> Result<Progress<'i>> {
        if self.frame.held == 0 {
            // Looking ahead decides nothing but where chunks end: what is wrong with the tail is found when it is taken.
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

    /// Where the descriptor begins, if the tail has come and says a place that is possible.
    fn peek_cbor_start(&self, input: &[u8]) -> Option<u64> {
        let tail = input.get(usize::try_from(self.frame.left).ok()?..)?;
        let (tail, _) = ObjectTail::ref_from_prefix(tail).ok()?;
        let length = self.frame.begin.total_length;
        check_cbor_offset(tail, length).ok()?.checked_sub(FRAME_HEADER_SIZE as u64)
    }

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
        self.frame.next_try = self.frame.next_try.saturating_mul(2);
        Ok(Progress::Moved)
    }

    /// Whether a descriptor is whole in `bytes`, the first ones of the body, or all if `is_all`. If so it is measured.
    ///
    /// # Errors
    /// Those of [`crate::object::DataObject::parse`].
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

    /// Tells what was kept behind a descriptor, or instead of one.
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

    /// Tells what was kept before the tail: the region's last bytes, and the descriptor.
    fn divide_kept<'i>(&mut self) -> Progress<'i> {
        let body_offset = self.frame.body_len.saturating_sub(self.frame.held as u64);
        let cbor_start = self.frame.cbor_start;
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

    /// Checks the tail, which the small bytes are, and the digest in it.
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
            // A descriptor that comes first was read where writers put it: whether it begins there is known only now.
            if self.frame.form != Form::Last && cbor_start != 0 {
                let tail_start = total_length.saturating_sub(DATA_OBJECT_FOOTER_SIZE as u64);
                return Err(ErrorKind::CborOffset.at(offset.saturating_add(tail_start)));
            }
            self.frame.cbor_start = cbor_start;
        }
        Ok(())
    }
}
