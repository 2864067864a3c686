//! Inputs that hold no descriptor while others are read, so that a command takes any number of files.

use std::path::{Path, PathBuf};

use tgm_std::TensogramError;

use crate::read::input::Input;
use crate::show::progress::meter::Share;

/// An input that was looked at, and is read later.
#[derive(Debug)]
pub(crate) struct Resting {
    name: String,
    state: State,
}

#[derive(Debug)]
enum State {
    /// A file that is opened again, with its length and its number of messages.
    Closed { path: PathBuf, length: u64, messages: usize, progress: Share },
    /// What can be read once, or is far away.
    Open(Box<Input>),
}

impl Resting {
    /// Closes the input at `path`, if it is a file that can be opened again.
    pub(crate) fn new(path: &Path, input: Input) -> Self {
        let name = input.name().to_string();
        let state = if input.is_local_file() {
            let (length, messages) = (input.len(), input.message_count());
            State::Closed { path: path.to_path_buf(), length, messages, progress: input.progress }
        } else {
            State::Open(Box::new(input))
        };
        Self { name, state }
    }

    /// The file's name as the user gave it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The input, open.
    ///
    /// # Errors
    /// The errors of opening; [`TensogramError::Framing`] if the file has become another.
    pub(crate) fn wake(self) -> Result<Input, TensogramError> {
        let (path, length, messages, progress) = match self.state {
            State::Open(input) => return Ok(*input),
            State::Closed { path, length, messages, progress } => (path, length, messages, progress),
        };
        let input = Input::open_again(&path, progress)?;
        if (input.len(), input.message_count()) != (length, messages) {
            return Err(TensogramError::Framing("the file was changed while it was read".into()));
        }
        Ok(input)
    }
}
