//! Level 2: descriptors.

use tgm_core::ErrorKind;
use tgm_core::cbor::{Map, Uints, Value};
use tgm_core::descriptor::{Compression, Encoding, Filter, Key};
use tgm_core::object::DataObject;
use tgm_core::tensor::Shape;

use super::duplicates::shorten;
use super::frames::{ObjectFrame, cbor_of};
use super::issue::{IssueCode, ValidationIssue};
use super::keys::{check_duplicates, check_order};
use super::options::ValidateOptions;
use super::report::Findings;

/// Checks the descriptor of one object.
pub(super) fn check(object: &mut ObjectFrame<'_>, options: &ValidateOptions, findings: &mut Findings) {
    let offset = object.frame.offset() + object.frame.cbor_offset();
    let cbor = cbor_of(&object.frame);
    check_duplicates(cbor, offset, "descriptor", Some(object.index), options, findings);
    if options.check_canonical {
        let found = check_order(cbor, offset, IssueCode::DescriptorCborNonCanonical, "descriptor");
        findings.extend(found.map(|issue| issue.of_object(object.index)));
    }
    match DataObject::parse(object.frame).map_err(|error| (error.kind(), error)) {
        // These errors are reported below, together with all other errors.
        Ok(data) if !options.like_reference => {
            let faults = block_offset_faults(&data);
            findings.extend(
                faults
                    .into_iter()
                    .map(|(code, text)| ValidationIssue::new(code, text).of_object(object.index).at(offset)),
            );
        }
        Ok(_) | Err((ErrorKind::NdimMismatch | ErrorKind::StridesMismatch | ErrorKind::ShapeOverflow, _)) => {}
        Err((kind, error)) => {
            let text = format!("descriptor CBOR parse failed: {kind}");
            let issue = ValidationIssue::new(IssueCode::DescriptorCborParseFailed, text).at(error.offset());
            findings.push(issue.of_object(object.index));
            object.is_reported = true;
            return;
        }
    }
    let Ok(map) = Value::parse(cbor, offset).and_then(|value| value.as_map()) else { return };
    let names = [
        unknown_name(&map, "encoding", IssueCode::UnknownEncoding, |name| Encoding::from_name(name).is_some()),
        unknown_name(&map, "filter", IssueCode::UnknownFilter, |name| Filter::from_name(name).is_some()),
        unknown_name(&map, "compression", IssueCode::UnknownCompression, |name| Compression::from_name(name).is_some()),
    ];
    for (code, text) in contradictions(&map).into_iter().chain(names.into_iter().flatten()) {
        findings.push(ValidationIssue::new(code, text).of_object(object.index).at(offset));
        // An object without a type can be decoded.
        object.is_reported |= code != IssueCode::EmptyObjType;
    }
}

type Fault = (IssueCode, String);

/// Contradictions between shape, `ndim` and strides, and an empty type.
fn contradictions(map: &Map<'_>) -> Vec<Fault> {
    let field = |key| map.get(key).ok().flatten();
    let uints = |key| field(key).and_then(|value| Uints::parse(&value).ok());
    let mut faults = Vec::new();
    if let Some(shape) = uints("shape") {
        let rank = shape.len();
        if let Some(ndim) = field("ndim").and_then(|value| value.as_u64().ok()).filter(|&ndim| ndim != rank as u64) {
            faults.push((IssueCode::NdimShapeMismatch, format!("ndim {ndim} != shape.len() {rank}")));
        }
        if let Some(strides) = uints("strides").filter(|strides| strides.len() != rank) {
            let text = format!("strides.len() {} != shape.len() {rank}", strides.len());
            faults.push((IssueCode::StridesShapeMismatch, text));
        }
        if Shape::from(shape).element_count().is_none() {
            faults.push((IssueCode::ShapeOverflow, "shape product overflows u64".to_owned()));
        }
    }
    if field("type").and_then(|value| value.as_text().ok()).is_some_and(|text| text.is_empty()) {
        faults.push((IssueCode::EmptyObjType, "obj_type is empty".to_owned()));
    }
    faults
}

/// Errors in `szip_block_offsets`. Only decoding of ranges needs them.
fn block_offset_faults(object: &DataObject<'_>) -> Vec<Fault> {
    let descriptor = object.descriptor();
    if descriptor.compression().known() != Some(Compression::Szip) {
        return Vec::new();
    }
    let key = Key::SzipBlockOffsets;
    let offsets = match descriptor.szip_block_offsets() {
        Ok(Some(offsets)) => offsets,
        Ok(None) => return Vec::new(),
        Err(error) => {
            let text = format!("{key} must be an array of unsigned integers: {}", error.kind());
            return vec![(IssueCode::SzipBlockOffsetsWrongType, text)];
        }
    };
    let mut faults = Vec::new();
    match offsets.iter().next() {
        Some(0) => {}
        None if object.payload().is_empty() => {}
        None => faults.push((IssueCode::SzipBlockOffsetsNotFromZero, format!("{key} is empty, the first must be 0"))),
        Some(first) => {
            faults.push((IssueCode::SzipBlockOffsetsNotFromZero, format!("{key}[0] must be 0, got {first}")));
        }
    }
    let pairs = || offsets.iter().zip(offsets.iter().skip(1)).zip(1_usize..);
    if let Some(((before, offset), i)) = pairs().find(|((before, offset), _)| before >= offset) {
        let text = format!("{key} must be strictly increasing: {offset} at {i} comes after {before}");
        faults.push((IssueCode::SzipBlockOffsetsNotIncreasing, text));
    }
    let bits = object.payload().len() as u64 * 8;
    if let Some((i, offset)) = offsets.iter().enumerate().find(|&(_, offset)| offset > bits) {
        let text = format!("{key}[{i}] = {offset} is beyond the payload's {bits} bits");
        faults.push((IssueCode::SzipBlockOffsetsPastEnd, text));
    }
    faults
}

/// The finding for a stage that the format does not define. A stage that this build lacks is fine here.
fn unknown_name(map: &Map<'_>, key: &str, code: IssueCode, is_known: fn(&str) -> bool) -> Option<Fault> {
    let name = map.get(key).ok().flatten()?.as_text().ok()?.to_string();
    (!is_known(&name)).then(|| (code, format!("unknown {key} '{}'", shorten(&name))))
}
