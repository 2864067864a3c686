//! Opening a file for a command: what cannot be opened, and what is lost in it, is reported.

use std::path::Path;

use crate::read::input::Input;
use crate::read::lost;
use crate::show::output::Out;
use tgm_std::file::SourceName;

/// Opens a file and reports its lost bytes. `None` if it cannot be opened, which is reported.
pub(crate) fn open_or_report(path: &Path, out: &mut Out) -> Option<Input> {
    let input = open_unreported(path, out)?;
    lost::report(&input, out);
    Some(input)
}

/// Opens a file whose lost bytes the caller reports. `None` if it cannot be opened, which is reported.
pub(crate) fn open_unreported(path: &Path, out: &mut Out) -> Option<Input> {
    match Input::open(path) {
        Ok(input) => {
            let (messages, bytes) = (input.message_count(), input.len());
            out.detail(&format!("{}: {messages} messages, {bytes} bytes", input.name()));
            Some(input)
        }
        Err(error) => {
            out.problem(&format!("cannot read {}\n{error}", SourceName::of(path)));
            None
        }
    }
}
