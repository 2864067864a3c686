//! Set elements in the pieces in which a bitmap holds them: runs, and words of 64 elements.

use core::ops::Range;

/// Set elements that a bitmap holds together. There is at least one.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Elements side by side.
    Run(Range<u64>),
    /// Elements of a word. A word whose elements are set here and there is much cheaper to read as a whole than as its runs.
    Word(Word),
}

impl Piece {
    /// The element after the last one that is set.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        match self {
            Self::Run(run) => run.end,
            Self::Word(word) => word.end(),
        }
    }

    /// This piece, `offset` elements further on.
    #[inline]
    pub(super) fn moved(self, offset: u64) -> Self {
        match self {
            Self::Run(run) => Self::Run(run.start.wrapping_add(offset)..run.end.wrapping_add(offset)),
            Self::Word(word) => Self::Word(Word { position: word.position.wrapping_add(offset), ..word }),
        }
    }

    /// What of this piece lies in `window`, counted from the window's start.
    #[inline]
    pub(super) fn within(self, window: &Range<u64>) -> Option<Self> {
        match self {
            Self::Run(run) => {
                let (from, to) = (run.start.max(window.start), run.end.min(window.end));
                let run = from.wrapping_sub(window.start)..to.wrapping_sub(window.start);
                (from < to).then_some(Self::Run(run))
            }
            Self::Word(word) => word.within(window).map(Self::Word),
        }
    }
}

/// A word of 64 elements. The first one is the most significant bit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    /// The set elements.
    pub(super) bits: u64,
    /// The first element.
    pub(super) position: u64,
}

impl Word {
    /// The element after the last one that is set.
    #[inline]
    fn end(self) -> u64 {
        self.position.wrapping_add(u64::BITS.wrapping_sub(self.bits.trailing_zeros()).into())
    }

    /// What of this word lies in `window`, counted from the window's start. `None` if no set element does.
    #[inline]
    fn within(self, window: &Range<u64>) -> Option<Self> {
        // Elements of the word before the window, and those before its end: 64 at most.
        let [before, ahead] = [window.start, window.end].map(|end| end.saturating_sub(self.position).min(64) as u32);
        let bits = self.bits & !u64::MAX.checked_shr(ahead).unwrap_or(0);
        let bits = bits.checked_shl(before).unwrap_or(0);
        (bits != 0).then_some(Self { bits, position: self.position.saturating_sub(window.start) })
    }

    /// Takes the first run of set bits.
    ///
    /// ```text
    /// bits         0011 1010…      start = leading zeros = 2
    /// << start     1110 10…        leading ones = 3, so end = 5
    /// clear the first `end` bits
    /// ```
    #[inline]
    pub(super) fn next_run(&mut self) -> Option<Range<u64>> {
        if self.bits == 0 {
            return None;
        }
        let start = self.bits.leading_zeros();
        let end = start.wrapping_add(self.bits.wrapping_shl(start).leading_ones());
        self.bits &= u64::MAX.checked_shr(end).unwrap_or(0);
        Some(self.position.wrapping_add(start.into())..self.position.wrapping_add(end.into()))
    }
}
