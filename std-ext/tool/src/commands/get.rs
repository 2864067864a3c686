//! `tgm ls --values`: values of metadata keys, for scripts.

use std::io::{self, Write};

use clap::Args;
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_std::TensogramError;

use crate::args::files::usage;
use crate::args::listing::Listed;
use crate::commands::asked_keys::AskedKeys;
use crate::commands::{Run, examples};
use crate::read::entry::Entry;
use crate::read::select::{Scope, text};
use crate::read::structure::Structure;
use crate::show::json::{self, Document, error_json};
use crate::show::output::Out;
use crate::show::table::Table;
use crate::show::text::escape;

/// Print the values of keys, one line for each message
///
/// Values are separated by one blank. A message that lacks a key has no line, and the exit
/// code is 1. With --csv, and in order (--sort), it has a line with an empty field.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm ls --values -p mars.param,mars.step,shape field.tgm", "a line for each message"),
    ("tgm ls --values --objects -p object,mars.param,ratio field.tgm", "a line for each object"),
    ("tgm ls --values --objects -p object,ratio -w 'ratio>=5' field.tgm", "objects that became much smaller"),
]))]
pub(crate) struct Get {
    #[command(flatten)]
    asked: AskedKeys,
}

impl Run for Get {
    fn listed(&self) -> Listed<'_> {
        self.asked.files.listed()
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        if self.asked.named.keys.is_empty() {
            usage("-p says which keys");
        }
        self.asked.print_values(out)
    }
}

impl AskedKeys {
    /// Prints the values of the keys alone.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub(crate) fn print_values(&self, out: &mut Out) -> io::Result<()> {
        self.files.check_catalog(&self.cataloged);
        if self.files.json() {
            let mut document = Document::begin(out, "tgm.get/1", "messages")?;
            self.for_each_message(out, |out, entry| {
                let Some(item) = self.item(out, entry) else { return Ok(()) };
                document.item(out, &item)
            })?;
            return document.end(out);
        }
        if !out.is_csv() && out.form().sort.is_empty() {
            return self.for_each_message(out, |out, entry| self.lines(out, entry));
        }
        let mut table = self.keys().hidden_in(self.keys().shown_in(Table::new([])));
        self.for_each_message(out, |out, entry| {
            for values in self.rows_or_report(out, entry) {
                if out.is_full() {
                    break;
                }
                self.report_missing(out, entry, &values);
                let cells = values.iter().map(|value| value.as_ref().map_or("".into(), |value| text(value).into()));
                table.row(out, cells.collect())?;
            }
            Ok(())
        })?;
        table.finish(out)
    }

    /// Writes a line for each row that has all values.
    fn lines(&self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
        for values in self.rows_or_report(out, entry) {
            // A row that lacks a value counts too: only rows that may have a line are looked at.
            if !out.admits_one() {
                break;
            }
            self.report_missing(out, entry, &values);
            let Some(values) = values.into_iter().take(self.named.keys.len()).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let line = values.iter().map(|value| escape(&text(value))).collect::<Vec<_>>().join(" ");
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// The rows of a message: none if it is not selected, or cannot be read, which is reported.
    fn rows_or_report(&self, out: &mut Out, entry: &Entry<'_>) -> Rows {
        let rows = self.look_up(entry).inspect_err(|error| out.report(&entry.place(), error));
        rows.ok().flatten().unwrap_or_default()
    }

    /// Reports each printed key that has no value in a row.
    fn report_missing(&self, out: &mut Out, entry: &Entry<'_>, values: &[Option<Json>]) {
        // The values of keys that only sort come last, and may be missing.
        for (key, value) in self.named.keys.iter().zip(values) {
            if value.is_none() {
                out.problem(&format!("{}: key not found: {key}", entry.place()));
            }
        }
    }

    /// A message as JSON. `None` if it is not selected.
    fn item(&self, out: &mut Out, entry: &Entry<'_>) -> Option<Json> {
        let rows = self.read(out, entry).transpose()?;
        let error = rows.as_ref().err().map(error_json);
        let rows = rows.ok().map(|rows| rows.iter().filter_map(|values| self.keys().json(values)).collect::<Vec<_>>());
        let (values, objects) = match rows {
            Some(rows) if self.is_by_object() => (None, Some(Json::Array(rows))),
            rows => (rows.and_then(|rows| rows.into_iter().next()), None),
        };
        Some(json::object([
            ("file", Some(entry.file.into())),
            ("message", Some(entry.index.into())),
            ("offset", Some(entry.offset.into())),
            ("values", values),
            ("objects", objects),
            ("error", error),
        ]))
    }

    /// Whether each object has a row, instead of each message.
    fn is_by_object(&self) -> bool {
        self.objects || !self.only.numbers().is_empty()
    }

    /// [`Self::look_up`], which reports an error, and each printed key that has no value.
    fn read(&self, out: &mut Out, entry: &Entry<'_>) -> Result<Option<Rows>, TensogramError> {
        let rows = self.look_up(entry).inspect_err(|error| out.report(&entry.place(), error))?;
        rows.iter().flatten().for_each(|values| self.report_missing(out, entry, values));
        Ok(rows)
    }

    /// The values of all keys, for the message or for each of its objects. `None` if the message is not selected.
    fn look_up(&self, entry: &Entry<'_>) -> Result<Option<Rows>, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let metadata = self.chosen.digests.metadata(&message)?;
        let structure = Structure::new(&message, entry);
        // With --objects the filter applies to each object below, not to the message.
        if !self.objects && !self.chosen.selection.has(&metadata, structure)? {
            return Ok(None);
        }
        if !self.is_by_object() {
            return Ok(Some(vec![self.keys().values(&Scope::Message(&metadata, structure))?]));
        }
        self.only.check(metadata.object_count())?;
        let (selection, asked) = (self.chosen.selection.of_objects(&metadata)?, self.keys().annotations(&metadata)?);
        let mut rows = Vec::new();
        for (index, (about, object)) in metadata.objects().zip(message.objects()).enumerate() {
            // A damaged object still has metadata.
            let (about, object) = (about?, object.ok());
            let structure = structure.of_object(index, object.as_ref());
            if self.only.has(index) && (!self.objects || selection.has(&about, structure)?) {
                rows.push(self.keys().values(&Scope::Object(&about, &asked, structure))?);
            }
        }
        Ok(Some(rows))
    }
}

/// One row for a message, or one for each of its objects. A row has a value for each key.
type Rows = Vec<Vec<Option<Json>>>;
