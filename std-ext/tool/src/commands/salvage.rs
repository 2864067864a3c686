//! `tgm salvage`: the whole messages of a damaged file.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use serde_json::Value as Json;
use tgm_std::TensogramError;

use crate::args::files::usage;
use crate::args::listing::{JsonFlags, Listed};
use crate::change::rescue::{FoundObject, Rescue, rescue};
use crate::change::survive::{Piece, pieces};
use crate::commands::{Run, examples};
use crate::read::input::Input;
use crate::read::opening::open_unreported;
use crate::show::json::{self, Document};
use crate::show::output::{Out, Style};
use crate::show::summary::shape_text;
use crate::show::table::{Cell, Column, Table};
use crate::write::destination::{Destination, OutputKind, Reads};
use crate::write::same_file::is_stdio;
use tgm_std::file::SourceName;

/// Copy whole messages out of a damaged file, and report what is lost
///
/// Messages are kept byte for byte if they pass every check. Payloads are not checked. The exit code is 1 if any bytes
/// are lost. IN is never changed without --in-place. If OUT is standard output, the report goes to standard error.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm salvage damaged.tgm -o whole.tgm", "what is whole, to another file"),
    ("tgm salvage --in-place damaged.tgm", "the same; the damaged file becomes damaged.tgm.bak"),
]))]
pub(crate) struct Salvage {
    /// File to read; "-" is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Where to write; appears when it is complete; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT", required_unless_present = "in_place")]
    output: Option<Destination>,
    /// Replace IN, which stays beside it as IN.bak; if nothing is lost, IN stays as it is
    #[arg(long, conflicts_with = "output")]
    in_place: bool,
    /// Also reject messages with a wrong digest, and those in which only some frames have one; reads every byte
    #[arg(long)]
    verify: bool,
    /// Also take objects with a right digest out of damaged messages, and make new messages of them with the metadata
    /// that is left
    #[arg(long)]
    objects: bool,
    #[command(flatten)]
    json: JsonFlags,
}

/// A piece of the file, and its bytes if they are searched for objects.
type Searched<'f> = (Piece, Option<Cow<'f, [u8]>>);

/// A piece of the file, and the objects found in it.
struct SearchedPart<'f> {
    piece: &'f Piece,
    rescue: Option<Rescue<'f>>,
}

impl Run for Salvage {
    fn listed(&self) -> Listed<'_> {
        Listed { form: self.json.form(), ..Listed::default() }
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let output = self.output.clone().unwrap_or_else(|| Destination::from(self.input.clone()));
        if self.in_place && is_stdio(&self.input) {
            usage("standard input cannot be replaced: use -o OUT");
        }
        if self.json.is_on() && output.is_stdout() {
            usage("--json prints to standard output, which the messages take: name a file");
        }
        let inputs = slice::from_ref(&self.input);
        let reads = if self.in_place { Reads::AndReplaces(inputs) } else { Reads::Only(inputs) };
        if !output.prepare(out, OutputKind::Messages, reads) {
            return Ok(());
        }
        let Some(input) = open_unreported(&self.input, out) else { return Ok(()) };
        let pieces = pieces(&input, self.verify).and_then(|pieces| self.with_bytes(&input, pieces));
        let pieces = match pieces {
            Ok(pieces) => pieces,
            Err(error) => {
                out.report(input.name(), &error);
                return Ok(());
            }
        };
        let parts: Vec<_> = pieces.iter().map(SearchedPart::of).collect();
        self.report(out, &parts)?;
        if parts.iter().any(SearchedPart::is_lost) {
            out.fail();
        }
        if parts.iter().any(|part| part.rescue.as_ref().is_some_and(|rescue| !rescue.is_complete)) {
            out.problem(&format!("{}: not all bytes were searched for objects, too many look like some", input.name()));
        }
        if !parts.is_empty() && parts.iter().all(SearchedPart::is_nothing) {
            out.problem(&format!("{}: nothing is whole, nothing was written", input.name()));
            return Ok(());
        }
        if self.in_place && !parts.iter().any(SearchedPart::is_lost) {
            return Ok(());
        }
        if self.in_place
            && let Err(error) = keep_beside(&self.input)
        {
            out.report(&format!("{}: nothing was written", SourceName::of(&backup_of(&self.input))), &error);
            return Ok(());
        }
        output.write(out, OutputKind::Messages, reads, |out, file| {
            for part in parts {
                match part.piece {
                    Piece::Message { range, .. } => input.copy(range.start, range.end - range.start, file)?,
                    Piece::Lost { range, .. } => {
                        for wreck in part.rescue.into_iter().flat_map(|rescue| rescue.wrecks) {
                            match wreck.into_message() {
                                Ok(message) => file.write_all(&message)?,
                                Err(error) => out.report(&format!("{}: bytes {range:?}", input.name()), &error),
                            }
                        }
                    }
                }
            }
            Ok(())
        });
        Ok(())
    }
}

impl Salvage {
    /// Adds the bytes of the pieces that are searched for objects.
    fn with_bytes<'f>(&self, input: &'f Input, pieces: Vec<Piece>) -> Result<Vec<Searched<'f>>, TensogramError> {
        let with_bytes = |piece: Piece| {
            let bytes = match &piece {
                Piece::Lost { range, .. } if self.objects => Some(input.bytes(range.start, range.end - range.start)?),
                _ => None,
            };
            Ok((piece, bytes))
        };
        pieces.into_iter().map(with_bytes).collect()
    }

    fn report(&self, out: &mut Out, parts: &[SearchedPart<'_>]) -> io::Result<()> {
        if self.json.is_on() {
            let mut document = Document::begin(out, "tgm.salvage/1", "parts")?;
            for part in parts {
                document.item(out, &part.to_json())?;
            }
            return document.end(out);
        }
        let columns = [Column::left("kind"), Column::right("offset"), Column::right("length"), Column::left("note")];
        let mut table = Table::new(columns);
        for part in parts {
            let range = part.piece.range();
            let (kind, note) = match part.piece {
                Piece::Message { objects, .. } => ("kept", Cell::spread(Style::Good, &format!("{objects} objects"))),
                Piece::Lost { why, .. } => ("lost", Cell::spread(Style::Bad, why)),
            };
            let place = [range.start.into(), (range.end - range.start).into()];
            table.row(out, [kind.into()].into_iter().chain(place).chain([note]).collect())?;
            for found in part.found() {
                let place = [(range.start + found.offset as u64).into(), found.length.into()];
                let note = Cell::spread(Style::Good, &found.note());
                table.row(out, [Cell::from("object")].into_iter().chain(place).chain([note]).collect())?;
            }
        }
        table.finish(out)
    }
}

/// The name under which a file stays that is replaced.
fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bak");
    name.into()
}

/// Keeps a file under the name of its backup, which must be free. A link costs nothing: the file that replaces the other
/// is a new one. Where links are not possible, the file is copied.
fn keep_beside(path: &Path) -> io::Result<()> {
    // A name that is a link leads to the file that is replaced.
    let (path, backup) = (fs::canonicalize(path)?, backup_of(path));
    match fs::hard_link(&path, &backup) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let mut copy = File::create_new(&backup)?;
            io::copy(&mut File::open(&path)?, &mut copy)?;
            copy.sync_all()
        }
        linked => linked,
    }
}

impl<'f> SearchedPart<'f> {
    fn of((piece, bytes): &'f Searched<'_>) -> Self {
        Self { piece, rescue: bytes.as_deref().map(rescue) }
    }

    const fn is_lost(&self) -> bool {
        matches!(self.piece, Piece::Lost { .. })
    }

    fn is_nothing(&self) -> bool {
        self.is_lost() && self.found().next().is_none()
    }

    /// The objects that were found in it.
    fn found(&self) -> impl Iterator<Item = &FoundObject<'_>> {
        self.rescue.iter().flat_map(|rescue| &rescue.wrecks).flat_map(|wreck| &wreck.objects)
    }

    fn to_json(&self) -> Json {
        let range = self.piece.range();
        let place = [("offset", Some(range.start.into())), ("length", Some((range.end - range.start).into()))];
        let rest = match self.piece {
            Piece::Message { objects, .. } => vec![("objects", Some((*objects).into()))],
            Piece::Lost { why, .. } => {
                let rescued = self.found().map(|found| found.to_json(range.start)).collect();
                vec![("why", Some(why.as_str().into())), ("rescued", Some(rescued))]
            }
        };
        let kind = if self.is_lost() { "lost" } else { "message" };
        json::object([("kind", Some(kind.into()))].into_iter().chain(place).chain(rest))
    }
}

impl FoundObject<'_> {
    fn note(&self) -> String {
        let descriptor = self.object.descriptor();
        let note = format!("rescued: {} {}", descriptor.dtype, shape_text(&descriptor.shape));
        if self.metadata.is_some() { note } else { format!("{note}, without its metadata") }
    }

    fn to_json(&self, base: u64) -> Json {
        let descriptor = self.object.descriptor();
        json::object([
            ("offset", Some((base + self.offset as u64).into())),
            ("length", Some(self.length.into())),
            ("dtype", Some(descriptor.dtype.name().into())),
            ("shape", Some(descriptor.shape.iter().copied().collect())),
            ("metadata", Some(self.metadata.is_some().into())),
        ])
    }
}
