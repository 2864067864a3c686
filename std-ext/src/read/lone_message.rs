//! One message whose place is known: the last one of a source, and the one that begins at a place.

use tgm_core::message::check_preamble;
use tgm_core::wire::{END_MAGIC, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble};
use zerocopy::FromBytes as _;

use super::known_bytes::KnownBytes;
use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use super::read_task::{Progress, ReadTask};
use crate::base::error::Result;
use crate::base::span::{span, span_before};
use crate::scan::MessageLayout;

/// The last message of a source, found by its postamble.
///
/// `None` if the postamble does not state a length, or no preamble agrees: the messages then have to be found from the
/// start.
#[derive(Debug)]
pub(crate) struct LastMessage {
    suffix: u64,
    has_suffix: bool,
}

impl LastMessage {
    /// `has_suffix`: whether the source answers requests for its end before its length is known.
    pub(crate) const fn new(options: &ReadOptions, has_suffix: bool) -> Self {
        Self { suffix: options.initial, has_suffix }
    }
}

impl ReadTask for LastMessage {
    type Output = Option<MessageLayout>;

    fn step(&mut self, known: &KnownBytes, wants: &mut MissingRanges) -> Result<Progress<Self::Output>> {
        let Some(size) = known.size() else {
            if self.has_suffix {
                wants.push_suffix(self.suffix);
            } else {
                // Any byte will do: its answer tells the length.
                wants.push(0..1);
            }
            return Ok(Progress::Wait);
        };
        let Some(start) = size.checked_sub(POSTAMBLE_SIZE as u64) else { return Ok(Progress::Done(None)) };
        let Some(tail) = known.bytes(&(start..size)) else {
            wants.push(span_before(size, self.suffix));
            return Ok(Progress::Wait);
        };
        let length = Postamble::ref_from_bytes(&tail).ok().filter(|postamble| postamble.magic == *END_MAGIC);
        let length = length.map_or(0, |postamble| postamble.total_length.get());
        // This also refuses a length of 0, with which a stream leaves its length open.
        let Some(offset) = size.checked_sub(length).filter(|offset| *offset < start) else {
            return Ok(Progress::Done(None));
        };
        let head = span(offset, PREAMBLE_SIZE as u64);
        let Some(head) = wants.need(known, &head) else { return Ok(Progress::Wait) };
        let preamble = Preamble::ref_from_bytes(&head).ok();
        let agrees = preamble.is_some_and(|preamble| check_preamble(preamble, length) == Ok(Some(length)));
        Ok(Progress::Done(agrees.then_some(MessageLayout { offset, length })))
    }
}

/// What begins at a place.
#[cfg(feature = "async")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// A message. Its end was not looked at.
    Message(MessageLayout),
    /// A message that was streamed and does not tell its length.
    Streamed,
    /// Something else, or the end of the source.
    Other,
}

/// Looks at the preamble at a place.
#[cfg(feature = "async")]
#[derive(Debug)]
pub(crate) struct MessageAt {
    offset: u64,
    /// Bytes that are read: a message that begins there is likely to be read too.
    ahead: u64,
}

#[cfg(feature = "async")]
impl MessageAt {
    pub(crate) fn new(offset: u64, options: &ReadOptions) -> Self {
        Self { offset, ahead: options.header.max(PREAMBLE_SIZE as u64) }
    }
}

#[cfg(feature = "async")]
impl ReadTask for MessageAt {
    type Output = Beginning;

    fn step(&mut self, known: &KnownBytes, wants: &mut MissingRanges) -> Result<Progress<Beginning>> {
        let offset = self.offset;
        let head = span(offset, self.ahead);
        let Some(size) = known.size() else {
            // The answer also says how long the source is.
            wants.push(head);
            return Ok(Progress::Wait);
        };
        let Some(room) = size.checked_sub(offset).filter(|room| *room >= PREAMBLE_SIZE as u64) else {
            return Ok(Progress::Done(Beginning::Other));
        };
        let Some(bytes) = wants.need(known, &(head.start..head.end.min(size))) else { return Ok(Progress::Wait) };
        let stated = Preamble::ref_from_prefix(&bytes).ok().map(|(preamble, _)| check_preamble(preamble, room));
        Ok(Progress::Done(match stated {
            Some(Ok(Some(length))) => Beginning::Message(MessageLayout { offset, length }),
            Some(Ok(None)) => Beginning::Streamed,
            Some(Err(_)) | None => Beginning::Other,
        }))
    }
}
