//! What is appended is one message.

use tgm_core::Message;

use crate::base::error::{Result, TensogramError};

/// Refuses bytes that are not exactly one message.
pub(super) fn whole_message(bytes: &[u8]) -> Result<()> {
    if Message::parse(bytes)?.as_bytes().len() != bytes.len() {
        return Err(TensogramError::Framing("not one whole message: bytes follow its postamble".into()));
    }
    Ok(())
}
