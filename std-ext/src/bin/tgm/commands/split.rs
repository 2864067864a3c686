//! `tgm split`: a file for each object.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use tgm_core::Message;
use tgm_std::encode::reframe;
use tgm_std::{GlobalMetadata, Result};

use crate::change::edit::MessageParts;
use crate::commands::Run;
use crate::read::digests::Digests;
use crate::read::input::{Entry, Input, Wanted, open_or_report};
use crate::read::messages::Place;
use crate::show::advice::in_our_words;
use crate::show::output::Out;
use crate::write::destination::{Destination, FileNames, Reads, What};

/// The placeholder for the number in a template.
const INDEX: &str = "[index]";

/// Write every object into a file of its own
///
/// Each file is a message with the object, byte for byte, its metadata and the message's annotations. Messages with one
/// object or none are copied as they are. Messages with a wrong digest are left out. IN must not be one of the files.
#[derive(Args, Debug)]
pub(crate) struct Split {
    /// File to read; "-" is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    #[command(flatten)]
    digests: Digests,
    /// Where to write: `[index]` becomes a number of four digits, counted over the file; without it, _NNNN is put before
    /// the extension
    #[arg(short, long, value_name = "TEMPLATE")]
    output: FileNames,
}

impl Run for Split {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let Some(input) = open_or_report(&self.input, out) else { return Ok(()) };
        let files = count(&input);
        if files == 0 {
            out.problem(&format!("{}: there is no message, nothing was written", input.name()));
            return Ok(());
        }
        let inputs = slice::from_ref(&self.input);
        if let Some(path) = (0..files).map(|index| self.file(index)).find(|file| file.is_one_of(inputs)) {
            out.problem(&format!("{path} is the file that is read: nothing was written"));
            return Ok(());
        }
        let mut count = 0;
        let done = input.for_each(out, 0..input.message_count(), Wanted::Whole, |out, entry| {
            match MessageParts::of(entry, self.digests) {
                Ok(parts) if parts.objects.len() <= 1 => {
                    self.write(out, &mut count, entry, Ok(Cow::Borrowed(entry.bytes)));
                }
                Ok(parts) => {
                    for message in messages_of(parts) {
                        self.write(out, &mut count, entry, message.map(Cow::Owned));
                    }
                }
                Err(error) => out.report(&entry.place(), &error),
            }
            Ok(())
        });
        if let Err(error) = done {
            out.problem(&in_our_words(error));
        }
        Ok(())
    }
}

impl Split {
    /// Writes the next file.
    fn write(&self, out: &mut Out, count: &mut u64, entry: &Entry<'_>, message: Result<Cow<'_, [u8]>>) {
        match message {
            Ok(message) => {
                let reads = Reads::Only(slice::from_ref(&self.input));
                self.file(*count).write(out, What::Messages, reads, |_, sink| Ok(sink.write_all(&message)?));
                *count += 1;
            }
            Err(error) => out.report(&entry.place(), &error),
        }
    }

    /// The file of object `index`.
    fn file(&self, index: u64) -> Destination {
        Destination::File(numbered(self.output.pattern(), index))
    }
}

/// The greatest number of files that can be written. Unreadable messages have none.
fn count(input: &Input) -> u64 {
    let mut reader = input.reader();
    let mut objects = |place: Place| -> Result<u64> {
        let entry = reader.entry(place, Wanted::Outline)?;
        Ok(Message::parse(entry.bytes)?.outline()?.object_count as u64)
    };
    input.all().map(|place| objects(place).unwrap_or(1).max(1)).sum()
}

/// A message for each object.
fn messages_of(parts: MessageParts<'_>) -> impl Iterator<Item = Result<Vec<u8>>> {
    let MessageParts { metadata: GlobalMetadata { base, extra, .. }, objects, options } = parts;
    base.into_iter().zip(objects).map(move |(entry, object)| {
        let metadata = GlobalMetadata { base: vec![entry], extra: extra.clone(), ..GlobalMetadata::default() };
        reframe(&metadata, vec![object], &options)
    })
}

/// The template's path for file `index`.
fn numbered(template: &Path, index: u64) -> PathBuf {
    if let Some(text) = template.to_str().filter(|text| text.contains(INDEX)) {
        return text.replace(INDEX, &format!("{index:04}")).into();
    }
    let mut name = template.file_stem().map(OsString::from).unwrap_or_default();
    name.push(format!("_{index:04}"));
    if let Some(extension) = template.extension() {
        name.push(".");
        name.push(extension);
    }
    template.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits_or_more_and_stand_before_the_extension() {
        for (template, index, expected) in [
            ("a.tgm", 0, "a_0000.tgm"),
            ("d.x/a", 12, "d.x/a_0012"),
            ("a.b.tgm", 12345, "a.b_12345.tgm"),
            ("[index]/a[index].tgm", 7, "0007/a0007.tgm"),
        ] {
            assert_eq!(numbered(Path::new(template), index), Path::new(expected));
        }
    }
}
