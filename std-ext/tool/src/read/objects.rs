//! One object of a message, by its number.

use tgm_core::object::DataObject;
use tgm_core::{ErrorKind, Message};
use tgm_std::TensogramError;

/// Object `index`, found by walking the frames. The index is not used, because it may be wrong.
///
/// # Errors
/// The errors of the walk, and [`no_object`].
pub(crate) fn find<'f>(message: &Message<'f>, index: usize) -> Result<DataObject<'f>, TensogramError> {
    message.object_by_walk(index).or_else(|error| match error.kind() {
        ErrorKind::ObjectOutOfRange => Err(no_object(message.outline()?.object_count)),
        _ => Err(error.into()),
    })
}

/// The error for an object that a message of `count` objects lacks.
pub(crate) fn no_object(count: usize) -> TensogramError {
    TensogramError::Object(format!("there is no such object ({count} objects)").into())
}
