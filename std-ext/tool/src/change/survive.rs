//! Whole messages of a damaged file, and the lost bytes between them.

use std::ops::Range;

use tgm_core::Message;
use tgm_core::hash::Verdict;
use tgm_core::index::Index;
use tgm_core::scan::{Segment, scan};
use tgm_core::wire::MAGIC;
use tgm_std::encode::TakenObject;
use tgm_std::validate::{Depth, Finding, examine};
use tgm_std::{Result, TensogramError, decode_descriptors};

use crate::read::entry::end_of;
use crate::read::input::{Input, MessagePart};
use crate::read::lost;
use crate::show::advice::in_our_words;

/// Limit on bytes read inside damaged messages, as a multiple of the file's length.
const BUDGET_PER_BYTE: u64 = 4;
/// Depth to which damaged messages inside each other are searched.
const DEPTH: u8 = 8;

/// A part of a file.
pub(crate) enum Piece {
    /// A whole message.
    Message {
        /// Its position in the file.
        range: Range<u64>,
        /// How many objects it has.
        objects: u64,
    },
    /// Bytes that are not part of any whole message.
    Lost {
        /// Their position in the file.
        range: Range<u64>,
        /// Why they are lost.
        why: String,
    },
}

impl Piece {
    /// Its position in the file.
    pub(crate) const fn range(&self) -> &Range<u64> {
        match self {
            Self::Message { range, .. } | Self::Lost { range, .. } => range,
        }
    }

    fn lost(range: Range<u64>, why: Option<String>) -> Self {
        Self::Lost { range, why: why.unwrap_or_else(|| "belongs to no message".to_string()) }
    }

    const fn is_message(&self) -> bool {
        matches!(self, Self::Message { .. })
    }
}

/// Splits a file into whole messages and lost bytes. With `verify`, a message with a wrong digest is lost. Reads one
/// message at a time.
///
/// # Errors
/// The errors of reading.
pub(crate) fn pieces(input: &Input, verify: bool) -> Result<Vec<Piece>> {
    // A budget beyond all numbers is one without an end.
    let mut sieve = Sieve { verify, budget: input.len().saturating_mul(BUDGET_PER_BYTE) };
    let wanted = if verify { MessagePart::Whole } else { MessagePart::Outline };
    let (mut places, mut reader, mut pieces) = (input.all().peekable(), input.reader(), Vec::new());
    for segment in input.segments() {
        let range = segment.offset()..end_of(segment);
        let Some(place) = places.next_if(|place| place.offset == segment.offset()) else {
            pieces.push(Piece::lost(range, lost::note(input, segment)));
            continue;
        };
        match sieve.judge(reader.entry(place, wanted)?.bytes) {
            Ok(objects) => pieces.push(Piece::Message { range, objects }),
            Err(error) => {
                let entry = reader.entry(place, MessagePart::Whole)?;
                pieces.extend(sieve.look_into(range, entry.bytes, &in_our_words(&error), DEPTH));
            }
        }
    }
    Ok(pieces)
}

struct Sieve {
    verify: bool,
    budget: u64,
}

impl Sieve {
    /// The pieces of `bytes`, which lie at `base` in the file.
    fn sift(&mut self, base: u64, bytes: &[u8], segments: impl Iterator<Item = Segment>, depth: u8) -> Vec<Piece> {
        let (mut pieces, mut start) = (Vec::new(), base);
        for segment in segments {
            // The segments are of these bytes, so all of them are there.
            let part = segment.bytes_of(bytes).unwrap_or_default();
            let range = start..start + part.len() as u64;
            start = range.end;
            if !segment.is_message() {
                pieces.push(Piece::lost(range, lost::note_in(part)));
                continue;
            }
            match self.judge(part) {
                Ok(objects) => pieces.push(Piece::Message { range, objects }),
                Err(error) => pieces.extend(self.look_into(range, part, &in_our_words(error), depth)),
            }
        }
        pieces
    }

    /// The pieces of a damaged message. A wrong length can make it include other messages.
    fn look_into(&mut self, range: Range<u64>, bytes: &[u8], why: &str, depth: u8) -> Vec<Piece> {
        let lost = |range| vec![Piece::Lost { range, why: why.to_string() }];
        let (Some(inside), Some(budget), Some(depth)) =
            (bytes.get(MAGIC.len()..), self.budget.checked_sub(bytes.len() as u64), depth.checked_sub(1))
        else {
            return lost(range);
        };
        self.budget = budget;
        let inner = self.sift(range.start + MAGIC.len() as u64, inside, scan(inside), depth);
        let Some(first) = inner.iter().position(Piece::is_message) else { return lost(range) };
        let before = inner.get(first).map_or(range.end, |piece| piece.range().start);
        let mut pieces = lost(range.start..before);
        pieces.extend(inner.into_iter().skip(first));
        pieces
    }

    /// Checks all that decoding checks except payloads, and that the index lists as many objects as were found. Returns
    /// the number of objects.
    fn judge(&self, bytes: &[u8]) -> Result<u64> {
        decode_descriptors(bytes)?;
        let message = Message::parse(bytes)?;
        let outline = message.outline()?;
        if let Some(frame) = outline.index {
            let (listed, found) = (Index::parse(&frame)?.len(), outline.object_count);
            if listed != found {
                let text = format!("the index lists {listed} objects, {found} were found");
                return Err(TensogramError::Framing(text.into()));
            }
        }
        message.objects().try_for_each(|object| TakenObject::new(&object?).map(drop))?;
        if self.verify {
            verify(&message)?;
        }
        Ok(outline.object_count as u64)
    }
}

/// Checks all digests. Either no frame has a digest, or every frame has one.
fn verify(message: &Message<'_>) -> Result<()> {
    let (mut is_hashed, mut missing) = (false, None);
    examine(message, Depth::Contents, None, &mut |finding| {
        if let Finding::Frame { frame, verdict, .. } = finding {
            is_hashed |= verdict == Verdict::Good;
            if verdict == Verdict::Missing {
                missing.get_or_insert((frame.frame_type(), frame.offset()));
            }
        }
        let damage = finding.damage().filter(|damage| !damage.is_missing_digest());
        damage.map_or(Ok(()), Err)
    })?;
    match missing.filter(|_| is_hashed) {
        Some((frame_type, offset)) => Err(TensogramError::Framing(
            format!("{frame_type} at byte {offset} has no digest, other frames have").into(),
        )),
        None => Ok(()),
    }
}
