//! Messages out of typed slices, without descriptors written by hand.

mod message;
mod object;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests may panic")]
mod tests;
mod widen;

pub use message::MessageBuilder;
pub use object::ObjectBuilder;

use crate::base::error::{Result, TensogramError};

/// Keeps the first mistake for later, because the methods of builders return no result.
fn note(mistake: &mut Option<String>, set: Result<()>) {
    if let Err(error) = set
        && mistake.is_none()
    {
        *mistake = Some(match error {
            TensogramError::Metadata(reason) => reason.to_string(),
            other => other.to_string(),
        });
    }
}
