//! `tgm validate --digests`: checks of digests, indexes and hash lists.

use std::io;

use clap::Args;
use serde_json::Value as Json;
use tgm_core::Message;
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::index::HashList;
use tgm_core::wire::FrameType;
use tgm_std::TensogramError;
use tgm_std::validate::{Depth, Finding as Found, examine};

use crate::args::RARE;
use crate::args::files::Files;
use crate::args::listing::Listed;
use crate::args::threads::Threads;
use crate::commands::key_columns::{KeyColumns, Keys};
use crate::commands::{Run, examples};
use crate::read::candidates::Level;
use crate::read::cataloged::Asked;
use crate::read::choice::MessageChoice;
use crate::read::digests::Digests;
use crate::read::entry::Entry;
use crate::read::in_order::{Messages, Worked};
use crate::read::input::MessagePart;
use crate::read::select::{Scope, Selection};
use crate::read::structure::Structure;
use crate::show::json::{self, Document, error_json};
use crate::show::output::{Out, Style};
use crate::show::table::{Cell, Column, Table};

/// Check digests, indexes and hash lists; reads every byte
///
/// The digest of every frame is computed, and indexes and hash lists are compared with the objects. If all of that is
/// right, metadata, descriptors and masks are read too.
///
/// The exit code is 1 for a wrong or missing digest, an index or hash list that contradicts the objects, a message
/// whose frames cannot be walked or whose metadata cannot be read, and bytes that belong to no message.
#[derive(Args, Debug)]
#[command(after_help = examples(&[
    ("tgm validate --digests field.tgm three.tgm", "whether any byte has changed"),
    ("tgm validate --digests -p mars.param,codec field.tgm", "and which field each message has"),
]))]
pub(crate) struct Verify {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    choice: MessageChoice,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    keys: Keys,
    /// Only frame flags announce a digest, as in releases since 0.21; by default, digests of releases 0.17 to 0.20 are
    /// recognised too
    #[arg(long)]
    strict: bool,
    /// Frames without a digest are fine
    #[arg(long, help_heading = RARE)]
    allow_missing: bool,
    #[command(flatten)]
    threads: Threads,
}

/// The findings in one message.
#[derive(Default)]
struct Report {
    /// Bytes of the message.
    length: u64,
    frames: u64,
    objects: u64,
    verified: u64,
    missing: u64,
    findings: Vec<Finding>,
    error: Option<TensogramError>,
}

/// What is found, where, and of which object, if it is of one.
struct Finding {
    what: What,
    offset: Option<u64>,
    object: Option<usize>,
}

enum What {
    /// A frame with a wrong digest, expected and computed, or one without a digest.
    Frame { frame_type: FrameType, number: usize, digests: Option<(u64, u64)> },
    /// A contradiction between an index or hash list and the objects, or, without one, a list that was not compared.
    List { list: &'static str, error: Option<tgm_core::Error> },
}

impl Run for Verify {
    fn listed(&self) -> Listed<'_> {
        self.files.listed()
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let mut document = self.files.json().then(|| Document::begin(out, "tgm.verify/1", "messages")).transpose()?;
        let keys = self.keys.columns(self.empty_table(&KeyColumns::default()).titles(), &self.files.listing);
        let mut table = self.empty_table(&keys);
        let threads = self.threads.of_messages();
        let asked = Asked::new(self.choice, &self.selection, Level::Messages);
        let messages = Messages { paths: &self.files.paths, asked, wanted: MessagePart::Whole, threads };
        let look = |(): &mut (), entry: &Entry<'_>| {
            let is_chosen = self.selection.chooses(entry, Digests::ignored(true))?;
            // Values that cannot be read are missing: what is wrong with the message is in the report.
            Ok(is_chosen.then(|| (self.check(entry), values(entry, &keys).unwrap_or_default())))
        };
        messages.for_each(
            out,
            |_| (),
            look,
            |out, worked| {
                let Worked::Message(entry, found) = worked else { return table.pause(out) };
                let found = found.inspect_err(|error: &TensogramError| out.report(&entry.place(), error));
                let Ok(Some((report, values))) = found else { return Ok(()) };
                self.judge(out, entry, &report);
                match &mut document {
                    Some(document) => document.item(out, &self.item(entry, &report, keys.json(&values))),
                    None => self.rows(out, entry, &report, (&mut table, keys.cells(&values))),
                }
            },
        )?;
        table.finish(out)?;
        document.map_or(Ok(()), |document| document.end(out))
    }
}

impl Verify {
    fn check(&self, entry: &Entry<'_>) -> Report {
        let mut report = Report { length: entry.length(), ..Report::default() };
        report.error = self.verify(entry, &mut report).err();
        report
    }

    fn verify(&self, entry: &Entry<'_>, report: &mut Report) -> Result<(), TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let presence = self.strict.then_some(HashPresence::Flagged);
        examine(&message, Depth::Contents, presence, &mut |finding| {
            match finding {
                Found::Frame { number, frame, object, verdict } => report.add(number, &frame, object, verdict),
                Found::List { list, error } => report.findings.push(Finding {
                    what: What::List { list, error: Some(error) },
                    offset: Some(error.offset()),
                    object: object_from(&message, error.offset()),
                }),
            }
            Ok(())
        })?;
        report.findings.extend(lists_not_compared(&message)?);
        Ok(())
    }

    fn is_good(&self, report: &Report) -> bool {
        let is_wrong = report.error.is_some() || report.has_mismatch() || report.has_wrong_list();
        !is_wrong && (self.allow_missing || report.missing == 0)
    }

    fn judge(&self, out: &mut Out, entry: &Entry<'_>, report: &Report) {
        if let Some(error) = &report.error {
            out.report(&entry.place(), error);
        } else if !self.is_good(report) {
            out.fail();
        }
    }

    fn empty_table(&self, keys: &KeyColumns) -> Table {
        let file = (self.files.paths.len() > 1).then_some(Column::left("file"));
        let table = Table::new(file.into_iter().chain([
            Column::right("message"),
            Column::right("frames"),
            Column::right("objects"),
            Column::right("verified"),
        ]));
        // Results may be long, so they are last.
        keys.hidden_in(keys.shown_in(table).with_titles(&["result".to_string()]))
    }

    fn rows(
        &self,
        out: &mut Out,
        entry: &Entry<'_>,
        report: &Report,
        (table, [printed, hidden]): (&mut Table, [Vec<Cell>; 2]),
    ) -> io::Result<()> {
        let file = (self.files.paths.len() > 1).then(|| Cell::from(entry.file));
        let style = if self.is_good(report) { Style::Good } else { Style::Bad };
        let counts = [entry.index.into(), report.frames.into(), report.objects.into(), report.verified.into()];
        let result = [Cell::spread(style, report.result())];
        let row = file.clone().into_iter().chain(counts).chain(printed.clone()).chain(result);
        table.row(out, row.chain(hidden.clone()).collect())?;
        let findings = |text: &str| {
            let blanks = [entry.index.into(), "".into(), "".into(), "".into()];
            let keys = printed.iter().map(|_| Cell::from(""));
            let row = file.clone().into_iter().chain(blanks).chain(keys).chain([Cell::spread(style, text)]);
            row.chain(hidden.clone()).collect()
        };
        // A message without any digest was reported above.
        let is_missing = |finding: &Finding| matches!(finding.what, What::Frame { digests: None, .. });
        for finding in report.findings.iter().filter(|finding| report.verified > 0 || !is_missing(finding)) {
            table.row(out, findings(&finding.to_text()))?;
        }
        Ok(())
    }

    fn item(&self, entry: &Entry<'_>, report: &Report, values: Option<Json>) -> Json {
        json::object([
            ("file", Some(entry.file.into())),
            ("message", Some(entry.index.into())),
            ("offset", Some(entry.offset.into())),
            ("length", Some(report.length.into())),
            ("ok", Some(self.is_good(report).into())),
            ("result", Some(report.result().into())),
            ("frames", Some(report.frames.into())),
            ("objects", Some(report.objects.into())),
            ("verified", Some(report.verified.into())),
            ("missing", Some(report.missing.into())),
            ("findings", Some(report.findings.iter().map(Finding::to_json).collect())),
            ("values", values),
            ("error", report.error.as_ref().map(error_json)),
        ])
    }
}

/// The values of the keys of a message.
fn values(entry: &Entry<'_>, keys: &KeyColumns) -> tgm_core::Result<Vec<Option<Json>>> {
    if keys.asked().next().is_none() {
        return Ok(Vec::new());
    }
    let message = Message::parse(entry.bytes)?;
    keys.values(&Scope::Message(&message.metadata()?, Structure::new(&message, entry)))
}

/// The number of the object whose frame, or whose broken frame, is at `offset`.
fn object_from(message: &Message<'_>, offset: u64) -> Option<usize> {
    let is_object = |frame: &tgm_core::Result<Frame<'_>>| !matches!(frame, Ok(f) if !f.frame_type().is_data_object());
    let mut objects = message.frames().filter(is_object);
    objects.position(|frame| frame.is_ok_and(|frame| frame.offset() == offset))
}

/// The hash lists of other algorithms.
fn lists_not_compared(message: &Message<'_>) -> tgm_core::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for frame in message.frames() {
        let frame = frame?;
        let is_list = matches!(frame.frame_type(), FrameType::HeaderHash | FrameType::FooterHash);
        if is_list && HashList::parse(&frame).is_ok_and(|list| list.is_xxh3() != Some(true)) {
            let what = What::List { list: "hash list", error: None };
            findings.push(Finding { what, offset: None, object: None });
        }
    }
    Ok(findings)
}

impl Report {
    /// Counts a frame, and lists it if its digest is wrong or missing.
    fn add(&mut self, number: usize, frame: &Frame<'_>, object: Option<usize>, verdict: Verdict) {
        let digests = match verdict {
            Verdict::Good => None,
            Verdict::Missing => Some(None),
            Verdict::Mismatch(mismatch) => Some(Some((mismatch.expected, mismatch.computed))),
        };
        let (frame_type, offset) = (frame.frame_type(), Some(frame.offset()));
        let finding = |digests| Finding { what: What::Frame { frame_type, number, digests }, offset, object };
        self.findings.extend(digests.map(finding));
        self.frames += 1;
        self.objects += u64::from(object.is_some());
        self.verified += u64::from(digests.is_none());
        self.missing += u64::from(digests == Some(None));
    }

    fn has_mismatch(&self) -> bool {
        self.findings.iter().any(|finding| matches!(finding.what, What::Frame { digests: Some(_), .. }))
    }

    fn has_wrong_list(&self) -> bool {
        self.findings.iter().any(|finding| matches!(finding.what, What::List { error: Some(_), .. }))
    }

    fn result(&self) -> &'static str {
        if self.error.is_some() {
            "unreadable"
        } else if self.has_mismatch() {
            "mismatch"
        } else if self.has_wrong_list() {
            "lists differ"
        } else if self.frames > 0 && self.verified == 0 {
            "no digests"
        } else if self.missing > 0 {
            "digests missing"
        } else {
            "ok"
        }
    }
}

impl Finding {
    fn to_text(&self) -> String {
        let object = self.object.map_or(String::new(), |object| format!(" (object {object})"));
        let (frame_type, number, digests) = match self.what {
            What::Frame { frame_type, number, digests } => (frame_type, number, digests),
            What::List { list, error: Some(error) } => return format!("{list}{object}: {error}"),
            What::List { list, error: None } => return format!("{list} of an unknown algorithm: not compared"),
        };
        let found = match digests {
            Some((expected, computed)) => format!("expected {expected:016x}, got {computed:016x}"),
            None => "no digest".to_string(),
        };
        format!("frame {number} {frame_type}{object} at byte {}: {found}", self.offset.unwrap_or_default())
    }

    fn to_json(&self) -> Json {
        let (frame, finding, text, digests) = match self.what {
            What::Frame { frame_type, number, digests } => {
                let finding = if digests.is_some() { "mismatch" } else { "missing" };
                (Some((number, frame_type)), finding.to_string(), None, digests)
            }
            What::List { list, .. } => (None, list.replace(' ', "_"), Some(self.to_text()), None),
        };
        json::object([
            ("frame", frame.map(|(number, _)| number.into())),
            ("type", frame.map(|(_, frame_type)| frame_type.name().into())),
            ("offset", self.offset.map(Json::from)),
            ("object", self.object.map(Json::from)),
            ("finding", Some(finding.into())),
            ("text", text.map(Json::from)),
            ("expected", digests.map(|(expected, _)| format!("{expected:016x}").into())),
            ("computed", digests.map(|(_, computed)| format!("{computed:016x}").into())),
        ])
    }
}
