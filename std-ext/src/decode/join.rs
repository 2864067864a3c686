//! Stored bytes and the descriptor that says what they are, checked against each other.

use std::fmt::Display;

use tgm_core::ErrorKind;
use tgm_core::stored::{Stored, stored_len};

use super::trust::Trusted;
use crate::base::error::{Result, TensogramError};

/// Joins stored bytes with what the object's descriptor says about them.
///
/// # Errors
/// [`TensogramError::Encoding`] for an encoding or filter of an unknown name, and for more or fewer bytes than they
/// imply; the errors of their parameters.
pub(super) fn join<'a>(object: Trusted<'_, '_>, bytes: &'a [u8]) -> Result<Stored<'a>> {
    let descriptor = object.descriptor();
    // Names first: core says of an unknown one only that it cannot undo it.
    if descriptor.encoding().known().is_none() {
        return Err(unknown("encoding", descriptor.encoding()));
    }
    if descriptor.filter().known().is_none() {
        return Err(unknown("filter", descriptor.filter()));
    }
    Stored::new(descriptor, bytes).map_err(|error| match error.kind() {
        ErrorKind::PayloadSize => {
            let claimed = stored_len(descriptor).unwrap_or(u64::MAX);
            TensogramError::encoding(format!(
                "descriptor claims {claimed} decoded byte(s) but frame payload is {} byte(s) (encoding {}, dtype width {})",
                bytes.len(),
                descriptor.encoding(),
                descriptor.dtype().byte_width(),
            ))
        }
        _ => error.into(),
    })
}

/// The error for a stage whose name is not one of the format.
pub(super) fn unknown(stage: &str, name: impl Display) -> TensogramError {
    TensogramError::encoding(format!("unknown {stage}: {name}"))
}
