//! The outline of a message: all its bytes but payloads and masks.

use std::ops::Range;
use std::sync::Arc;

use tgm_core::frame::check_header;
use tgm_core::wire::{DATA_OBJECT_FOOTER_SIZE, FRAME_HEADER_SIZE, FrameHeader};
use zerocopy::FromBytes as _;

use super::described::{described, range_of};
use super::known_bytes::KnownBytes;
use super::missing_ranges::MissingRanges;
use super::options::ReadOptions;
use super::structure::{Halt, Parts, Structure};
use crate::base::span::{span, span_before};
use crate::scan::MessageLayout;

/// Bytes of a message, and where they lie in it.
#[derive(Clone, Debug)]
pub(crate) struct OutlinePiece {
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl OutlinePiece {
    /// Its place among the bytes of the message.
    pub(crate) fn place_in<'m>(&self, message: &'m mut [u8]) -> Option<&'m mut [u8]> {
        let start = usize::try_from(self.offset).ok()?;
        message.get_mut(start..)?.get_mut(..self.bytes.len())
    }
}

/// Outlines that a search has met, each with the offset of its message.
pub(crate) type MetOutlines = Vec<(u64, Arc<MetOutline>)>;

/// The outline of a message that a search has met.
#[derive(Debug)]
pub(crate) struct MetOutline {
    /// Bytes of the message.
    pub(crate) length: u64,
    pub(crate) pieces: Vec<OutlinePiece>,
}

impl MetOutline {
    /// The outline of the message at `layout`, if all of it is known.
    pub(super) fn read(known: &KnownBytes, layout: MessageLayout, options: &ReadOptions) -> Option<Self> {
        let mut parts = Parts { known, wants: &mut MissingRanges::default(), layout, options };
        let structure = Structure::read(&mut parts).ok()?;
        let pieces = outline(&mut parts, &structure, None).ok()?;
        Some(Self { length: layout.length, pieces })
    }

    /// Bytes that it holds.
    pub(crate) fn byte_len(&self) -> u64 {
        self.pieces.iter().map(|piece| (piece.bytes.len() + size_of::<OutlinePiece>()) as u64).sum()
    }
}

/// All bytes of a message that lie in no payload and no mask, and all of the frame of object `whole`.
pub(super) fn outline(
    parts: &mut Parts<'_, '_>,
    structure: &Structure,
    whole: Option<usize>,
) -> Result<Vec<OutlinePiece>, Halt> {
    let mut pieces = Pieces::default();
    let mut at = 0;
    for index in 0..structure.len() {
        let entry = structure.object(index).ok_or(Halt::Odd)?;
        let frame = range_of(entry);
        pieces.need(parts, at..frame.start)?;
        at = frame.end;
        if whole == Some(index) {
            pieces.need(parts, frame)?;
            continue;
        }
        // The header proves that the walk over all frames finds this frame too.
        let header = span(frame.start, FRAME_HEADER_SIZE as u64);
        if let Some(bytes) = pieces.need(parts, header)? {
            let header = FrameHeader::ref_from_bytes(&bytes).map_err(|_| Halt::Odd)?;
            match check_header(header, entry.length) {
                Ok((kind, length)) if kind.is_data_object() && length == entry.length => {}
                _ => return Err(Halt::Odd),
            }
        }
        pieces.need(parts, span_before(frame.end, DATA_OBJECT_FOOTER_SIZE as u64))?;
        match described(parts, entry) {
            Ok((descriptor, _)) => {
                pieces.found.push(OutlinePiece { offset: descriptor.offset, bytes: descriptor.bytes });
            }
            Err(Halt::Wait) => pieces.is_waiting = true,
            Err(Halt::Odd) => return Err(Halt::Odd),
        }
    }
    pieces.need(parts, at..parts.layout.length)?;
    parts.wants.bridge(parts.options.outline_gap);
    if pieces.is_waiting { Err(Halt::Wait) } else { Ok(pieces.found) }
}

/// Pieces that were found. All of them are asked for before the first missing one ends the step.
#[derive(Default)]
struct Pieces {
    found: Vec<OutlinePiece>,
    is_waiting: bool,
}

impl Pieces {
    /// The bytes of a range, if they are known.
    fn need(&mut self, parts: &mut Parts<'_, '_>, range: Range<u64>) -> Result<Option<Vec<u8>>, Halt> {
        match parts.need(&range) {
            Ok(bytes) => {
                let bytes = bytes.into_owned();
                self.found.push(OutlinePiece { offset: range.start, bytes: bytes.clone() });
                Ok(Some(bytes))
            }
            Err(Halt::Wait) => {
                self.is_waiting = true;
                Ok(None)
            }
            Err(Halt::Odd) => Err(Halt::Odd),
        }
    }
}
