//! The last step of all buffered messages: objects and metadata are checked together and written.

use crate::base::options::EncodeOptions;
use crate::encode::object::Planned;
use crate::encode::part_error::PartError;
use crate::encode::{checks, message};
use crate::model::types::GlobalMetadata;

/// Writes a message of `objects` to `out` and replaces what it held.
///
/// # Errors
/// The errors of [`checks::message`] and [`message::write_message`].
pub(super) fn assemble(
    metadata: &GlobalMetadata,
    objects: Vec<Planned<'_>>,
    options: &EncodeOptions,
    out: &mut Vec<u8>,
) -> Result<(), PartError> {
    checks::message(metadata, objects.len()).map_err(PartError::of_all)?;
    message::write_message(metadata, objects, options, out)
}

/// Bytes of unused capacity that a message may keep.
const SLACK: usize = 64 << 10;

/// The message without most of its unused capacity. Compressors reserve more than they fill.
pub(super) fn fitting(mut message: Vec<u8>) -> Vec<u8> {
    if message.capacity() - message.len() > SLACK {
        message.shrink_to_fit();
    }
    message
}
