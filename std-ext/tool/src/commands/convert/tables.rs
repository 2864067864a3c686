//! Metadata as tables.

use std::path::Path;

use clap::{Args, ValueEnum};
use tgm_convert::table::{Columns, Described, Rows, TableFormat, TableOptions, TableWriter};
use tgm_std::TensogramError;

use super::Convert;
use super::effects::Effect;
use super::format::{Format, Reads, Row, Writes, at_start};
use super::losses::Losses;
use crate::args::files::usage;
use crate::read::cataloged::Asked;
use crate::read::choice::MessageChoice;
use crate::read::entry::Entry;
use crate::read::input::{Input, MessagePart};
use crate::read::messages::for_each_message;
use crate::show::output::Out;
use crate::write::destination::{self, Failure, OutputKind};
use crate::write::endings;

/// Tables of Arrow.
pub(super) const ARROW: Format = Format(&Row {
    suffixes: endings::ARROW,
    find: |start| at_start(start, b"ARROW1"),
    ..table("arrow", "Metadata as a table, in the file format of Arrow; written only", |convert, out, _| {
        convert.write_table(TableFormat::Arrow, out);
    })
});

/// Tables of Parquet.
#[cfg(feature = "parquet")]
pub(super) const PARQUET: Format = Format(&Row {
    suffixes: endings::PARQUET,
    find: |start| at_start(start, b"PAR1"),
    ..table("parquet", "Metadata as a table, in Parquet; written only", |convert, out, _| {
        convert.write_table(TableFormat::Parquet, out);
    })
});

const fn table(name: &'static str, about: &'static str, write: fn(&Convert, &mut Out, &mut Losses)) -> Row {
    Row {
        of_messages: Some("tables hold the metadata of messages: convert this input to tgm first"),
        reads: Reads::Not("tables of Arrow and Parquet are written, and not read"),
        writes: Writes::Whole(write),
        ..Row::new(name, about)
    }
}

/// Flags for tables.
#[derive(Args, Debug)]
#[command(next_help_heading = "Tables")]
pub(super) struct TableFlags {
    /// What a row of a table is
    #[arg(long, value_name = "WHAT", default_value = "objects")]
    rows: Of,
}

impl TableFlags {
    /// What the flag has an effect on.
    pub(super) fn effect(&self) -> Effect {
        Effect::of_writing("--rows", self.rows == Of::Messages, |to| matches!(to.0.name, "arrow" | "parquet"))
    }
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Of {
    Objects,
    Messages,
}

fn describe(entry: &Entry<'_>) -> Result<Described, TensogramError> {
    let index = entry.index.0.ok_or_else(|| TensogramError::Object("the number of the message is not known".into()))?;
    Described::new(entry.file, index as u64, entry.offset, entry.bytes)
}

impl Convert {
    /// Writes a table of the metadata of all messages. They are read twice, without payloads.
    pub(super) fn write_table(&self, format: TableFormat, out: &mut Out) {
        if self.paths.iter().any(|path| path == Path::new("-")) {
            usage("a table is made by reading twice, and standard input can be read once: name a file");
        }
        let rows = if self.tables.rows == Of::Messages { Rows::Messages } else { Rows::Objects };
        self.output.write(out, OutputKind::Values, destination::Reads::Only(&self.paths), |out, sink| {
            let columns = self.columns(TableOptions { rows, ..TableOptions::default() })?;
            let output = self.output.to_string();
            let mut writer = TableWriter::new(columns, format, sink).map_err(Failure::at(&output))?;
            let mut stopped = None;
            let done = for_each_message(
                &self.paths,
                Asked::all(MessageChoice::default()),
                MessagePart::Outline,
                out,
                |out, entry| match describe(entry) {
                    Ok(described) => writer.write(&described).map_err(|error| {
                        stopped = Some(Failure::At(entry.place(), error));
                        std::io::Error::other("not written")
                    }),
                    Err(error) => {
                        out.report(&entry.place(), &error);
                        Ok(())
                    }
                },
            );
            match (stopped, done) {
                (Some(failure), _) => return Err(failure),
                (None, done) => done?,
            }
            writer.finish().map(|_| ()).map_err(Failure::at(output))
        });
    }

    /// The columns of all messages. What cannot be read is left to the second time, which reports it.
    fn columns(&self, options: TableOptions) -> Result<Columns, Failure> {
        let mut columns = Columns::new(options);
        for path in &self.paths {
            let Ok(input) = Input::open(path) else { continue };
            let mut reader = input.reader();
            for place in input.all() {
                let Ok(entry) = reader.entry(place, MessagePart::Outline) else { continue };
                if let Ok(described) = describe(&entry) {
                    columns.observe(&described).map_err(Failure::at(entry.place()))?;
                }
            }
        }
        Ok(columns)
    }
}
