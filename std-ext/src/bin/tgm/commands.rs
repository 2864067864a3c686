//! The commands, a file each.

use std::io;

use crate::show::output::Out;

pub(crate) mod copy;
pub(crate) mod create;
pub(crate) mod digest;
pub(crate) mod doctor;
pub(crate) mod dump;
pub(crate) mod dump_text;
pub(crate) mod extract;
pub(crate) mod frame_list;
pub(crate) mod frames;
pub(crate) mod get;
pub(crate) mod info;
pub(crate) mod ls;
pub(crate) mod merge;
pub(crate) mod repack;
pub(crate) mod reshuffle;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod set;
pub(crate) mod split;
pub(crate) mod upgrade;
pub(crate) mod validate;
pub(crate) mod verify;
#[cfg(feature = "zio")]
pub(crate) mod zio;

/// A command with its arguments.
pub(crate) trait Run {
    /// Does what was asked. Problems are reported to `out`.
    ///
    /// # Errors
    /// Those of writing to `out`.
    fn run(&self, out: &mut Out) -> io::Result<()>;
}
