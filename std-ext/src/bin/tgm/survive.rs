//! What survives of a damaged file: whole messages, and the bytes between them that are lost.

use std::ops::Range;

use tgm_core::Message;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::index::Index;
use tgm_core::scan::{Segment, scan};
use tgm_core::wire::MAGIC;
use tgm_std::encode::TakenObject;
use tgm_std::{Result, TensogramError, decode_descriptors};

use crate::advice::in_our_words;
use crate::edit::check_digests;
use crate::scan::note_on_junk;

/// Looking into damaged messages for whole ones may cost this many times the length of the file.
const BUDGET_PER_BYTE: u64 = 4;
/// Damaged messages within damaged messages are looked into this deep.
const DEPTH: u8 = 8;

/// A part of a file.
pub(crate) enum Piece {
    /// A message that is whole.
    Message {
        /// Where it is.
        range: Range<usize>,
        /// How many objects it has.
        objects: u64,
    },
    /// Bytes that are not part of any whole message.
    Lost {
        /// Where they are.
        range: Range<usize>,
        /// What is wrong with them.
        why: String,
    },
}

impl Piece {
    /// Where it is.
    pub(crate) const fn range(&self) -> &Range<usize> {
        match self {
            Self::Message { range, .. } | Self::Lost { range, .. } => range,
        }
    }

    const fn is_message(&self) -> bool {
        matches!(self, Self::Message { .. })
    }
}

/// Tells whole messages from the rest; with `verify` those whose digests are wrong are not whole.
pub(crate) fn pieces(bytes: &[u8], segments: &[Segment], verify: bool) -> Vec<Piece> {
    let mut sieve = Sieve { verify, budget: (bytes.len() as u64).saturating_mul(BUDGET_PER_BYTE) };
    sieve.sift(0, bytes, segments.iter().copied(), DEPTH)
}

struct Sieve {
    verify: bool,
    budget: u64,
}

impl Sieve {
    /// The pieces of `bytes`, which lie at `base` in the file.
    fn sift(&mut self, base: usize, bytes: &[u8], segments: impl Iterator<Item = Segment>, depth: u8) -> Vec<Piece> {
        let (mut pieces, mut start) = (Vec::new(), base);
        for segment in segments {
            let part = segment.bytes_of(bytes).unwrap_or_default();
            let range = start..start + part.len();
            start = range.end;
            if !segment.is_message() {
                let why = note_on_junk(part).unwrap_or_else(|| "belongs to no message".to_string());
                pieces.push(Piece::Lost { range, why });
                continue;
            }
            match self.judge(part) {
                Ok(objects) => pieces.push(Piece::Message { range, objects }),
                Err(error) => pieces.extend(self.look_into(range, part, &in_our_words(error), depth)),
            }
        }
        pieces
    }

    /// The pieces of a damaged message. Where its length is what is damaged, it has swallowed others.
    fn look_into(&mut self, range: Range<usize>, bytes: &[u8], why: &str, depth: u8) -> Vec<Piece> {
        let lost = |range| vec![Piece::Lost { range, why: why.to_string() }];
        let (Some(inside), Some(budget), Some(depth)) =
            (bytes.get(MAGIC.len()..), self.budget.checked_sub(bytes.len() as u64), depth.checked_sub(1))
        else {
            return lost(range);
        };
        self.budget = budget;
        let inner = self.sift(range.start + MAGIC.len(), inside, scan(inside), depth);
        let Some(first) = inner.iter().position(Piece::is_message) else { return lost(range) };
        let before = inner.get(first).map_or(range.end, |piece| piece.range().start);
        let mut pieces = lost(range.start..before);
        pieces.extend(inner.into_iter().skip(first));
        pieces
    }

    /// Checks everything that decoding checks before it looks at payloads, and that no object is missing; returns how
    /// many there are.
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

/// Checks all digests. A message may have none at all, but if it has some every frame has one.
fn verify(message: &Message<'_>) -> Result<()> {
    let presence = message.hash_presence()?;
    check_digests(message, presence)?;
    for verified in message.verify(presence).filter(|_| presence != HashPresence::Absent) {
        let verified = verified?;
        if verified.verdict == Verdict::Missing {
            let (frame_type, offset) = (verified.frame.frame_type(), verified.frame.offset());
            let text = format!("{frame_type} at byte {offset} has no digest, other frames have");
            return Err(TensogramError::Framing(text.into()));
        }
    }
    Ok(())
}
