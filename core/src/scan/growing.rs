//! Scans of a source that still grows: a stream, of which only a part has come.

use super::source::Source;
use super::{BUDGET_PER_BYTE, FREE_BUDGET, Scanner};

/// For sources that grow. Such a source gives an error where bytes have not come yet; call [`Self::next_segment`] again when
/// more have come.
///
/// A message is returned as soon as its last byte is there. Bytes that belong to no message are returned with the message
/// behind them, or at the end: until then, a message that was begun may still be completed. The segments are those of a
/// scan of all bytes, with one exception: the budget of failed walks grows with the source, so bytes that are made to use it
/// up can end a scan of a stream in other places.
///
/// A growing source differs from other sources in three points, until [`Self::end`] is called:
///
/// - [`Source::len`] is `u64::MAX`.
/// - [`Source::read_at`] fills at least the size of a postamble, or gives an error. [`Source::read`] fills everything.
/// - [`Source::find`] for a start magic may return the first place where a magic can begin that is cut off by the last byte
///   that came. For an end magic, it gives an error if none was found.
impl<S: Source> Scanner<S> {
    /// A scan of a source that grows, from byte `position` on.
    pub const fn growing(source: S, position: u64) -> Self {
        Self {
            source,
            front: position,
            back: u64::MAX,
            place: position,
            found: None,
            end_magic: None,
            budget: FREE_BUDGET,
            torn: None,
            walked: None,
        }
    }

    /// The source, to add bytes to it.
    pub const fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// Where the search for the next message goes on. The scanner does not read bytes before this place again.
    pub fn place(&self) -> u64 {
        self.found.map_or(self.place, |(offset, _)| offset)
    }

    /// Tells the scan that the source has grown by `count` bytes.
    pub const fn grown(&mut self, count: u64) {
        self.budget = self.budget.saturating_add(count.saturating_mul(BUDGET_PER_BYTE));
    }

    /// Tells the scan that the source has ended. [`Source::len`] must now be its length.
    pub fn end(&mut self) {
        self.back = self.source.len();
        self.walked = None;
    }

    /// Gives up the place where the search stands: a message that begins there counts as junk.
    pub fn pass_over(&mut self) {
        self.place = self.place.saturating_add(1);
        self.walked = None;
    }

    /// Goes on behind bytes that the caller skipped. A message may begin at `position`.
    pub const fn resume_at(&mut self, position: u64) {
        self.front = position;
        self.place = position;
        self.found = None;
        self.walked = None;
        self.end_magic = None;
    }
}
