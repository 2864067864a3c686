//! What came of each change, kept in a file, so that a run can go on where it was stopped.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use crate::Result;
use crate::attempt::Outcome;

/// Results of changes, by their keys.
pub struct Results {
    known: HashMap<String, Outcome>,
    file: File,
}

impl Results {
    /// Results that are kept in a file: none, or those that it has.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn open(path: &Path, is_resumed: bool) -> Result<Self> {
        let mut known = HashMap::new();
        if is_resumed && path.exists() {
            for line in fs::read_to_string(path)?.lines() {
                // The last line may be cut.
                if let Some((key, outcome)) = line.rsplit_once('\t') {
                    known.insert(key.to_owned(), parse(outcome));
                }
            }
        }
        let file = OpenOptions::new().create(true).append(is_resumed).write(true).truncate(!is_resumed).open(path)?;
        Ok(Self { known, file })
    }

    /// What came of a change, if it was tried.
    pub fn get(&self, key: &str) -> Option<&Outcome> {
        self.known.get(key)
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&mut self, key: &str, outcome: Outcome) -> Result<()> {
        let text = match &outcome {
            Outcome::Noticed(test) => test.clone(),
            Outcome::Slowed(test) => format!("{SLOWED}{test}"),
            Outcome::Unnoticed => UNNOTICED.to_owned(),
            Outcome::Unreached => UNREACHED.to_owned(),
        };
        writeln!(self.file, "{key}\t{text}")?;
        self.known.insert(key.to_owned(), outcome);
        if self.known.len().is_multiple_of(200) {
            eprintln!("{} changes tried", self.known.len());
        }
        Ok(())
    }
}

/// Before the name of a test: it took too long.
const SLOWED: &str = "slow: ";
/// In place of the name of a test: no test failed.
const UNNOTICED: &str = "-";
/// In place of the name of a test: no test calls the function.
const UNREACHED: &str = "- no test calls it";

fn parse(text: &str) -> Outcome {
    match text {
        UNNOTICED => Outcome::Unnoticed,
        UNREACHED => Outcome::Unreached,
        name => match name.strip_prefix(SLOWED) {
            Some(name) => Outcome::Slowed(name.to_owned()),
            None => Outcome::Noticed(name.to_owned()),
        },
    }
}
