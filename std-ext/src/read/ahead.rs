//! What a search for messages reads around the bytes that it needs, and ahead of them.

use std::ops::Range;

use tgm_core::wire::{END_MAGIC, FRAME_ALIGNMENT, POSTAMBLE_SIZE, PREAMBLE_SIZE};

use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use crate::base::span::{span, span_before, span_len};

/// Places that are asked for at once if messages have one length.
const GUESSES: i64 = 8;
/// The first read-ahead.
const FIRST_AHEAD: u64 = 64 << 10;
/// A request this far behind the last one or nearer goes on from it.
const NEAR: u64 = 1 << 20;

/// What is read around a place where messages meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub(super) before: u64,
    behind: u64,
}

impl Around {
    /// The descriptors of the message before and the metadata of the message behind, if reading them costs less than asking for
    /// them; else no more than the search needs.
    pub(super) fn of(options: &ReadOptions) -> Self {
        let free = options.gap.unwrap_or(0);
        let most = |wanted: u64| if wanted <= free { wanted } else { 0 };
        // The postamble and padding lie behind the descriptor of the last object.
        let ends = (POSTAMBLE_SIZE + FRAME_ALIGNMENT) as u64;
        let before = most(options.descriptor);
        Self {
            // The options may allow any length, and requests are cut at the source's ends.
            before: if before > 0 { before.saturating_add(ends) } else { 0 },
            behind: most(options.header).max(PREAMBLE_SIZE as u64),
        }
    }
}

/// Places where messages meet, which lie at one distance if the messages have one length.
#[derive(Debug, Default)]
pub(super) struct Joints {
    /// The place that was asked for last.
    last: Option<u64>,
    /// Its distance from the one before it, upwards or downwards.
    distance: i64,
}

impl Joints {
    /// Asks for a place, and for the next ones too if the last distances were equal.
    pub(super) fn push(&mut self, missing: &Range<u64>, around: Around, wants: &mut MissingRanges) {
        wants.push(joint(missing, 0, around));
        let distance = self.last.map_or(0, |last| missing.start.wrapping_sub(last).cast_signed());
        if distance != 0 && distance == self.distance {
            // A guess beyond 64 bits lies behind the source's end, and nothing is asked for there.
            (1..=GUESSES).for_each(|number| wants.push(joint(missing, distance.saturating_mul(number), around)));
        }
        (self.last, self.distance) = (Some(missing.start), distance);
    }
}

/// The end of a message and the beginning of the next one, around missing bytes of either that are moved by `distance`. What
/// would lie before the source is cut off.
fn joint(missing: &Range<u64>, distance: i64, around: Around) -> Range<u64> {
    let is_end_magic = span_len(missing) == END_MAGIC.len() as u64;
    // The rest of a postamble lies before its end magic.
    let before = if is_end_magic { POSTAMBLE_SIZE - END_MAGIC.len() } else { POSTAMBLE_SIZE };
    let moved = |at: u64| at.saturating_add_signed(distance);
    let start = span_before(moved(missing.start), around.before.max(before as u64)).start;
    start..span(moved(missing.end), around.behind).end
}

/// How much is read beyond what is missing.
#[derive(Debug)]
pub(super) struct ReadAhead {
    /// Bytes of the next request.
    pub(super) len: u64,
    /// Where the last request ended.
    pub(super) end: u64,
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self { len: FIRST_AHEAD, end: 0 }
    }
}

impl ReadAhead {
    /// Whether a request goes on from the last one.
    pub(super) fn goes_on(&self, missing: &Range<u64>) -> bool {
        self.end > 0 && missing.start.checked_sub(self.end).is_some_and(|ahead| ahead <= NEAR)
    }

    /// A request that does not go on from the last one.
    pub(super) const fn begin(&mut self, missing: &Range<u64>) {
        self.len = FIRST_AHEAD;
        self.end = missing.end;
    }

    /// The next request, twice as long as the last one.
    pub(super) fn extend(&mut self, start: u64, most: u64) -> Range<u64> {
        let next = span(start, self.len.min(most));
        // `most` bounds what is asked for, however large this grows.
        self.len = self.len.saturating_mul(2);
        self.end = next.end;
        next
    }
}
