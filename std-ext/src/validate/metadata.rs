//! Level 2: metadata, indexes, hash lists and preceders, and their agreement with the objects.

use tgm_core::cbor::Map;
use tgm_core::frame::Frame;
use tgm_core::index::{HashList, Index};
use tgm_core::metadata::{Metadata, RESERVED_KEY};
use tgm_core::wire::FrameType;
use tgm_core::{Error, ErrorKind, Message};

use super::descriptor;
use super::frames::{ObjectFrame, Structure};
use super::issue::{IssueCode, ValidationIssue};
use super::keys::{check_duplicates, check_order};
use super::options::ValidateOptions;
use super::report::Findings;

/// Checks the CBOR of all frames, in order. Unreadable metadata ends the level.
pub(super) fn check(message: &mut Structure<'_>, options: &ValidateOptions, findings: &mut Findings) {
    let mut metadata = None;
    let mut has_lying_index = false;
    for frame in &message.frames {
        match frame.frame_type() {
            FrameType::HeaderMetadata | FrameType::FooterMetadata => {
                metadata = read_metadata(frame, options, findings);
                if metadata.is_none() {
                    return;
                }
            }
            FrameType::HeaderIndex | FrameType::FooterIndex => {
                has_lying_index |= check_index(frame, &message.objects, options, findings);
            }
            FrameType::HeaderHash | FrameType::FooterHash => {
                check_hash_list(frame, message.objects.len(), options, findings);
                message.hash_lists_read += 1;
            }
            FrameType::PrecederMetadata => check_preceder(frame, options, findings),
            FrameType::NTensorFrame => {}
        }
    }
    if !has_lying_index && !options.like_reference {
        findings.extend(check_followed_index(message.bytes));
    }
    // Without metadata there is nothing to compare with the objects. The last of several metadata frames counts.
    let Some(metadata) = metadata else { return };
    check_base(&metadata, message.objects.len(), findings);
    for object in &mut message.objects {
        descriptor::check(object, options, findings);
    }
}

/// Reads global metadata. A failure is a finding.
fn read_metadata<'a>(frame: &Frame<'a>, options: &ValidateOptions, findings: &mut Findings) -> Option<Metadata<'a>> {
    check_keys(frame, Some(IssueCode::MetadataCborNonCanonical), options, findings);
    let metadata = Metadata::parse(frame.body(), frame.body_offset());
    metadata.map_err(|error| findings.push(unreadable(IssueCode::MetadataCborParseFailed, frame, error))).ok()
}

/// Checks the keys in a frame's CBOR for repetition, and for their order if the options ask for it and `code` is given.
fn check_keys(frame: &Frame<'_>, code: Option<IssueCode>, options: &ValidateOptions, findings: &mut Findings) {
    let (cbor, offset, name) = (frame.body(), frame.body_offset(), frame.frame_type().name());
    check_duplicates(cbor, offset, name, None, options, findings);
    if let Some(code) = code.filter(|_| options.check_canonical) {
        findings.extend(check_order(cbor, offset, code, name));
    }
}

/// The finding that a frame's CBOR cannot be read.
pub(super) fn unreadable(code: IssueCode, frame: &Frame<'_>, error: Error) -> ValidationIssue {
    ValidationIssue::new(code, format!("failed to parse {} CBOR: {}", frame.frame_type(), error.kind()))
        .at(error.offset())
}

/// Compares an index with the objects. Returns whether it is wrong.
fn check_index(
    frame: &Frame<'_>,
    objects: &[ObjectFrame<'_>],
    options: &ValidateOptions,
    findings: &mut Findings,
) -> bool {
    check_keys(frame, None, options, findings);
    let index = match Index::parse(frame) {
        Ok(index) => index,
        Err(error) => {
            findings.push(unreadable(IssueCode::IndexCborParseFailed, frame, error));
            return true;
        }
    };
    let (listed, count) = (index.len(), objects.len());
    let mut lies = listed != count;
    if lies {
        let text = format!("{} lists {listed} objects, the message has {count}", frame.frame_type());
        findings.push(ValidationIssue::new(IssueCode::IndexCountMismatch, text).at(frame.offset()));
    }
    let mut objects = objects.iter().peekable();
    for (i, entry) in index.iter().enumerate() {
        let Some(object) = objects.next_if(|object| object.index == i) else { continue };
        let (offset, length) = (object.frame.offset(), object.frame.total_length());
        let text = if entry.offset != offset {
            format!("{} offset[{i}] = {}, but the data object's frame is at {offset}", frame.frame_type(), entry.offset)
        } else if entry.length != length && !options.like_reference {
            format!("{} length[{i}] = {}, but the data object's frame has {length}", frame.frame_type(), entry.length)
        } else {
            continue;
        };
        lies = true;
        findings.push(ValidationIssue::new(IssueCode::IndexOffsetMismatch, text).of_object(i).at(frame.offset()));
    }
    lies
}

/// Compares the index that readers use with the frames. It may differ from the message's own index frames, if the
/// postamble points into a payload that contains an index.
fn check_followed_index(bytes: &[u8]) -> Option<ValidationIssue> {
    // An error of the walk was reported before.
    let message = Message::parse(bytes).ok().filter(|message| message.outline().is_ok())?;
    let error = message.verify_index().err()?;
    let code = match error.kind() {
        ErrorKind::IndexCount => IssueCode::IndexCountMismatch,
        ErrorKind::IndexEntry => IssueCode::IndexOffsetMismatch,
        _ => IssueCode::IndexCborParseFailed,
    };
    let text = format!("the index that the postamble leads to is none of the message's: {}", error.kind());
    Some(ValidationIssue::new(code, text).at(error.offset()))
}

fn check_hash_list(frame: &Frame<'_>, count: usize, options: &ValidateOptions, findings: &mut Findings) {
    check_keys(frame, None, options, findings);
    match HashList::parse(frame) {
        Ok(list) if list.len() != count => {
            let text = format!("{} lists {} digests, the message has {count} objects", frame.frame_type(), list.len());
            findings.push(ValidationIssue::new(IssueCode::HashFrameCountMismatch, text).at(frame.offset()));
        }
        Ok(_) => {}
        Err(error) => findings.push(unreadable(IssueCode::HashFrameCborParseFailed, frame, error)),
    }
}

fn check_preceder(frame: &Frame<'_>, options: &ValidateOptions, findings: &mut Findings) {
    check_keys(frame, Some(IssueCode::PrecederCborNonCanonical), options, findings);
    match Metadata::of_frame(frame) {
        Ok(_) => {}
        Err(error) if matches!(error.kind(), ErrorKind::PrecederBase(_)) => {
            let issue = ValidationIssue::new(IssueCode::PrecederBaseCountWrong, error.kind().to_string());
            findings.push(issue.at(frame.offset()));
        }
        Err(error) => findings.push(unreadable(IssueCode::PrecederCborParseFailed, frame, error)),
    }
}

/// Checks `base` against the number of objects, and `_reserved_` of its entries.
fn check_base(metadata: &Metadata<'_>, count: usize, findings: &mut Findings) {
    let entries = metadata.base_len();
    if entries > count {
        let text = format!("metadata base has {entries} entries but message has {count} data objects");
        findings.push(ValidationIssue::new(IssueCode::BaseCountExceedsObjects, text).at(metadata.offset()));
    }
    for (i, entry) in metadata.base_entries().take(count).enumerate() {
        let fault = entry.ok().as_ref().and_then(reserved_fault);
        findings.extend(fault.map(|(code, text)| ValidationIssue::new(code, text).of_object(i).at(metadata.offset())));
    }
}

fn reserved_fault(entry: &Map<'_>) -> Option<(IssueCode, &'static str)> {
    let Ok(reserved) = entry.get(RESERVED_KEY).ok().flatten()?.as_map() else {
        return Some((IssueCode::ReservedNotAMap, "base._reserved_ is not a map"));
    };
    match reserved.get("tensor") {
        Ok(None) => Some((IssueCode::ReservedMissingTensor, "base._reserved_ missing 'tensor' key")),
        _ => None,
    }
}
