//! Level 1: preamble and postamble, and their agreement with the frames.

use tgm_core::ErrorKind;
use tgm_core::frame::Frame;
use tgm_core::message::{check_postamble, check_preamble};
use tgm_core::wire::{FrameType, MIN_MESSAGE_SIZE, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble};
use zerocopy::FromBytes;

use super::frames::{Envelope, Structure, type_bit};
use super::issue::{IssueCode, ValidationIssue};
use super::options::ValidateOptions;
use super::report::Findings;
use super::walk::Walk;
use crate::base::error::way_out;
use crate::base::span::tail;

/// Offset of the flags in the preamble.
const FLAGS_AT: u64 = 10;
/// Offset of the reserved bytes in the preamble.
const RESERVED_AT: u64 = 12;
/// Offset of `total_length` in the preamble.
const TOTAL_LENGTH_AT: u64 = 16;

/// Flags of the preamble that announce a frame.
const ANNOUNCEMENTS: [(u16, FrameType, &str); 7] = [
    (MessageFlags::HEADER_METADATA, FrameType::HeaderMetadata, "HEADER_METADATA"),
    (MessageFlags::FOOTER_METADATA, FrameType::FooterMetadata, "FOOTER_METADATA"),
    (MessageFlags::HEADER_INDEX, FrameType::HeaderIndex, "HEADER_INDEX"),
    (MessageFlags::FOOTER_INDEX, FrameType::FooterIndex, "FOOTER_INDEX"),
    (MessageFlags::HEADER_HASHES, FrameType::HeaderHash, "HEADER_HASHES"),
    (MessageFlags::FOOTER_HASHES, FrameType::FooterHash, "FOOTER_HASHES"),
    (MessageFlags::PRECEDER_METADATA, FrameType::PrecederMetadata, "PRECEDER_METADATA"),
];

/// Reads preamble, postamble and frames. `None` if the frames cannot be located.
pub(super) fn read<'a>(bytes: &'a [u8], options: &ValidateOptions, findings: &mut Findings) -> Option<Structure<'a>> {
    let (envelope, postamble) = Envelope::read(bytes).map_err(|issue| findings.push(issue)).ok()?;
    if !options.like_reference {
        findings.extend(check_length(&envelope, postamble));
        check_reserved(&envelope, findings);
    }
    let mut walk = Walk::new(&envelope, !options.like_reference);
    walk.run(findings);
    let end = walk.end();
    let seen = walk.seen();
    let (frames, objects) = walk.into_frames();
    let (bytes, flags) = (envelope.bytes, envelope.flags);
    let structure = Structure { bytes, flags, frames, objects, hash_lists_read: 0 };
    check_first_footer(&envelope, end, &structure, findings);
    check_flags(envelope.flags, seen, options.like_reference, findings);
    if structure.of_types([FrameType::HeaderMetadata, FrameType::FooterMetadata]).next().is_none() {
        let text = "no metadata frame found (neither header nor footer)";
        findings.push(ValidationIssue::new(IssueCode::NoMetadataFrame, text));
    }
    Some(structure)
}

impl<'a> Envelope<'a> {
    fn read(bytes: &'a [u8]) -> Result<(Self, &'a Postamble), ValidationIssue> {
        let preamble = Preamble::ref_from_prefix(bytes).map_err(|_| {
            let text = format!("buffer too short for preamble: {} < {PREAMBLE_SIZE}", bytes.len());
            ValidationIssue::new(IssueCode::BufferTooShort, text).at(0)
        });
        let (preamble, _) = preamble?;
        let stated = check_preamble(preamble, bytes.len() as u64);
        let stated = stated.map_err(|error| preamble_issue(error.kind(), preamble, bytes.len()))?;
        // A stated length is not greater than the number of bytes.
        let len = stated.and_then(|length| usize::try_from(length).ok()).unwrap_or(bytes.len());
        let message = bytes.get(..len).unwrap_or(bytes);
        // Shorter messages than a postamble are named from their start.
        let no_postamble = |text: String| {
            ValidationIssue::new(IssueCode::PostambleInvalid, text).at(len.saturating_sub(POSTAMBLE_SIZE) as u64)
        };
        let postamble = Postamble::ref_from_suffix(message).ok().filter(|_| len >= MIN_MESSAGE_SIZE);
        let (before, postamble) =
            postamble.ok_or_else(|| no_postamble("missing postamble in streaming message".to_owned()))?;
        match check_postamble(postamble, len as u64) {
            Err(error) if error.kind() == ErrorKind::EndMagic => {
                return Err(no_postamble(format!("postamble invalid: {}", error.kind())));
            }
            _ => {}
        }
        let envelope = Self {
            bytes: message,
            end: before.len(),
            is_open_ended: stated.is_none(),
            flags: preamble.flags(),
            reserved: preamble.reserved.get(),
        };
        Ok((envelope, postamble))
    }
}

fn preamble_issue(kind: ErrorKind, preamble: &Preamble, available: usize) -> ValidationIssue {
    let length = preamble.total_length.get();
    let issue = |code, text: String| ValidationIssue::new(code, text);
    match kind {
        ErrorKind::StartMagic => issue(IssueCode::InvalidMagic, kind.to_string()).at(0),
        ErrorKind::MessageTooSmall => {
            let text = format!("total_length {length} is smaller than minimum message size {MIN_MESSAGE_SIZE}");
            issue(IssueCode::TotalLengthTooSmall, text).at(TOTAL_LENGTH_AT)
        }
        ErrorKind::MessageExceedsBuffer if usize::try_from(length).is_err() => {
            let text = format!("total_length {length} overflows usize");
            issue(IssueCode::TotalLengthOverflow, text).at(TOTAL_LENGTH_AT)
        }
        ErrorKind::MessageExceedsBuffer => {
            let text = format!("total_length {length} exceeds buffer size {available}");
            issue(IssueCode::TotalLengthExceedsBuffer, text).at(TOTAL_LENGTH_AT)
        }
        ErrorKind::Version(version) => {
            let text = format!("preamble parse failed: {kind}: {}", way_out(version));
            issue(IssueCode::PreambleParseFailed, text).at(0)
        }
        _ => issue(IssueCode::PreambleParseFailed, format!("preamble parse failed: {kind}")).at(0),
    }
}

/// Compares the postamble's copy of the length, which decoders check in a message that states its length.
fn check_length(envelope: &Envelope<'_>, postamble: &Postamble) -> Option<ValidationIssue> {
    let error = check_postamble(postamble, envelope.bytes.len() as u64).err().filter(|_| !envelope.is_open_ended)?;
    let text = format!("postamble invalid: {}", error.kind());
    Some(ValidationIssue::new(IssueCode::PostambleInvalid, text).at(error.offset()))
}

/// Checks the fields of the preamble that are reserved for later versions. Writers of version 3 set them to zero, and
/// readers ignore them.
fn check_reserved(envelope: &Envelope<'_>, findings: &mut Findings) {
    let unknown = envelope.flags.bits() & !MessageFlags::KNOWN;
    if unknown != 0 {
        let text = format!("preamble has unknown flags {unknown:#06x}");
        findings.push(ValidationIssue::new(IssueCode::UnknownMessageFlags, text).at(FLAGS_AT));
    }
    if envelope.reserved != 0 {
        let text = format!("reserved bytes of the preamble are {:#010x}, not 0", envelope.reserved);
        findings.push(ValidationIssue::new(IssueCode::ReservedNotZero, text).at(RESERVED_AT));
    }
}

/// Compares `first_footer_offset` of the postamble at `end` with the frames of the walk.
fn check_first_footer(envelope: &Envelope<'_>, end: usize, structure: &Structure<'_>, findings: &mut Findings) {
    let Ok((postamble, _)) = Postamble::ref_from_prefix(tail(envelope.bytes, end as u64)) else { return };
    let (stated, end) = (postamble.first_footer_offset.get(), end as u64);
    let footers = [FrameType::FooterHash, FrameType::FooterIndex, FrameType::FooterMetadata];
    let first = structure.of_types(footers).next().map_or(end, Frame::offset);
    if !(PREAMBLE_SIZE as u64..=end).contains(&stated) {
        let text = format!("first_footer_offset {stated} out of range [{PREAMBLE_SIZE}, {end}]");
        findings.push(ValidationIssue::new(IssueCode::FooterOffsetOutOfRange, text).at(end));
    } else if stated != first {
        let text = format!("first_footer_offset {stated} does not match actual first footer position {first}");
        findings.push(ValidationIssue::new(IssueCode::FooterOffsetMismatch, text).at(end));
    }
}

/// Compares the preamble's announcements with the types of frames `seen`.
///
/// Streams announce preceders before it is known whether there will be one, so a preceder that is missing is a finding only
/// as the reference has it.
fn check_flags(flags: MessageFlags, seen: u16, like_reference: bool, findings: &mut Findings) {
    for (flag, frame_type, name) in ANNOUNCEMENTS {
        let (declared, observed) = (flags.has(flag), seen & type_bit(frame_type) != 0);
        let is_usual = frame_type == FrameType::PrecederMetadata && declared && !like_reference;
        if declared != observed && !is_usual {
            let text = format!("{name} flag mismatch: declared {declared}, observed {observed}");
            findings.push(ValidationIssue::new(IssueCode::FlagMismatch, text).at(FLAGS_AT));
        }
    }
}
