//! Level 2: metadata, indexes, hash lists and preceders, and whether they agree with the objects.

use tgm_core::cbor::{Canonical, Map, verify_canonical};
use tgm_core::frame::Frame;
use tgm_core::index::{HashList, Index};
use tgm_core::metadata::{Metadata, RESERVED_KEY};
use tgm_core::wire::FrameType;
use tgm_core::{Error, ErrorKind, Message};

use super::descriptor;
use super::duplicates;
use super::issue::{IssueCode, ValidationIssue};
use super::options::ValidateOptions;
use super::report::Findings;
use super::structure::{ObjectFrame, Structure};

/// Checks the CBOR of all frames, in their order. Metadata that cannot be read ends the level.
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
    // Without metadata the message has no objects to speak of. Of several frames the last one counts.
    let Some(metadata) = metadata else { return };
    check_base(&metadata, message.objects.len(), findings);
    for object in &mut message.objects {
        descriptor::check(object, options, findings);
    }
}

/// Reads global metadata; says why if that is not possible.
fn read_metadata<'a>(frame: &Frame<'a>, options: &ValidateOptions, findings: &mut Findings) -> Option<Metadata<'a>> {
    check_keys(frame, Some(IssueCode::MetadataCborNonCanonical), options, findings);
    let metadata = Metadata::parse(frame.body(), frame.body_offset());
    metadata.map_err(|error| findings.push(unreadable(IssueCode::MetadataCborParseFailed, frame, error))).ok()
}

/// Looks at the keys in a frame's CBOR; at their order, if the options want that and there is a code for it.
fn check_keys(frame: &Frame<'_>, code: Option<IssueCode>, options: &ValidateOptions, findings: &mut Findings) {
    let (cbor, offset, name) = (frame.body(), frame.body_offset(), frame.frame_type().name());
    check_duplicates(cbor, offset, name, None, options, findings);
    if let Some(code) = code.filter(|_| options.check_canonical) {
        findings.extend(check_order(cbor, offset, code, name));
    }
}

/// Looks for keys that stand twice in a map of the CBOR of `what`, which is that of data object `index`, if it is one.
pub(super) fn check_duplicates(
    cbor: &[u8],
    offset: u64,
    what: &str,
    index: Option<usize>,
    options: &ValidateOptions,
    findings: &mut Findings,
) {
    if options.like_reference {
        return;
    }
    duplicates::find(cbor, &mut |duplicate| {
        let text = format!("{what} CBOR: key {} stands twice in one map, the last counts", duplicate.name);
        let issue = ValidationIssue::new(IssueCode::DuplicateKey, text).at(offset.saturating_add(duplicate.offset));
        findings.push(index.map_or(issue.clone(), |index| issue.of_object(index)));
    });
}

/// A finding about keys that are out of order. CBOR that cannot be read at all is found by whoever reads it.
pub(super) fn check_order(cbor: &[u8], offset: u64, code: IssueCode, what: &str) -> Option<ValidationIssue> {
    match verify_canonical(cbor, Canonical::KeyOrder) {
        Err(error) if matches!(error.kind(), ErrorKind::NonCanonical(_)) => {
            let text = format!("{what} CBOR is not canonical: {}", error.kind());
            Some(ValidationIssue::new(code, text).at(error.shift(offset).offset()))
        }
        _ => None,
    }
}

/// The finding that a frame's CBOR cannot be read.
pub(super) fn unreadable(code: IssueCode, frame: &Frame<'_>, error: Error) -> ValidationIssue {
    ValidationIssue::new(code, format!("failed to parse {} CBOR: {}", frame.frame_type(), error.kind()))
        .at(error.offset())
}

/// Compares an index with the objects; whether it lies.
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

/// Compares the index that readers follow with the frames. It is none of the message's own where the postamble leads into a
/// payload that holds one.
fn check_followed_index(bytes: &[u8]) -> Option<ValidationIssue> {
    // What stops the walk has been found before.
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

/// Checks `base` against the number of objects, and what the library wrote into its entries.
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
