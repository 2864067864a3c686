//! `tgm upgrade`: files of version 2 become version 3.

use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::slice;

use clap::Args;
use serde_json::Value as Json;
use tgm_std::TensogramError;
use tgm_std::v2::{Kind, UpgradeOptions, scan, upgrade_message};

use crate::args::RARE;
use crate::args::files::usage;
use crate::args::listing::{JsonFlags, Listed};
use crate::commands::{Run, examples};
use crate::read::digests::Digests;
use crate::read::input::Input;
use crate::read::lost;
use crate::read::opening::open_unreported;
use crate::read::resting::Resting;
use crate::show::json::{self, Document, error_json};
use crate::show::output::Out;
use crate::show::text::escape;
use crate::write::destination::{Destination, Failure, OutputKind, Reads};
use crate::write::same_file::is_stdio;

/// Make messages of version 2 (releases 0.4 to 0.16) version 3
///
/// Payloads stay as they are, and messages of version 3 are copied. All messages of all files go to OUT, in order.
/// Other bytes, and messages that cannot be upgraded, are reported and left out; a file that would be replaced then
/// stays as it is.
#[derive(Args, Debug)]
#[command(after_help = examples(&[("tgm upgrade old.tgm -o new.tgm", "version 2 becomes version 3")]))]
pub(crate) struct Upgrade {
    /// Files to read; "-" is standard input
    #[arg(value_name = "IN", required = true)]
    paths: Vec<PathBuf>,
    /// Where to write; appears when it is complete; may be one of the files; "-" is standard output
    #[arg(short, visible_short_alias = 'O', long, value_name = "OUT", required_unless_present = "in_place")]
    output: Option<Destination>,
    /// Replace each file by its upgrade
    #[arg(long, conflicts_with = "output")]
    in_place: bool,
    /// Store NaN and infinities as masks: decodes and encodes objects that have any, except objects with zfp and sz3
    #[arg(long, help_heading = RARE)]
    masks: bool,
    #[command(flatten)]
    digests: Digests,
    #[command(flatten)]
    json: JsonFlags,
}

/// The outcome for one part of a file.
struct UpgradedPart {
    range: Range<usize>,
    version: Option<u16>,
    outcome: Outcome,
}

enum Outcome {
    Upgraded(Vec<u8>),
    Copied,
    Failed(TensogramError),
    Junk,
}

/// Numbers of parts of a file by outcome.
#[derive(Default)]
struct Counts {
    upgraded: usize,
    copied: usize,
    left_out: usize,
}

/// The JSON document, and the position of the next message in the output.
struct Listing {
    document: Option<Document>,
    written: u64,
}

impl Run for Upgrade {
    fn listed(&self) -> Listed<'_> {
        Listed { form: self.json.form(), ..Listed::default() }
    }

    fn run(&self, out: &mut Out) -> io::Result<()> {
        if self.json.is_on() && self.output.as_ref().is_some_and(Destination::is_stdout) {
            usage("--json prints to standard output, which the messages take: name a file");
        }
        if let Some(output) = &self.output
            && !output.prepare(out, OutputKind::Messages, Reads::AndReplaces(&self.paths))
        {
            return Ok(());
        }
        let document = self.json.is_on().then(|| Document::begin(out, "tgm.upgrade/1", "messages")).transpose()?;
        let mut listing = Listing { document, written: 0 };
        let mut inputs = Vec::new();
        for path in &self.paths {
            inputs.extend(open_unreported(path, out).map(|input| (path, Resting::new(path, input))));
        }
        match &self.output {
            Some(output) => self.upgrade(inputs, output, &mut listing, out),
            None => {
                for input in inputs {
                    listing.written = 0;
                    if is_stdio(input.0) {
                        out.problem("standard input cannot be replaced: use -o OUT");
                        continue;
                    }
                    let output = Destination::File(input.0.clone());
                    self.upgrade(vec![input], &output, &mut listing, out);
                }
            }
        }
        listing.document.map_or(Ok(()), |document| document.end(out))
    }
}

impl Upgrade {
    /// Writes the upgrade of some files to one.
    fn upgrade(&self, inputs: Vec<(&PathBuf, Resting)>, output: &Destination, listing: &mut Listing, out: &mut Out) {
        // No file could be opened, which was reported.
        if inputs.is_empty() {
            return;
        }
        let replaced = inputs.iter().any(|(path, _)| output.is_one_of(slice::from_ref(path)));
        output.write(out, OutputKind::Messages, Reads::AndReplaces(&self.paths), |out, file| {
            let mut left_out = 0;
            for (_, input) in inputs {
                let name = input.name().to_string();
                let input = input.wake().map_err(Failure::at(name))?;
                left_out += self.upgrade_file(&input, file, listing, out)?;
            }
            if left_out > 0 && replaced {
                let text = "what is left out would be lost: the file stays as it is";
                return Err(Failure::Output(io::Error::other(text)));
            }
            Ok(())
        });
    }

    /// Writes the upgrade of one file. Returns how many of its parts were left out.
    fn upgrade_file(
        &self,
        input: &Input,
        file: &mut dyn Write,
        listing: &mut Listing,
        out: &mut Out,
    ) -> Result<usize, Failure> {
        let options =
            UpgradeOptions { masks: self.masks, ignore_hash: self.digests.are_ignored(), ..UpgradeOptions::default() };
        let mut counts = Counts::default();
        let file_bytes = input.all_bytes().map_err(Failure::at(input.name()))?;
        for segment in scan(&file_bytes) {
            let missing = || io::Error::other(format!("bytes {:?} are not in the file", segment.range));
            let bytes = file_bytes.get(segment.range.clone()).ok_or_else(missing)?;
            let outcome = match segment.kind {
                Kind::V2 => upgrade_message(bytes, &options).map_or_else(Outcome::Failed, Outcome::Upgraded),
                Kind::V3 => self.digests.check_bytes(bytes).map_or_else(Outcome::Failed, |()| Outcome::Copied),
                Kind::Junk => Outcome::Junk,
            };
            let version = match segment.kind {
                Kind::V2 => Some(2),
                Kind::V3 => Some(3),
                Kind::Junk => None,
            };
            let part = UpgradedPart { range: segment.range, version, outcome };
            let written = part.message(bytes);
            file.write_all(written)?;
            part.report(input.name(), out);
            counts.count(&part.outcome);
            let (end, length) = (part.range.end as u64, part.range.len() as u64);
            input.progress.take_up(end, length, counts.upgraded + counts.copied);
            if let Some(document) = &mut listing.document {
                document.item(out, &part.to_json(input.name(), listing.written, written.len()))?;
            }
            listing.written += written.len() as u64;
        }
        if listing.document.is_none() {
            let Counts { upgraded, copied, left_out } = counts;
            let name = escape(input.name());
            writeln!(out, "{name}: {upgraded} upgraded, {copied} of version 3 already, {left_out} left out")?;
        }
        Ok(counts.left_out)
    }
}

impl Counts {
    const fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Upgraded(_) => self.upgraded += 1,
            Outcome::Copied => self.copied += 1,
            Outcome::Failed(_) | Outcome::Junk => self.left_out += 1,
        }
    }
}

impl UpgradedPart {
    /// The bytes to write for the part, whose own bytes are `bytes`.
    fn message<'p>(&'p self, bytes: &'p [u8]) -> &'p [u8] {
        match &self.outcome {
            Outcome::Upgraded(message) => message,
            Outcome::Copied => bytes,
            Outcome::Failed(_) | Outcome::Junk => &[],
        }
    }

    fn report(&self, file: &str, out: &mut Out) {
        match &self.outcome {
            Outcome::Upgraded(_) | Outcome::Copied => {}
            Outcome::Failed(error) => out.report(&format!("{file}: message at {}", self.range.start), error),
            Outcome::Junk => {
                out.problem(&format!("{file}: {}", lost::plain(self.range.start as u64, self.range.len() as u64)));
            }
        }
    }

    fn to_json(&self, file: &str, position: u64, length: usize) -> Json {
        let (outcome, error) = match &self.outcome {
            Outcome::Upgraded(_) => ("upgraded", None),
            Outcome::Copied => ("copied", None),
            Outcome::Failed(error) => ("failed", Some(error)),
            Outcome::Junk => ("junk", None),
        };
        let is_written = length > 0;
        json::object([
            ("file", Some(file.into())),
            ("offset", Some(self.range.start.into())),
            ("length", Some(self.range.len().into())),
            ("version", self.version.map(Json::from)),
            ("outcome", Some(outcome.into())),
            ("output_offset", is_written.then(|| position.into())),
            ("output_length", is_written.then(|| length.into())),
            ("error", error.map(error_json)),
        ])
    }
}
