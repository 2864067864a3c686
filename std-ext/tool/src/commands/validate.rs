//! `tgm validate`: all errors of files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value as Json, json};
use tgm_std::IssueSeverity;
use tgm_std::validate::{
    FileValidationReport, ValidateOptions, ValidationIssue, ValidationLevel, ValidationReport, validate_file_with,
    validate_stream,
};

use crate::args::RARE;
use crate::args::limits::{ObjectLimit, SumLimits};
use crate::args::listing::{Listed, TextFlags};
use crate::args::threads::Threads;
use crate::commands::{Run, examples};
use crate::read::messages::expect_all;
use crate::read::pipes;
use crate::show::advice::in_our_words;
use crate::show::json::{Document, compact};
use crate::show::output::{Out, Style};
use crate::show::progress::meter::Share;
use tgm_std::file::SourceName;

/// Check messages from structure to values, and report all errors
///
/// By default, structure, metadata and digests are checked, and encoded objects are decoded. A good file is one line on
/// standard output. Errors and warnings go to standard error, with messages and objects counted from 1.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm validate --full field.tgm", "everything that is wrong")]))]
pub(crate) struct Validate {
    /// Files to check; "-" is standard input
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    depth: Depth,
    /// Also check the order of keys in CBOR
    #[arg(long, help_heading = RARE)]
    canonical: bool,
    /// Report only what the reference reports: digests of objects only, and none of releases before 0.21
    #[arg(long, help_heading = RARE)]
    like_reference: bool,
    #[command(flatten)]
    text: TextFlags,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    limit: ObjectLimit,
    #[command(flatten)]
    limits: SumLimits,
}

/// How deep to go.
#[derive(Args, Debug)]
#[group(multiple = false)]
struct Depth {
    /// Structure only
    #[arg(long)]
    quick: bool,
    /// Digests only; warnings about structure are left out, and nothing is decoded
    #[arg(long, help_heading = RARE)]
    checksum: bool,
    /// Also decode every object, and look for NaN and infinities that no mask covers
    #[arg(long)]
    full: bool,
}

impl Run for Validate {
    fn listed(&self) -> Listed<'_> {
        self.text.listed(&self.paths)
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        let options = self.options();
        let mut document = self.text.json().then(|| Document::begin_array(out)).transpose()?;
        expect_all(&self.paths);
        for path in &self.paths {
            let report = match read(path, &options) {
                Ok(report) => report,
                Err(error) => {
                    out.problem(&format!("cannot read {}\n{error}", SourceName::of(path)));
                    continue;
                }
            };
            let name = SourceName::of(path).to_string();
            if !report.is_ok() {
                out.fail();
            }
            match &mut document {
                Some(document) => document.item(out, &item(&name, &report)?)?,
                None => print(out, &name, &report)?,
            }
        }
        document.map_or(Ok(()), |document| document.end(out))
    }
}

impl Validate {
    fn options(&self) -> ValidateOptions {
        let max_level = match (self.depth.quick, self.depth.full) {
            (true, _) => ValidationLevel::Structure,
            (_, true) => ValidationLevel::Fidelity,
            _ => ValidationLevel::Integrity,
        };
        ValidateOptions {
            max_level,
            check_canonical: self.canonical,
            checksum_only: self.depth.checksum,
            like_reference: self.like_reference,
            limits: self.limit.of_object(),
            budget: self.limits.budget(),
            threads: self.threads.of_library(),
            ..ValidateOptions::default()
        }
    }
}

fn read(path: &Path, options: &ValidateOptions) -> io::Result<FileValidationReport> {
    // A folder is an error there, which says what helps.
    if pipes::is_once(path) || path.is_dir() {
        return validate_stream(pipes::open(path)?, options);
    }
    let (mut share, mut before, mut messages) = (None, 0, 0);
    validate_file_with(path, options, |progress| {
        let share = share.get_or_insert_with(|| Share::new(progress.total));
        messages += 1;
        share.take_up(progress.done, progress.done - before, messages);
        before = progress.done;
        Ok(())
    })
}

/// A report as JSON, with the tool's flags in its texts.
fn item(name: &str, report: &FileValidationReport) -> io::Result<Json> {
    let item = json!({
        "file": name,
        "status": if report.is_ok() { "ok" } else { "failed" },
        "messages": report.messages.len(),
        "objects": report.total_objects(),
        "hash_verified": report.hash_verified(),
        "file_issues": report.file_issues,
        "message_reports": report.messages,
    });
    Ok(serde_json::from_str(&in_our_words(compact(&item)))?)
}

fn print(out: &mut Out, name: &str, report: &FileValidationReport) -> io::Result<()> {
    for issue in &report.file_issues {
        out.remark(&format!("{name}: WARNING — {}", issue.description));
    }
    for (index, message) in report.messages.iter().enumerate() {
        for issue in &message.issues {
            let mark = if issue.severity == IssueSeverity::Error { "FAILED" } else { "WARNING" };
            out.remark(&format!("{name}: {mark} — {}", place_and_text(index, issue)));
        }
        if message.omitted_issues > 0 {
            let count = message.omitted_issues;
            out.remark(&format!("{name}: WARNING — message {index}: {count} further findings are not listed"));
        }
    }
    let counts = format!("{} messages, {} objects", report.messages.len(), report.total_objects());
    if !report.is_ok() {
        let errors: usize = report.messages.iter().map(|message| ValidationReport::errors(message).count()).sum();
        let errors = errors + report.file_issues.len();
        out.remark(&format!("{name}: FAILED ({errors} errors, {counts})"));
        return Ok(());
    }
    let verified = if report.hash_verified() { ", hash verified" } else { "" };
    out.styled(Style::Good, &crate::show::text::escape(&format!("{name}: OK ({counts}{verified})")))?;
    out.write_all(b"\n")
}

/// The place of an issue in a file, and its text.
fn place_and_text(message: usize, issue: &ValidationIssue) -> String {
    let object = issue.object_index.map_or(String::new(), |object| format!(", object {object}"));
    let at = issue.byte_offset.map_or(String::new(), |offset| format!(" (at byte {offset})"));
    format!("message {message}{object}: {}{at}", issue.description)
}
