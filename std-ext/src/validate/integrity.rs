//! Level 3: digests and pipelines. Level 4 is called for each object while its values are in memory.

use tgm_core::ErrorKind;
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::index::HashList;
use tgm_core::object::DataObject;
use tgm_core::wire::{FrameType, MessageFlags};

use super::duplicates::shorten;
use super::frames::{ObjectFrame, Structure};
use super::issue::{IssueCode, ValidationIssue, ValidationLevel};
use super::metadata::unreadable;
use super::options::ValidateOptions;
use super::report::Findings;
use super::{fidelity, trial};
use crate::base::budget::Spending;
use crate::model::hash;

/// Checks all digests, and decodes what the options ask for. Returns whether an object's digest was checked and all
/// were right.
pub(super) fn check(
    message: &mut Structure<'_>,
    options: &ValidateOptions,
    spending: &mut Spending,
    findings: &mut Findings,
) -> bool {
    let presence = presence(message, options);
    if !options.like_reference {
        for frame in &message.frames {
            check_frame(frame, presence, findings);
        }
    }
    let mut is_spent = false;
    for object in &mut message.objects {
        object.has_good_digest = check_digest(object, presence, message.flags, findings);
        check_object(object, options, spending, &mut is_spent, findings);
    }
    check_hash_lists(message, presence, options, findings);
    !message.objects.is_empty() && message.objects.iter().all(|object| object.has_good_digest)
}

/// Which frames hold a digest: Rule H of FORMAT §2, or the literal reading of 0.21 and later.
fn presence(message: &Structure<'_>, options: &ValidateOptions) -> HashPresence {
    let was_hashed = message.flags.has(MessageFlags::HASHES_PRESENT);
    let mut frames = message.frames.iter().chain(message.objects.iter().map(|object| &object.frame));
    match (options.like_reference, frames.any(Frame::has_hash_flag), was_hashed) {
        (true, _, false) | (false, false, false) => HashPresence::Absent,
        (true, _, true) | (false, true, _) => HashPresence::Flagged,
        (false, false, true) => HashPresence::All,
    }
}

/// Checks the digest of a frame other than an object's. A missing digest is not an error.
fn check_frame(frame: &Frame<'_>, presence: HashPresence, findings: &mut Findings) {
    if let Verdict::Mismatch(mismatch) = hash::check(presence, frame) {
        let text = format!("{} frame: {mismatch}", frame.frame_type());
        findings.push(ValidationIssue::new(IssueCode::HashMismatch, text).at(frame.offset()));
    }
}

/// Checks the digest of an object. Returns whether it is present and right.
fn check_digest(
    object: &ObjectFrame<'_>,
    presence: HashPresence,
    flags: MessageFlags,
    findings: &mut Findings,
) -> bool {
    let (code, text) = match hash::check(presence, &object.frame) {
        Verdict::Good => return true,
        Verdict::Mismatch(mismatch) => (IssueCode::HashMismatch, mismatch.to_string()),
        Verdict::Missing if flags.has(MessageFlags::HASHES_PRESENT) => {
            (IssueCode::HashVerificationError, "the object has no digest, although the message has".to_owned())
        }
        Verdict::Missing => (IssueCode::NoHashAvailable, "the message was written without digests".to_owned()),
    };
    findings.push(ValidationIssue::new(code, text).of_object(object.index).at(object.frame.offset()));
    false
}

/// Compares the first hash list with the objects' own digests, and every other list with the first.
fn check_hash_lists(
    message: &Structure<'_>,
    presence: HashPresence,
    options: &ValidateOptions,
    findings: &mut Findings,
) {
    let mut first = None;
    for (i, frame) in message.of_types([FrameType::HeaderHash, FrameType::FooterHash]).enumerate() {
        let list = match HashList::parse(frame) {
            Ok(list) => list,
            Err(_) if i < message.hash_lists_read => continue,
            Err(error) => {
                let issue = unreadable(IssueCode::HashFrameCborParseFailed, frame, error);
                findings.push(issue.found_by(ValidationLevel::Integrity));
                continue;
            }
        };
        if list.is_xxh3() != Some(true) {
            // A list may name none.
            let name = shorten(&list.algorithm().map(|name| name.to_string()).unwrap_or_default());
            let text = format!("unknown hash algorithm '{name}' in {}: not compared", frame.frame_type());
            findings.push(ValidationIssue::new(IssueCode::UnknownHashAlgorithm, text).at(frame.offset()));
            continue;
        }
        let Some(first) = first else {
            check_list(frame, &list, message, presence, options, findings);
            first = Some(list);
            continue;
        };
        if !digests(&first).eq(digests(&list)) {
            let text = format!("{} disagrees with the first hash list", frame.frame_type());
            findings.push(ValidationIssue::new(IssueCode::HashMismatch, text).at(frame.offset()));
        }
    }
}

/// Compares the entries of a hash list with the right digests of the objects. If frames have no digests, the digests
/// are computed from the objects' bytes, which the reference does not do.
fn check_list(
    frame: &Frame<'_>,
    list: &HashList<'_>,
    message: &Structure<'_>,
    presence: HashPresence,
    options: &ValidateOptions,
    findings: &mut Findings,
) {
    let is_absent = presence == HashPresence::Absent;
    if is_absent && options.like_reference {
        return;
    }
    let mut objects = message.objects.iter().peekable();
    for (i, listed) in digests(list).enumerate() {
        let Some(object) = objects.next_if(|object| object.index == i) else { continue };
        let own = match (is_absent, object.has_good_digest) {
            (true, _) => hash::digest(object.frame.body()),
            (false, true) => object.frame.hash_slot(),
            (false, false) => continue,
        };
        let own = format!("{own:016x}");
        if listed != own {
            let listed = shorten(&listed);
            let text = format!("{} digest[{i}] = {listed}, but the object's own is {own}", frame.frame_type());
            findings.push(ValidationIssue::new(IssueCode::HashMismatch, text).of_object(i).at(object.frame.offset()));
        }
    }
}

/// The entries of a hash list. They were checked to be text.
fn digests<'a>(list: &HashList<'a>) -> impl Iterator<Item = String> + use<'a> {
    list.texts().filter_map(|text| Some(text.ok()?.to_string()))
}

/// Decodes an object, if the options ask for it and no error was found in it.
fn check_object(
    object: &ObjectFrame<'_>,
    options: &ValidateOptions,
    spending: &mut Spending,
    is_spent: &mut bool,
    findings: &mut Findings,
) {
    if object.is_reported {
        return;
    }
    let about = |issue: ValidationIssue| issue.of_object(object.index);
    let data = match DataObject::parse(object.frame) {
        Ok(data) => data,
        // Only digests are asked for. A contradiction in well-formed CBOR does not concern them.
        Err(error) if options.checksum_only && is_contradiction(error.kind()) => return,
        Err(error) => {
            let text = format!("failed to parse descriptor: {}", error.kind());
            return findings
                .push(about(ValidationIssue::new(IssueCode::HashVerificationError, text).at(error.offset())));
        }
    };
    if options.decodes() && trial::has_pipeline(data.descriptor()) {
        let spent = if *is_spent { Ok(()) } else { spending.spend(&data, &options.limits) };
        if let Err(error) = spent {
            *is_spent = true;
            let text = format!("the objects from this one on are not decoded: {error}");
            let issue = ValidationIssue::new(IssueCode::DecodeBudgetExceeded, text);
            findings.push(about(issue.at(object.frame.offset())));
        }
        // One finding covers all following objects.
        if *is_spent {
            return;
        }
    }
    let checked = if options.checks_fidelity() {
        trial::decode(&data, options).and_then(|values| fidelity::check(&data, &values, options))
    } else if options.decodes() && trial::has_pipeline(data.descriptor()) {
        trial::decode(&data, options).map(drop)
    } else {
        Ok(())
    };
    if let Err((code, text)) = checked {
        findings.push(about(ValidationIssue::new(code, text).at(object.frame.offset())));
    }
}

/// Whether the error is a contradiction within a descriptor, or with the payload's size.
const fn is_contradiction(kind: ErrorKind) -> bool {
    use ErrorKind as K;
    matches!(kind, K::NdimMismatch | K::StridesMismatch | K::ShapeOverflow | K::MaskBounds)
}
