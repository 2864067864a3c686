//! Search for messages of versions 2 and 3.

use std::ops::Range;

use tgm_core::scan::find;
use tgm_core::wire::MAGIC;

use super::message::Message;

/// Limit on steps of failed walks over streamed messages, for each byte. Beyond it, no streamed message of version 2 is
/// found any more.
const STEPS_PER_BYTE: u64 = 2;

/// The kinds of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A message of version 2.
    V2,
    /// A message of version 3.
    V3,
    /// Bytes that belong to no message.
    Junk,
}

/// A part of the bytes that were scanned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// The kind.
    pub kind: Kind,
    /// The position.
    pub range: Range<usize>,
}

/// The messages in `bytes` and the bytes between them, as segments that cover every byte, in order.
///
/// Payloads may contain messages; then the outer message counts. A streamed message of version 2 counts if its frames
/// lead to its postamble. Payloads of version 3 are not read. Time is linear in the length of `bytes` for every input.
///
/// ```
/// use tgm_std::v2::{Kind, scan};
///
/// let bytes = std::fs::read("../tests/data/multi/v2-between-v3.tgm")?;
/// let kinds: Vec<_> = scan(&bytes).into_iter().map(|segment| segment.kind).collect();
/// assert_eq!(kinds, [Kind::V3, Kind::V2, Kind::V3]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn scan(bytes: &[u8]) -> Vec<Segment> {
    scan_counted(bytes).0
}

/// [`scan`], with the number of steps of failed walks.
pub(super) fn scan_counted(bytes: &[u8]) -> (Vec<Segment>, u64) {
    let mut found = ScanState { bytes, segments: Vec::new(), front: 0, wasted: 0 };
    for segment in tgm_core::scan::scan(bytes).filter(tgm_core::scan::Segment::is_message) {
        let (Ok(start), Some(message)) = (usize::try_from(segment.offset()), segment.bytes_of(bytes)) else { continue };
        let range = start..start + message.len();
        // A damaged streamed message extends to the next end magic, which may belong to a message of version 2.
        let until = if is_whole(message) { range.start } else { range.end };
        found.take_v2(until);
        if found.front <= range.start {
            found.push(Kind::V3, range);
        }
    }
    found.take_v2(bytes.len());
    found.junk_up_to(bytes.len());
    (found.segments, found.wasted)
}

/// Whether a message of version 3 states its length, or its frames lead to its postamble.
fn is_whole(message: &[u8]) -> bool {
    tgm_core::Message::parse(message)
        .is_ok_and(|message| message.total_length().is_some() || message.frames().all(|frame| frame.is_ok()))
}

/// A scan in progress.
struct ScanState<'a> {
    bytes: &'a [u8],
    segments: Vec<Segment>,
    /// The end of the segments so far.
    front: usize,
    /// Steps of walks that failed.
    wasted: u64,
}

impl ScanState<'_> {
    /// Adds the messages of version 2 that begin between the front and `until`.
    fn take_v2(&mut self, until: usize) {
        // A magic may begin just before `until` and end after it.
        let end = (until + MAGIC.len() - 1).min(self.bytes.len());
        let mut from = self.front;
        while let Some(at) = self.bytes.get(from..end).and_then(|bytes| find(bytes, MAGIC)) {
            let at = from + at;
            from = at + 1;
            if let Some(len) = self.message_at(at) {
                from = at + len;
                self.push(Kind::V2, at..from);
            }
        }
    }

    /// The length of the message of version 2 that begins at `at`, if one does.
    fn message_at(&mut self, at: usize) -> Option<usize> {
        let message = Message::parse(self.bytes.get(at..)?).ok()?;
        if message.is_streamed() && self.wasted >= STEPS_PER_BYTE * self.bytes.len() as u64 {
            return None;
        }
        let (len, steps) = message.measure();
        if len.is_none() {
            self.wasted += steps;
        }
        len
    }

    fn push(&mut self, kind: Kind, range: Range<usize>) {
        self.junk_up_to(range.start);
        self.front = range.end;
        self.segments.push(Segment { kind, range });
    }

    fn junk_up_to(&mut self, end: usize) {
        if self.front < end {
            self.segments.push(Segment { kind: Kind::Junk, range: self.front..end });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_torn_streams_with_one_end_take_a_linear_number_of_steps() {
        // Each message begins with a frame that reaches to the one ENDF. The small frames after it lead nowhere.
        let count = 4000_u64;
        let mut bytes = Vec::new();
        for head in 0..count {
            bytes.extend(b"TENSOGRM\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
            bytes.extend(b"FR\0\x01\0\x01\0\0");
            bytes.extend(((count - head) * 40 - 24 + 4).to_be_bytes());
        }
        bytes.extend(b"ENDF");
        bytes.extend(b"FR\0\x01\0\x01\0\0\0\0\0\0\0\0\0\x14ENDF".repeat(4000));
        let len = bytes.len();
        let (segments, steps) = scan_counted(&bytes);
        assert_eq!(segments, [Segment { kind: Kind::Junk, range: 0..len }]);
        // The last walk may begin with one step left.
        assert!(steps > count && steps <= 3 * len as u64, "{steps} steps for {len} bytes");
    }
}
