//! Level 4: values that no mask covers although they are not finite.

use tgm_core::descriptor::Descriptor;
use tgm_core::object::DataObject;

use super::issue::IssueCode;
use super::non_finite::{Class, find};
use super::options::ValidateOptions;
use super::trial::{Fault, decode_options};
use crate::decode::masks::{MaskBuffers, Masks};
use crate::decode::trust::Trusted;

/// Checks the masks of an object, and that a mask covers every value that is not finite. `values` are in stored byte
/// order. Any mask will do, because each mask overwrites the value in the payload.
pub(super) fn check(object: &DataObject<'_>, values: &[u8], options: &ValidateOptions) -> Result<(), Fault> {
    let descriptor = object.descriptor();
    check_size(descriptor, values)?;
    let mut buffers = MaskBuffers::default();
    let decoding = decode_options(options);
    let object = Trusted::new(object, &decoding);
    let masks = object.and_then(|object| Masks::read(object, &decoding, &mut buffers)).and_then(|masks| {
        masks.verify(!options.like_reference)?;
        Ok(masks)
    });
    let masks = masks.map_err(|error| (IssueCode::DecodeObjectFailed, format!("mask: {error}")))?;
    let mut coverage = masks.coverage();
    let found = find(values, descriptor.dtype(), descriptor.byte_order());
    let Some(found) = found.into_iter().flatten().find(|found| !coverage.covers(found.element)) else { return Ok(()) };
    let (code, what) = match found.class {
        Class::Nan => (IssueCode::NanDetected, "NaN"),
        Class::Infinity => (IssueCode::InfDetected, "Inf"),
    };
    let part = found.part.map_or(String::new(), |part| format!("{part} component, "));
    Err((code, format!("unexpected {what} at element {} ({part}not recorded in mask)", found.element)))
}

fn check_size(descriptor: &Descriptor<'_>, values: &[u8]) -> Result<(), Fault> {
    match descriptor.decoded_len() {
        Ok(len) if len == values.len() as u64 => Ok(()),
        len => {
            let expected = len.map_or("more than 64 bits can count".to_owned(), |len| len.to_string());
            Err((IssueCode::DecodedSizeMismatch, format!("decoded size {} != expected {expected}", values.len())))
        }
    }
}
