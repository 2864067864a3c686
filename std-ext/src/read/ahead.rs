//! What a search for messages reads around the bytes that it needs, and ahead of them.

use std::ops::Range;

use tgm_core::wire::{END_MAGIC, FRAME_ALIGNMENT, POSTAMBLE_SIZE, PREAMBLE_SIZE};

use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use crate::base::span::{span, span_before, span_len};

/// Places that are asked for at once if messages are alike, which as many lengths tell.
const GUESSES: usize = 8;
/// The farthest from the place that is likely that a guess reads, to either side.
const WIDEST: u64 = 24 << 10;
/// The first read-ahead.
const FIRST_AHEAD: u64 = 64 << 10;

/// What is read around a place where messages meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around {
    pub(super) before: u64,
    behind: u64,
}

impl Around {
    /// Bytes of a request for such a place.
    pub(super) const fn byte_len(self) -> u64 {
        self.before.saturating_add(self.behind)
    }

    /// The descriptors of the message before and the metadata of the message after, if reading them costs less than asking for
    /// them; else no more than the search needs.
    pub(super) fn of(options: &ReadOptions) -> Self {
        let free = options.gap.unwrap_or(0);
        let most = |wanted: u64| if wanted <= free { wanted } else { 0 };
        // The postamble and padding lie after the descriptor of the last object.
        let ends = (POSTAMBLE_SIZE + FRAME_ALIGNMENT) as u64;
        let before = most(options.descriptor);
        Self {
            // The options may allow any length, and requests are cut at the source's ends.
            before: if before > 0 { before.saturating_add(ends) } else { 0 },
            behind: most(options.header).max(PREAMBLE_SIZE as u64),
        }
    }
}

/// What the lengths of the last messages tell of the next ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    mean: u64,
    /// The greatest difference from the mean. 0 for messages of one length.
    spread: u64,
}

impl Stride {
    /// Lengths of messages, the one next to the search first: two that are equal, or three.
    pub(super) fn of(lengths: impl Iterator<Item = u64> + Clone) -> Option<Self> {
        let mut first = lengths.clone();
        if let (Some(mean), Some(next)) = (first.next(), first.next())
            && mean == next
        {
            return Some(Self { mean, spread: 0 });
        }
        let lengths = lengths.take(GUESSES);
        let (count, sum) = lengths.clone().fold((0, 0_u64), |(count, sum), next| (count + 1, sum.saturating_add(next)));
        let mean = sum.checked_div(count)?;
        let spread = lengths.map(|length| length.abs_diff(mean)).max()?;
        (count >= 3).then_some(Self { mean, spread })
    }

    /// Whether the place of the next message but one can be guessed, so that hops are made side by side.
    pub(super) fn is_alike(self, options: &ReadOptions) -> bool {
        self.width(1, Around::of(options), options.gap.unwrap_or(0)).is_some()
    }

    /// How far from the likely place message `number` from here on may begin: farther for later ones, as differences add up.
    /// `None` if that is too far for a guess, or if guesses would be so close that all between them, `gap` or less, is read too.
    fn width(self, number: u64, around: Around, gap: u64) -> Option<u64> {
        if self.spread == 0 {
            return Some(0);
        }
        let width = Some(self.spread.checked_mul(number + 1)? / 2).filter(|width| *width <= WIDEST)?;
        let read = (2 * width).checked_add(around.before)?.checked_add(around.behind)?.checked_add(gap)?;
        (read < self.mean).then_some(width)
    }
}

/// Asks for a place where messages meet, and for up to `most` of the next ones too, upwards or downwards, if messages are alike.
pub(super) fn push_joints(
    missing: &Range<u64>,
    (stride, most, is_upwards): (Option<Stride>, u64, bool),
    options: &ReadOptions,
    wants: &mut MissingRanges,
) {
    let around = Around::of(options);
    wants.push(joint(missing, 0, around));
    let Some(stride) = stride else { return };
    // Where requests are not made side by side, only places that are as good as certain are asked for before they are needed.
    let gap = if options.parallel > 1 { options.gap.unwrap_or(0) } else { u64::MAX };
    for number in 1..=most.min(GUESSES as u64) {
        let Some(width) = stride.width(number, around, gap) else { break };
        // A guess beyond 64 bits lies after the source's end, and nothing is asked for there.
        let distance = i64::try_from(stride.mean.saturating_mul(number)).unwrap_or(i64::MAX);
        let place = joint(missing, if is_upwards { distance } else { -distance }, around);
        wants.push(span_before(place.start, width).start..span(place.end, width).end);
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
    /// Whether a request begins at most `near` bytes after the end of the last one.
    pub(super) fn goes_on(&self, missing: &Range<u64>, near: u64) -> bool {
        self.end > 0 && missing.start.checked_sub(self.end).is_some_and(|ahead| ahead <= near)
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
