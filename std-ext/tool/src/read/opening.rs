//! Opening a file for a command: what cannot be opened, and what is lost in it, is reported.

use std::path::Path;

use crate::read::input::Input;
use crate::read::lost;
use crate::show::output::Out;
use crate::show::progress::meter::Share;
use tgm_std::TensogramError;
use tgm_std::file::SourceName;

/// Opens a file and reports its lost bytes. `None` if it cannot be opened, which is reported.
pub(crate) fn open_or_report(path: &Path, out: &mut Out) -> Option<Input> {
    let input = open_unreported(path, out)?;
    lost::report(&input, out);
    Some(input)
}

/// [`open_or_report`] of a file of a tree, which is a regular file.
pub(crate) fn open_of_tree_or_report(path: &Path, out: &mut Out) -> Option<Input> {
    let input = told(path, Input::open_of_tree(path), out)?;
    lost::report(&input, out);
    Some(input)
}

/// [`open_or_report`] of a file whose progress is counted already.
pub(crate) fn open_again_or_report(path: &Path, progress: Share, out: &mut Out) -> Option<Input> {
    let input = told(path, Input::open_again(path, progress), out)?;
    lost::report(&input, out);
    Some(input)
}

/// Opens a file whose lost bytes the caller reports. `None` if it cannot be opened, which is reported.
pub(crate) fn open_unreported(path: &Path, out: &mut Out) -> Option<Input> {
    told(path, Input::open(path), out)
}

/// Says how much was opened, or why nothing was.
fn told(path: &Path, opened: Result<Input, TensogramError>, out: &mut Out) -> Option<Input> {
    match opened {
        Ok(input) => {
            tell(input.name(), input.message_count(), input.len(), out);
            Some(input)
        }
        Err(error) => {
            out.problem(&format!("cannot read {}\n{error}", SourceName::of(path)));
            None
        }
    }
}

/// Says how much a file holds.
pub(crate) fn tell(name: &str, messages: usize, bytes: u64, out: &mut Out) {
    out.detail(&format!("{name}: {messages} messages, {bytes} bytes"));
}
