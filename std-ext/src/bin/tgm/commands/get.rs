//! `tgm get`: values of metadata keys, for scripts.

use std::io::{self, Write};

use clap::Args;
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_std::TensogramError;

use crate::args::files::Files;
use crate::commands::Run;
use crate::read::cataloged::Cataloged;
use crate::read::input::Entry;
use crate::read::messages::Which;
use crate::read::select::{Scope, Selection, text};
use crate::show::json::{self, Document, error_json};
use crate::show::output::Out;
use crate::show::text::escape;

/// Print the values of keys, one line for each message
///
/// Values are separated by one blank. A message that lacks a key has no line, and the exit code is 1.
#[derive(Args, Debug)]
pub(crate) struct Get {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    cataloged: Cataloged,
    /// Keys to print, as dotted paths
    #[arg(short = 'p', long = "keys", value_name = "KEY,...", value_delimiter = ',', required = true)]
    keys: Vec<String>,
}

impl Run for Get {
    fn run(&self, out: &mut Out) -> io::Result<()> {
        self.files.check_catalog(&self.cataloged);
        if self.files.json {
            let mut document = Document::begin(out, "tgm.get/1", "messages")?;
            self.for_each_message(out, |out, entry| {
                let Some(item) = self.item(out, entry) else { return Ok(()) };
                document.item(out, &item)
            })?;
            return document.end(out);
        }
        self.for_each_message(out, |out, entry| self.line(out, entry))
    }
}

impl Get {
    fn for_each_message(
        &self,
        out: &mut Out,
        with: impl FnMut(&mut Out, &Entry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let (files, selection) = ((&*self.files.paths, self.which), (&self.selection, false));
        self.cataloged.for_each_message(files, selection, out, with)
    }

    fn line(&self, out: &mut Out, entry: &Entry<'_>) -> io::Result<()> {
        let Ok(Some(values)) = self.read(out, entry) else { return Ok(()) };
        let Some(values) = values.into_iter().collect::<Option<Vec<_>>>() else { return Ok(()) };
        let line = values.iter().map(|value| escape(&text(value))).collect::<Vec<_>>().join(" ");
        writeln!(out, "{line}")
    }

    fn item(&self, out: &mut Out, entry: &Entry<'_>) -> Option<Json> {
        let values = self.read(out, entry).transpose()?;
        let error = values.as_ref().err().map(error_json);
        let values = values.ok().map(|values| json::object(self.keys.iter().map(String::as_str).zip(values)));
        Some(json::object([
            ("file", Some(entry.file.into())),
            ("message", Some(entry.index.into())),
            ("offset", Some(entry.offset.into())),
            ("values", values),
            ("error", error),
        ]))
    }

    /// The value of each key. `None` if the message is not selected. Errors and missing keys are reported.
    fn read(&self, out: &mut Out, entry: &Entry<'_>) -> Result<Option<Vec<Option<Json>>>, TensogramError> {
        let values = self.look_up(entry).inspect_err(|error| out.report(&entry.place(), error))?;
        for (key, value) in self.keys.iter().zip(values.iter().flatten()) {
            if value.is_none() {
                out.problem(&format!("{}: key not found: {key}", entry.place()));
            }
        }
        Ok(values)
    }

    fn look_up(&self, entry: &Entry<'_>) -> Result<Option<Vec<Option<Json>>>, TensogramError> {
        let metadata = Message::parse(entry.bytes)?.metadata()?;
        let scope = Scope::Message(&metadata);
        if !self.selection.has(&metadata)? {
            return Ok(None);
        }
        Ok(Some(self.keys.iter().map(|key| scope.get(key)).collect::<Result<_, _>>()?))
    }
}
