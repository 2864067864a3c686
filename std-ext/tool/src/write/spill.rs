//! Messages that wait in a file until all of them are made.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;

use tgm_std::file::replace::Temporary;

/// Messages in a temporary file, which is gone in the end. So they take no memory while others are made.
pub(crate) struct Spill {
    temporary: Temporary,
    lengths: Vec<usize>,
}

impl Spill {
    /// An empty file beside the file at `path`, or where temporary files are if its folder takes no new files.
    ///
    /// # Errors
    /// The errors of making a file.
    pub(crate) fn beside(path: &Path) -> io::Result<Self> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| ".".as_ref());
        let temporary = Temporary::new(directory, None).or_else(|_| Temporary::new(&std::env::temp_dir(), None))?;
        Ok(Self { temporary, lengths: Vec::new() })
    }

    /// Adds a message.
    ///
    /// # Errors
    /// The errors of writing.
    pub(crate) fn add(&mut self, message: &[u8]) -> io::Result<()> {
        self.lengths.push(message.len());
        self.temporary.file().write_all(message)
    }

    /// Calls `with` for each message, in order.
    ///
    /// # Errors
    /// The errors of reading, and of `with`.
    pub(crate) fn for_each<E: From<io::Error>>(self, mut with: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut file: &File = self.temporary.file();
        file.rewind()?;
        let mut message = Vec::new();
        for length in self.lengths {
            message.resize(length, 0);
            file.read_exact(&mut message)?;
            with(&message)?;
        }
        Ok(())
    }
}
