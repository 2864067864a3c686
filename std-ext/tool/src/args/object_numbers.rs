//! The flag that names objects by their numbers.

use clap::Args;
use tgm_std::TensogramError;

use crate::read::objects::no_object;

/// The objects of each message that a command takes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ObjectNumbers {
    /// Only object N of each message, from 0; may be repeated
    #[arg(long, value_name = "N")]
    object: Vec<usize>,
}

impl ObjectNumbers {
    /// The numbers. None means all objects.
    pub(crate) fn numbers(&self) -> &[usize] {
        &self.object
    }

    /// Whether the object of this number is taken.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.object.is_empty() || self.object.contains(&index)
    }

    /// Checks that a message of `count` objects has all that are named.
    ///
    /// # Errors
    /// [`no_object`].
    pub(crate) fn check(&self, count: usize) -> Result<(), TensogramError> {
        if self.object.iter().all(|&index| index < count) { Ok(()) } else { Err(no_object(count)) }
    }
}
