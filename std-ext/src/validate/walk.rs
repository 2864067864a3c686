//! Level 1: the walk over frames, which goes on after a wrong frame if the frame's end is known.

use tgm_core::cbor::Cursor;
use tgm_core::frame::{Frame, Frames, Landmark, find_landmark};
use tgm_core::phase::DecodePhase;
use tgm_core::wire::{FRAME_HEADER_SIZE, FrameFlags, FrameHeader, FrameType};
use tgm_core::{Error, ErrorKind};
use zerocopy::FromBytes;

use super::frames::{Envelope, ObjectFrame, cbor_of, type_bit};
use super::issue::{IssueCode, ValidationIssue};
use super::report::Findings;

/// Frames start at multiples of this many bytes, counted from the message's start.
const GRID: usize = 8;

/// The version of frames that the format defines.
const FRAME_VERSION: u16 = 1;

/// A walk over the frames of a message.
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Where frames end.
    end: usize,
    is_open_ended: bool,
    /// Whether to report what the reference does not report.
    is_strict: bool,
    /// The end of the padding of the frame before.
    padded_end: u64,
    phase: DecodePhase,
    /// Whether the frame before was a preceder. The phase does not tell, because an error leaves it unchanged.
    is_preceded: bool,
    /// The types of frames met, as [`type_bit`]s.
    seen: u16,
    objects_met: usize,
    frames: Vec<Frame<'a>>,
    objects: Vec<ObjectFrame<'a>>,
}

impl<'a> Walk<'a> {
    pub(super) const fn new(envelope: &Envelope<'a>, is_strict: bool) -> Self {
        Self {
            bytes: envelope.bytes,
            position: tgm_core::wire::PREAMBLE_SIZE,
            end: envelope.end,
            is_open_ended: envelope.is_open_ended,
            is_strict,
            padded_end: 0,
            phase: DecodePhase::Header,
            is_preceded: false,
            seen: 0,
            objects_met: 0,
            frames: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// Walks until there are no more frames, or the end of a frame is unknown.
    pub(super) fn run(&mut self, findings: &mut Findings) {
        while self.find_frame(findings) {
            if let Err(issue) = self.frame(findings) {
                findings.push(issue);
                break;
            }
        }
        if self.is_preceded {
            let text = "dangling PrecederMetadata: no data-object frame followed";
            findings.push(ValidationIssue::new(IssueCode::DanglingPreceder, text).at(self.position as u64));
        }
    }

    /// The position of the postamble. In a message that does not state its length, the first one that the walk met.
    pub(super) const fn end(&self) -> usize {
        self.end
    }

    /// The types of frames met, as [`type_bit`]s.
    pub(super) const fn seen(&self) -> u16 {
        self.seen
    }

    pub(super) fn into_frames(self) -> (Vec<Frame<'a>>, Vec<ObjectFrame<'a>>) {
        (self.frames, self.objects)
    }

    /// Steps to the next frame, over padding and other bytes. Returns `false` if there is none.
    fn find_frame(&mut self, findings: &mut Findings) -> bool {
        // In a message that does not state its length, the postamble is searched for.
        let until = if self.is_open_ended { self.bytes.len() } else { self.end };
        let rest = self.up_to(until);
        let landmark = find_landmark(rest, self.is_open_ended);
        let at = landmark.map_or(self.end, |(gap, _)| (self.position + gap).min(self.end));
        let gap = self.up_to(at);
        if let Some(odd) = gap.iter().position(|&byte| byte != 0) {
            let text = format!("non-zero bytes among the {} before the next frame or the postamble", gap.len());
            let offset = self.position + odd;
            findings.push(ValidationIssue::new(IssueCode::NonZeroPadding, text).at(offset as u64));
        }
        self.position = at;
        match landmark {
            Some((_, Landmark::Frame)) if at < self.end => return true,
            Some((_, Landmark::Postamble)) if at < self.end => {
                let text = format!("the streaming message ends here, before the end of its {} bytes", self.bytes.len());
                findings.push(ValidationIssue::new(IssueCode::PostambleInvalid, text).at(at as u64));
                self.end = at;
            }
            _ => {}
        }
        false
    }

    /// The bytes from the position up to byte `end`: none if the position is after it.
    fn up_to(&self, end: usize) -> &'a [u8] {
        self.bytes.get(self.position..end).unwrap_or(&[])
    }

    /// Reads the frame at the position. An error ends the walk.
    fn frame(&mut self, findings: &mut Findings) -> Result<(), ValidationIssue> {
        let at = self.position as u64;
        let rest = self.up_to(self.end);
        let (frame_type, bytes) = delimit(rest, at)?;
        let frame = match Frames::open_ended(bytes, at).next().unwrap_or(Err(ErrorKind::FrameMagic.at(at))) {
            Ok(frame) => Some(frame),
            Err(error) if error.kind() == ErrorKind::CborOffset => None,
            Err(error) => return Err(broken(error, at)),
        };
        if self.is_strict {
            check_header(frame_type, bytes, at, findings);
            self.check_place(frame_type, at, findings);
            self.padded_end = at + bytes.len().next_multiple_of(GRID) as u64;
        }
        self.check_order(frame_type, at, findings);
        match frame {
            Some(frame) => self.take(frame, findings),
            None => self.leave_out(IssueCode::CborOffsetInvalid, findings),
        }
        self.position += bytes.len();
        Ok(())
    }

    /// Checks that the frame at byte `at` is found by readers that skip padding without looking at it.
    fn check_place(&self, frame_type: FrameType, at: u64, findings: &mut Findings) {
        let where_it_is = if !at.is_multiple_of(GRID as u64) {
            format!("starts at byte {at}, no multiple of {GRID}")
        } else if at < self.padded_end {
            format!("starts at byte {at}, in the padding of the frame before it, which ends at {}", self.padded_end)
        } else {
            return;
        };
        let text = format!("{frame_type} frame {where_it_is}: other readers may not find it");
        findings.push(ValidationIssue::new(IssueCode::FrameOffGrid, text).at(at));
    }

    fn check_order(&mut self, frame_type: FrameType, at: u64, findings: &mut Findings) {
        self.seen |= type_bit(frame_type);
        match self.phase.after(frame_type) {
            Ok(DecodePhase::Preceded) => self.phase = DecodePhase::Body,
            Ok(phase) => self.phase = phase,
            Err(kind) => findings.push(ValidationIssue::new(IssueCode::FrameOrderViolation, kind.to_string()).at(at)),
        }
        if self.is_preceded && !frame_type.is_data_object() {
            let text = ErrorKind::PrecederWithoutObject(frame_type).to_string();
            findings.push(ValidationIssue::new(IssueCode::PrecederNotFollowedByObject, text).at(at));
        }
        self.is_preceded = frame_type == FrameType::PrecederMetadata;
    }

    fn take(&mut self, frame: Frame<'a>, findings: &mut Findings) {
        if !frame.frame_type().is_data_object() {
            self.frames.push(frame);
        } else if has_boundary(&frame) {
            self.objects.push(ObjectFrame {
                index: self.objects_met,
                frame,
                is_reported: false,
                has_good_digest: false,
            });
            self.objects_met += 1;
        } else {
            self.leave_out(IssueCode::CborBeforeBoundaryUnknown, findings);
        }
    }

    /// Skips a data object whose payload or descriptor cannot be located.
    fn leave_out(&mut self, code: IssueCode, findings: &mut Findings) {
        let text = match code {
            IssueCode::CborOffsetInvalid => "cbor_offset of the data object is out of its frame",
            _ => "the descriptor before the payload does not parse: where the payload begins is unknown",
        };
        findings.push(ValidationIssue::new(code, text).of_object(self.objects_met).at(self.position as u64));
        self.objects_met += 1;
    }
}

/// The type and the bytes of the frame at the start of `rest`, which lies `at` bytes into the message.
fn delimit(rest: &[u8], at: u64) -> Result<(FrameType, &[u8]), ValidationIssue> {
    let (header, _) = FrameHeader::ref_from_prefix(rest).map_err(|_| {
        let text = format!("{} bytes are left for a frame header of {FRAME_HEADER_SIZE}", rest.len());
        ValidationIssue::new(IssueCode::TruncatedFrameHeader, text).at(at)
    })?;
    let frame_type = FrameType::from_u16(header.frame_type.get()).map_err(|kind| {
        ValidationIssue::new(IssueCode::InvalidFrameHeader, format!("invalid frame header: {kind}")).at(at)
    })?;
    let length = header.total_length.get();
    let fault = |code, what: String| ValidationIssue::new(code, format!("{frame_type} frame {what}")).at(at);
    if length < frame_type.min_size() as u64 {
        let what = format!("has total_length {length}, less than the minimum {}", frame_type.min_size());
        return Err(fault(IssueCode::FrameTooSmall, what));
    }
    if at.checked_add(length).is_none() {
        return Err(fault(IssueCode::FrameLengthOverflow, format!("has total_length {length}, which overflows")));
    }
    let frame = usize::try_from(length).ok().and_then(|len| rest.get(..len)).ok_or_else(|| {
        let what = format!("of {length} bytes extends into the postamble, {} bytes on", rest.len());
        fault(IssueCode::FrameExceedsMessage, what)
    })?;
    Ok((frame_type, frame))
}

/// Checks the fields of a frame's header that are reserved for later versions. `at` is the frame's position.
fn check_header(frame_type: FrameType, frame: &[u8], at: u64, findings: &mut Findings) {
    let Ok((header, _)) = FrameHeader::ref_from_prefix(frame) else { return };
    let version = header.version.get();
    if version != FRAME_VERSION {
        let text = format!("{frame_type} frame is of version {version}, not {FRAME_VERSION}");
        findings.push(ValidationIssue::new(IssueCode::UnknownFrameVersion, text).at(at + 4));
    }
    // The flag for the descriptor's position applies to data objects only.
    let known = if frame_type.is_data_object() { FrameFlags::KNOWN } else { FrameFlags::HASH_PRESENT };
    let unknown = header.flags().bits() & !known;
    if unknown != 0 {
        let text = format!("{frame_type} frame has unknown flags {unknown:#06x}");
        findings.push(ValidationIssue::new(IssueCode::UnknownFrameFlags, text).at(at + 6));
    }
}

/// The finding for a frame at byte `at` that is broken after its header.
fn broken(error: Error, at: u64) -> ValidationIssue {
    let code = match error.kind() {
        ErrorKind::FrameEnd => IssueCode::MissingEndMarker,
        _ => IssueCode::InvalidFrameHeader,
    };
    ValidationIssue::new(code, format!("{} of the frame at byte {at}", error.kind())).at(error.offset())
}

/// Whether the start of an object's payload is known: a descriptor before it must be a whole CBOR item.
fn has_boundary(frame: &Frame<'_>) -> bool {
    frame.flags().has(FrameFlags::CBOR_AFTER_PAYLOAD) || {
        let cbor = cbor_of(frame);
        Cursor::new(cbor, 0).skip().is_ok()
    }
}
