//! `tgm copy --split`: a file for each object.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::slice;

use clap::Args;
use tgm_core::Message;
use tgm_std::encode::reframe;
use tgm_std::{GlobalMetadata, Result};

use crate::args::object_numbers::ObjectNumbers;
use crate::change::edit::MessageParts;
use crate::commands::{Run, examples};
use crate::read::chosen::Chosen;
use crate::read::entry::{Entry, Place};
use crate::read::input::{Input, MessagePart};
use crate::read::select::Scope;
use crate::read::structure::Structure;
use crate::show::advice::in_our_words;
use crate::show::output::Out;
use crate::write::destination::{Destination, FileNames, OutputKind, Reads};
use crate::write::template::{Appended, Template, numbered};
use tgm_std::file::SourceName;

/// The key that stands for the number in a template.
const INDEX: &str = "index";

/// Write every object into a file of its own
///
/// Each file is a message with the object, byte for byte, its metadata and the message's annotations. Messages with one
/// object or none are copied as they are. Messages with a wrong digest are left out. IN must not be one of the files.
/// With `[KEY]` in the names and without `[index]`, objects with the same names of files go to the same file: messages
/// are appended, also to files that exist.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm copy --split field.tgm -o part.tgm", "a numbered file for each object"),
    ("tgm copy --split field.tgm -o '[mars.param].tgm'", "files named by metadata"),
]))]
pub(crate) struct Split {
    /// File to read; "-" is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    only: ObjectNumbers,
    /// Where to write: `[index]` becomes a number of four digits or more, counted over the file; `[KEY]` becomes the
    /// object's value of KEY, or "unknown"; without either, _NNNN is put before the extension
    #[arg(short, visible_short_alias = 'O', long, value_name = "TEMPLATE")]
    output: FileNames,
}

/// The files of a run.
struct Files<'s> {
    split: &'s Split,
    /// The template, if it has keys beside the number.
    keyed: Option<Template>,
    appended: Appended,
    /// Files so far, and digits of their numbers.
    count: u64,
    digits: usize,
}

impl Run for Split {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        let asked = self.chosen.asked();
        let Some(input) = asked.open_or_report(&self.input, out) else { return Ok(()) };
        let Some(places) = self.chosen.choice.of(&input, out) else { return Ok(()) };
        let most = count(&input, &places);
        if most == 0 {
            out.problem(&format!("{}: there is no message, nothing was written", input.name()));
            return Ok(());
        }
        let keyed = Template::of(self.output.pattern()).filter(|template| template.has_key_beside(INDEX));
        let digits = (most - 1).to_string().len().max(4);
        let mut files = Files { split: self, keyed, appended: Appended::default(), count: 0, digits };
        let inputs = slice::from_ref(&self.input);
        if files.keyed.is_none()
            && let Some(path) = (0..most).map(|index| files.numbered(index)).find(|file| file.is_one_of(inputs))
        {
            out.problem(&format!("{path} is the file that is read: nothing was written"));
            return Ok(());
        }
        let done = input.for_each(out, places, MessagePart::Whole, |out, entry| {
            if !self.chosen.picks(out, entry) {
                return Ok(());
            }
            let parts = MessageParts::of(entry, self.chosen.digests);
            let is_single = parts.as_ref().is_ok_and(|parts| parts.objects.len() <= 1);
            match parts.and_then(|parts| parts.only(&self.only)) {
                Ok(_) if is_single => files.write(out, entry, Ok(Cow::Borrowed(entry.bytes))),
                Ok(parts) => messages_of(parts).for_each(|message| files.write(out, entry, message.map(Cow::Owned))),
                Err(error) => out.report(&entry.place(), &error),
            }
            Ok(())
        });
        if let Err(error) = done {
            out.problem(&in_our_words(error));
        }
        if files.count == 0 && !self.chosen.selection.is_empty() {
            out.problem(&format!("{}: no message matches, nothing was written", input.name()));
        }
        Ok(())
    }
}

impl Files<'_> {
    /// Writes the next file.
    fn write(&mut self, out: &mut Out, entry: &Entry<'_>, message: Result<Cow<'_, [u8]>>) {
        let place = message.and_then(|message| Ok((self.place(entry, &message)?, message)));
        match place {
            Ok((file, message)) => {
                self.count += 1;
                let reads = Reads::Only(slice::from_ref(&self.split.input));
                let is_shared = !self.split.has_number() && self.keyed.is_some();
                match file.path().filter(|_| is_shared) {
                    None => _ = file.write(out, OutputKind::Messages, reads, |_, sink| Ok(sink.write_all(&message)?)),
                    Some(path) if file.is_one_of(slice::from_ref(&self.split.input)) => {
                        out.problem(&format!(
                            "{} is the file that is read: {} was not added",
                            SourceName::of(path),
                            entry.place()
                        ));
                    }
                    Some(path) => self.appended.append_or_report(out, &entry.place(), path, &message),
                }
            }
            Err(error) => out.report(&entry.place(), &error),
        }
    }

    /// The file for the next message.
    fn place(&self, entry: &Entry<'_>, message: &[u8]) -> Result<Destination> {
        let Some(template) = &self.keyed else { return Ok(self.numbered(self.count)) };
        let message = Message::parse(message)?;
        let metadata = self.split.chosen.digests.metadata(&message)?;
        let scope = Scope::Message(&metadata, Structure::new(&message, entry));
        let number = |key: &str| (key == INDEX).then(|| format!("{:0digits$}", self.count, digits = self.digits));
        template.fill(&scope, number).map(Destination::File)
    }

    /// The file of object `index`, if names have no keys.
    fn numbered(&self, index: u64) -> Destination {
        Destination::File(numbered(self.split.output.pattern(), INDEX, index, self.digits))
    }
}

impl Split {
    /// Whether names of files have a number.
    fn has_number(&self) -> bool {
        self.output.pattern().to_str().is_some_and(|pattern| pattern.contains(&format!("[{INDEX}]")))
    }
}

/// The greatest number of files that can be written. Unreadable messages have none.
fn count(input: &Input, places: &[Place]) -> u64 {
    let mut reader = input.reader();
    let mut objects = |place: &Place| -> Result<u64> {
        let entry = reader.entry(*place, MessagePart::Outline)?;
        Ok(Message::parse(entry.bytes)?.outline()?.object_count as u64)
    };
    places.iter().map(|place| objects(place).unwrap_or(1).max(1)).sum()
}

/// A message for each object.
fn messages_of(parts: MessageParts<'_>) -> impl Iterator<Item = Result<Vec<u8>>> {
    let MessageParts { metadata: GlobalMetadata { base, extra, .. }, objects, options } = parts;
    base.into_iter().zip(objects).map(move |(entry, object)| {
        let metadata = GlobalMetadata { base: vec![entry], extra: extra.clone(), ..GlobalMetadata::default() };
        reframe(&metadata, vec![object], &options)
    })
}
