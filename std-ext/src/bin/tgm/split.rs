//! `tgm split`: a file an object.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use tgm_std::encode::reframe;
use tgm_std::{GlobalMetadata, Result};

use crate::digests::Digests;
use crate::edit::{Parts, write_or_report};
use crate::input::{Entry, Wanted, open_or_report};
use crate::output::Out;

/// What stands for the number in a template.
const INDEX: &str = "[index]";

/// Write every object into a file of its own
///
/// Each is a message with the object, byte for byte, its metadata and the message's annotations. Messages with one
/// object or none are copied as they are. A message with a digest that is wrong is left out.
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
    output: PathBuf,
}

impl Split {
    /// Writes all objects.
    pub(crate) fn run(&self, out: &mut Out) {
        let Some(input) = open_or_report(&self.input, out) else { return };
        let mut count = 0;
        let done = input.for_each(out, 0..input.message_count(), Wanted::Whole, |out, entry| {
            match Parts::of(entry, self.digests) {
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
            out.problem(&error.to_string());
        }
    }

    /// Writes the next file.
    fn write(&self, out: &mut Out, count: &mut u64, entry: &Entry<'_>, message: Result<Cow<'_, [u8]>>) {
        match message {
            Ok(message) => {
                write_or_report(&numbered(&self.output, *count), out, |_, file| file.write_all(&message));
                *count += 1;
            }
            Err(error) => out.report(&entry.place(), &error),
        }
    }
}

/// A message for each object.
fn messages_of(parts: Parts<'_>) -> impl Iterator<Item = Result<Vec<u8>>> {
    let Parts { metadata: GlobalMetadata { base, extra, .. }, objects, options } = parts;
    base.into_iter().zip(objects).map(move |(entry, object)| {
        let metadata = GlobalMetadata { base: vec![entry], extra: extra.clone(), ..GlobalMetadata::default() };
        reframe(&metadata, vec![object], &options)
    })
}

/// The path of file `index`.
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
