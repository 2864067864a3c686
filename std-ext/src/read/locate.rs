//! Finding messages in a source whose bytes come as they are asked for.
//!
//! ```text
//! messages      all of them, one after the other     one that is named by its number
//! short         all that follows                     windows of 64 KiB, several at once
//! long          where one message ends and the next begins, from both ends of the source if all are looked for
//! alike         up to eight of the next such places at once
//! ```
//! "All that follows" comes in requests that double up to 8 MiB. Where payloads are wanted too, it is also read of messages of up
//! to 1 MiB; and of messages of any length, where a request takes much longer than the bytes that it would save. One long
//! request shows that, once hops have shown how long a short one takes.
//!
//! A place where messages meet is read with as much around it
//! as costs nothing beside the request (the gap of its options): the descriptors of the message before, and the metadata of the
//! message after.
//!
//! Where requests cost time, a search for all messages keeps the outlines of the messages that it meets, as far as it has read
//! them. So whoever looks through all messages then asks for nothing again, and memory is needed for outlines only.
//!
//! A caller who asks for one message after the other reads all of them. So each search remembers whether the last calls asked
//! for the next message.

use std::ops::Range;
use std::sync::Arc;

use tgm_core::message::check_preamble;
use tgm_core::scan::Scanner;
use tgm_core::wire::Preamble;
use zerocopy::FromBytes as _;

use super::ahead::{Around, ReadAhead, Stride, push_joints};
use super::fetch::{FetchError, FetchErrorKind};
use super::known_bytes::KnownBytes;
use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use super::outline::{MetOutline, MetOutlines};
use super::pace::LONG;
use super::read_task::{Progress, ReadTask};
use super::source::{KnownSource, Stop};
use crate::base::error::Result;
use crate::base::foreign::{LOOKED_AT, kind_of, not_ours};
use crate::base::span::{head, span, span_before, span_len};
use crate::scan::{MessageLayout, ScanOptions, Table, TableScan};

/// Messages that are seen before their mean length counts.
const SEEN: usize = 3;
/// Messages of at most this mean length are read with what lies between them.
const SHORT: u64 = 64 << 10;
/// Where messages are looked for one by one, short ones are read in requests of this length.
const WINDOW: u64 = 64 << 10;
/// Where payloads are wanted too, messages of up to about this length are read one after the other.
const NEAR: u64 = 1 << 20;
/// The request that shows how long bytes take.
const PROBE: u64 = 2 * LONG;
/// So many messages must be left for such a request.
const WORTH_PROBING: u64 = 40;
/// Calls for the next message, one after the other, that make a caller who reads all messages.
const IN_ORDER: usize = 3;

/// Bytes of outlines that a search keeps.
pub(crate) const OUTLINES: u64 = 64 << 20;

/// How far a search for messages goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchGoal {
    /// To the end: all messages.
    All,
    /// To message number so and so from the start, the first is 0.
    Index(usize),
}

/// What a search has found.
#[derive(Clone, Debug)]
pub(crate) enum Located {
    /// All messages.
    Table(Table),
    /// The message that was looked for. Others may follow it.
    Message(MessageLayout),
}

/// A search for messages.
#[derive(Debug)]
pub(crate) struct Locate {
    goal: SearchGoal,
    scan: TableScan,
    /// How many calls in a row looked for the message after the last one that was found.
    in_order: usize,
    /// Whether the payloads of the messages are wanted too.
    has_payloads: bool,
    /// Whether it was tried to learn how long bytes take.
    has_probed: bool,
    /// Set once the length of the source is known.
    scanner: Option<Scanner<()>>,
    ahead: ReadAhead,
    met: Met,
    options: ReadOptions,
}

impl Locate {
    pub(crate) fn new(goal: SearchGoal, scan: &ScanOptions, options: &ReadOptions) -> Self {
        Self {
            goal,
            scan: TableScan::new(scan),
            in_order: 0,
            has_payloads: false,
            has_probed: false,
            scanner: None,
            ahead: ReadAhead::default(),
            met: Met::default(),
            options: *options,
        }
    }

    /// The same search with another goal. What was found stays found.
    pub(crate) fn with_goal(self, goal: SearchGoal) -> Self {
        let found = self.scan.messages().len();
        let in_order = match goal {
            SearchGoal::Index(index) if index == found => (self.in_order + 1).min(IN_ORDER),
            // This one is found. What lies after it is not looked for.
            SearchGoal::Index(index) if index < found => self.in_order,
            SearchGoal::Index(_) | SearchGoal::All => 0,
        };
        Self { goal, in_order, ..self }
    }

    /// The same search for a caller who wants the payloads of what is found, or does not.
    pub(crate) fn for_payloads(self, has_payloads: bool) -> Self {
        Self { has_payloads, ..self }
    }

    /// The same search for a caller who reads most of the messages up to the goal.
    #[cfg(feature = "async")]
    pub(crate) fn for_most(mut self) -> Self {
        self.in_order = self.in_order.max(IN_ORDER);
        self.has_payloads = true;
        self.ahead.len = self.ahead.len.max(self.options.read_ahead);
        self
    }

    /// Whether all messages are read, at once or one by one in order.
    const fn is_for_all(&self) -> bool {
        matches!(self.goal, SearchGoal::All) || self.in_order >= IN_ORDER
    }

    /// Where the message that is looked for lies if its preamble is right. Only the search can prove it.
    pub(crate) fn candidate(&self, known: &KnownBytes) -> Option<MessageLayout> {
        let SearchGoal::Index(index) = self.goal else { return None };
        let offset = match self.scan.messages() {
            [] if index == 0 => 0,
            [.., last] if self.scan.messages().len() == index => last.end(),
            _ => return None,
        };
        let size = known.size()?;
        let (preamble, _) = Preamble::ref_from_prefix(known.from(offset)).ok()?;
        let length = check_preamble(preamble, size.checked_sub(offset)?).ok()??;
        Some(MessageLayout { offset, length })
    }

    /// The messages that were found from the start.
    #[cfg(feature = "async")]
    pub(crate) fn messages(&self) -> &[MessageLayout] {
        self.scan.messages()
    }

    /// Takes the outlines of messages that were met since the last call.
    pub(crate) fn take_outlines(&mut self) -> MetOutlines {
        std::mem::take(&mut self.met.outlines)
    }

    /// The message that is looked for, if it was found.
    fn message(&self) -> Option<MessageLayout> {
        match self.goal {
            SearchGoal::All => None,
            SearchGoal::Index(index) => self.scan.messages().get(index).copied(),
        }
    }

    /// Asks for the bytes that a scan stopped at.
    fn want(&mut self, stop: Stop, scanner: &Scanner<KnownSource<'_>>, wants: &mut MissingRanges) -> Result<()> {
        let missing = match stop {
            Stop::Missing(missing) => missing,
            Stop::Searched(searched) => {
                let len = span_len(&searched);
                if len > self.options.resync {
                    if self.scan.messages().is_empty()
                        && let Some(kind) = kind_of(head(scanner.source().known.from(0), LOOKED_AT as u64))
                    {
                        return Err(FetchError::new(FetchErrorKind::Protocol, not_ours(kind)).into());
                    }
                    let text = format!(
                        "{len} bytes from byte {} on belong to no message, and the reader searches no further",
                        searched.start
                    );
                    return Err(FetchError::new(FetchErrorKind::TooLarge, text).into());
                }
                wants.push(self.ahead.extend(searched.end, self.options.read_ahead));
                return Ok(());
            }
        };
        let lengths = self.scan.messages().iter().rev().map(|message| message.length);
        let stride = Stride::of(lengths);
        if self.is_short(scanner.front()) {
            // The message that ends here is likely to be read too.
            let start = scanner.source().known.known_until(scanner.front()).min(missing.start);
            match self.goal {
                SearchGoal::All => {
                    // All that is left, if it is not more than several requests can bring at once. The options may say that
                    // there is no limit, and eight times that is none either.
                    self.ahead.len = self.ahead.len.max(self.options.read_ahead);
                    wants.push(
                        self.ahead.extend(start, self.options.in_flight.min(self.options.read_ahead.saturating_mul(8))),
                    );
                }
                SearchGoal::Index(_) if self.is_for_all() => self.read_on(start, wants),
                SearchGoal::Index(index) => {
                    let windows = self.windows_until(index, start, scanner.front());
                    let ahead = span(start, windows.saturating_mul(WINDOW));
                    self.ahead.end = ahead.end;
                    wants.push(ahead);
                    wants.split_at(WINDOW);
                }
            }
        } else if self.is_for_all() && self.reads_on(&missing, stride, scanner) {
            self.read_on(span_before(missing.start, Around::of(&self.options).before).start, wants);
        } else {
            self.ahead.begin(&missing);
            let most = match self.goal {
                SearchGoal::Index(index) if !self.is_for_all() => {
                    index.saturating_sub(self.scan.messages().len()) as u64
                }
                _ => u64::MAX,
            };
            push_joints(&missing, (stride, most, true), &self.options, wants);
        }
        Ok(())
    }

    /// Whether reading what lies between the places where messages meet is better than hopping over it.
    fn reads_on(&mut self, missing: &Range<u64>, stride: Option<Stride>, scanner: &Scanner<KnownSource<'_>>) -> bool {
        let source = scanner.source();
        if self.has_payloads || self.options.parallel <= 1 {
            return self.ahead.goes_on(missing, NEAR);
        }
        let count = self.scan.messages().len() as u64;
        if count < SEEN as u64 {
            return false;
        }
        let mean = scanner.front() / count;
        // Requests for such places would be merged.
        if mean <= Around::of(&self.options).byte_len().saturating_add(self.options.gap.unwrap_or(0)) {
            return true;
        }
        let is_alike = stride.is_some_and(|stride| stride.is_alike(&self.options));
        let at_once = if is_alike { u32::try_from(self.options.parallel).unwrap_or(u32::MAX) } else { 1 };
        let left = span_len(&(scanner.front()..scanner.back())) / mean.max(1);
        if source.known.pace.lacks_long() && !self.has_probed && left >= WORTH_PROBING {
            self.has_probed = true;
            self.ahead.len = PROBE;
            return true;
        }
        let is_better = source.known.pace.favours_reading(mean, at_once);
        if is_better {
            self.ahead.len = self.options.read_ahead;
        }
        is_better
    }

    /// Asks for all that follows `start`, up to the longest read-ahead.
    fn read_on(&mut self, start: u64, wants: &mut MissingRanges) {
        if self.in_order >= IN_ORDER {
            // Several messages were read in order. So many more are likely to be.
            self.ahead.len = self.ahead.len.max(self.options.read_ahead / 8);
        }
        wants.push(self.ahead.extend(start, self.options.read_ahead));
        if self.in_order >= IN_ORDER {
            self.ahead.len = self.options.read_ahead;
        }
    }

    /// Whether the messages so far are short. `front` is where they end.
    fn is_short(&self, front: u64) -> bool {
        let count = self.scan.messages().len();
        count >= SEEN && front / count as u64 <= SHORT
    }

    /// How many windows from `start` on are likely to reach message `index`, by the mean length of those before `front`. At most
    /// as many as may be under way at once.
    fn windows_until(&self, index: usize, start: u64, front: u64) -> u64 {
        let found = self.scan.messages().len();
        let mean = front / (found.max(1) as u64);
        // The messages before it that are not found, and the message itself. This is a guess: if it does not fit in 64 bits, it
        // is as many windows as are allowed.
        let ahead = (index.saturating_sub(found) as u64).saturating_add(1);
        let end = front.saturating_add(ahead.saturating_mul(mean));
        span_len(&(start..end)).div_ceil(WINDOW).clamp(1, self.options.parallel.max(1) as u64)
    }
}

/// Outlines of messages that a search for all of them has met.
#[derive(Debug, Default)]
struct Met {
    outlines: MetOutlines,
    /// Bytes of all outlines, also of those that were taken.
    bytes: u64,
    /// How many messages were looked at.
    count: usize,
}

impl Met {
    /// Keeps the outlines of the messages that were found since the last call, as far as they are known.
    fn look(&mut self, known: &KnownBytes, messages: &[MessageLayout], options: &ReadOptions) {
        // Where a request costs nothing, all of it can be read again.
        if options.parallel <= 1 {
            return;
        }
        for layout in messages.get(self.count..).unwrap_or_default() {
            if self.bytes >= OUTLINES {
                break;
            }
            if let Some(outline) = MetOutline::read(known, *layout, options) {
                self.bytes = self.bytes.saturating_add(outline.byte_len());
                self.outlines.push((layout.offset, Arc::new(outline)));
            }
        }
        self.count = messages.len();
    }
}

impl ReadTask for Locate {
    type Output = Located;

    fn step(&mut self, known: &KnownBytes, wants: &mut MissingRanges) -> Result<Progress<Located>> {
        if let Some(message) = self.message() {
            return Ok(Progress::Done(Located::Message(message)));
        }
        // Any answer tells the length. This one also brings the first message, or its beginning.
        let Some(size) = known.size() else {
            wants.push(0..self.options.initial.max(1));
            return Ok(Progress::Wait);
        };
        let source = KnownSource { known, size };
        let mut scanner = match self.scanner.take() {
            Some(scanner) => scanner.with_source(source),
            None => Scanner::new(source),
        };
        loop {
            match self.scan.forward(&mut scanner) {
                Ok(Some(_)) => {}
                Ok(None) => {
                    let table = std::mem::replace(&mut self.scan, TableScan::new(&ScanOptions::default()));
                    let table = table.finish(&scanner);
                    self.met.look(known, &table.messages, &self.options);
                    return Ok(Progress::Done(Located::Table(table)));
                }
                Err(stop) => {
                    if let Err(error) = self.want(stop, &scanner, wants) {
                        // What was found stays found, also where the search gives up.
                        self.scanner = Some(scanner.with_source(()));
                        return Err(error);
                    }
                    break;
                }
            }
            if let Some(message) = self.message() {
                self.scanner = Some(scanner.with_source(()));
                return Ok(Progress::Done(Located::Message(message)));
            }
        }
        // The other end is looked at in the same round trip. Short messages are read from start to end anyway.
        if self.goal == SearchGoal::All && !self.is_short(scanner.front()) {
            loop {
                match self.scan.backward(&mut scanner) {
                    Ok(Some(_)) => {}
                    Ok(None) | Err(Stop::Searched(_)) => break,
                    Err(Stop::Missing(missing)) => {
                        let stride = Stride::of(self.scan.lengths_from_end().iter().rev().copied());
                        push_joints(&missing, (stride, u64::MAX, false), &self.options, wants);
                        break;
                    }
                }
            }
        }
        self.scanner = Some(scanner.with_source(()));
        if self.goal == SearchGoal::All {
            self.met.look(known, self.scan.messages(), &self.options);
        }
        Ok(Progress::Wait)
    }

    fn done_with(&self) -> u64 {
        match (self.goal, self.scan.messages()) {
            (SearchGoal::All, [.., last]) => last.end(),
            _ => 0,
        }
    }
}
