//! Numbers taken from the end of the input, so that a message at its beginning stays in place. Zero when nothing is
//! left.

/// The rest of an input.
pub(crate) struct Given<'a>(pub(crate) &'a [u8]);

impl<'a> Given<'a> {
    /// A byte.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((last, rest)) = self.0.split_last() else { return 0 };
        self.0 = rest;
        *last
    }

    /// Four bytes.
    pub(crate) fn number(&mut self) -> u32 {
        u32::from_be_bytes([(); 4].map(|()| self.byte()))
    }

    /// A number of at most `max`.
    pub(crate) fn up_to(&mut self, max: u64) -> u64 {
        let number = if max < 256 { u32::from(self.byte()) } else { self.number() };
        max.checked_add(1).map_or(number.into(), |end| u64::from(number) % end)
    }

    /// One of the choices.
    pub(crate) fn choice<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }

    /// Eight bytes, as any number.
    pub(crate) fn double(&mut self) -> f64 {
        f64::from_be_bytes([(); 8].map(|()| self.byte()))
    }

    /// A first element and a number of elements, within `count` elements.
    pub(crate) fn range(&mut self, count: u64) -> (u64, u64) {
        let start = self.up_to(count);
        (start, self.up_to(count - start))
    }

    /// `of` in pieces, whose lengths come from the input.
    pub(crate) fn pieces(mut self, of: &'a [u8]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        let mut rest = of;
        while !rest.is_empty() {
            // 0 takes all that is left, so that few cuts are found as easily as many.
            let len = match self.byte() {
                0 => rest.len(),
                255 => 700,
                len => len.into(),
            };
            let (piece, after) = rest.split_at(len.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces
    }
}
