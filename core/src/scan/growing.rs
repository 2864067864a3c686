//! Scans of a source that still grows: a stream, of which only a part has come.

use super::Scanner;
use super::budget::Budget;
use super::source::Source;

/// For sources that grow. Such a source gives an error where bytes have not come yet; call [`Self::next_segment`] again when
/// more have come.
///
/// A message is returned as soon as its last byte is there. Bytes that belong to no message are returned with the message
/// after them, or at the end: until then, a message that was begun may still be completed. The segments are the same as of a
/// scan of all bytes.
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
            budget: Budget::new(position),
            torn: None,
            back_agrees: true,
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

    /// Goes on after bytes that the caller skipped. A message may begin at `position`.
    pub const fn resume_at(&mut self, position: u64) {
        self.front = position;
        self.place = position;
        self.found = None;
        self.walked = None;
        self.end_magic = None;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::scan::{Segment, find, scan};
    use crate::wire::{MAGIC, POSTAMBLE_SIZE};

    /// The first `come` bytes of a stream. All have come once it has ended.
    struct Prefix<'a> {
        bytes: &'a [u8],
        come: usize,
        has_ended: bool,
    }

    impl Prefix<'_> {
        fn from(&self, offset: u64) -> &[u8] {
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            self.bytes[..self.come].get(offset..).unwrap_or_default()
        }
    }

    impl Source for Prefix<'_> {
        type Error = ();

        fn len(&self) -> u64 {
            if self.has_ended { self.come as u64 } else { u64::MAX }
        }

        fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, ()> {
            let bytes = self.from(offset);
            if !self.has_ended && bytes.len() < out.len().min(POSTAMBLE_SIZE) {
                return Err(());
            }
            let Ok(read) = bytes.read_at(0, out);
            Ok(read)
        }

        fn read<const N: usize>(&self, offset: u64) -> Result<[u8; N], ()> {
            if !self.has_ended && self.from(offset).len() < N {
                return Err(());
            }
            let Ok(bytes) = self.from(offset).read(0);
            Ok(bytes)
        }

        fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> Result<Option<u64>, ()> {
            let room = usize::try_from(end.saturating_sub(from)).unwrap_or(usize::MAX);
            let bytes = self.from(from);
            let found = find(bytes.get(..room).unwrap_or(bytes), magic).map(|at| from + at as u64);
            if found.is_some() || self.has_ended || end <= self.come as u64 {
                return Ok(found);
            }
            let cut_off = (self.come as u64).saturating_sub(7).max(from);
            if magic == MAGIC && cut_off < self.come as u64 { Ok(Some(cut_off)) } else { Err(()) }
        }
    }

    /// The segments of a stream that comes in pieces of `step` bytes.
    pub(in crate::scan) fn grown(bytes: &[u8], step: usize) -> Vec<Segment> {
        let mut scanner = Scanner::growing(Prefix { bytes, come: 0, has_ended: false }, 0);
        let mut segments = Vec::new();
        loop {
            match scanner.next_segment() {
                Ok(Some(segment)) => segments.push(segment),
                Ok(None) => return segments,
                Err(()) if scanner.source().come == bytes.len() => {
                    scanner.source_mut().has_ended = true;
                    scanner.end();
                }
                Err(()) => {
                    let more = step.min(bytes.len() - scanner.source().come);
                    scanner.source_mut().come += more;
                }
            }
        }
    }

    fn message_without_lengths() -> Vec<u8> {
        let mut streamed = include_bytes!("../../samples/float32-little.tgm").to_vec();
        streamed[16..24].fill(0);
        let at = streamed.len() - 16;
        streamed[at..at + 8].fill(0);
        streamed
    }

    /// A walk through damaged bytes costs the same in whatever pieces they come. If it cost more in small pieces, the second
    /// begun message would take the message after it for its own.
    #[test]
    fn damaged_bytes_cost_the_same_however_they_come() {
        let message = message_without_lengths();
        let begun = &message[..24];
        let bytes = [begun, &[7; 3000], begun, &message].concat();
        let expected = [
            Segment::Junk { offset: 0, length: 3048 },
            Segment::Message { offset: 3048, length: message.len() as u64 },
        ];
        assert_eq!(scan(&bytes).collect::<Vec<Segment>>(), expected);
        for step in [1, 23, 97, 2900] {
            assert_eq!(grown(&bytes, step), expected, "{step}");
        }
    }

    proptest! {
        #[test]
        fn a_growing_source_has_the_segments_of_a_whole_one(
            pieces in proptest::collection::vec((0..4_u8, 0..700_usize, 0..300_usize), 0..5),
            step in 1..900_usize,
        ) {
            let message = include_bytes!("../../samples/float32-little.tgm");
            let streamed = message_without_lengths();
            let mut bytes = Vec::new();
            for (kind, at, count) in pieces {
                let whole = if kind % 2 == 0 { &message[..] } else { &streamed };
                match kind {
                    0 | 1 => bytes.extend_from_slice(whole),
                    2 => bytes.extend_from_slice(&whole[..at.min(whole.len())]),
                    _ => bytes.resize(bytes.len() + count, 7),
                }
            }
            prop_assert_eq!(grown(&bytes, step), scan(&bytes).collect::<Vec<Segment>>());
        }
    }
}
