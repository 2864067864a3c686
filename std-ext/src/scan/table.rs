//! The result of a scan, in little memory.

use std::mem;

use tgm_core::scan::{Scanner, Segment, Source};

use super::ScanOptions;
use super::source::Foresight;
use crate::base::error::{Result, TensogramError};
use crate::base::span::{span, span_before};
use crate::base::trace;

/// If messages have one length, the message that is prefetched is this many messages ahead.
const AHEAD: u64 = 8;

/// The place of a message in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLayout {
    /// Bytes from the file's start.
    pub offset: u64,
    /// Bytes of the message.
    pub length: u64,
}

impl MessageLayout {
    /// The byte after the message. A layout that a search found lies in its file. Any other may claim more bytes than 64
    /// bits can count; then this is the largest number, which is after the end of every file.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

/// The messages of a source in order, and the bytes between them. These have a list of their own, which is mostly
/// empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) messages: Vec<MessageLayout>,
    junk: Vec<MessageLayout>,
}

impl Table {
    /// These messages, and nothing between them.
    pub(crate) const fn of(messages: Vec<MessageLayout>) -> Self {
        Self { messages, junk: Vec::new() }
    }

    /// Scans the source from its start and, if the options say so, from its end as well.
    pub(crate) fn scan<S: Foresight>(source: S, options: &ScanOptions) -> Result<Self, S::Error> {
        let mut scanner = Scanner::new(source);
        let mut scan = TableScan::new(options);
        loop {
            for _ in 0..S::STEPS {
                let Some(message) = scan.forward(&mut scanner)? else { return Ok(scan.finish(&scanner)) };
                if let Some(length) = message.repeated {
                    // A hint, as below: nothing is fetched ahead from behind the source's ends.
                    scanner.source().expect(span(scanner.front(), length.saturating_mul(AHEAD)).end);
                }
            }
            for _ in 0..S::STEPS {
                let Some(message) = scan.backward(&mut scanner)? else { break };
                if let Some(length) = message.repeated {
                    scanner.source().expect(span_before(scanner.back(), length.saturating_mul(AHEAD)).start);
                }
            }
        }
    }

    /// Adds messages that lie side by side from `start` on. `lengths` begin with the last message.
    fn append(&mut self, start: u64, lengths: &[u64]) {
        self.messages.reserve_exact(lengths.len());
        let mut offset = start;
        self.messages.extend(lengths.iter().rev().map(|&length| {
            let layout = MessageLayout { offset, length };
            offset += length;
            layout
        }));
    }

    /// The place of message `index`.
    pub(crate) fn get(&self, index: usize) -> Result<MessageLayout> {
        let count = self.messages.len();
        self.messages.get(index).copied().ok_or_else(|| {
            TensogramError::Framing(format!("message index {index} out of range (count={count})").into())
        })
    }

    /// Everything in order.
    pub(crate) fn segments(&self) -> Segments<'_> {
        Segments { messages: &self.messages, junk: &self.junk }
    }
}

/// A table in the making. Its steps can be made again after an error of the source.
#[derive(Clone, Debug)]
pub(crate) struct TableScan {
    table: Table,
    /// Lengths of the messages that were found from the end. Only these are kept until both sides meet.
    from_end: Vec<u64>,
    is_backward: bool,
    max_message_size: u64,
    /// Lengths of the last messages that were found from the start and from the end.
    last: (u64, u64),
}

/// A segment that a step has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundSegment {
    /// The length of the message, if the message before it on the same side has the same length.
    pub(crate) repeated: Option<u64>,
}

impl TableScan {
    pub(crate) fn new(options: &ScanOptions) -> Self {
        Self {
            table: Table::default(),
            from_end: Vec::new(),
            is_backward: options.bidirectional,
            max_message_size: options.max_message_size,
            last: (0, 0),
        }
    }

    /// The messages that were found from the start.
    pub(crate) fn messages(&self) -> &[MessageLayout] {
        &self.table.messages
    }

    /// The lengths of the messages that were found from the end.
    pub(crate) fn lengths_from_end(&self) -> &[u64] {
        &self.from_end
    }

    /// Goes one segment on from the start. `None` at the end.
    pub(crate) fn forward<S: Source>(&mut self, scanner: &mut Scanner<S>) -> Result<Option<FoundSegment>, S::Error> {
        let Some(segment) = scanner.next_segment()? else { return Ok(None) };
        let layout = MessageLayout { offset: segment.offset(), length: segment.length() };
        if !segment.is_message() {
            self.table.junk.push(layout);
            return Ok(Some(FoundSegment { repeated: None }));
        }
        self.table.messages.push(layout);
        let is_repeated = mem::replace(&mut self.last.0, layout.length) == layout.length;
        Ok(Some(FoundSegment { repeated: is_repeated.then_some(layout.length) }))
    }

    /// Goes one message on from the end. `None` if the rest has to be found from the start.
    pub(crate) fn backward<S: Source>(&mut self, scanner: &mut Scanner<S>) -> Result<Option<FoundSegment>, S::Error> {
        if !self.is_backward {
            return Ok(None);
        }
        let Some(found) = scanner.next_message_back(self.max_message_size)? else {
            self.is_backward = false;
            return Ok(None);
        };
        self.from_end.push(found.length());
        let is_repeated = mem::replace(&mut self.last.1, found.length()) == found.length();
        Ok(Some(FoundSegment { repeated: is_repeated.then_some(found.length()) }))
    }

    /// The table, once [`Self::forward`] has come to the end.
    pub(crate) fn finish<S>(self, scanner: &Scanner<S>) -> Table {
        let Self { mut table, from_end, .. } = self;
        if scanner.back_agrees() {
            table.append(scanner.back(), &from_end);
        }
        trace::scanned(table.messages.len(), from_end.len(), table.junk.len());
        table
    }
}

/// The whole source in order, each byte once: messages, and the bytes that belong to no message.
#[derive(Clone, Debug, Default)]
pub struct Segments<'a> {
    messages: &'a [MessageLayout],
    junk: &'a [MessageLayout],
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let (message, junk) = (self.messages.split_first(), self.junk.split_first());
        match (message, junk) {
            (Some((message, rest)), junk) if junk.is_none_or(|(junk, _)| message.offset < junk.offset) => {
                self.messages = rest;
                Some(Segment::Message { offset: message.offset, length: message.length })
            }
            (_, Some((junk, rest))) => {
                self.junk = rest;
                Some(Segment::Junk { offset: junk.offset, length: junk.length })
            }
            (_, None) => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.messages.len() + self.junk.len();
        (left, Some(left))
    }
}

impl ExactSizeIterator for Segments<'_> {}

impl DoubleEndedIterator for Segments<'_> {
    fn next_back(&mut self) -> Option<Segment> {
        let (message, junk) = (self.messages.split_last(), self.junk.split_last());
        match (message, junk) {
            (Some((message, rest)), junk) if junk.is_none_or(|(junk, _)| message.offset > junk.offset) => {
                self.messages = rest;
                Some(Segment::Message { offset: message.offset, length: message.length })
            }
            (_, Some((junk, rest))) => {
                self.junk = rest;
                Some(Segment::Junk { offset: junk.offset, length: junk.length })
            }
            (_, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Bytes;

    #[test]
    fn segments_come_in_order_from_both_ends_and_cover_every_byte() {
        let message = std::fs::read("../tests/data/dtypes/float32-big.tgm").unwrap();
        let mut bytes = Vec::new();
        for i in 0..200 {
            if i % 7 == 3 {
                bytes.extend_from_slice(b"between messages");
            }
            bytes.extend_from_slice(&message);
        }
        bytes.extend_from_slice(b"end");
        let one_by_one: Vec<_> = tgm_core::scan::scan(&bytes).collect();
        for bidirectional in [false, true] {
            let options = ScanOptions { bidirectional, ..ScanOptions::default() };
            let Ok(table) = Table::scan(Bytes(&bytes), &options);
            assert!(table.segments().eq(one_by_one.iter().copied()));
            assert!(table.segments().rev().eq(one_by_one.iter().rev().copied()));
            assert_eq!(table.segments().len(), one_by_one.len());
            assert_eq!(table.segments().map(|segment| segment.length()).sum::<u64>(), bytes.len() as u64);
        }
    }
}
