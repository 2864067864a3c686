//! `tgm copy`: messages as they are, all or some, into one file or into several by their metadata.

use std::fs::OpenOptions;
use std::io;
use std::ops::Range;
use std::path::{self, Path, PathBuf};

use clap::Args;
use tgm_core::Message;
use tgm_std::{AppendOptions, Result, TensogramError, TensogramFile};

use crate::digests::Digests;
use crate::edit::{is_same_file, write_or_report};
use crate::input::{Entry, Input, Wanted, open_or_report};
use crate::messages::{Place, Which};
use crate::output::Out;
use crate::select::{Filter, Scope, text};

/// What stands for the value of a key that a message lacks.
const UNKNOWN: &str = "unknown";

/// Copy messages as they are
///
/// `[KEY]` in OUT stands for the message's value of that key, "unknown" if there is none: messages are then appended to
/// the files, which are made if need be; directories are not. Without it OUT is replaced when the copy is complete; it
/// may be IN. A message with a digest that is wrong is left out.
#[derive(Args, Debug)]
pub(crate) struct Copy {
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    digests: Digests,
    /// File to read; "-" is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

impl Copy {
    /// Copies the messages that are selected.
    pub(crate) fn run(&self, out: &mut Out) {
        let Some(input) = open_or_report(&self.input, out) else { return };
        match Template::of(&self.output) {
            Some(template) => self.distribute(out, &input, &template),
            None => self.copy(out, &input),
        }
    }

    fn copy(&self, out: &mut Out, input: &Input) {
        let numbers = self.which.of(input, out);
        // A message was named that is not there, which was reported.
        if self.which.is_one() && numbers.is_empty() {
            return;
        }
        let (chosen, is_judged) = self.choose(out, input, numbers);
        let is_complete = is_judged && input.segments().iter().all(tgm_core::scan::Segment::is_message);
        let is_same = is_same_file(&self.input, &self.output);
        // What could not be judged would be lost.
        if !is_complete && is_same {
            out.problem(&format!("{}: left as it was", self.output.display()));
            return;
        }
        write_or_report(&self.output, out, |out, file| {
            let (mut reader, mut left_out) = (input.reader(), 0);
            for place in &chosen {
                let entry = reader.entry(*place, Wanted::Whole).map_err(io::Error::other)?;
                match self.digests.check_bytes(entry.bytes) {
                    Ok(()) => file.write_all(entry.bytes)?,
                    Err(error) => {
                        left_out += 1;
                        out.report(&entry.place(), &error);
                    }
                }
            }
            match left_out {
                0 => Ok(()),
                _ if is_same => Err(io::Error::other("damaged messages would be lost: the file stays as it is")),
                count if count == chosen.len() => Err(io::Error::other("there is no whole message to write")),
                _ => Ok(()),
            }
        });
    }

    /// Where the messages are that are selected, and whether all could be judged; what could not is reported.
    fn choose(&self, out: &mut Out, input: &Input, numbers: Range<usize>) -> (Vec<Place>, bool) {
        let mut places = input.places(numbers.clone());
        if self.filter.is_empty() {
            return (places.collect(), true);
        }
        let (mut chosen, mut is_judged) = (Vec::new(), true);
        let read = input.for_each(out, numbers, Wanted::Outline, |out, entry| {
            let place = places.find(|place| place.index == entry.index);
            match self.is_chosen(entry) {
                Ok(true) => chosen.extend(place),
                Ok(false) => {}
                Err(error) => {
                    is_judged = false;
                    out.report(&entry.place(), &error);
                }
            }
            Ok(())
        });
        (chosen, is_judged && read.unwrap_or(false))
    }

    fn is_chosen(&self, entry: &Entry<'_>) -> Result<bool> {
        let metadata = Message::parse(entry.bytes)?.metadata()?;
        Ok(self.filter.matches(&Scope::Message(&metadata))?)
    }

    fn distribute(&self, out: &mut Out, input: &Input, template: &Template) {
        let numbers = self.which.of(input, out);
        let done = input.for_each(out, numbers, Wanted::Whole, |out, entry| {
            match self.target(entry, template) {
                Ok(Some(path)) => {
                    if let Err(error) = append(&path, entry.bytes) {
                        out.report(&format!("{}: cannot append to {}", entry.place(), path.display()), &error);
                    }
                }
                Ok(None) => {}
                Err(error) => out.report(&entry.place(), &error),
            }
            Ok(())
        });
        if let Err(error) = done {
            out.problem(&error.to_string());
        }
    }

    /// Where the message goes, if it is selected.
    fn target(&self, entry: &Entry<'_>, template: &Template) -> Result<Option<PathBuf>> {
        let metadata = Message::parse(entry.bytes)?.metadata()?;
        let scope = Scope::Message(&metadata);
        if !self.filter.matches(&scope)? {
            return Ok(None);
        }
        self.digests.check_bytes(entry.bytes)?;
        template.fill(&scope).map(Some)
    }
}

/// Appends a whole message; the file is made if it is not there, its directory is not.
fn append(path: &Path, message: &[u8]) -> Result<()> {
    OpenOptions::new().append(true).create(true).open(path)?;
    TensogramFile::open(path)?.append_message(message, &AppendOptions::default())?;
    Ok(())
}

/// A path with keys in it: text and, by turns, a key.
#[derive(Debug, PartialEq, Eq)]
struct Template {
    pieces: Vec<(String, String)>,
    rest: String,
}

impl Template {
    /// The template that a path is, if it has a key in brackets.
    fn of(path: &Path) -> Option<Self> {
        let mut rest = path.to_str()?;
        let mut pieces = Vec::new();
        while let Some((before, after)) = rest.split_once('[') {
            let Some((key, behind)) = after.split_once(']') else { break };
            pieces.push((before.to_string(), key.to_string()));
            rest = behind;
        }
        (!pieces.is_empty()).then(|| Self { pieces, rest: rest.to_string() })
    }

    /// The path for a message.
    fn fill(&self, scope: &Scope<'_, '_>) -> Result<PathBuf> {
        let mut path = String::new();
        for (before, key) in &self.pieces {
            let value = scope.get(key)?.map_or_else(|| UNKNOWN.to_string(), |value| text(&value));
            // Files come from anywhere: what they say must not lead out of the directories that the user named.
            if value.contains(|c| path::is_separator(c) || c == '\0') || matches!(value.as_str(), "." | "..") {
                let text = format!("the value of {key} cannot be part of a file's name: {value}");
                return Err(TensogramError::Metadata(text.into()));
            }
            path.push_str(before);
            path.push_str(&value);
        }
        path.push_str(&self.rest);
        Ok(path.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_have_their_keys_in_brackets() {
        let template = |path: &str| Template::of(Path::new(path));
        let pieces = vec![("out/".to_string(), "mars.step".to_string()), ("_".to_string(), "version".to_string())];
        assert_eq!(template("out/[mars.step]_[version].tgm"), Some(Template { pieces, rest: ".tgm".to_string() }));
        assert_eq!((template("out/a.tgm"), template("out/[a.tgm"), template("a]")), (None, None, None));
    }
}
